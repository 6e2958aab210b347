package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
)

// ingestBench is one run of "tally bench ingest".
type ingestBench struct {
	workload    workload
	rows        int
	copyRows    int
	connections int
	partitions  int
	sketches    bool
	views       int
	dedup       bool
	postgres    string
	dir         string
	profile     string
}

// benchIngestCommand is "tally bench ingest".
func benchIngestCommand() *cobra.Command {
	b := &ingestBench{}
	cmd := &cobra.Command{
		Use:   "ingest",
		Short: "COPY into a stream with a continuous view: acknowledged, durable, applied events a second",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&b.rows, "rows", 5_000_000, "events to send")
	f.IntVar(&b.copyRows, "copy-rows", 50_000, "events in one COPY")
	f.IntVar(&b.connections, "connections", 4, "clients")
	f.IntVar(&b.partitions, "partitions", 8, "partitions of the stream")
	f.IntVar(&b.workload.groups, "groups", 1000, "distinct group keys")
	f.StringVar(&b.workload.ids, "ids", "bigint", "type of the event ids: bigint or uuid")
	f.IntVar(&b.workload.nulls, "nulls", 0, "percent of NULL users and values")
	f.IntVar(&b.workload.escapes, "escapes", 0, "percent of users with an escape sequence")
	f.IntVar(&b.workload.perMilli, "events-per-ms", 1, "events per millisecond of event time")
	f.BoolVar(&b.sketches, "sketches", true, "whether the view keeps approx_distinct and approx_quantile")
	f.IntVar(&b.views, "views", 1, "continuous views on the stream")
	f.BoolVar(&b.dedup, "dedup", true, "whether the stream removes duplicates")
	f.StringVar(&b.postgres, "postgres", "", "connection string of a PostgreSQL server to COPY the same data into, in the same run")
	f.StringVar(&b.dir, "dir", "", "folder for the data directory (default: a temporary one)")
	f.StringVar(&b.profile, "cpuprofile", "", "write a CPU profile of the server to this file")
	return cmd
}

