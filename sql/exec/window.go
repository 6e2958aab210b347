package exec

import (
	"context"

	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// windowOp appends the values of window functions. It keeps all rows, sorted by
// partition and order.
type windowOp struct {
	Source
	run  *run
	node *plan.Window
	rows *rowSet
	out  *cursor
}

// Next implements Source.
func (w *windowOp) Next(ctx context.Context) (*types.Batch, error) {
	if w.out == nil {
		if err := w.read(ctx); err != nil {
			return nil, err
		}
	}
	return w.out.next(), nil
}

func (w *windowOp) read(ctx context.Context) error {
	var err error
	if w.rows, err = w.run.drain(ctx, w.Source, w.node.Child.Schema()); err != nil {
		return err
	}
	keys := make([]plan.SortKey, 0, len(w.node.PartitionBy)+len(w.node.OrderBy))
	for _, e := range w.node.PartitionBy {
		keys = append(keys, plan.SortKey{Value: e})
	}
	keys = append(keys, w.node.OrderBy...)
	cols, err := w.run.eval(sortValues(keys), &w.rows.Batch)
	if err != nil {
		return err
	}
	sel, err := w.run.order(keys, cols, w.rows.Rows)
	if err != nil {
		return err
	}
	w.rows.Batch = *w.rows.Gather(sel)
	for i := range cols {
		cols[i] = cols[i].Gather(sel)
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
		v, _, err := acc.finish(1, w.run.confidence())
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
	if w.rows != nil {
		w.rows.release(&w.run.state.memory)
	}
	return w.Source.Close()
}
