package exec

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// windowOp appends the values of window functions to rows that are sorted by partition
// and order. Where the sort stayed in memory it looks at all rows at once, else at as
// many partitions as make a few batches.
type windowOp struct {
	Source
	run    *run
	node   *plan.Window
	sorter *sorter
	sorted Source
	ended  bool
	next   *rowSet // rows that were read already, of the partition after those in rows
	rows   *rowSet
	out    *cursor
}

// windowRows is how many rows of sorted files are looked at together, at least.
const windowRows = 4 * types.BatchRows

// Next implements Source.
func (w *windowOp) Next(ctx context.Context) (*types.Batch, error) {
	if w.sorted == nil {
		if err := w.sort(ctx); err != nil {
			return nil, err
		}
	}
	for {
		if w.out != nil {
			if b := w.out.next(); b != nil {
				return b, nil
			}
			w.out = nil
			w.rows.release(&w.run.state.memory)
		}
		if w.ended && w.next == nil {
			return nil, nil
		}
		if err := w.read(ctx); err != nil {
			return nil, err
		}
		if err := w.compute(ctx); err != nil {
			return nil, err
		}
	}
}

func (w *windowOp) keys() []plan.SortKey {
	keys := make([]plan.SortKey, 0, len(w.node.PartitionBy)+len(w.node.OrderBy))
	for _, e := range w.node.PartitionBy {
		keys = append(keys, plan.SortKey{Value: e})
	}
	return append(keys, w.node.OrderBy...)
}

func (w *windowOp) sort(ctx context.Context) error {
	w.sorter = w.run.newSorter(w.node, w.keys(), w.node.Child.Schema(), -1)
	for {
		b, err := w.Source.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			w.sorted, err = w.sorter.finish(ctx)
			return err
		}
		if err := w.sorter.add(b); err != nil {
			return err
		}
	}
}

// read fills rows with whole partitions.
func (w *windowOp) read(ctx context.Context) error {
	memory := &w.run.state.memory
	if c, ok := w.sorted.(*cursorSource); ok { // all rows are in memory
		w.ended = true
		w.rows = newRowSet(w.node.Child.Schema())
		held := w.sorter.rows.charged
		if err := memory.grow(held); err != nil {
			return err
		}
		w.rows.charged = held
		w.rows.Batch = *c.rows.Gather(c.sel)
		w.sorter.close()
		return nil
	}
	if w.rows, w.next = w.next, nil; w.rows == nil {
		w.rows = newRowSet(w.node.Child.Schema())
	}
	for {
		b, err := w.sorted.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			w.ended = true
			return nil
		}
		at := -1
		if w.rows.Rows+b.Rows >= windowRows || memory.used > memory.limit/4 {
			if at, err = w.lastBegin(b); err != nil {
				return err
			}
		}
		if at < 0 {
			if err := w.rows.add(memory, b); err != nil {
				return err
			}
			continue
		}
		w.next = newRowSet(w.node.Child.Schema())
		return errors.Join(w.rows.add(memory, slice(b, 0, at)), w.next.add(memory, slice(b, at, b.Rows)))
	}
}

// lastBegin returns the last row of a batch that begins a partition; -1 if none does.
func (w *windowOp) lastBegin(b *types.Batch) (int, error) {
	cols, err := w.run.eval(w.node.PartitionBy, b)
	if err != nil {
		return 0, err
	}
	compare := comparator(make([]plan.SortKey, len(cols)), cols)
	for i := b.Rows - 1; i > 0; i-- {
		if compare(int32(i-1), int32(i)) != 0 {
			return i, nil
		}
	}
	if w.rows.Rows == 0 {
		return -1, nil
	}
	last, err := w.run.eval(w.node.PartitionBy, slice(&w.rows.Batch, w.rows.Rows-1, w.rows.Rows))
	if err != nil {
		return 0, err
	}
	for k, c := range cols {
		if compareKeys(last[k], 0, c, 0, plan.SortKey{}) != 0 {
			return 0, nil
		}
	}
	return -1, nil
}

