package main

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/tallydb/tallydb/cmd/tally/flights"
)

// groupKey is a group of the view: an airport and a day.
type groupKey struct {
	origin string
	day    time.Time
}

// groupTruth is what plain Go makes of the same rows.
type groupTruth struct {
	flights, miles, delay int64
	destinations          map[string]bool
	delays                []int64
}

// recount groups the flights that the view counted: all that were sent, but for
// those that came after their day was closed and those that were refused.
func (d *demo) recount(ctx context.Context, run *flightsRun) (truth map[groupKey]*groupTruth, late, refused int, err error) {
	left := map[int64]bool{}
	for query, n := range map[string]*int{
		"SELECT seq FROM departures__late": &late, "SELECT seq FROM flights__rejected": &refused,
	} {
		rows, err := d.table(ctx, query)
		if err != nil {
			return nil, 0, 0, err
		}
		for _, r := range rows[1:] {
			seq, err := strconv.ParseInt(r[0], 10, 64)
			if err != nil {
				return nil, 0, 0, fmt.Errorf("%s: %w", query, err)
			}
			left[seq] = true
			*n++
		}
	}
	truth = map[groupKey]*groupTruth{}
	for _, f := range run.sent {
		if left[f.Seq] {
			continue
		}
		k := groupKey{f.Origin, f.Event.Truncate(24 * time.Hour)}
		g := truth[k]
		if g == nil {
			g = &groupTruth{destinations: map[string]bool{}}
			truth[k] = g
		}
		g.add(f)
	}
	return truth, late, refused, nil
}

func (g *groupTruth) add(f flights.Flight) {
	g.flights++
	g.miles += f.DistanceMiles
	g.delay += f.DelayMinutes
	g.destinations[f.Destination] = true
	g.delays = append(g.delays, f.DelayMinutes)
}

// viewRow is a group as the view has it.
type viewRow struct {
	groupKey
	flights, miles, delay            int64
	destLo, destHi, delayLo, delayHi float64
}

