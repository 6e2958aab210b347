package main

import (
	"bufio"
	"context"
	_ "embed" // for the script
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// wire is a server that speaks PostgreSQL's protocol.
type wire struct {
	label   string
	conn    *pgx.Conn
	rewrite func(string) string
}

func openWire(ctx context.Context, label, url string, rewrite func(string) string) (*wire, error) {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &wire{label, c, rewrite}, nil
}

func (w *wire) name() string { return w.label }

func (w *wire) close() { _ = w.conn.Close(context.Background()) } // the run is over either way

func (w *wire) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := w.conn.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// run implements engine.
func (w *wire) run(ctx context.Context, sql string) ([][]string, time.Duration, error) {
	began := time.Now()
	var results []*pgconn.Result
	results, err := w.conn.PgConn().Exec(ctx, w.rewrite(sql)).ReadAll()
	took := time.Since(began)
	if err == nil && len(results) != 1 {
		err = fmt.Errorf("%d results instead of one", len(results))
	}
	if err != nil {
		return nil, 0, err
	}
	rows := make([][]string, len(results[0].Rows))
	for i, r := range results[0].Rows {
		for _, v := range r {
			if v == nil {
				rows[i] = append(rows[i], "NULL")
			} else {
				rows[i] = append(rows[i], strings.TrimSuffix(string(v), "+00"))
			}
		}
	}
	return rows, took, nil
}

// duckScript answers queries that come as lines of JSON with lines of JSON.
//
//go:embed benchsql_duckdb.py
var duckScript string

// duckDB is a process that runs DuckDB on one thread, in memory.
type duckDB struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func openDuckDB(ctx context.Context, python string, data *flightFiles) (*duckDB, error) {
	d := &duckDB{cmd: exec.CommandContext(ctx, python, "-c", duckScript)}
	d.cmd.Stderr = os.Stderr
	var err error
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.out = bufio.NewReader(out)
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start DuckDB: %w", err)
	}
	airports := data.path + ".airports"
	if err := os.WriteFile(airports, data.airports, 0o644); err != nil {
		return nil, err
	}
	columns := strings.ReplaceAll(flightColumns, "timestamptz", "timestamp") // its timestamptz goes through ICU, which is slow
	for _, sql := range []string{
		"SET threads = 1",
		"CREATE TABLE flights (" + columns + ")",
		"COPY flights FROM '" + data.path + "' (FORMAT csv, HEADER false, TIMESTAMPFORMAT '%Y-%m-%d %H:%M:%S+00')",
		"CREATE TABLE airports (code text PRIMARY KEY, region text, runways bigint)",
		"COPY airports FROM '" + airports + "' (FORMAT csv, HEADER false)",
	} {
		if _, _, err := d.run(ctx, sql); err != nil {
			return nil, fmt.Errorf("load DuckDB: %w", err)
		}
	}
	return d, nil
}

func (d *duckDB) name() string { return "DuckDB" }

func (d *duckDB) close() {
	_ = d.in.Close() // the script ends then
	_ = d.cmd.Wait()
}

// run implements engine. The time is taken in the process, without that of the text.
func (d *duckDB) run(_ context.Context, sql string) ([][]string, time.Duration, error) {
	line, err := json.Marshal(sql)
	if err != nil {
		return nil, 0, err
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		return nil, 0, err
	}
	if line, err = d.out.ReadBytes('\n'); err != nil {
		return nil, 0, err
	}
	var answer struct {
		Error   string     `json:"error"`
		Seconds float64    `json:"seconds"`
		Rows    [][]string `json:"rows"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return nil, 0, err
	}
	if answer.Error != "" {
		return nil, 0, errors.New(answer.Error)
	}
	return answer.Rows, time.Duration(answer.Seconds * float64(time.Second)), nil
}

// equalRows compares answers: numbers within 1e-9 of each other are equal.
func equalRows(a, b [][]string, unordered bool) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d rows and %d rows", len(a), len(b))
	}
	if unordered {
		a, b = slices.SortedFunc(slices.Values(a), slices.Compare[[]string]), slices.SortedFunc(slices.Values(b), slices.Compare[[]string])
	}
	for i := range a {
		if !slices.EqualFunc(a[i], b[i], equalValues) {
			return fmt.Errorf("row %d is %v and %v", i+1, a[i], b[i])
		}
	}
	return nil
}

func equalValues(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
}
