package exec

import (
	"context"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/spill"
	"github.com/tallydb/tallydb/sql/types"
)

// aggregateOp groups rows by hashing: all grouping sets in one pass over the input.
// When memory does not suffice for more groups, rows of groups that are not there yet
// go to files by the hash of their keys; each file is grouped afterwards on its own.
type aggregateOp struct {
	Source
	run     *run
	node    *plan.Aggregate
	tables  []*groupTable // one for each grouping set, those whose groups are still to come
	parts   []groupPart
	read    bool
	current *groupTable // whose groups out has
	out     *cursor
}

// groupPart is rows of one grouping set whose groups are in no table yet.
type groupPart struct {
	keys  []expr.Expr
	file  *spill.File
	level int
}

func newAggregate(r *run, node *plan.Aggregate, child Source) *aggregateOp {
	a := &aggregateOp{Source: child, run: r, node: node}
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
	if !a.read {
		if err := a.readAll(ctx); err != nil {
			return nil, err
		}
		a.read = true
	}
	for {
		if a.out != nil {
			if b := a.out.next(); b != nil {
				return b, nil
			}
			a.out = nil
			a.current.release()
		}
		t, err := a.nextTable(ctx)
		if err != nil || t == nil {
			return nil, err
		}
		a.current = t
		if err := a.takeParts(t); err != nil {
			return nil, err
		}
		rows, err := t.finish()
		if err != nil {
			return nil, err
		}
		a.out = &cursor{rows: rows, all: true}
	}
}

// nextTable returns the groups that come next; nil at the end.
func (a *aggregateOp) nextTable(ctx context.Context) (*groupTable, error) {
	if len(a.parts) > 0 {
		p := a.parts[0]
		a.parts = a.parts[1:]
		t := newGroupTable(a.run, a.node, p.keys, false)
		t.level = p.level
		src := &fileSource{run: a.run, file: p.file, schema: a.node.Child.Schema()}
		for {
			b, err := src.Next(ctx)
			if err == nil && b != nil {
				err = t.add(ctx, b)
			}
			if err != nil {
				t.release()
				return nil, closing(src, err)
			}
			if b == nil {
				return t, src.Close()
			}
		}
	}
	if len(a.tables) == 0 {
		return nil, nil
	}
	t := a.tables[0]
	a.tables = a.tables[1:]
	return t, nil
}

// takeParts queues the rows that a table had no memory for.
func (a *aggregateOp) takeParts(t *groupTable) error {
	if t.rest == nil {
		return nil
	}
	if err := t.rest.finish(); err != nil {
		return err
	}
	st := a.run.stats(a.node)
	st.Batches = max(1, st.Batches)
	st.DiskBytes += t.rest.bytes()
	for _, f := range t.rest.files {
		if f != nil {
			st.Batches++
			a.parts = append(a.parts, groupPart{t.keys, f, t.level + 1})
		}
	}
	t.rest = nil
	return nil
}

func (a *aggregateOp) readAll(ctx context.Context) error {
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
		t.release()
	}
	if a.current != nil {
		a.current.release()
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
	calls  []groupCall
	aggs   []*accumulator // what the calls share is there once
	number []uint32       // of the group of each row of a batch

	level int
	rest  *partitioner // of rows whose groups are not here; nil as long as there is memory
	found []int32
}

// groupCall is one aggregate: its states, and what is made of them.
type groupCall struct {
	*accumulator
	final    agg.Finaliser
	portable bool
}

func newGroupTable(r *run, node *plan.Aggregate, keys []expr.Expr, total bool) *groupTable {
	t := &groupTable{run: r, node: node, keys: keys, total: total, index: newGroupIndex()}
	t.groups = newRowSet(&types.Schema{Columns: node.KeyCols})
	for _, calls := range [][]plan.AggCall{node.Aggs, node.Envelope} {
		for i := range calls {
			t.calls = append(t.calls, groupCall{t.accumulate(&calls[i]), calls[i].Bound.Final, !calls[i].StateUnread})
		}
	}
	return t
}

// accumulate returns what runs a call: an accumulator that is there, if it keeps the
// same of the same rows, as for sum(x) and avg(x).
func (t *groupTable) accumulate(call *plan.AggCall) *accumulator {
	for _, a := range t.aggs {
		if a.call.SameState(call) {
			return a
		}
	}
	a := newAccumulator(t.run, call)
	t.aggs = append(t.aggs, a)
	return a
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

// release gives the memory back.
func (t *groupTable) release() { t.groups.release(&t.run.state.memory) }

// rowsAtATime is how many rows may make new groups before their memory is charged.
func (t *groupTable) rowsAtATime() int {
	if t.run.state.spill == nil {
		return types.BatchRows
	}
	return int(max(64, min(types.BatchRows, t.run.state.memory.limit/4096)))
}

// add folds the rows of a batch into their groups.
func (t *groupTable) add(ctx context.Context, b *types.Batch) error {
	step := t.rowsAtATime()
	for from := 0; from < b.Rows; from += step {
		if err := t.addPart(ctx, slice(b, from, min(from+step, b.Rows))); err != nil {
			return err
		}
	}
	return nil
}

func (t *groupTable) addPart(ctx context.Context, b *types.Batch) error {
	if t.rest != nil {
		var err error
		if b, err = t.addKnown(b); err != nil || b.Rows == 0 {
			return err
		}
		return t.update(ctx, b)
	}
	if err := t.assign(ctx, b); err != nil {
		return err
	}
	return t.update(ctx, b)
}

// addKnown sends the rows whose groups are not here to files, and returns the others,
// with their groups in number.
func (t *groupTable) addKnown(b *types.Batch) (*types.Batch, error) {
	cols, err := t.run.eval(t.keys, b)
	if err != nil {
		return nil, err
	}
	t.found = t.index.find(cols, b.Rows, t.found[:0])
	t.number = t.number[:0]
	var here, elsewhere []int32
	for i, g := range t.found {
		if g < 0 {
			elsewhere = append(elsewhere, int32(i))
			continue
		}
		here = append(here, int32(i))
		t.number = append(t.number, uint32(g))
	}
	if len(elsewhere) == 0 {
		return b, nil
	}
	return b.Gather(here), t.rest.write(b, cols, elsewhere)
}

// update folds the rows of a batch into the groups that number tells.
func (t *groupTable) update(ctx context.Context, b *types.Batch) error {
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

// charge brings the budget up to date. Where little is left of it, no further groups
// are made here.
func (t *groupTable) charge() error {
	total := t.index.memory() + int64(t.groups.MemoryBytes())
	for _, acc := range t.aggs {
		total += acc.memory()
	}
	memory := &t.run.state.memory
	mayRest := t.rest == nil && t.n > 0 && len(t.keys) > 0 && t.level < maxSpillLevel
	if err := memory.grow(total - t.groups.charged); err != nil {
		if !mayRest || !t.run.outOfMemory(err) {
			return err
		}
		memory.force(total - t.groups.charged)
	}
	t.groups.charged = total
	if mayRest && t.run.pressed() {
		t.rest = t.run.newPartitioner(t.node.Child.Schema(), t.level)
	}
	return nil
}

// finish makes the result: keys, values, bounds and states, further values.
func (t *groupTable) finish() (*types.Batch, error) {
	out := &types.Batch{Rows: t.n, Cols: append([]*types.Vector(nil), t.groups.Cols...)}
	var hidden []*types.Vector
	for i, c := range t.calls {
		value, extra, err := c.finish(c.final, c.portable, t.n, t.run.confidence())
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
