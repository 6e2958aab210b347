package exec

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// joinOp keeps the right side and streams the left one past it. With keys it
// looks partners up in a hash table, else every pair is tried.
type joinOp struct {
	run   *run
	node  *plan.Join
	left  Source
	right *rowSet
	table *rowIndex    // rows of the right by key; nil without keys
	every []int32      // all rows of the right, without keys
	hit   types.Bitmap // rows of the right that found a partner

	widest int // bytes of the right's widest row
	probed probe
	queue  []*types.Batch
	ended  bool
}

func (r *run) openJoin(ctx context.Context, x *plan.Join) (Source, error) {
	if (x.Kind == plan.SemiJoin || x.Kind == plan.AntiJoin) && len(x.LeftKeys) > 0 {
		return r.openSemiJoin(ctx, x)
	}
	left, err := r.open(ctx, x.Left)
	if err != nil {
		return nil, err
	}
	return r.joinWith(ctx, x, left)
}

// joinWith joins the rows of an open source with those of the right.
func (r *run) joinWith(ctx context.Context, x *plan.Join, left Source) (Source, error) {
	j := &joinOp{run: r, node: x, left: left}
	var err error
	if j.right, err = r.collect(ctx, x.Right); err != nil {
		return nil, errors.Join(err, left.Close())
	}
	j.widest = widest(&j.right.Batch)
	if err := j.build(); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

func (j *joinOp) build() error {
	if len(j.node.RightKeys) == 0 {
		for i := range j.right.Rows {
			j.every = append(j.every, int32(i))
		}
		return j.run.state.memory.grow(int64(4 * cap(j.every)))
	}
	keys, err := j.run.eval(j.node.RightKeys, &j.right.Batch)
	if err != nil {
		return err
	}
	j.table = newRowIndex(keys, j.right.Rows)
	return j.run.state.memory.grow(j.table.memory())
}

// Next implements Source.
func (j *joinOp) Next(ctx context.Context) (*types.Batch, error) {
	for {
		if len(j.queue) > 0 {
			b := j.queue[0]
			j.queue = j.queue[1:]
			return b, nil
		}
		switch {
		case j.probed.batch != nil:
			if err := j.probe(ctx); err != nil {
				return nil, err
			}
		case j.ended:
			return nil, nil
		default:
			b, err := j.left.Next(ctx)
			if err != nil {
				return nil, err
			}
			if b == nil {
				j.ended = true
				j.rest()
				continue
			}
			j.probed = probe{batch: b, row: -1, pairs: pairsAtATime(b, j.widest)}
			if j.probed.keys, err = j.run.eval(j.node.LeftKeys, b); err != nil {
				return nil, err
			}
		}
	}
}

// probe is how far a batch of the left side has met its partners: a few rows can
// have very many, which must not all be in memory at once.
type probe struct {
	batch      *types.Batch
	keys       []*types.Vector
	row        int
	pairs      int     // to try at a time: fewer if rows are wide
	candidates []int32 // of row, still to be tried
	found      types.Bitmap
}

// probe tries one batch of candidates and queues the pairs that hold.
func (j *joinOp) probe(ctx context.Context) error {
	if err := cancelled(ctx); err != nil {
		return err
	}
	p := &j.probed
	var l, r []int32
	for len(l) < p.pairs {
		if len(p.candidates) == 0 {
			if p.row++; p.row == p.batch.Rows {
				break
			}
			p.candidates = j.candidates(p.keys, p.row)
			continue
		}
		n := min(len(p.candidates), p.pairs-len(l))
		for _, c := range p.candidates[:n] {
			l, r = append(l, int32(p.row)), append(r, c)
		}
		p.candidates = p.candidates[n:]
	}
	if err := j.pairs(p.batch, l, r, &p.found); err != nil {
		return err
	}
	if p.row == p.batch.Rows {
		j.unmatched(p.batch, p.found)
		j.probed = probe{}
	}
	return nil
}

// candidates are the rows of the right that may be partners of a row of the left.
func (j *joinOp) candidates(keys []*types.Vector, row int) []int32 {
	if j.table == nil {
		return j.every
	}
	return j.table.rows(keys, row)
}

// pairs tests candidates and queues the pairs that hold.
func (j *joinOp) pairs(b *types.Batch, l, r []int32, found *types.Bitmap) error {
	if len(l) == 0 {
		return nil
	}
	out := &types.Batch{Rows: len(l)}
	gather := func() {
		out.Cols = append(b.Gather(l).Cols, j.right.Gather(r).Cols...)
	}
	if j.node.On != nil {
		gather()
		sel, err := expr.FilterSel(j.run.ec, j.node.On, out, nil)
		if err != nil {
			return cause(err)
		}
		out = out.Gather(sel)
		l, r = pickRows(l, sel), pickRows(r, sel)
	}
	for i := range l {
		found.Set(int(l[i]))
		j.hit.Set(int(r[i]))
	}
	if j.node.Kind == plan.SemiJoin || j.node.Kind == plan.AntiJoin || len(l) == 0 {
		return nil
	}
	if j.node.On == nil {
		gather()
	}
	j.queue = append(j.queue, out)
	return nil
}

// pairsAtATime is how many rows of a batch may be put together with rows of the
// other side, the widest of which has so many bytes.
func pairsAtATime(b *types.Batch, other int) int {
	return max(1, min(types.BatchRows, expr.MaxVectorBytes/(1+widest(b)+other)))
}

// widest returns the bytes of the widest row, in its texts and the like.
func widest(b *types.Batch) int {
	rows := make([]int, b.Rows)
	most := 0
	for _, c := range b.Cols {
		if c.Type.Kind() != types.KindBytes {
			continue
		}
		for i := range b.Rows {
			rows[i] += int(c.Offsets[i+1] - c.Offsets[i])
			most = max(most, rows[i])
		}
	}
	return most
}

func pickRows(rows, sel []int32) []int32 {
	out := make([]int32, len(sel))
	for i, s := range sel {
		out[i] = rows[s]
	}
	return out
}

// unmatched queues what the kind of join makes of rows of the left.
func (j *joinOp) unmatched(b *types.Batch, found types.Bitmap) {
	var sel []int32
	want := j.node.Kind == plan.SemiJoin
	for i := range b.Rows {
		if found.Has(i) == want {
			sel = append(sel, int32(i))
		}
	}
	if len(sel) == 0 {
		return
	}
	switch j.node.Kind {
	case plan.SemiJoin, plan.AntiJoin:
		j.queue = append(j.queue, b.Gather(sel))
	case plan.LeftJoin, plan.FullJoin:
		out := b.Gather(sel)
		out.Cols = append(out.Cols, nulls(j.right.Cols, len(sel))...)
		j.queue = append(j.queue, out)
	}
}

// rest queues the rows of the right that found no partner.
func (j *joinOp) rest() {
	if j.node.Kind != plan.RightJoin && j.node.Kind != plan.FullJoin {
		return
	}
	var sel []int32
	for i := range j.right.Rows {
		if !j.hit.Has(i) {
			sel = append(sel, int32(i))
		}
	}
	schema := j.node.Left.Schema()
	left := types.NewBatch(schema, 0).Cols
	for at := 0; at < len(sel); at += types.BatchRows {
		part := sel[at:min(at+types.BatchRows, len(sel))]
		cols := append(nulls(left, len(part)), j.right.Gather(part).Cols...)
		j.queue = append(j.queue, &types.Batch{Cols: cols, Rows: len(part)})
	}
}

// nulls returns columns of n NULLs with the types of like.
func nulls(like []*types.Vector, n int) []*types.Vector {
	out := make([]*types.Vector, len(like))
	for i, c := range like {
		out[i] = types.NewVector(c.Type, n)
		for range n {
			out[i].AppendNull()
		}
	}
	return out
}

// Close implements Source.
func (j *joinOp) Close() error {
	j.right.release(&j.run.state.memory)
	return j.left.Close()
}
