package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tallydb/tallydb/cmd/tally/flights"
)

const (
	flightsStream = `CREATE STREAM flights (
  seq bigint, arrival_time timestamptz, event_time timestamptz,
  origin text, destination text, delay_min bigint, distance_mi bigint,
  WATERMARK FOR event_time AS event_time - INTERVAL '3 hours'
) WITH (partitions = 8, partition_key = 'origin', dedup_key = 'seq', dedup_horizon = '2 days')`

	flightsView = `CREATE CONTINUOUS VIEW departures WITH (allowed_lateness = '2 hours') AS
SELECT origin, window_start, window_end, count(*) AS flights, sum(distance_mi) AS miles,
       avg(delay_min) AS delay, approx_distinct(destination) AS destinations, approx_quantile(delay_min, 0.9) AS delay_p90
FROM TUMBLE(flights, event_time, INTERVAL '1 day')
GROUP BY origin, window_start, window_end`

	copyFlights = "COPY flights (" + flights.Columns + ") FROM STDIN (FORMAT csv)"
)

// sendRows is the number of flights in one COPY.
const sendRows = 2000

// flightsRun is what the demonstration did to the stream.
type flightsRun struct {
	sent   []flights.Flight
	resent int64
	killed bool
}

// flights streams the data and proves the view's numbers.
func (d *demo) flights(ctx context.Context, seconds float64) error {
	data, err := flights.Load()
	if err != nil {
		return err
	}
	for _, sql := range []string{flightsStream, flightsView} {
		if err := d.sql(ctx, sql); err != nil {
			return err
		}
	}
	fmt.Fprintf(d.out, "\n%d flights of two weeks, in the order in which they became known (45.9 %% out of order), in about %.0f s.\n", len(data), seconds)
	fmt.Fprintf(d.out, "Every seventh batch is sent again between new ones; halfway the server is killed with SIGKILL.\n\n")
	run, err := d.stream(ctx, data, seconds)
	if err != nil {
		return err
	}
	fmt.Fprintln(d.out)
	if err := d.show(ctx, "SELECT origin, window_start, flights, delay_p90, _status, _coverage, _error, _staleness_ms FROM departures WHERE origin IN ('ATL', 'ORD') ORDER BY window_start DESC, origin LIMIT 6"); err != nil {
		return err
	}
	fmt.Fprintln(d.out, "Proofs:")
	for _, proof := range []func(context.Context, *flightsRun) error{d.proveExact, d.proveSketches, d.proveDuplicates, d.provePartial, d.proveRestart} {
		if err := proof(ctx, run); err != nil {
			return err
		}
	}
	return nil
}

// stream sends the flights, resends some, and kills the server once.
func (d *demo) stream(ctx context.Context, data []flights.Flight, seconds float64) (*flightsRun, error) {
	run := &flightsRun{sent: data}
	batches := (len(data) + sendRows - 1) / sendRows
	pause := time.Duration(seconds / float64(batches) * float64(time.Second))
	pace := time.NewTicker(max(pause, time.Microsecond))
	defer pace.Stop()
	for b := range batches {
		if err := d.send(ctx, data, b); err != nil {
			return nil, err
		}
		if !run.killed && b >= batches/2 {
			run.killed = true
			d.watcher.step(b+1, batches, "SIGKILL; the server starts again from its log")
			if err := d.restart(ctx, true); err != nil {
				return nil, err
			}
		}
		if b%7 == 3 || b == batches/2 { // the batch before, after its acknowledgement
			if err := d.send(ctx, data, b-1); err != nil {
				return nil, err
			}
			run.resent += int64(batchLen(data, b-1))
		}
		busiest, err := d.busiest(ctx)
		if err != nil {
			return nil, err
		}
		d.watcher.step(b+1, batches, "%s  %s", data[min((b+1)*sendRows, len(data))-1].Arrival.Format("Jan 02 15:04"), busiest)
		select {
		case <-pace.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return run, nil
}

func batchLen(data []flights.Flight, b int) int {
	return min((b+1)*sendRows, len(data)) - b*sendRows
}

// send copies one batch.
func (d *demo) send(ctx context.Context, data []flights.Flight, b int) error {
	var text strings.Builder
	for _, f := range data[b*sendRows : b*sendRows+batchLen(data, b)] {
		text.WriteString(f.Line)
		text.WriteByte('\n')
	}
	_, err := d.conn.PgConn().CopyFrom(ctx, strings.NewReader(text.String()), copyFlights)
	return err
}

// busiest says which airport leads the newest day.
func (d *demo) busiest(ctx context.Context) (string, error) {
	rows, err := d.table(ctx, "SELECT window_start::date, origin, flights, _status FROM departures ORDER BY window_start DESC, flights DESC LIMIT 1")
	if err != nil || len(rows) < 2 {
		return "", err
	}
	r := rows[1]
	return fmt.Sprintf("%s leads %s with %s flights (%s)", r[1], r[0], r[2], r[3]), nil
}
