package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
)

// demoCommand is "tally demo".
func demoCommand() *cobra.Command {
	var dir string
	var seconds float64
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Stream two weeks of real flights into a continuous view, and prove its numbers",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd, filepath.Join(dir, "flights"), func(ctx context.Context, d *demo) error { return d.flights(ctx, seconds) })
		},
	}
	charter := &cobra.Command{
		Use:   "charter",
		Short: "The six-event example: totals, a withheld partition, duplicates, a restart, a sketch beside its oracle",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd, filepath.Join(dir, "charter"), func(ctx context.Context, d *demo) error { return d.charter(ctx) })
		},
	}
	cmd.PersistentFlags().StringVar(&dir, "dir", "data/demo", "folder for the data directory; what it holds is replaced")
	cmd.Flags().Float64Var(&seconds, "seconds", 12, "how long the two weeks take")
	cmd.AddCommand(charter)
	return cmd
}

// demo is a demonstration under way: a server of its own, and the proofs so far.
type demo struct {
	out     io.Writer
	server  *child
	conn    *pgx.Conn
	proofs  int
	failed  int
	watcher *progress
}

func runDemo(cmd *cobra.Command, dir string, script func(context.Context, *demo) error) error {
	ctx := cmd.Context()
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	server, err := startChild(ctx, dir)
	if err != nil {
		return err
	}
	d := &demo{out: cmd.OutOrStdout(), server: server, watcher: newProgress(cmd.OutOrStdout())}
	fmt.Fprintf(d.out, "A server is up on %s, its data is in %s.\n\n", server.pg, dir)
	err = d.connect(ctx)
	if err == nil {
		err = script(ctx, d)
	}
	if d.conn != nil {
		err = errors.Join(err, d.conn.Close(context.WithoutCancel(ctx)))
	}
	if err = errors.Join(err, d.server.stop()); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "\n%d of %d proofs hold.\n", d.proofs-d.failed, d.proofs)
	if d.failed > 0 {
		return fmt.Errorf("%d proofs failed", d.failed)
	}
	fmt.Fprintf(d.out, "\nLook around yourself:\n  bin/tally serve --data %s\n  psql -h 127.0.0.1 -p 7432 -U tally tally\n", dir)
	return nil
}

func (d *demo) connect(ctx context.Context) error {
	var err error
	if d.conn, err = d.server.connect(ctx); err != nil {
		return err
	}
	_, err = d.conn.Exec(ctx, "SET read_wait = '30s'")
	return err
}

// restart ends the server, by SIGTERM or by SIGKILL, and starts it again.
func (d *demo) restart(ctx context.Context, kill bool) error {
	_ = d.conn.Close(ctx) // the server goes away anyway
	if kill {
		d.server.kill()
	} else if err := d.server.stop(); err != nil {
		return err
	}
	var err error
	if d.server, err = startChild(ctx, d.server.dir, d.server.args...); err != nil {
		return err
	}
	return d.connect(ctx)
}

// sql shows a statement and runs it.
func (d *demo) sql(ctx context.Context, statement string) error {
	fmt.Fprintf(d.out, "tally=> %s\n", strings.ReplaceAll(statement, "\n", "\n        "))
	_, err := d.conn.Exec(ctx, statement)
	return err
}

// show runs a query and prints its rows as a table.
func (d *demo) show(ctx context.Context, query string) error {
	fmt.Fprintf(d.out, "tally=> %s\n", query)
	table, err := d.table(ctx, query)
	if err != nil {
		return err
	}
	printTable(d.out, table)
	return nil
}

// table returns a query's column names and rows as text.
func (d *demo) table(ctx context.Context, query string) ([][]string, error) {
	result := d.conn.PgConn().ExecParams(ctx, query, nil, nil, nil, nil)
	var header []string
	for _, f := range result.FieldDescriptions() {
		header = append(header, f.Name)
	}
	out := [][]string{header}
	for result.NextRow() {
		var row []string
		for _, v := range result.Values() {
			row = append(row, string(v))
		}
		out = append(out, row)
	}
	_, err := result.Close()
	return out, err
}

// printTable prints rows under their header, aligned.
func printTable(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, v := range r {
			widths[i] = max(widths[i], len(v))
		}
	}
	for n, r := range rows {
		for i, v := range r {
			fmt.Fprintf(w, "  %-*s", widths[i], v)
		}
		fmt.Fprintln(w)
		if n == 0 {
			for _, width := range widths {
				fmt.Fprint(w, "  ", strings.Repeat("-", width))
			}
			fmt.Fprintln(w)
		}
	}
	fmt.Fprintln(w)
}

// prove prints a proof as a line.
func (d *demo) prove(holds bool, format string, args ...any) {
	d.proofs++
	mark := "ok  "
	if !holds {
		d.failed++
		mark = "FAIL"
	}
	fmt.Fprintf(d.out, "  [%s] %s\n", mark, fmt.Sprintf(format, args...))
}

// count returns the single number of a query.
func (d *demo) count(ctx context.Context, query string) (int64, error) {
	var n int64
	err := d.conn.QueryRow(ctx, query).Scan(&n)
	return n, err
}

// code returns the SQLSTATE with which a query fails, empty if it does not.
func (d *demo) code(ctx context.Context, query string) (string, error) {
	_, err := d.conn.Exec(ctx, query)
	return sqlState(err)
}
