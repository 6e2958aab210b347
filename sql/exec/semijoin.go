package exec

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// semiJoinRows is how many rows of the left side a semi join keeps, to stream the
// right side past them, before it rather keeps the right side.
const semiJoinRows = 64 << 10

// openSemiJoin opens a semi or an anti join with keys. It keeps the left side if
// that is small, for the right side of EXISTS is often a whole table.
func (r *run) openSemiJoin(ctx context.Context, x *plan.Join) (Source, error) {
	left, err := r.open(ctx, x.Left)
	if err != nil {
		return nil, err
	}
	s := &semiJoinOp{run: r, node: x, rows: newRowSet(x.Left.Schema())}
	if x.On != nil {
		s.on = expr.NewFilter(x.On)
	}
	for s.rows.Rows < semiJoinRows {
		b, err := left.Next(ctx)
		if err == nil && b != nil {
			err = s.rows.add(&r.state.memory, b)
			full := r.pressed() || r.state.spill != nil && !r.state.memory.fits(int64(s.rows.Rows)*tableBytes)
			if r.outOfMemory(err) || err == nil && full {
				break
			}
		}
		if err != nil {
			s.rows.release(&r.state.memory)
			return nil, errors.Join(err, left.Close())
		}
		if b == nil {
			return s, left.Close()
		}
	}
	return r.joinWith(ctx, x, r.resume(s.rows, left))
}

// prefixed is rows that were read already, followed by the rest of their source.
type prefixed struct {
	cursor
	Source
	release func()
}

// Next implements Source.
func (p *prefixed) Next(ctx context.Context) (*types.Batch, error) {
	if b := p.next(); b != nil {
		return b, nil
	}
	p.release()
	p.rows = &types.Batch{} // the garbage collector may have it
	return p.Source.Next(ctx)
}

// Close implements Source.
func (p *prefixed) Close() error {
	p.release()
	return p.Source.Close()
}

// semiJoinOp keeps the left side, streams the right side past it, and yields the
// rows of the left that met a partner, or those that met none.
type semiJoinOp struct {
	run     *run
	node    *plan.Join
	rows    *rowSet
	index   *rowIndex
	numbers []int32 // of the keys of a batch of the right
	found   types.Bitmap
	widest  int // bytes of the widest row
	missed  int // rows that have not met a partner yet
	on      *expr.Filter
	out     *cursor
}

// Next implements Source.
func (s *semiJoinOp) Next(ctx context.Context) (*types.Batch, error) {
	if s.out == nil {
		if err := s.read(ctx); err != nil {
			return nil, err
		}
		var sel []int32
		for i := range s.rows.Rows {
			if s.found.Has(i) == (s.node.Kind == plan.SemiJoin) {
				sel = append(sel, int32(i))
			}
		}
		s.out = &cursor{rows: &s.rows.Batch, sel: sel}
	}
	return s.out.next(), nil
}

func (s *semiJoinOp) read(ctx context.Context) (err error) {
	if s.missed = s.rows.Rows; s.missed == 0 {
		return nil
	}
	keys, err := s.run.eval(s.node.LeftKeys, &s.rows.Batch)
	if err != nil {
		return err
	}
	s.index, s.widest = newRowIndex(keys, s.rows.Rows), widest(&s.rows.Batch)
	if err := s.run.state.memory.grow(s.index.memory()); err != nil {
		return err
	}
	defer func() { s.run.state.memory.shrink(s.index.memory()) }()
	right, err := s.run.open(ctx, s.node.Right)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, right.Close()) }()
	for s.missed > 0 {
		b, err := right.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		if err := s.probe(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// probe notes the rows of the left that have partners in a batch of the right.
func (s *semiJoinOp) probe(ctx context.Context, b *types.Batch) error {
	keys, err := s.run.eval(s.node.RightKeys, b)
	if err != nil {
		return err
	}
	limit := pairsAtATime(b, s.widest)
	var l, r []int32
	s.numbers = s.index.find(keys, b.Rows, s.numbers[:0])
	for i := range b.Rows {
		for _, row := range s.index.rows(s.numbers[i]) {
			if s.found.Has(int(row)) {
				continue
			}
			if s.node.On == nil {
				s.meet(row)
				continue
			}
			if l, r = append(l, row), append(r, int32(i)); len(l) == limit {
				if err := s.test(ctx, b, l, r); err != nil {
					return err
				}
				l, r = l[:0], r[:0]
			}
		}
	}
	return s.test(ctx, b, l, r)
}

func (s *semiJoinOp) meet(row int32) {
	if !s.found.Has(int(row)) {
		s.found.Set(int(row))
		s.missed--
	}
}

// test tries the further condition on pairs.
func (s *semiJoinOp) test(ctx context.Context, b *types.Batch, l, r []int32) error {
	if len(l) == 0 {
		return nil
	}
	if err := cancelled(ctx); err != nil {
		return err
	}
	pairs := &types.Batch{Rows: len(l), Cols: append(s.rows.Gather(l).Cols, b.Gather(r).Cols...)}
	sel, err := s.run.filter(ctx, s.on, pairs, nil)
	if err != nil {
		return err
	}
	for _, i := range sel {
		s.meet(l[i])
	}
	return nil
}

// Close implements Source.
func (s *semiJoinOp) Close() error {
	s.rows.release(&s.run.state.memory)
	return nil
}
