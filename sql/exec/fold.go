package exec

import (
	"context"
	"slices"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// foldOp runs an ad-hoc fold: it groups the events of the retained log as an Aggregate
// groups rows, within the memory of the statement, and puts the envelope of the whole
// on every group.
type foldOp struct {
	*aggregateOp
	stream Stream
	scan   *plan.FoldScan
	filter *expr.Filter // of groups; nil admits all
	sel    []int32
}

// openFold starts an ad-hoc fold.
func (r *run) openFold(ctx context.Context, scan *plan.FoldScan) (Source, error) {
	node := foldAggregate(scan)
	stream, err := r.env.Leaves.OpenStream(ctx, node.Child.(*plan.StreamScan), r.ec)
	if err != nil {
		return nil, err
	}
	env := *r.env
	env.Seed = scan.Fold.Stream.Stream.AggregateSeed() // of the states of views too, so that they merge
	f := &foldOp{aggregateOp: newAggregate(&run{env: &env, ec: r.ec, state: r.state}, node, stream), stream: stream, scan: scan}
	if scan.KeyFilter != nil {
		f.filter = expr.NewFilter(scan.KeyFilter)
	}
	return f, nil
}

// foldAggregate returns the grouping that a fold is, over the columns that it reads.
func foldAggregate(scan *plan.FoldScan) *plan.Aggregate {
	f, l := scan.Fold, scan.Layout()
	node := &plan.Aggregate{Grouped: len(f.Keys) > 0 || l.WindowStart >= 0}
	if start := f.WindowStart(); start != nil {
		node.Keys, node.KeyCols = append(node.Keys, start), append(node.KeyCols, l.Schema.Columns[l.WindowStart])
	}
	node.Keys = append(node.Keys, f.Keys...)
	node.KeyCols = append(node.KeyCols, l.Schema.Columns[l.Keys:l.Aggs]...)
	for i, a := range f.Aggs {
		if scan.Needed != nil && !scan.Needed[i] {
			continue
		}
		call := plan.AggCall{Name: a.Name, Column: l.Schema.Columns[l.Aggs+i], Args: f.States[a.State].Inputs, Filter: f.States[a.State].Filter}
		call.Bound.State, call.Bound.Final = f.States[a.State].Spec, a.Final
		call.StateUnread = !slices.Contains(scan.Columns, l.State[i])
		node.Aggs = append(node.Aggs, call)
	}
	var read []int
	for c := range plan.Columns(node.Exprs()...) {
		read = append(read, c)
	}
	slices.Sort(read)
	node.Child = &plan.StreamScan{Stream: f.Stream, Filter: f.Filter, Partition: scan.Partition, Columns: read}
	exprs := node.Exprs()
	for i, e := range exprs {
		exprs[i] = plan.Remap(e, func(c int) int { return slices.Index(read, c) })
	}
	return node.WithExprs(exprs).(*plan.Aggregate)
}

// Next implements Source.
func (f *foldOp) Next(ctx context.Context) (*types.Batch, error) {
	for {
		b, err := f.aggregateOp.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		out := f.yield(b)
		if f.filter == nil {
			return f.chosen(out), nil
		}
		if f.sel, err = f.run.filter(ctx, f.filter, out, f.sel); err != nil {
			return nil, err
		}
		if len(f.sel) > 0 {
			return f.chosen(out).Gather(f.sel), nil
		}
	}
}

// yield brings groups into the layout of the fold; columns that nobody reads are nil.
func (f *foldOp) yield(b *types.Batch) *types.Batch {
	fold, l := f.scan.Fold, f.scan.Layout()
	out := &types.Batch{Rows: b.Rows, Cols: make([]*types.Vector, len(l.Schema.Columns))}
	groups := &Groups{Fold: fold, Needed: f.scan.Needed, Rows: b.Rows}
	keys := b.Cols[:len(f.node.Keys)]
	if l.WindowStart >= 0 {
		groups.Starts, keys = keys[0], keys[1:]
		end := types.NewVector(groups.Starts.Type, b.Rows)
		for _, start := range groups.Starts.Ints {
			end.AppendInt(int64(eventtime.Time(start).Add(fold.Window.Size)))
		}
		out.Cols[l.WindowStart], out.Cols[l.WindowEnd] = groups.Starts, end
	}
	copy(out.Cols[l.Keys:], keys)
	n := 0
	for i := range fold.Aggs {
		if f.scan.Needed != nil && !f.scan.Needed[i] {
			continue
		}
		out.Cols[l.Aggs+i] = b.Cols[len(f.node.Keys)+n]
		if at := f.node.Bounds(n); at[0] >= 0 {
			out.Cols[l.Lo[i]], out.Cols[l.Hi[i]], out.Cols[l.State[i]] = b.Cols[at[0]], b.Cols[at[1]], b.Cols[at[2]]
			groups.Errors = append(groups.Errors, b.Cols[at[3]])
		}
		n++
	}
	var envelope []int
	for _, c := range f.scan.Columns {
		if c >= l.Envelope {
			envelope = append(envelope, c-l.Envelope)
		}
	}
	for i, v := range f.stream.Envelope(groups, envelope) {
		out.Cols[l.Envelope+envelope[i]] = v
	}
	return out
}

// chosen picks the columns of the scan.
func (f *foldOp) chosen(b *types.Batch) *types.Batch {
	out := &types.Batch{Rows: b.Rows, Cols: make([]*types.Vector, len(f.scan.Columns))}
	for i, c := range f.scan.Columns {
		out.Cols[i] = b.Cols[c]
	}
	return out
}
