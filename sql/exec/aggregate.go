package exec

import (
	"context"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// aggregateOp groups rows by hashing: all grouping sets in one pass over the input.
type aggregateOp struct {
	Source
	run    *run
	tables []*groupTable // one for each grouping set
	out    []*cursor
}

func newAggregate(r *run, node *plan.Aggregate, child Source) *aggregateOp {
	a := &aggregateOp{Source: child, run: r}
	if len(node.Sets) == 0 {
		a.tables = []*groupTable{newGroupTable(r, node, node.Keys, !node.Grouped && len(node.Keys) == 0)}
	}
	for _, s := range node.Sets {
		a.tables = append(a.tables, newGroupTable(r, node, s.Keys, s.Total))
	}
	return a
}

// Next implements Source.
func (a *aggregateOp) Next(ctx context.Context) (*types.Batch, error) {
	if a.out == nil {
		if err := a.read(ctx); err != nil {
			return nil, err
		}
		for _, t := range a.tables {
			rows, err := t.finish()
			if err != nil {
				return nil, err
			}
			a.out = append(a.out, &cursor{rows: rows, all: true})
		}
	}
	for _, c := range a.out {
		if b := c.next(); b != nil {
			return b, nil
		}
	}
	return nil, nil
}

func (a *aggregateOp) read(ctx context.Context) error {
	for _, t := range a.tables {
		if !t.total {
			continue
		}
		if err := t.startTotal(); err != nil {
			return err
		}
	}
	for {
		b, err := a.Source.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		for _, t := range a.tables {
			if err := t.add(ctx, b); err != nil {
				return err
			}
		}
	}
}

// Close implements Source.
func (a *aggregateOp) Close() error {
	for _, t := range a.tables {
		t.groups.release(&a.run.state.memory)
	}
	return a.Source.Close()
}

// groupTable is the groups of one grouping set.
type groupTable struct {
	run    *run
	node   *plan.Aggregate
	keys   []expr.Expr
	total  bool        // there is always exactly one group
	index  *groupIndex // numbers the groups by their keys
	n      int
	fresh  []int32
	groups *rowSet // the keys of each group
	aggs   []*accumulator
	number []uint32 // of the group of each row of a batch
}

func newGroupTable(r *run, node *plan.Aggregate, keys []expr.Expr, total bool) *groupTable {
	t := &groupTable{run: r, node: node, keys: keys, total: total, index: newGroupIndex()}
	t.groups = newRowSet(&types.Schema{Columns: node.KeyCols})
	for _, calls := range [][]plan.AggCall{node.Aggs, node.Envelope} {
		for i := range calls {
			t.aggs = append(t.aggs, newAccumulator(r, &calls[i]))
		}
	}
	return t
}

// startTotal makes the one group that a total has of no rows too.
func (t *groupTable) startTotal() error {
	if len(t.keys) == 0 {
		t.n = 1
		t.grow()
		return nil
	}
	cols, err := t.run.evalAll(t.keys, &types.Batch{Rows: 1}) // they are constants
	if err != nil {
		return err
	}
	t.find(cols, 1)
	t.grow()
	return nil
}

// add folds the rows of a batch into their groups.
func (t *groupTable) add(ctx context.Context, b *types.Batch) error {
	if err := t.assign(ctx, b); err != nil {
		return err
	}
	for _, acc := range t.aggs {
		err := inParts(ctx, b, func(part *types.Batch, from int) error {
			if err := acc.update(part, t.number[from:from+part.Rows]); err != nil || part.Rows == b.Rows {
				return err
			}
			return t.charge() // the parts together may be far larger than a batch
		})
		if err != nil {
			return err
		}
	}
	return t.charge()
}

// assign finds the group of each row, and makes new ones.
func (t *groupTable) assign(ctx context.Context, b *types.Batch) error {
	t.number = t.number[:0]
	if len(t.keys) == 0 {
		if t.n == 0 {
			if err := t.startTotal(); err != nil {
				return err
			}
		}
		for range b.Rows {
			t.number = append(t.number, 0)
		}
		return nil
	}
	err := inParts(ctx, b, func(part *types.Batch, _ int) error {
		cols, err := t.run.evalAll(t.keys, part)
		if err != nil {
			return err
		}
		if t.find(cols, part.Rows); part.Rows == b.Rows {
			return nil
		}
		return t.charge()
	})
	t.grow()
	return err
}

// find appends the groups of the rows whose keys these are.
func (t *groupTable) find(cols []*types.Vector, rows int) {
	t.number, t.fresh = t.index.assign(cols, rows, t.number, t.fresh[:0])
	if len(t.fresh) > 0 {
		for k, c := range cols {
			c.GatherInto(t.groups.Cols[k], t.fresh)
		}
		t.groups.Rows += len(t.fresh)
	}
	t.n = t.index.len()
}

func (t *groupTable) grow() {
	for _, acc := range t.aggs {
		acc.states.Grow(t.n)
	}
}

// charge brings the budget up to date.
func (t *groupTable) charge() error {
	total := t.index.memory() + int64(t.groups.MemoryBytes())
	for _, acc := range t.aggs {
		total += acc.memory()
	}
	if err := t.run.state.memory.grow(total - t.groups.charged); err != nil {
		return err
	}
	t.groups.charged = total
	return nil
}

// finish makes the result: keys, values, bounds and states, further values.
func (t *groupTable) finish() (*types.Batch, error) {
	out := &types.Batch{Rows: t.n, Cols: append([]*types.Vector(nil), t.groups.Cols...)}
	var hidden []*types.Vector
	for i, acc := range t.aggs {
		value, extra, err := acc.finish(t.n, t.run.confidence())
		if err != nil {
			return nil, err
		}
		if i == len(t.node.Aggs) {
			out.Cols = append(out.Cols, hidden...)
			hidden = nil
		}
		out.Cols = append(out.Cols, value)
		hidden = append(hidden, extra...)
	}
	out.Cols = append(out.Cols, hidden...)
	return out, nil
}
