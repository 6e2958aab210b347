package gather

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/distsql/envelope"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// keyOf returns the flight's key of "window_start >= bound" on view 7.
func keyOf(t *testing.T, params []types.Datum, now time.Time, bound func(column expr.Expr) expr.Expr) (string, bool) {
	t.Helper()
	column := &expr.Column{Index: 0, Typ: types.Of(types.Timestamptz), Name: "window_start"}
	filter, err := expr.NewOperator(">=", column, bound(column))
	if err != nil {
		t.Fatal(err)
	}
	s := &Statement{flights: NewFlights()}
	scan := &plan.FoldScan{View: &catalog.Relation{ID: id.Relation(7)}, KeyFilter: filter}
	return s.flightKey(scan, &expr.Context{Params: params, Now: now})
}

// TestFlightsByMeaning: statements share an answer if parameters and what is fixed
// for them have equal values, and never if a filter depends on more than that.
func TestFlightsByMeaning(t *testing.T) {
	param := func(expr.Expr) expr.Expr { return &expr.Param{N: 1, Typ: types.Of(types.Timestamptz)} }
	at := func(us int64) []types.Datum { return []types.Datum{types.IntDatum(types.Timestamptz, us)} }
	one, ok1 := keyOf(t, at(1), time.Unix(1, 0), param)
	same, ok2 := keyOf(t, at(1), time.Unix(2, 0), param)
	other, ok3 := keyOf(t, at(2), time.Unix(1, 0), param)
	if !ok1 || !ok2 || !ok3 || one != same || one == other {
		t.Errorf("parameters: %q %v, %q %v, %q %v", one, ok1, same, ok2, other, ok3)
	}
	clock := func(expr.Expr) expr.Expr {
		now, err := expr.NewFunction("now", nil)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	early, ok1 := keyOf(t, nil, time.Unix(1, 0), clock)
	late, ok2 := keyOf(t, nil, time.Unix(2, 0), clock)
	if !ok1 || !ok2 || early == late {
		t.Errorf("now() at two times: %q %v, %q %v", early, ok1, late, ok2)
	}
	if key, ok := keyOf(t, nil, time.Unix(1, 0), func(column expr.Expr) expr.Expr { // in the session's time zone
		trunc, err := expr.NewFunction("date_trunc", []expr.Expr{expr.NewLiteral("day"), column})
		if err != nil {
			t.Fatal(err)
		}
		return trunc
	}); ok {
		t.Errorf("a filter that depends on the time zone is shared by %q", key)
	}
}

// asking is statements that ask the same question, whose answers the test makes.
type asking struct {
	t       *testing.T
	flights *Flights
	began   chan int      // number of the answer that is being made
	finish  [8]chan error // ends the answer of a number
	answers chan int      // number of the answer that a statement got; 0: an error
	runs    int           // under mu
	mu      sync.Mutex
	group   sync.WaitGroup
}

func newAsking(t *testing.T) *asking {
	a := &asking{t: t, flights: NewFlights(), began: make(chan int), answers: make(chan int, 16)}
	for i := range a.finish {
		a.finish[i] = make(chan error, 1)
	}
	return a
}

func (a *asking) ask(ctx context.Context) {
	a.group.Go(func() {
		b, _, err := a.flights.do(ctx, "k", func() (*types.Batch, *envelope.Relation, error) {
			a.mu.Lock()
			a.runs++
			n := a.runs
			a.mu.Unlock()
			a.began <- n
			if err := <-a.finish[n]; err != nil {
				return nil, nil, err
			}
			return &types.Batch{Rows: n}, nil, nil
		})
		if err != nil {
			a.answers <- 0
			return
		}
		a.answers <- b.Rows
	})
}

// shared waits until this many statements have joined another.
func (a *asking) shared(n int64) {
	for a.flights.Shared() < n {
		runtime.Gosched()
	}
}

// got returns how many statements got each answer, when all have.
func (a *asking) got() map[int]int {
	a.group.Wait()
	close(a.answers)
	count := map[int]int{}
	for n := range a.answers {
		count[n]++
	}
	if len(a.flights.routes) > 0 {
		a.t.Error("flights are left over")
	}
	return count
}

// TestFlightsJoinOnlyBeforeTheCut: who asks while as many answers are made as may be
// waits for the next one, together with all that do.
func TestFlightsJoinOnlyBeforeTheCut(t *testing.T) {
	a := newAsking(t)
	for range flightsAtATime {
		a.ask(t.Context())
		<-a.began
	}
	for range 4 {
		a.ask(t.Context())
	}
	a.shared(3) // the fourth waits to run
	a.finish[1] <- nil
	if n := <-a.began; n != flightsAtATime+1 {
		t.Errorf("answer %d is made next", n)
	}
	a.finish[2] <- nil
	a.finish[3] <- nil
	if got := a.got(); !maps.Equal(got, map[int]int{1: 1, 2: 1, 3: 4}) {
		t.Errorf("answers by number: %v, want the third for four", got)
	}
}

// TestFlightsOutliveTheirRunner: those that joined a statement that fails, or that is
// cancelled before it begins, ask themselves.
func TestFlightsOutliveTheirRunner(t *testing.T) {
	for _, cancelled := range []bool{true, false} {
		a := newAsking(t)
		for range flightsAtATime {
			a.ask(t.Context())
			<-a.began
		}
		ctx, cancel := context.WithCancel(t.Context())
		a.ask(ctx)
		for waiting := false; !waiting; runtime.Gosched() {
			a.flights.mu.Lock()
			waiting = a.flights.routes["k"].next != nil
			a.flights.mu.Unlock()
		}
		a.ask(t.Context())
		a.shared(1)
		if cancelled {
			cancel()
			<-a.began // the one that joined
			a.finish[3] <- nil
		} else {
			a.finish[1] <- nil
			<-a.began
			a.finish[3] <- errors.New("a defect")
			<-a.began // the one that joined
			a.finish[4] <- nil
		}
		if cancelled {
			a.finish[1] <- nil
		}
		a.finish[2] <- nil
		if got := a.got(); got[0] != 1 || len(got) != 4 {
			t.Errorf("cancelled %v: answers by number %v, want one error", cancelled, got)
		}
		cancel()
	}
}
