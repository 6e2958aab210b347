package exec

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// groupBytes is what a group costs beside its keys and states: its map entry.
const groupBytes = 64

// aggregateOp groups rows by hashing.
type aggregateOp struct {
	Source
	run    *run
	node   *plan.Aggregate
	groups map[string]uint32
	n      int
	keys   *rowSet
	aggs   []*accumulator
	buf    []byte
	held   int64
	out    *cursor
}

func newAggregate(r *run, node *plan.Aggregate, child Source) *aggregateOp {
	a := &aggregateOp{Source: child, run: r, node: node, groups: map[string]uint32{}}
	a.keys = newRowSet(&types.Schema{Columns: node.KeyCols})
	for _, calls := range [][]plan.AggCall{node.Aggs, node.Envelope} {
		for i := range calls {
			a.aggs = append(a.aggs, newAccumulator(r, &calls[i]))
		}
	}
	return a
}

// Next implements Source.
func (a *aggregateOp) Next(ctx context.Context) (*types.Batch, error) {
	if a.out == nil {
		if err := a.read(ctx); err != nil {
			return nil, err
		}
		rows, err := a.finish()
		if err != nil {
			return nil, err
		}
		a.out = &cursor{rows: rows, all: true}
	}
	return a.out.next(), nil
}

func (a *aggregateOp) read(ctx context.Context) error {
	if !a.node.Grouped && len(a.node.Keys) == 0 {
		a.n = 1
		a.grow()
	}
	var groups []uint32
	for {
		b, err := a.Source.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		if groups, err = a.assign(ctx, b, groups[:0]); err != nil {
			return err
		}
		for _, acc := range a.aggs {
			err := inParts(ctx, b, func(part *types.Batch, from int) error {
				if err := acc.update(part, groups[from:from+part.Rows]); err != nil || part.Rows == b.Rows {
					return err
				}
				return a.charge() // the parts together may be far larger than a batch
			})
			if err != nil {
				return err
			}
		}
		if err := a.charge(); err != nil {
			return err
		}
	}
}

// assign finds the group of each row, and makes new ones.
func (a *aggregateOp) assign(ctx context.Context, b *types.Batch, groups []uint32) ([]uint32, error) {
	if len(a.node.Keys) == 0 {
		if a.n == 0 {
			a.n = 1
			a.grow()
		}
		for range b.Rows {
			groups = append(groups, 0)
		}
		return groups, nil
	}
	err := inParts(ctx, b, func(part *types.Batch, _ int) error {
		cols, err := a.run.evalAll(a.node.Keys, part)
		if err != nil {
			return err
		}
		if groups = a.find(cols, part.Rows, groups); part.Rows == b.Rows {
			return nil
		}
		return a.charge()
	})
	a.grow()
	return groups, err
}

// find appends the groups of the rows whose keys these are.
func (a *aggregateOp) find(cols []*types.Vector, rows int, groups []uint32) []uint32 {
	for i := range rows {
		a.buf = appendKeys(a.buf[:0], cols, i)
		g, ok := a.groups[string(a.buf)]
		if !ok {
			g = uint32(a.n)
			a.n++
			a.groups[string(a.buf)] = g
			for k, c := range cols {
				a.keys.Cols[k].AppendFrom(c, i)
			}
			a.keys.Rows++
			a.held += int64(len(a.buf)) + groupBytes
		}
		groups = append(groups, g)
	}
	return groups
}

func (a *aggregateOp) grow() {
	for _, acc := range a.aggs {
		acc.states.Grow(a.n)
	}
}

// charge brings the budget up to date.
func (a *aggregateOp) charge() error {
	total := a.held + int64(a.keys.MemoryBytes())
	for _, acc := range a.aggs {
		total += acc.memory()
	}
	if err := a.run.state.memory.grow(total - a.keys.charged); err != nil {
		return err
	}
	a.keys.charged = total
	return nil
}

// finish makes the result: keys, values, bounds and states, further values.
func (a *aggregateOp) finish() (*types.Batch, error) {
	out := &types.Batch{Rows: a.n, Cols: append([]*types.Vector(nil), a.keys.Cols...)}
	var hidden []*types.Vector
	for i, acc := range a.aggs {
		value, extra, err := acc.finish(a.n, a.run.confidence())
		if err != nil {
			return nil, err
		}
		if i == len(a.node.Aggs) {
			out.Cols = append(out.Cols, hidden...)
			hidden = nil
		}
		out.Cols = append(out.Cols, value)
		hidden = append(hidden, extra...)
	}
	out.Cols = append(out.Cols, hidden...)
	return out, nil
}

// Close implements Source.
func (a *aggregateOp) Close() error {
	a.keys.release(&a.run.state.memory)
	return a.Source.Close()
}

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
	switch {
	case a.call.Combine:
		return a.combine(inputs[0], groups)
	case a.rows != nil:
		return a.keep(b, inputs, groups)
	}
	a.sel = a.sel[:0]
	for i := range b.Rows {
		a.sel = append(a.sel, int32(i))
	}
	return a.fold(groups, a.sel, inputs)
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

// finish returns the values of n groups, and for approximate aggregates lo, hi,
// state and error.
func (a *accumulator) finish(n int, confidence float64) (*types.Vector, []*types.Vector, error) {
	if a.rows != nil {
		keys := a.rows.Cols[len(a.call.Args):]
		sel := order(a.call.OrderBy, keys, a.rows.Rows)
		groups := make([]uint32, len(sel))
		for i, r := range sel {
			groups[i] = a.groups[r]
		}
		if err := a.fold(groups, sel, a.rows.Cols[:len(a.call.Args)]); err != nil {
			return nil, nil, err
		}
	}
	final := a.call.Bound.Final
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
	states := types.NewVector(types.Of(types.Sketch), n)
	var buf []byte
	for g := range n {
		buf = a.states.Append(buf[:0], uint32(g))
		states.AppendBytes(buf)
	}
	return out, []*types.Vector{bounds.Lo, bounds.Hi, states, bounds.Error}, nil
}
