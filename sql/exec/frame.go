package exec

import (
	"sort"

	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// span is rows [from, to) of a window's input; never negative.
type span struct{ from, to int }

// framer finds the rows of frames.
type framer struct {
	*plan.Frame
	p          *partition
	start, end int64 // offsets in rows or groups
	// Of a RANGE frame with offsets: the value of each row, and how far its frame
	// reaches.
	key, startLimit, endLimit *types.Vector
	descending                bool
	known                     span // the rows of the partition whose value is not NULL
	buf                       []span
}

// newFramer evaluates what does not depend on the row.
func (w *windowOp) newFramer(f *plan.Frame) (*framer, error) {
	out := &framer{Frame: f}
	var err error
	if out.start, err = w.frameOffset(f, f.Start, "starting"); err != nil {
		return nil, err
	}
	if out.end, err = w.frameOffset(f, f.End, "ending"); err != nil {
		return nil, err
	}
	if f.Key == nil {
		return out, nil
	}
	out.descending = w.node.OrderBy[0].Descending
	cols, err := w.run.eval(withoutNil(f.Key, f.Start.Limit, f.End.Limit), &w.rows.Batch)
	if err != nil {
		return nil, err
	}
	out.key, cols = cols[0], cols[1:]
	if f.Start.Limit != nil {
		out.startLimit, cols = cols[0], cols[1:]
	}
	if f.End.Limit != nil {
		out.endLimit = cols[0]
	}
	return out, nil
}

// frameOffset evaluates the offset of a bound; that of a RANGE frame is in its limit
// already, so here it is only checked.
func (w *windowOp) frameOffset(f *plan.Frame, b plan.FrameBound, which string) (int64, error) {
	if b.Offset == nil {
		return 0, nil
	}
	d, err := w.run.constant(b.Offset)
	if err != nil {
		return 0, err
	}
	if d.Null {
		return 0, sqlerr.New(sqlerr.NullValueNotAllowed, "frame %s offset must not be null", which)
	}
	negative := d.Int < 0 || d.Float < 0
	switch d.Type.OID {
	case types.Numeric:
		negative = types.DecodeDecimal(d.Bytes).Sign() < 0
	case types.Interval:
		negative = types.DecodeSpan(d.Bytes).Cmp(types.Span{}) < 0
	}
	switch {
	case negative && f.Mode == plan.FrameRange:
		return 0, sqlerr.New(sqlerr.Code("22013"), "invalid preceding or following size in window function")
	case negative:
		return 0, sqlerr.New(sqlerr.Code("22013"), "frame %s offset must not be negative", which)
	}
	return min(d.Int, int64(w.rows.Rows)), nil
}

// begin turns to a partition.
func (f *framer) begin(p *partition) {
	f.p = p
	if f.key == nil {
		return
	}
	f.known = span{p.from, p.to}
	for f.known.from < f.known.to && f.key.Nulls.Has(f.known.from) {
		f.known.from++
	}
	for f.known.from < f.known.to && f.key.Nulls.Has(f.known.to-1) {
		f.known.to--
	}
}

// spans returns the rows of a row's frame, in order: one span, which may be empty,
// or several where some are excluded. It is valid until the next call.
func (f *framer) spans(row int) []span {
	from, to := f.edge(f.Start, f.start, f.startLimit, row, false), f.edge(f.End, f.end, f.endLimit, row, true)
	from = max(from, f.p.from)
	whole := span{from, max(from, min(to, f.p.to))}
	f.buf = f.buf[:0]
	first, after := row, row+1
	switch f.Exclude {
	case plan.ExcludeNone:
		return append(f.buf, whole)
	case plan.ExcludeGroup, plan.ExcludeTies:
		first, after = f.p.peersOf(row)
	}
	f.add(whole, span{f.p.from, first})
	if f.Exclude == plan.ExcludeTies {
		f.add(whole, span{row, row + 1})
	}
	f.add(whole, span{after, f.p.to})
	if len(f.buf) == 0 {
		f.buf = append(f.buf, span{whole.from, whole.from})
	}
	return f.buf
}

// add adds what two spans share.
func (f *framer) add(a, b span) {
	if s := (span{max(a.from, b.from), min(a.to, b.to)}); s.from < s.to {
		f.buf = append(f.buf, s)
	}
}

// edge returns where a frame begins, or with last the row after it.
func (f *framer) edge(b plan.FrameBound, offset int64, limit *types.Vector, row int, last bool) int {
	switch {
	case b.Kind == plan.UnboundedPreceding:
		return f.p.from
	case b.Kind == plan.UnboundedFollowing:
		return f.p.to
	case b.Kind == plan.CurrentRow && f.Mode == plan.FrameRows:
		return pick(last, row+1, row)
	case b.Kind == plan.CurrentRow:
		first, after := f.p.peersOf(row)
		return pick(last, after, first)
	}
	if b.Kind == plan.OffsetPreceding {
		offset = -offset
	}
	switch f.Mode {
	case plan.FrameRows:
		return row + int(offset) + pick(last, 1, 0)
	case plan.FrameGroups:
		group := f.p.peerGroup(row) + int(offset) + pick(last, 1, 0)
		return f.p.peers[max(0, min(group, len(f.p.peers)-1))]
	}
	return f.valueEdge(limit, row, last)
}

// valueEdge finds the edge of a RANGE frame with an offset. NULL has only its peers
// in reach.
func (f *framer) valueEdge(limit *types.Vector, row int, last bool) int {
	if limit.Nulls.Has(row) {
		first, after := f.p.peersOf(row)
		return pick(last, after, first)
	}
	return f.known.from + sort.Search(f.known.to-f.known.from, func(i int) bool {
		o := compareValues(f.key, f.known.from+i, limit, row)
		if f.descending {
			o = -o
		}
		if last {
			return o > 0
		}
		return o >= 0
	})
}

func pick(yes bool, a, b int) int {
	if yes {
		return a
	}
	return b
}