func (d *demo) viewRows(ctx context.Context) ([]viewRow, error) {
	rows, err := d.conn.Query(ctx, `SELECT origin, window_start, flights, miles::bigint, round(delay * flights)::bigint,
		destinations_lo::float8, destinations_hi::float8, delay_p90_lo, delay_p90_hi FROM departures`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []viewRow
	for rows.Next() {
		var r viewRow
		if err := rows.Scan(&r.origin, &r.day, &r.flights, &r.miles, &r.delay, &r.destLo, &r.destHi, &r.delayLo, &r.delayHi); err != nil {
			return nil, err
		}
		r.day = r.day.UTC()
		out = append(out, r)
	}
	return out, rows.Err()
}

// proveExact compares the exact columns with a recount.
func (d *demo) proveExact(ctx context.Context, run *flightsRun) error {
	truth, late, refused, err := d.recount(ctx, run)
	if err != nil {
		return err
	}
	view, err := d.viewRows(ctx)
	if err != nil {
		return err
	}
	wrong, total := 0, int64(0)
	for _, r := range view {
		total += r.flights
		t := truth[r.groupKey]
		if t == nil || t.flights != r.flights || t.miles != r.miles || t.delay != r.delay {
			wrong++
		}
	}
	d.prove(wrong == 0 && len(view) == len(truth), "exact: %d groups recounted in plain Go, %d differ", len(truth), wrong)
	d.prove(total+int64(late+refused) == int64(len(run.sent)), "accounted: %d flights counted + %d in departures__late + %d in flights__rejected = %d sent", total, late, refused, len(run.sent))
	return nil
}

// proveSketches checks that the true values lie inside the bounds as often as the
// declared confidence says: it fails with probability below one in a million.
func (d *demo) proveSketches(ctx context.Context, run *flightsRun) error {
	truth, _, _, err := d.recount(ctx, run)
	if err != nil {
		return err
	}
	view, err := d.viewRows(ctx)
	if err != nil {
		return err
	}
	const confidence = 0.95
	distinct, rank := 0, 0
	for _, r := range view {
		t := truth[r.groupKey]
		if t == nil {
			continue
		}
		if n := float64(len(t.destinations)); n >= r.destLo && n <= r.destHi {
			distinct++
		}
		slices.Sort(t.delays)
		q := float64(t.delays[max(int(math.Ceil(0.9*float64(len(t.delays))))-1, 0)])
		if q >= r.delayLo && q <= r.delayHi {
			rank++
		}
	}
	least := binomialLow(len(view), confidence)
	d.prove(distinct >= least, "approx_distinct: the true number of destinations is inside the bounds in %d of %d groups (at least %d by the declared 95 %%)", distinct, len(view), least)
	d.prove(rank >= least, "approx_quantile: the true p90 of the delay is inside the bounds in %d of %d groups (at least %d)", rank, len(view), least)
	return nil
}

// binomialLow returns a number of successes out of n that is undercut with
// probability below 1e-6 if each succeeds with probability p (normal
// approximation, five standard deviations).
func binomialLow(n int, p float64) int {
	return int(float64(n)*p - 5*math.Sqrt(float64(n)*p*(1-p)))
}

// proveDuplicates checks that what was sent again counts once.
func (d *demo) proveDuplicates(ctx context.Context, run *flightsRun) error {
	hits, err := d.count(ctx, "SELECT sum(duplicates)::bigint FROM tally_catalog.partitions WHERE stream = 'flights'")
	if err != nil {
		return err
	}
	d.prove(hits == run.resent, "duplicates: %d rows were sent again, also across the SIGKILL; %d were recognised", run.resent, hits)
	admitted, err := d.count(ctx, "SELECT count(*) FROM flights")
	if err != nil {
		return err
	}
	refused, err := d.count(ctx, "SELECT count(*) FROM flights__rejected")
	if err != nil {
		return err
	}
	d.prove(admitted+refused == int64(len(run.sent)), "the retained log holds each flight once: count(*) = %d, %d rejected", admitted, refused)
	return nil
}

// provePartial takes a partition offline.
func (d *demo) provePartial(ctx context.Context, _ *flightsRun) error {
	if _, err := d.conn.Exec(ctx, "ALTER STREAM flights PARTITION 3 OFFLINE"); err != nil {
		return err
	}
	for what, query := range map[string]string{
		"an aggregate without a label":  "SELECT sum(flights) FROM departures",
		"a result without rows":         "SELECT origin FROM departures WHERE flights > 1000000",
		"a GROUP BY of the routing key": "SELECT origin, sum(flights) FROM departures GROUP BY origin",
	} {
		state, err := d.code(ctx, query)
		if err != nil {
			return err
		}
		d.prove(state == "TY001", "partition 3 is offline: %s is an error (SQLSTATE %s)", what, state)
	}
	rows, err := d.table(ctx, "SELECT origin, flights, _status, _coverage FROM departures ORDER BY flights DESC")
	if err != nil {
		return err
	}
	labelled := 0
	for _, r := range rows[1:] {
		if r[2] == "partial" && r[3] != "1" {
			labelled++
		}
	}
	d.prove(labelled == len(rows)-1 && labelled > 0, "and every one of %d rows says partial, with a coverage below 1", labelled)
	if _, err := d.conn.Exec(ctx, "ALTER STREAM flights PARTITION 3 ONLINE"); err != nil {
		return err
	}
	complete, err := d.count(ctx, "SELECT count(*) FROM departures WHERE _coverage = 1")
	if err != nil {
		return err
	}
	d.prove(complete >= int64(labelled), "back online: all %d rows have coverage 1", complete)
	return nil
}

// proveRestart compares the whole view before and after a restart.
func (d *demo) proveRestart(ctx context.Context, _ *flightsRun) error {
	const query = `SELECT origin, window_start, flights, miles, delay, destinations, destinations_lo, destinations_hi, delay_p90,
		delay_p90_lo, delay_p90_hi, _coverage FROM departures ORDER BY origin, window_start`
	before, err := d.table(ctx, query)
	if err != nil {
		return err
	}
	if err := d.restart(ctx, false); err != nil {
		return err
	}
	after, err := d.table(ctx, query)
	if err != nil {
		return err
	}
	d.prove(reflect.DeepEqual(before, after), "a restart changes nothing: %d rows are equal to the last digit", len(after)-1)
	return nil
}
