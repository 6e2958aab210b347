package exec

import (
	"errors"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// accumulator runs one aggregate call over batches.
type accumulator struct {
	run    *run
	call   *plan.AggCall
	states agg.States
	sel    []int32
	picked []uint32
	// For ORDER BY inside the call all rows are kept until the end.
	rows   *rowSet
	groups []uint32
}

func newAccumulator(r *run, call *plan.AggCall) *accumulator {
	a := &accumulator{run: r, call: call, states: call.Bound.State.New(agg.Config{Seed: r.env.Seed})}
	if len(call.OrderBy) > 0 {
		a.rows = &rowSet{}
		for _, e := range append(append([]expr.Expr(nil), call.Args...), sortValues(call.OrderBy)...) {
			a.rows.Cols = append(a.rows.Cols, types.NewVector(e.Type(), 0))
		}
	}
	return a
}

func (a *accumulator) memory() int64 {
	n := a.states.MemoryBytes()
	if a.rows != nil {
		n += int64(a.rows.MemoryBytes() + 4*cap(a.groups))
	}
	return n
}

// update folds the rows of a batch into their groups.
func (a *accumulator) update(b *types.Batch, groups []uint32) error {
	var err error
	if a.call.Filter != nil {
		if a.sel, err = expr.FilterSel(a.run.ec, a.call.Filter, b, a.sel[:0]); err != nil {
			return err
		}
		if len(a.sel) == 0 {
			return nil
		}
		a.picked = a.picked[:0]
		for _, i := range a.sel {
			a.picked = append(a.picked, groups[i])
		}
		if len(a.sel) < b.Rows {
			b = b.Gather(a.sel)
		}
		groups = a.picked
	}
	inputs, err := a.run.evalAll(a.call.Args, b)
	if err != nil {
		return err
	}
	if _, ok := a.states.(agg.DictStates); !ok || len(inputs) > 1 {
		for i := range inputs {
			inputs[i] = inputs[i].Flat()
		}
	}
	switch {
	case a.call.Combine:
		return a.combine(inputs[0], groups)
	case a.rows != nil:
		return a.keep(b, inputs, groups)
	}
	return a.fold(groups, a.run.state.everyRow(b.Rows), inputs)
}

func (a *accumulator) fold(groups []uint32, rows []int32, inputs []*types.Vector) error {
	err := a.states.Update(groups, rows, inputs)
	var u *agg.UpdateError
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// combine merges portable states; NULL is a group that saw nothing.
func (a *accumulator) combine(states *types.Vector, groups []uint32) error {
	for i, g := range groups {
		if states.Nulls.Has(i) {
			continue
		}
		if err := a.states.Merge(g, states.Bytes(i)); err != nil {
			return err
		}
	}
	return nil
}

func (a *accumulator) keep(b *types.Batch, inputs []*types.Vector, groups []uint32) error {
	keys, err := a.run.evalAll(sortValues(a.call.OrderBy), b)
	if err != nil {
		return err
	}
	for i, c := range append(inputs, keys...) {
		a.rows.Cols[i].AppendAll(c)
	}
	a.rows.Rows += b.Rows
	a.groups = append(a.groups, groups...)
	return nil
}

// distinct keeps the first of the rows of a group whose keys are equal; sel has
// them in the order of the keys.
func (a *accumulator) distinct(sel []int32, keys []*types.Vector, n int) []int32 {
	compare := comparator(a.call.OrderBy, keys)
	last := make([]int32, n) // row of each group that was kept last, from 1
	kept := sel[:0]
	for _, r := range sel {
		g := a.groups[r]
		if last[g] == 0 || compare(last[g]-1, r) != 0 {
			last[g] = r + 1
			kept = append(kept, r)
		}
	}
	return kept
}

// finish returns the values of n groups, and for approximate aggregates lo, hi,
// state, which is NULL unless portable states are asked for, and error.
func (a *accumulator) finish(final agg.Finaliser, portable bool, n int, confidence float64) (*types.Vector, []*types.Vector, error) {
	if a.rows != nil {
		keys := a.rows.Cols[len(a.call.Args):]
		sel := order(a.call.OrderBy, keys, a.rows.Rows)
		if a.call.Distinct {
			sel = a.distinct(sel, keys, n)
		}
		groups := make([]uint32, len(sel))
		for i, r := range sel {
			groups[i] = a.groups[r]
		}
		if err := a.fold(groups, sel, a.rows.Cols[:len(a.call.Args)]); err != nil {
			return nil, nil, err
		}
	}
	out := types.NewVector(final.Type(), n)
	if !final.Approximate() {
		return out, nil, final.Finalise(a.states, n, confidence, out, nil)
	}
	bounds := &agg.Bounds{
		Lo: types.NewVector(final.Type(), n), Hi: types.NewVector(final.Type(), n),
		Error: types.NewVector(types.Of(types.Float8), n),
	}
	if err := final.Finalise(a.states, n, confidence, out, bounds); err != nil {
		return nil, nil, err
	}
	a.tellInaccurate(final, bounds.Error, n)
	states := types.NewVector(types.Of(types.Sketch), n)
	var buf []byte
	for g := range n {
		if !portable {
			states.AppendNull()
			continue
		}
		buf = a.states.Append(buf[:0], uint32(g))
		states.AppendBytes(buf)
	}
	return out, []*types.Vector{bounds.Lo, bounds.Hi, states, bounds.Error}, nil
}

// tellInaccurate tells of values whose error is beyond the accuracy that they have to keep.
func (a *accumulator) tellInaccurate(final agg.Finaliser, errors *types.Vector, n int) {
	accuracy, ok := agg.AccuracyOf(final)
	if !ok || a.run.env.Inaccurate == nil {
		return
	}
	rows := int64(0)
	for i := range n {
		if accuracy.Exceeded(errors, i) {
			rows++
		}
	}
	if rows > 0 {
		a.run.env.Inaccurate(accuracy.View, rows)
	}
}