// compute evaluates the calls over rows.
func (w *windowOp) compute(ctx context.Context) error {
	cols, err := w.run.eval(sortValues(w.keys()), &w.rows.Batch)
	if err != nil {
		return err
	}
	parts := len(w.node.PartitionBy)
	boundary := func(cols []*types.Vector) func(int32) bool {
		c := comparator(make([]plan.SortKey, len(cols)), cols)
		return func(i int32) bool { return i == 0 || c(i-1, i) != 0 }
	}
	newPart, newPeers := boundary(cols[:parts]), boundary(cols)
	out := &types.Batch{Rows: w.rows.Rows, Cols: append([]*types.Vector(nil), w.rows.Cols...)}
	for i := range w.node.Calls {
		v, err := w.call(ctx, &w.node.Calls[i], newPart, newPeers)
		if err != nil {
			return err
		}
		out.Cols = append(out.Cols, v)
	}
	w.out = &cursor{rows: out, all: true}
	return nil
}

// partition is rows [from, to) of the window's input.
type partition struct {
	from, to int
	peers    []int // first row of each set of peers, then to
}

func (p *partition) peersOf(row int) (from, to int) {
	g := p.peerGroup(row)
	return p.peers[g], p.peers[g+1]
}

// peerGroup is the number of the set of peers of a row, from 0.
func (p *partition) peerGroup(row int) int {
	lo, hi := 0, len(p.peers)-1
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; p.peers[mid] <= row {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func (w *windowOp) call(ctx context.Context, c *plan.WindowCall, newPart, newPeers func(int32) bool) (*types.Vector, error) {
	out := types.NewVector(c.Column.Type, w.rows.Rows)
	args, err := w.run.eval(c.Args, &w.rows.Batch)
	if err != nil || w.rows.Rows == 0 {
		return out, err
	}
	f, err := w.newFramer(&c.Frame)
	if err != nil {
		return nil, err
	}
	for from := 0; from < w.rows.Rows; {
		if err := cancelled(ctx); err != nil {
			return nil, err
		}
		p := partition{from: from, peers: []int{from}}
		to := from + 1
		for ; to < w.rows.Rows && !newPart(int32(to)); to++ {
			if newPeers(int32(to)) {
				p.peers = append(p.peers, to)
			}
		}
		p.to = to
		p.peers = append(p.peers, to)
		f.begin(&p)
		if c.Agg != nil {
			err = w.aggregate(ctx, c, f, out)
		} else {
			err = w.positional(c, f, args, out)
		}
		if err != nil {
			return nil, err
		}
		from = to
	}
	return out, nil
}

// aggregate folds each row's frame. A frame that only grows is folded once.
func (w *windowOp) aggregate(ctx context.Context, c *plan.WindowCall, f *framer, out *types.Vector) error {
	var acc *accumulator
	var value types.Datum
	start, have := -1, 0
	for row := f.p.from; row < f.p.to; row++ {
		if row%types.BatchRows == 0 {
			if err := cancelled(ctx); err != nil {
				return err
			}
		}
		spans := f.spans(row)
		grows := acc != nil && f.Exclude == plan.ExcludeNone && spans[0].from == start && spans[0].to >= have
		if grows && spans[0].to == have {
			out.AppendDatum(value)
			continue
		}
		if grows {
			spans[0].from = have
		} else {
			acc = newAccumulator(w.run, c.Agg)
			acc.states.Grow(1)
			start, have = spans[0].from, spans[0].from
		}
		for _, s := range spans {
			if s.to <= s.from {
				continue
			}
			if err := acc.update(slice(&w.rows.Batch, s.from, s.to), make([]uint32, s.to-s.from)); err != nil {
				return cause(err)
			}
			have = s.to
		}
		v, _, err := acc.finish(acc.call.Bound.Final, false, 1, w.run.confidence())
		if err != nil {
			return err
		}
		value = v.Datum(0)
		out.AppendDatum(value)
	}
	return nil
}

// positional computes the functions of a row's place.
func (w *windowOp) positional(c *plan.WindowCall, f *framer, args []*types.Vector, out *types.Vector) error {
	p := f.p
	n := p.to - p.from
	for row := p.from; row < p.to; row++ {
		first, after := p.peersOf(row)
		switch c.Function {
		case "row_number":
			out.AppendInt(int64(row - p.from + 1))
		case "rank":
			out.AppendInt(int64(first - p.from + 1))
		case "dense_rank":
			out.AppendInt(int64(p.peerGroup(row) + 1))
		case "percent_rank":
			if n == 1 {
				out.AppendFloat(0)
			} else {
				out.AppendFloat(float64(first-p.from) / float64(n-1))
			}
		case "cume_dist":
			out.AppendFloat(float64(after-p.from) / float64(n))
		case "ntile":
			if err := ntile(args[0], p, row, out); err != nil {
				return err
			}
		case "lag", "lead":
			shifted(c.Function == "lead", args, p, row, out)
		default:
			if err := framed(c.Function, f, args, row, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// ntile spreads a partition over buckets, the first ones larger by one.
func ntile(arg *types.Vector, p *partition, row int, out *types.Vector) error {
	if arg.Nulls.Has(row) {
		out.AppendNull()
		return nil
	}
	k := arg.Ints[row]
	if k <= 0 {
		return sqlerr.New(sqlerr.Code("22014"), "argument of ntile must be greater than zero")
	}
	n, i := int64(p.to-p.from), int64(row-p.from)
	size, larger := n/k, n%k
	if edge := larger * (size + 1); i < edge {
		out.AppendInt(i/(size+1) + 1)
	} else {
		out.AppendInt((i-edge)/size + larger + 1)
	}
	return nil
}

// shifted is lag and lead.
func shifted(lead bool, args []*types.Vector, p *partition, row int, out *types.Vector) {
	by := int64(1)
	if len(args) > 1 {
		if args[1].Nulls.Has(row) {
			out.AppendNull()
			return
		}
		by = args[1].Ints[row]
	}
	if !lead {
		by = -by
	}
	if at := int64(row) + by; at >= int64(p.from) && at < int64(p.to) {
		out.AppendFrom(args[0], int(at))
		return
	}
	if len(args) > 2 {
		out.AppendFrom(args[2], row)
		return
	}
	out.AppendNull()
}

// framed is first_value, last_value and nth_value.
func framed(function string, f *framer, args []*types.Vector, row int, out *types.Vector) error {
	spans := f.spans(row)
	skip := int64(0) // rows of the frame before the one
	switch function {
	case "last_value":
		for _, s := range spans {
			skip += int64(s.to - s.from)
		}
		skip--
	case "nth_value":
		if args[1].Nulls.Has(row) {
			out.AppendNull()
			return nil
		}
		if skip = args[1].Ints[row] - 1; skip < 0 {
			return sqlerr.New(sqlerr.Code("22016"), "argument of nth_value must be greater than zero")
		}
	}
	for _, s := range spans {
		n := int64(s.to - s.from)
		if skip >= 0 && skip < n {
			out.AppendFrom(args[0], s.from+int(skip))
			return nil
		}
		skip -= n
	}
	out.AppendNull()
	return nil
}

// Close implements Source.
func (w *windowOp) Close() error {
	for _, rows := range []*rowSet{w.rows, w.next} {
		if rows != nil {
			rows.release(&w.run.state.memory)
		}
	}
	if w.sorter != nil {
		w.sorter.close()
	}
	var err error
	if w.sorted != nil {
		err = w.sorted.Close()
	}
	return closing(w.Source, err)
}
