package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
)

// queryBench is one run of "tally bench query".
type queryBench struct {
	ingest  ingestBench
	clients int
	seconds float64
	rate    float64 // events a second
	pace    float64 // queries a second of each client; 0: the next when the last is answered
}

// benchQueryCommand is "tally bench query".
func benchQueryCommand() *cobra.Command {
	b := &queryBench{ingest: ingestBench{workload: workload{ids: "bigint", perMilli: 1, delay: 1}, sketches: true, views: 1, dedup: true, copyRows: 10_000, connections: 2}}
	cmd := &cobra.Command{
		Use:   "query",
		Short: "Read one window of a view with all its groups, while events come in",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&b.clients, "clients", 8, "clients that query")
	f.Float64Var(&b.seconds, "seconds", 10, "how long to measure")
	f.Float64Var(&b.rate, "rate", 800_000, "events a second to ingest meanwhile")
	f.Float64Var(&b.pace, "pace", 0, "queries a second of each client, timed from when each is due (0: one after the other)")
	f.IntVar(&b.ingest.workload.delay, "delay", b.ingest.workload.delay, "minutes of event time that events may be late, and that ids are remembered")
	f.IntVar(&b.ingest.copyRows, "copy-rows", b.ingest.copyRows, "events in one COPY")
	f.IntVar(&b.ingest.connections, "connections", b.ingest.connections, "clients that send events")
	f.IntVar(&b.ingest.partitions, "partitions", 8, "partitions of the stream")
	f.IntVar(&b.ingest.workload.groups, "groups", 1000, "distinct group keys")
	f.StringVar(&b.ingest.profile, "cpuprofile", "", "write a CPU profile of the server to this file")
	return cmd
}

func (b *queryBench) run(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "tally-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := startChild(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(b.measure(ctx, out, server), server.stop())
}

func (b *queryBench) measure(ctx context.Context, out io.Writer, server *child) error {
	setup, err := server.connect(ctx)
	if err != nil {
		return err
	}
	defer setup.Close(context.WithoutCancel(ctx))
	for _, sql := range b.ingest.schema() {
		if _, err := setup.Exec(ctx, sql); err != nil {
			return err
		}
	}
	stopProfile, err := startProfile(ctx, server, b.ingest.profile)
	if err != nil {
		return err
	}
	var sent, event atomic.Int64
	errs := make(chan error, b.clients+b.ingest.connections)
	var group sync.WaitGroup
	feed := newFeed(b.ingest.workload, b.ingest.copyRows, b.rate, int(b.rate*b.seconds))
	ctx, cancel := context.WithTimeout(ctx, time.Duration(b.seconds*float64(time.Second)))
	defer cancel()
	for range b.ingest.connections {
		group.Go(func() { errs <- feed.send(ctx, server, &sent, &event) })
	}
	latencies := make([][]time.Duration, b.clients)
	worst := make([]int64, b.clients)
	rows := make([]int64, b.clients)
	began := time.Now()
	for i := range b.clients {
		group.Go(func() {
			var err error
			latencies[i], worst[i], rows[i], err = b.queryLoop(ctx, server, &event)
			errs <- err
		})
	}
	group.Wait()
	took := time.Since(began)
	close(errs)
	for err := range errs {
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	var all []time.Duration
	stale, most := int64(0), int64(0)
	for i := range latencies {
		all = append(all, latencies[i]...)
		stale, most = max(stale, worst[i]), max(most, rows[i])
	}
	fmt.Fprintf(out, "tally: %d clients reading one window of %d groups from %d partitions (at most %d rows), %.3f M events/s coming in\n",
		b.clients, b.ingest.workload.groups, b.ingest.partitions, most, float64(sent.Load())/took.Seconds()/1e6)
	fmt.Fprintf(out, "tally: %d queries, %.0f/s; p50 %v p99 %v; largest _staleness_ms %d\n",
		len(all), float64(len(all))/took.Seconds(), quantile(all, 0.5), quantile(all, 0.99), stale)
	return stopProfile()
}

// feed makes and sends events at a rate.
type feed struct {
	mu    sync.Mutex
	gen   *generator
	ready [][]byte // made before the clock started
	sent  int64    // events handed out
	rows  int
	next  time.Time
	pause time.Duration
}

// newFeed returns a feed whose first events are made already, so that making them
// takes nothing from the server while it is measured.
func newFeed(w workload, rows int, rate float64, ahead int) *feed {
	f := &feed{gen: newGenerator(w), rows: rows, pause: time.Duration(float64(rows) / rate * float64(time.Second))}
	f.ready = f.gen.copies(ahead/rows, rows)
	f.next = time.Now()
	return f
}

// take returns the next COPY's data and when it is due.
func (f *feed) take(buf []byte) ([]byte, time.Time, int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = f.next.Add(f.pause)
	f.sent += int64(f.rows)
	if len(f.ready) > 0 {
		data := f.ready[0]
		f.ready = f.ready[1:]
		return data, f.next, f.sent
	}
	buf = buf[:0]
	for range f.rows {
		buf = f.gen.appendRow(buf)
	}
	return buf, f.next, f.sent
}

func (f *feed) send(ctx context.Context, server *child, sent, event *atomic.Int64) error {
	c, err := server.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	var buf []byte
	for ctx.Err() == nil {
		var due time.Time
		var id int64
		buf, due, id = f.take(buf)
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			return nil
		}
		if _, err := c.PgConn().CopyFrom(ctx, bytes.NewReader(buf), "COPY events FROM STDIN"); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		sent.Add(int64(f.rows))
		event.Store(id)
	}
	return nil
}

// interval is the time between a client's queries in nanoseconds; 0 if it does not wait.
func (b *queryBench) interval() float64 {
	if b.pace == 0 {
		return 0
	}
	return float64(time.Second) / b.pace
}

// queryLoop reads the window that events come in for, again and again.
func (b *queryBench) queryLoop(ctx context.Context, server *child, event *atomic.Int64) (latencies []time.Duration, worst, most int64, err error) {
	c, err := server.connect(ctx)
	if err != nil {
		return nil, 0, 0, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	due := time.Now().Add(time.Duration(rand.Float64() * b.interval())) // clients do not ask in step
	for ctx.Err() == nil {
		began := time.Now()
		if b.pace > 0 {
			select {
			case <-time.After(time.Until(due)):
			case <-ctx.Done():
				return latencies, worst, most, nil
			}
			began, due = due, due.Add(time.Duration(b.interval()))
		}
		at := epoch.Add(time.Duration(event.Load()*1000) * time.Microsecond).Truncate(time.Minute)
		n, stale, err := readWindow(ctx, c, at)
		if err != nil {
			if ctx.Err() != nil {
				return latencies, worst, most, nil
			}
			return nil, 0, 0, err
		}
		latencies = append(latencies, time.Since(began))
		worst, most = max(worst, stale), max(most, n)
	}
	return latencies, worst, most, nil
}

func readWindow(ctx context.Context, c *pgx.Conn, at time.Time) (rows, stale int64, err error) {
	r, err := c.Query(ctx, "SELECT key, n, total, users, p99, _status, _staleness_ms FROM minute0 WHERE window_start = $1", at)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	for r.Next() { // looks at what it needs: the client shares the machine with the server
		rows++
		if ms := r.RawValues()[6]; len(ms) == 8 {
			stale = max(stale, int64(binary.BigEndian.Uint64(ms)))
		}
	}
	return rows, stale, r.Err()
}
