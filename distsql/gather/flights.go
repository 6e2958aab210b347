package gather

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
)

// Flights lets statements that ask the same of a view at the same time share one
// answer, as the viewers of a dashboard do. A statement joins only a flight that
// has not pinned its cut yet, so it never reads less than what was durable when
// it began. Flights is safe for concurrent use and starts no goroutine: the first
// to ask runs the flight.
type Flights struct {
	mu      sync.Mutex
	running map[string]*flight // pinned, under way
	next    map[string]*flight // waits for the running one
	shared  int64
}

// NewFlights returns an empty table.
func NewFlights() *Flights {
	return &Flights{running: map[string]*flight{}, next: map[string]*flight{}}
}

// Shared returns how many answers were shared.
func (f *Flights) Shared() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shared
}

// flight is one answer for all that joined it.
type flight struct {
	after  *flight       // the one that it waits for; nil if it may start
	done   chan struct{} // closed when the answer is there
	answer *folded
	err    error
}

// do returns the answer of a flight: run by this caller if it is the first, which
// begins after the flight under way has ended, or by who was first.
func (f *Flights) do(ctx context.Context, key string, run func() (*folded, error)) (answer *folded, err error) {
	fl, first := f.join(key)
	if !first {
		select {
		case <-fl.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if fl.err != nil { // its runner may have been cancelled; this statement was not
			return run()
		}
		return fl.answer, nil
	}
	err = errors.New("it did not end")
	defer func() { f.land(key, fl, answer, err) }() // also if it panics: others wait
	if fl.after != nil {
		select {
		case <-fl.after.done:
		case <-ctx.Done():
			f.depart(key, fl)
			return nil, context.Cause(ctx)
		}
		f.depart(key, fl)
	}
	return run()
}

// join returns the flight to wait for; first says that the caller runs it.
func (f *Flights) join(key string) (fl *flight, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl := f.next[key]; fl != nil {
		f.shared++
		return fl, false
	}
	fl = &flight{done: make(chan struct{}), after: f.running[key]}
	if fl.after == nil {
		f.running[key] = fl
	} else {
		f.next[key] = fl
	}
	return fl, true
}

// depart makes a waiting flight the running one: nobody joins it any more.
func (f *Flights) depart(key string, fl *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.next, key)
	f.running[key] = fl
}

// land hands out the answer.
func (f *Flights) land(key string, fl *flight, answer *folded, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fl.answer, fl.err = answer, err
	if f.running[key] == fl {
		delete(f.running, key)
	}
	close(fl.done)
}

// flightKey identifies what a scan asks, with the values of parameters and of what
// else is fixed for the statement, such as now(); ok is false if its answer is the
// statement's alone: of a filter whose meaning for a row depends on more than the row,
// such as age().
func (s *Statement) flightKey(scan *plan.FoldScan, ec *expr.Context) (key string, ok bool) {
	if s.flights == nil {
		return "", false
	}
	exprs := scan.Partition
	if scan.KeyFilter != nil {
		exprs = append([]expr.Expr{scan.KeyFilter}, exprs...)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d/%v/%v/%x/%d", scan.View.ID, scan.View.Version, scan.Needed, scan.Columns, math.Float64bits(s.settings.Confidence), s.settings.ReadWait)
	for _, e := range exprs {
		e = expr.FoldStable(e, ec)
		if e.Volatility() != expr.Immutable {
			return "", false
		}
		fmt.Fprintf(&b, "/%s", e)
	}
	return b.String(), true
}
