package exec

import (
	"context"

	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// applyOp runs a subplan for the rows of its child. The outcome for equal outer
// values is remembered.
type applyOp struct {
	Source
	run  *run
	node *plan.Apply
	// cache has the outcomes; nil where the subplan, which reads outer values, is
	// volatile and so runs for each row.
	cache map[string]*outcome
	buf   []byte
	queue []*types.Batch
}

// outcome is what a subplan yielded for one set of outer values.
type outcome struct {
	rows  *rowSet
	value types.Datum     // of the scalar kinds, but for IN
	extra []*types.Vector // the merged qualifiers, one row each
	in    *inSet
}

func (r *run) openApply(ctx context.Context, x *plan.Apply) (Source, error) {
	child, err := r.open(ctx, x.Child)
	if err != nil {
		return nil, err
	}
	a := &applyOp{Source: child, run: r, node: x}
	if len(x.Slots) == 0 || !plan.Volatile(x.Subplan) {
		a.cache = map[string]*outcome{}
	}
	return a, nil
}

// Next implements Source.
func (a *applyOp) Next(ctx context.Context) (*types.Batch, error) {
	for {
		if len(a.queue) > 0 {
			b := a.queue[0]
			a.queue = a.queue[1:]
			return b, nil
		}
		b, err := a.Source.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if a.node.Kind >= plan.ApplyLateral {
			if err := a.lateral(ctx, b); err != nil {
				return nil, err
			}
			continue
		}
		return a.scalar(ctx, b)
	}
}

// scalar appends the value of the subplan to each row.
func (a *applyOp) scalar(ctx context.Context, b *types.Batch) (*types.Batch, error) {
	outer, err := a.run.eval(a.node.Outer, b)
	if err != nil {
		return nil, err
	}
	args, err := a.run.eval(a.node.Args, b)
	if err != nil {
		return nil, err
	}
	value := types.NewVector(a.node.Column.Type, b.Rows)
	extra := make([]*types.Vector, len(a.node.Envelope))
	for i := range extra {
		extra[i] = types.NewVector(a.node.Envelope[i].Column.Type, b.Rows)
	}
	rows := b.Rows
	if len(outer) == 0 { // one outcome for all
		o, err := a.outcomeFor(ctx, outer, 0)
		if err != nil {
			return nil, err
		}
		if o.in != nil && len(extra) == 0 {
			o.in.appendAll(value, args, rows)
			rows = 0
		}
	}
	for i := range rows {
		o, err := a.outcomeFor(ctx, outer, i)
		if err != nil {
			return nil, err
		}
		if o.in == nil {
			value.AppendDatum(o.value)
		} else {
			o.in.append(value, args, i)
		}
		for k := range extra {
			extra[k].AppendFrom(o.extra[k], 0)
		}
	}
	out := &types.Batch{Rows: b.Rows, Cols: append(append([]*types.Vector(nil), b.Cols...), value)}
	out.Cols = append(out.Cols, extra...)
	return out, nil
}

// lateral queues the pairs of each row with the rows of the subplan.
func (a *applyOp) lateral(ctx context.Context, b *types.Batch) error {
	outer, err := a.run.eval(a.node.Outer, b)
	if err != nil {
		return err
	}
	schema := a.node.Schema()
	out := newRowSet(schema)
	width := len(b.Cols)
	flush := func(at int) {
		if out.Rows >= at {
			a.queue = append(a.queue, &out.Batch)
			out = newRowSet(schema)
		}
	}
	for i := range b.Rows {
		o, err := a.outcomeFor(ctx, outer, i)
		if err != nil {
			return err
		}
		n := o.rows.Rows
		if n == 0 && a.node.Kind == plan.ApplyLateralLeft {
			for c, v := range b.Cols {
				out.Cols[c].AppendFrom(v, i)
			}
			for _, v := range out.Cols[width:] {
				v.AppendNull()
			}
			out.Rows++
		}
		for k := range n {
			for c, v := range b.Cols {
				out.Cols[c].AppendFrom(v, i)
			}
			for c, v := range o.rows.Cols {
				out.Cols[width+c].AppendFrom(v, k)
			}
			out.Rows++
			flush(types.BatchRows)
		}
	}
	flush(1)
	return nil
}

// outcomeFor returns the outcome for row i of the outer values.
func (a *applyOp) outcomeFor(ctx context.Context, outer []*types.Vector, i int) (*outcome, error) {
	if a.cache != nil {
		a.buf = appendKeys(a.buf[:0], outer, i)
		if o := a.cache[string(a.buf)]; o != nil {
			return o, nil
		}
	}
	values := make([]types.Datum, len(outer))
	for k, c := range outer {
		values[k] = c.Datum(i)
		values[k].Bytes = append([]byte(nil), values[k].Bytes...)
	}
	rows, err := a.run.with(a.node.Slots, values).collect(ctx, a.node.Subplan)
	if err != nil {
		return nil, err
	}
	o, err := a.evaluate(rows)
	if err != nil {
		return nil, err
	}
	if a.cache == nil {
		rows.release(&a.run.state.memory)
		return o, nil
	}
	held := int64(len(a.buf)+len(o.value.Bytes)) + 96
	if o.in != nil {
		held += o.in.memory()
	}
	if a.node.Kind < plan.ApplyLateral {
		rows.release(&a.run.state.memory)
		o.rows = nil
	}
	if err := a.run.state.memory.grow(held); err != nil {
		return nil, err
	}
	a.cache[string(a.buf)] = o
	return o, nil
}

// evaluate makes an outcome of the subplan's rows.
func (a *applyOp) evaluate(rows *rowSet) (*outcome, error) {
	o := &outcome{rows: rows}
	switch a.node.Kind {
	case plan.ApplyScalar:
		if rows.Rows > 1 {
			return nil, plan.TooManyRows()
		}
		o.value = types.NullOf(a.node.Column.Type)
		if rows.Rows == 1 {
			o.value = rows.Cols[0].Datum(0)
			o.value.Bytes = append([]byte(nil), o.value.Bytes...)
		}
	case plan.ApplyExists:
		o.value = types.BoolDatum(rows.Rows > 0)
	case plan.ApplyArray:
		items := make([]types.Datum, rows.Rows)
		for i := range items {
			items[i] = rows.Cols[0].Datum(i)
		}
		o.value = types.NewArray(rows.Cols[0].Type, items).Datum()
	case plan.ApplyIn:
		o.in = newInSet(rows.Cols[:len(a.node.Args)], rows.Rows)
	}
	return o, a.qualify(o, rows)
}

// qualify merges the qualifiers of the subplan's rows.
func (a *applyOp) qualify(o *outcome, rows *rowSet) error {
	groups := make([]uint32, rows.Rows)
	for i := range a.node.Envelope {
		acc := newAccumulator(a.run, &a.node.Envelope[i])
		acc.states.Grow(1)
		if rows.Rows > 0 {
			if err := acc.update(&rows.Batch, groups); err != nil {
				return cause(err)
			}
		}
		v, _, err := acc.finish(acc.call.Bound.Final, false, 1, a.run.confidence())
		if err != nil {
			return err
		}
		o.extra = append(o.extra, v)
	}
	return nil
}
