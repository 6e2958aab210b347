package gather

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
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

// TestFlightsJoinOnlyBeforeTheCut: who asks while an answer is made waits for the
// next one, together with all that do.
func TestFlightsJoinOnlyBeforeTheCut(t *testing.T) {
	f := NewFlights()
	began, finish := make(chan int), make(chan struct{})
	runs := 0
	ask := func() (*folded, error) {
		return f.do(context.Background(), "k", func() (*folded, error) {
			runs++
			n := runs
			began <- n
			<-finish
			return &folded{batch: &types.Batch{Rows: n}}, nil
		})
	}
	answers := make(chan int, 5)
	var group sync.WaitGroup
	start := func() {
		group.Go(func() {
			a, err := ask()
			if err != nil {
				t.Error(err)
				return
			}
			answers <- a.batch.Rows
		})
	}
	start()
	<-began
	for range 4 {
		start()
	}
	for f.Shared() < 3 { // the fourth waits to run
		runtime.Gosched()
	}
	finish <- struct{}{}
	if n := <-began; n != 2 {
		t.Errorf("answer %d is made second", n)
	}
	finish <- struct{}{}
	group.Wait()
	close(answers)
	count := map[int]int{}
	for n := range answers {
		count[n]++
	}
	if count[1] != 1 || count[2] != 4 {
		t.Errorf("answers by number: %v, want one of the first and four of the second", count)
	}
}

// TestFlightsOutliveTheirRunner: those that joined a statement that fails ask themselves.
func TestFlightsOutliveTheirRunner(t *testing.T) {
	f := NewFlights()
	began, finish := make(chan struct{}), make(chan struct{})
	failed := errors.New("cancelled")
	var group sync.WaitGroup
	run := func(err error) func() (*folded, error) {
		return func() (*folded, error) {
			if err != nil {
				began <- struct{}{}
				<-finish
				return nil, err
			}
			return &folded{batch: &types.Batch{Rows: 1}}, nil
		}
	}
	group.Go(func() { // under way
		_, err := f.do(context.Background(), "k", run(failed))
		if !errors.Is(err, failed) {
			t.Error(err)
		}
	})
	<-began
	next, _ := f.join("k") // the second, which fails too
	group.Go(func() {
		if a, err := f.do(context.Background(), "k", run(nil)); err != nil || a.batch.Rows != 1 {
			t.Errorf("joined a failing one: %v, %v", a, err)
		}
	})
	for f.Shared() < 1 {
		runtime.Gosched()
	}
	finish <- struct{}{}
	f.depart("k", next)
	f.land("k", next, nil, failed)
	group.Wait()
}

// TestFlightsOutliveAPanic: a bug that one statement is ended for does not make
// those that ask the same wait for ever.
func TestFlightsOutliveAPanic(t *testing.T) {
	f := NewFlights()
	func() {
		defer func() { _ = recover() }()
		_, _ = f.do(context.Background(), "k", func() (*folded, error) { panic("a bug") })
	}()
	a, err := f.do(context.Background(), "k", func() (*folded, error) { return &folded{batch: &types.Batch{Rows: 1}}, nil })
	if err != nil || a.batch.Rows != 1 {
		t.Errorf("after a panic: %v, %v", a, err)
	}
}
