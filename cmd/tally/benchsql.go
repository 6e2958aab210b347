package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// sqlBench is one run of "tally bench sql".
type sqlBench struct {
	rows    int
	times   int
	queries []string
	dir     string
	pg      string
	duckdb  string
	profile string
	flags   []string
}

// benchSQLCommand is "tally bench sql".
func benchSQLCommand() *cobra.Command {
	b := &sqlBench{}
	cmd := &cobra.Command{
		Use:   "sql",
		Short: "Analytic queries on flights in a table and in a stream, beside PostgreSQL and DuckDB",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&b.rows, "rows", 3_000_000, "flights: those of the demonstration, again and again, two weeks later each time")
	f.IntVar(&b.times, "times", 5, "runs of each query after one that warms up; the median counts")
	f.StringSliceVar(&b.queries, "queries", nil, "names of queries to run (default: all)")
	f.StringVar(&b.dir, "dir", "", "folder for the data, which is kept and used again (default: a temporary one)")
	f.StringVar(&b.pg, "postgres", "", "connection string of a PostgreSQL server to compare with, in the same run")
	f.StringVar(&b.duckdb, "duckdb", "", "a Python with the package duckdb, to compare with, in the same run")
	f.StringVar(&b.profile, "cpuprofile", "", "write a CPU profile of four seconds of the server to this file, and read only the table")
	f.StringSliceVar(&b.flags, "serve-flags", nil, "further flags of the server")
	return cmd
}

// engine answers queries.
type engine interface {
	name() string
	// run returns the rows as text and the time until the last was there.
	run(ctx context.Context, sql string) ([][]string, time.Duration, error)
}

func (b *sqlBench) run(ctx context.Context, out io.Writer) (err error) {
	dir := b.dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "tally-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	data, err := makeFlightFiles(dir, b.rows)
	if err != nil {
		return err
	}
	server, err := startChild(ctx, filepath.Join(dir, "tally"), b.flags...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	engines, closeAll, err := b.open(ctx, server, data)
	defer closeAll()
	if err != nil {
		return err
	}
	return b.measure(ctx, out, server, engines)
}

// open connects the engines, and loads the data where it is not there yet. What it
// returns closes those that were opened, also after an error.
func (b *sqlBench) open(ctx context.Context, server *child, data *flightFiles) (engines []engine, closeAll func(), err error) {
	var closers []func()
	closeAll = func() {
		for _, c := range slices.Backward(closers) {
			c()
		}
	}
	tally, err := openWire(ctx, "table", server.url(), func(sql string) string { return sql })
	if err != nil {
		return nil, closeAll, err
	}
	closers = append(closers, tally.close)
	if err := tally.load(ctx, data, true); err != nil {
		return nil, closeAll, fmt.Errorf("load TallyDB: %w", err)
	}
	stream := &wire{label: "stream", conn: tally.conn, rewrite: onStream}
	engines = []engine{tally, stream}
	if b.profile != "" {
		return engines[:1], closeAll, nil
	}
	if b.pg != "" {
		for _, c := range []struct{ label, set string }{{"PG serial", "SET max_parallel_workers_per_gather = 0"}, {"PG", "SET max_parallel_workers_per_gather = DEFAULT"}} {
			w, err := openWire(ctx, c.label, b.pg, func(sql string) string { return sql })
			if err != nil {
				return nil, closeAll, err
			}
			closers = append(closers, w.close)
			if err := w.load(ctx, data, false); err != nil {
				return nil, closeAll, fmt.Errorf("load PostgreSQL: %w", err)
			}
			if err := w.exec(ctx, c.set, "SET work_mem = '256MB'", "SET TimeZone = 'UTC'"); err != nil {
				return nil, closeAll, err
			}
			engines = append(engines, w)
		}
	}
	if b.duckdb != "" {
		d, err := openDuckDB(ctx, b.duckdb, data)
		if err != nil {
			return nil, closeAll, err
		}
		closers = append(closers, d.close)
		engines = append(engines, d)
	}
	return engines, closeAll, nil
}

// queryTime is what one engine needed for one query.
type queryTime struct {
	median time.Duration
	cores  float64 // that the server kept busy meanwhile; 0 where that is not known
}

func (b *sqlBench) measure(ctx context.Context, out io.Writer, server *child, engines []engine) error {
	fmt.Fprintf(out, "%d flights; milliseconds, median of %d after a first run; cores: how many the server kept busy\n\n", b.rows, b.times)
	fmt.Fprintf(out, "| %-16s |", "query")
	for _, e := range engines {
		fmt.Fprintf(out, " %9s |", e.name())
	}
	fmt.Fprintf(out, " table/DuckDB | stream/DuckDB | table/PG | stream/PG | cores table, stream |\n|---|%s---|---|---|---|---|\n", strings.Repeat("---|", len(engines)))
	for _, q := range sqlQueries {
		if len(b.queries) > 0 && !slices.Contains(b.queries, q.name) {
			continue
		}
		results := map[string]queryTime{}
		var expected [][]string
		fmt.Fprintf(out, "| %-16s |", q.name)
		for _, e := range engines {
			m, rows, err := b.one(ctx, server, e, q)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", q.name, e.name(), err)
			}
			if expected == nil {
				expected = rows
			} else if err := equalRows(expected, rows, q.unordered); err != nil {
				return fmt.Errorf("%s: %s and %s disagree: %w", q.name, engines[0].name(), e.name(), err)
			}
			results[e.name()] = m
			fmt.Fprintf(out, " %9.1f |", float64(m.median.Microseconds())/1000)
		}
		fmt.Fprintf(out, " %12s | %13s | %8s | %9s | %.2f, %.2f |\n",
			ratio(results, "table", "DuckDB"), ratio(results, "stream", "DuckDB"), ratio(results, "table", "PG", "PG serial"), ratio(results, "stream", "PG", "PG serial"),
			results["table"].cores, results["stream"].cores)
	}
	return nil
}

