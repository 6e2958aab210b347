package exec

import (
	"context"

	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// recursiveOp finds rows level by level.
type recursiveOp struct {
	run   *run
	node  *plan.RecursiveUnion
	seen  *keyTable
	level *rowSet // rows found last
	out   cursor
	begun bool
	stale []int // see renew
	buf   []byte
}

// Next implements Source.
func (o *recursiveOp) Next(ctx context.Context) (*types.Batch, error) {
	for {
		if b := o.out.next(); b != nil {
			return b, nil
		}
		n := o.node.Base
		if o.begun {
			if o.level.Rows == 0 {
				return nil, nil
			}
			n = o.node.Step
			if o.run.state.work == nil {
				o.run.state.work = map[int]*rowSet{}
			}
			o.run.state.work[o.node.ID] = o.level
			if err := o.renew(); err != nil {
				return nil, err
			}
		}
		o.begun = true
		found, err := o.run.collect(ctx, n)
		if err != nil {
			return nil, err
		}
		fresh, err := o.fresh(found)
		if err != nil {
			return nil, err
		}
		if o.level != nil {
			o.level.release(&o.run.state.memory)
		}
		o.level = found
		o.level.Batch = *fresh
		o.out = cursor{rows: &o.level.Batch, all: true}
	}
}

// renew forgets the rows of shared parts of the step that are made of the rows found
// last: the next level has its own.
func (o *recursiveOp) renew() error {
	if o.stale == nil {
		o.stale = plan.SharedOver(o.node.Step, o.node.ID)
	}
	for _, id := range o.stale {
		if err := o.run.state.forget(id); err != nil {
			return err
		}
	}
	return nil
}

// fresh leaves out rows that were found before.
func (o *recursiveOp) fresh(rows *rowSet) (*types.Batch, error) {
	if o.node.All {
		return &rows.Batch, nil
	}
	var sel []int32
	held := o.seen.memory()
	for i := range rows.Rows {
		o.buf = appendKeys(o.buf[:0], rows.Cols, i)
		if _, fresh := o.seen.add(o.buf); fresh {
			sel = append(sel, int32(i))
		}
	}
	if err := o.run.state.memory.grow(o.seen.memory() - held); err != nil {
		return nil, err
	}
	return rows.Gather(sel), nil
}

// Close implements Source.
func (o *recursiveOp) Close() error {
	if o.level != nil {
		o.level.release(&o.run.state.memory)
	}
	return nil
}