func (b *ingestBench) run(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp(b.dir, "tally-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	data := newGenerator(b.workload).copies(b.rows/b.copyRows, b.copyRows)
	server, err := startChild(ctx, dir)
	if err != nil {
		return err
	}
	err = b.measure(ctx, out, server, data)
	if err == nil && b.postgres != "" {
		err = b.comparePostgres(ctx, out, data)
	}
	return errors.Join(err, server.stop())
}

// schema returns the statements that make the stream and its views.
func (b *ingestBench) schema() []string {
	delay := cmp.Or(b.workload.delay, 20)
	with := fmt.Sprintf("partitions = %d, partition_key = 'key'", b.partitions)
	if b.dedup {
		with += fmt.Sprintf(", dedup_key = 'id', dedup_horizon = '%d minutes'", delay)
	}
	out := []string{fmt.Sprintf(`CREATE STREAM events (id %s, key text, usr text, value double precision, at timestamptz,
		WATERMARK FOR at AS at - INTERVAL '%d minutes') WITH (%s)`, b.workload.ids, delay, with)}
	sketches := ""
	if b.sketches {
		sketches = ", approx_distinct(usr) AS users, approx_quantile(value, 0.99) AS p99"
	}
	for v := range b.views {
		out = append(out, fmt.Sprintf(`CREATE CONTINUOUS VIEW minute%d AS SELECT key, window_start, window_end, count(*) AS n, sum(value) AS total%s
			FROM TUMBLE(events, at, INTERVAL '1 minute') GROUP BY key, window_start, window_end`, v, sketches))
	}
	return out
}

func (b *ingestBench) measure(ctx context.Context, out io.Writer, server *child, data [][]byte) error {
	conns := make([]*pgx.Conn, b.connections)
	for i := range conns {
		c, err := server.connect(ctx)
		if err != nil {
			return err
		}
		defer c.Close(context.WithoutCancel(ctx))
		conns[i] = c
	}
	for _, sql := range b.schema() {
		if _, err := conns[0].Exec(ctx, sql); err != nil {
			return err
		}
	}
	stopProfile, err := startProfile(ctx, server, b.profile)
	if err != nil {
		return err
	}
	before, err := server.cpu(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	latencies, err := copyAll(ctx, conns, "COPY events FROM STDIN", data)
	if err != nil {
		return err
	}
	acknowledged := time.Since(began)
	if err := awaitApplied(ctx, conns[0], int64(len(data)*b.copyRows)); err != nil {
		return err
	}
	applied := time.Since(began)
	after, err := server.cpu(ctx)
	if err != nil {
		return err
	}
	if err := stopProfile(); err != nil {
		return err
	}
	n := float64(len(data) * b.copyRows)
	fmt.Fprintf(out, "tally: %s ids, %d groups, %d views, sketches %v, dedup %v, %d nulls%%, %d escapes%%, %d connections, COPYs of %d rows\n",
		b.workload.ids, b.workload.groups, b.views, b.sketches, b.dedup, b.workload.nulls, b.workload.escapes, b.connections, b.copyRows)
	fmt.Fprintf(out, "tally: %.0f events acknowledged in %.2fs: %.3f M/s; applied in %.2fs: %.3f M/s; server CPU %.0f ns/event; ack p50 %v p99 %v\n",
		n, acknowledged.Seconds(), n/acknowledged.Seconds()/1e6, applied.Seconds(), n/applied.Seconds()/1e6,
		float64((after-before).Nanoseconds())/n, quantile(latencies, 0.5), quantile(latencies, 0.99))
	return nil
}

// copyAll sends the data over the connections and returns the time of each COPY.
func copyAll(ctx context.Context, conns []*pgx.Conn, sql string, data [][]byte) ([]time.Duration, error) {
	var next atomic.Int64
	var mu sync.Mutex
	var latencies []time.Duration
	var failure error
	var group sync.WaitGroup
	for _, c := range conns {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(data) {
					return
				}
				began := time.Now()
				_, err := c.PgConn().CopyFrom(ctx, bytes.NewReader(data[i]), sql)
				mu.Lock()
				latencies = append(latencies, time.Since(began))
				failure = errors.Join(failure, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	group.Wait()
	return latencies, failure
}

// awaitApplied waits until the first view has counted n events.
func awaitApplied(ctx context.Context, c *pgx.Conn, n int64) error {
	if _, err := c.Exec(ctx, "SET read_wait = '60s'"); err != nil {
		return err
	}
	var counted int64
	var status string
	err := c.QueryRow(ctx, "SELECT sum(n)::bigint, _status FROM minute0").Scan(&counted, &status)
	if err == nil && counted != n {
		err = fmt.Errorf("the view counted %d of %d events (%s)", counted, n, status)
	}
	return err
}

// comparePostgres copies the same data into PostgreSQL, with a primary key.
func (b *ingestBench) comparePostgres(ctx context.Context, out io.Writer, data [][]byte) error {
	conns := make([]*pgx.Conn, b.connections)
	for i := range conns {
		c, err := pgx.Connect(ctx, b.postgres)
		if err != nil {
			return err
		}
		defer c.Close(context.WithoutCancel(ctx))
		conns[i] = c
	}
	for _, key := range []string{"", " PRIMARY KEY"} {
		for _, sql := range []string{
			"DROP TABLE IF EXISTS tally_bench",
			fmt.Sprintf("CREATE TABLE tally_bench (id %s%s, key text, usr text, value double precision, at timestamptz)", b.workload.ids, key),
		} {
			if _, err := conns[0].Exec(ctx, sql); err != nil {
				return err
			}
		}
		began := time.Now()
		latencies, err := copyAll(ctx, conns, "COPY tally_bench FROM STDIN", data)
		if err != nil {
			return err
		}
		took := time.Since(began)
		n := float64(len(data) * b.copyRows)
		fmt.Fprintf(out, "postgres%s: %.0f rows in %.2fs: %.3f M/s; ack p50 %v p99 %v\n", key, n, took.Seconds(), n/took.Seconds()/1e6,
			quantile(latencies, 0.5), quantile(latencies, 0.99))
	}
	_, err := conns[0].Exec(ctx, "DROP TABLE tally_bench")
	return err
}

// quantile returns the q-quantile of durations, which it sorts.
func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(int(q*float64(len(d))), len(d)-1)].Round(10 * time.Microsecond)
}