// ratio is the time of one engine by that of the fastest of others.
func ratio(results map[string]queryTime, of string, by ...string) string {
	best := time.Duration(0)
	for _, n := range by {
		if m, ok := results[n]; ok && (best == 0 || m.median < best) {
			best = m.median
		}
	}
	if best == 0 || results[of].median == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(results[of].median)/float64(best))
}

// one measures one query on one engine.
func (b *sqlBench) one(ctx context.Context, server *child, e engine, q sqlQuery) (queryTime, [][]string, error) {
	rows, _, err := e.run(ctx, q.sql)
	if err != nil {
		return queryTime{}, nil, err
	}
	stopProfile, err := startProfile(ctx, server, b.profile)
	if err != nil {
		return queryTime{}, nil, err
	}
	before, err := server.cpu(ctx)
	if err != nil {
		return queryTime{}, nil, err
	}
	var times []time.Duration
	began := time.Now()
	for len(times) < b.times || b.profile != "" && time.Since(began) < 4*time.Second {
		_, took, err := e.run(ctx, q.sql)
		if err != nil {
			return queryTime{}, nil, err
		}
		times = append(times, took)
	}
	elapsed := time.Since(began)
	after, err := server.cpu(ctx)
	if err != nil {
		return queryTime{}, nil, err
	}
	slices.Sort(times)
	return queryTime{times[len(times)/2], float64(after-before) / float64(elapsed)}, rows, stopProfile()
}

// load makes the tables and, for TallyDB, the stream, and copies the data.
func (w *wire) load(ctx context.Context, data *flightFiles, stream bool) error {
	var there bool
	if err := w.conn.QueryRow(ctx, "SELECT count(*) = 1 FROM pg_catalog.pg_class WHERE relname = 'airports'").Scan(&there); err != nil || there {
		return err
	}
	targets := []string{"flights"}
	if err := w.exec(ctx, "CREATE TABLE flights ("+flightColumns+")"); err != nil {
		return err
	}
	if stream {
		targets = append(targets, "flights_stream")
		if err := w.exec(ctx, "CREATE STREAM flights_stream ("+flightColumns+", WATERMARK FOR event_time AS event_time - INTERVAL '1 day') WITH (partitions = 8)"); err != nil {
			return err
		}
	}
	for _, target := range targets {
		err := data.chunks(100_000, func(rows []byte) error {
			_, err := w.conn.PgConn().CopyFrom(ctx, bytes.NewReader(rows), "COPY "+target+" FROM STDIN (FORMAT csv)")
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := w.exec(ctx, "CREATE TABLE airports (code text PRIMARY KEY, region text, runways bigint)"); err != nil {
		return err
	}
	if _, err := w.conn.PgConn().CopyFrom(ctx, bytes.NewReader(data.airports), "COPY airports FROM STDIN (FORMAT csv)"); err != nil {
		return err
	}
	if stream {
		return nil
	}
	return w.exec(ctx, "VACUUM ANALYZE")
}
