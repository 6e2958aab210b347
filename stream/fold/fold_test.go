package fold_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/fold"
	"github.com/tallydb/tallydb/stream/state"
)

// sink keeps one arena and notes the rows that failed.
type sink struct {
	program *fold.Program
	arena   *state.Arena
	failed  map[int]sqlerr.Code
}

func (s *sink) Arena(w eventtime.Window) (*state.Arena, error) {
	if s.arena == nil {
		s.arena = s.program.NewArena(w)
	}
	return s.arena, nil
}
func (s *sink) Late(int, eventtime.Window, eventtime.Watermark) {}
func (s *sink) Failed(row int, _ eventtime.Window, err error) {
	s.failed[row] = sqlerr.CodeOf(err)
}
func (s *sink) Groups() int64 { return int64(s.arena.Groups()) }

// hurdle is the column times one, except that it panics at a value.
type hurdle struct {
	expr.Column
	at int64
}

func (h *hurdle) Eval(ec *expr.Context, in *types.Batch) (*types.Vector, error) {
	v, err := h.Column.Eval(ec, in)
	if slices.Contains(v.Ints, h.at) {
		panic("hurdle")
	}
	return v, err
}

// brittle is a sum whose states panic at a value, after those before were folded.
type brittle struct {
	agg.StateSpec
	at int64
}

func (b brittle) New(cfg agg.Config) agg.States { return &brittleStates{b.StateSpec.New(cfg), b.at} }

type brittleStates struct {
	agg.States
	at int64
}

func (s *brittleStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	for i := range rows {
		if inputs[0].Ints[rows[i]] == s.at {
			panic("brittle")
		}
		if err := s.States.Update(groups[i:i+1], rows[i:i+1], inputs); err != nil {
			return err
		}
	}
	return nil
}

func aggregate(t *testing.T, name string, args ...types.Type) agg.Bound {
	t.Helper()
	r := agg.NewRegistry()
	agg.RegisterExact(r)
	b, err := r.Lookup(name).Bind(args, make([]*types.Datum, len(args)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// run folds the numbers 0 to n-1 into one state, and returns its value and the
// rows that failed.
func run(t *testing.T, bound agg.Bound, input expr.Expr, wrap func(agg.StateSpec) agg.StateSpec, n int) (string, map[int]sqlerr.Code) {
	t.Helper()
	spec := bound.State
	if wrap != nil {
		spec = wrap(spec)
	}
	p := fold.New(fold.Config{Context: &expr.Context{}, Fold: &plan.Fold{
		Stream: &catalog.Relation{Stream: &catalog.Stream{TimeColumn: -1}},
		States: []plan.FoldState{{Spec: spec, Inputs: []expr.Expr{input}}},
	}})
	s := &sink{program: p, failed: map[int]sqlerr.Code{}}
	if _, err := s.Arena(eventtime.Global); err != nil {
		t.Fatal(err)
	}
	b := &types.Batch{Cols: []*types.Vector{types.NewVector(types.Of(types.Int8), n)}, Rows: n}
	for i := range n {
		b.Cols[0].AppendInt(int64(i))
	}
	if err := p.Run(fold.Input{Batch: b, Hashes: make([]uint64, n)}, s); err != nil {
		t.Fatal(err)
	}
	states := s.arena.States[0]
	if w, ok := states.(*brittleStates); ok {
		states = w.States
	}
	out := types.NewVector(bound.Final.Type(), 1)
	if err := bound.Final.Finalise(states, 1, 0, out, nil); err != nil {
		t.Fatal(err)
	}
	return types.FormatDatum(out.Datum(0), nil), s.failed
}

func column() expr.Column { return expr.Column{Typ: types.Of(types.Int8), Name: "n"} }

// TestPanicIsOneRowsFailure: a defect in an expression or in an aggregate costs
// the row that meets it, and no other.
func TestPanicIsOneRowsFailure(t *testing.T) {
	sum := aggregate(t, "sum", types.Of(types.Int8))
	col := column()
	want := map[int]sqlerr.Code{37: sqlerr.InternalError}
	for name, c := range map[string]struct {
		input expr.Expr
		wrap  func(agg.StateSpec) agg.StateSpec
	}{
		"expression": {&hurdle{column(), 37}, nil},
		"aggregate":  {&col, func(s agg.StateSpec) agg.StateSpec { return brittle{s, 37} }},
	} {
		got, failed := run(t, sum, c.input, c.wrap, 100)
		if got != fmt.Sprint(99*100/2-37) || fmt.Sprint(failed) != fmt.Sprint(want) {
			t.Errorf("%s: sum %s, failed %v; want %d, %v", name, got, failed, 99*100/2-37, want)
		}
	}
}

// TestLargeValuesAreFoldedInParts: values that together do not fit are folded
// though, and one that does not fit alone is its row's failure.
func TestLargeValuesAreFoldedInParts(t *testing.T) {
	col := column()
	times := func(k int64) expr.Expr {
		n, err := expr.Cast(&col, types.Of(types.Int4), expr.Explicit)
		if err != nil {
			t.Fatal(err)
		}
		k4 := expr.NewConst(types.IntDatum(types.Int4, k))
		if n, err = expr.NewOperator("*", n, k4); err != nil {
			t.Fatal(err)
		}
		e, err := expr.NewFunction("repeat", []expr.Expr{expr.NewConst(types.TextDatum("x")), n})
		if err != nil {
			t.Fatal(err)
		}
		if e, err = expr.NewFunction("octet_length", []expr.Expr{e}); err != nil {
			t.Fatal(err)
		}
		return e
	}
	largest := aggregate(t, "max", types.Of(types.Int4))
	if got, failed := run(t, largest, times(1<<18), nil, 100); got != fmt.Sprint(99<<18) || len(failed) > 0 {
		t.Errorf("got %s, failed %v", got, failed)
	}
	got, failed := run(t, largest, times(100<<20), nil, 4)
	if want := map[int]sqlerr.Code{3: sqlerr.ProgramLimitExceeded}; got != fmt.Sprint(200<<20) || fmt.Sprint(failed) != fmt.Sprint(want) {
		t.Errorf("got %s, failed %v; want %v", got, failed, want)
	}
}
