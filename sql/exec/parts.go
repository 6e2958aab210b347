package exec

import (
	"context"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// inParts calls do with a batch, from its row 0; if what do evaluates is too large
// for so many rows, with the halves of the batch, and so on down to single rows.
// do must change nothing when it fails so.
func inParts(ctx context.Context, b *types.Batch, do func(part *types.Batch, from int) error) error {
	return partsFrom(ctx, b, 0, do)
}

func partsFrom(ctx context.Context, b *types.Batch, from int, do func(*types.Batch, int) error) error {
	err := do(b, from)
	if b.Rows < 2 || !expr.TooLarge(err) {
		return cause(err)
	}
	if err := cancelled(ctx); err != nil {
		return err
	}
	half := b.Rows / 2
	if err := partsFrom(ctx, slice(b, 0, half), from, do); err != nil {
		return err
	}
	return partsFrom(ctx, slice(b, half, b.Rows), from+half, do)
}

// filter returns the rows of b for which cond is true, appended to sel[:0].
func (r *run) filter(ctx context.Context, cond *expr.Filter, b *types.Batch, sel []int32) ([]int32, error) {
	sel = sel[:0]
	err := inParts(ctx, b, func(part *types.Batch, from int) error {
		found, err := cond.Select(r.ec, part, sel[len(sel):])
		if from == 0 && part.Rows == b.Rows {
			sel = found
			return err
		}
		for _, i := range found {
			sel = append(sel, i+int32(from))
		}
		return err
	})
	return sel, err
}

// evalLarge evaluates expressions whose values are too large for one evaluation,
// as far as the statement's budget allows.
func (r *run) evalLarge(exprs []expr.Expr, in *types.Batch) ([]*types.Vector, error) {
	out := &types.Batch{}
	for _, e := range exprs {
		out.Cols = append(out.Cols, types.NewVector(e.Type(), in.Rows))
	}
	half := in.Rows / 2
	for _, part := range []*types.Batch{slice(in, 0, half), slice(in, half, in.Rows)} {
		cols, err := r.eval(exprs, part)
		if err != nil {
			return nil, err
		}
		held := int64((&types.Batch{Cols: cols}).MemoryBytes() + out.MemoryBytes())
		if err := r.state.memory.grow(held); err != nil {
			return nil, err
		}
		r.state.memory.shrink(held) // the caller charges what it keeps
		for i, c := range cols {
			out.Cols[i].AppendAll(c)
		}
	}
	return out.Cols, nil
}

// evalAll evaluates expressions over a batch; the error tells the row. What is a
// column as it stands keeps its dictionary.
func (r *run) evalAll(exprs []expr.Expr, in *types.Batch) ([]*types.Vector, error) {
	out := make([]*types.Vector, len(exprs))
	for i, e := range exprs {
		if c, ok := e.(*expr.Column); ok {
			out[i] = in.Cols[c.Index]
			continue
		}
		var err error
		if out[i], err = e.Eval(r.ec, in); err != nil {
			return nil, err
		}
	}
	return out, nil
}
