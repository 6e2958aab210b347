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
	sel := order(keys, cols, w.rows.Rows)
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
	lo, hi := 0, len(p.peers)-1
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; p.peers[mid] <= row {
			lo = mid
		} else {
			hi = mid
		}
	}
	return p.peers[lo], p.peers[lo+1]
}

func (w *windowOp) call(ctx context.Context, c *plan.WindowCall, newPart, newPeers func(int32) bool) (*types.Vector, error) {
	out := types.NewVector(c.Column.Type, w.rows.Rows)
	args, err := w.run.eval(c.Args, &w.rows.Batch)
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
		if c.Agg != nil {
			err = w.aggregate(c, &p, out)
		} else {
			err = w.positional(c, &p, args, out)
		}
		if err != nil {
			return nil, err
		}
		from = to
	}
	return out, nil
}

// frame returns the rows that a row's frame holds.
func (w *windowOp) frame(f *plan.Frame, p *partition, row int) (from, to int, err error) {
	end := func(b plan.FrameBound, last bool) (int, error) {
		offset := int64(0)
		if b.Offset != nil {
			d, err := w.run.constant(b.Offset)
			if err != nil {
				return 0, err
			}
			if d.Null || d.Int < 0 {
				return 0, sqlerr.New(sqlerr.Code("22013"), "frame offset must not be negative or null")
			}
			offset = min(d.Int, int64(w.rows.Rows))
		}
		at := row
		switch b.Kind {
		case plan.UnboundedPreceding:
			return p.from, nil
		case plan.UnboundedFollowing:
			return p.to, nil
		case plan.OffsetPreceding:
			at = row - int(offset)
		case plan.OffsetFollowing:
			at = row + int(offset)
		case plan.CurrentRow:
			if !f.Rows {
				first, after := p.peersOf(row)
				if last {
					return after, nil
				}
				return first, nil
			}
		}
		if last {
			at++
		}
		return at, nil
	}
	if from, err = end(f.Start, false); err != nil {
		return 0, 0, err
	}
	if to, err = end(f.End, true); err != nil {
		return 0, 0, err
	}
	return max(from, p.from), min(to, p.to), nil
}

// aggregate folds each row's frame. A frame that only grows is folded once.
func (w *windowOp) aggregate(c *plan.WindowCall, p *partition, out *types.Vector) error {
	var acc *accumulator
	var value types.Datum
	have, start := p.from, -1
	for row := p.from; row < p.to; row++ {
		from, to, err := w.frame(&c.Frame, p, row)
		if err != nil {
			return err
		}
		to = max(from, to)
		if acc == nil || from != start || to < have {
			acc = newAccumulator(w.run, c.Agg)
			acc.states.Grow(1)
			start, have = from, from
			value = types.Datum{}
		}
		if to > have || value.Type.OID == 0 {
			if to > have {
				if err := acc.update(slice(&w.rows.Batch, have, to), make([]uint32, to-have)); err != nil {
					return cause(err)
				}
			}
			v, _, err := acc.finish(1, w.run.confidence())
			if err != nil {
				return err
			}
			value, have = v.Datum(0), to
		}
		out.AppendDatum(value)
	}
	return nil
}

// positional computes the functions of a row's place.
func (w *windowOp) positional(c *plan.WindowCall, p *partition, args []*types.Vector, out *types.Vector) error {
	n := p.to - p.from
	for row := p.from; row < p.to; row++ {
		first, after := p.peersOf(row)
		switch c.Function {
		case "row_number":
			out.AppendInt(int64(row - p.from + 1))
		case "rank":
			out.AppendInt(int64(first - p.from + 1))
		case "dense_rank":
			out.AppendInt(int64(p.denseRank(row)))
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
			if err := w.framed(c, p, args, row, out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *partition) denseRank(row int) int {
	lo, hi := 0, len(p.peers)-1
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; p.peers[mid] <= row {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + 1
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
func (w *windowOp) framed(c *plan.WindowCall, p *partition, args []*types.Vector, row int, out *types.Vector) error {
	from, to, err := w.frame(&c.Frame, p, row)
	if err != nil {
		return err
	}
	at := from
	switch c.Function {
	case "last_value":
		at = to - 1
	case "nth_value":
		if args[1].Nulls.Has(row) {
			out.AppendNull()
			return nil
		}
		k := args[1].Ints[row]
		if k <= 0 {
			return sqlerr.New(sqlerr.Code("22016"), "argument of nth_value must be greater than zero")
		}
		at = from + int(min(k-1, int64(to)))
	}
	if at < from || at >= to {
		out.AppendNull()
		return nil
	}
	out.AppendFrom(args[0], at)
	return nil
}

// Close implements Source.
func (w *windowOp) Close() error {
	if w.rows != nil {
		w.rows.release(&w.run.state.memory)
	}
	return w.Source.Close()
}
