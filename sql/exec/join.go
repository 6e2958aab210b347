package exec

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// joinOp keeps one side and streams the other past it: the right side, or where either
// will do, the one that ended first. With keys it looks partners up in a hash table,
// else every pair is tried.
type joinOp struct {
	run     *run
	node    *plan.Join
	left    Source // the side that is streamed
	right   *rowSet
	swapped bool         // the left side is kept, the right one is streamed
	table   *rowIndex    // rows of the right by key; nil without keys
	charged int64        // for table or every
	every   []int32      // all rows of the right, without keys
	hit     types.Bitmap // rows of the right that found a partner
	on      *expr.Filter

	widest  int // bytes of the right's widest row
	probed  probe
	numbers []int32 // memory of probed
	queue   []*types.Batch
	ended   bool
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
	right, err := r.open(ctx, x.Right)
	if err != nil {
		return nil, closing(left, err)
	}
	return r.joinSources(ctx, x, left, right, 0)
}

// joinSources joins the rows of two open sources. It keeps one side: of an inner join
// with keys that which ends first when both are read in turn, else the right one. If
// that does not fit into memory, both sides go to files by the hash of their keys.
func (r *run) joinSources(ctx context.Context, x *plan.Join, left, right Source, level int) (Source, error) {
	sides := [2]Source{left, right}
	kept := [2]*rowSet{newRowSet(x.Left.Schema()), newRowSet(x.Right.Schema())}
	either := x.Kind == plan.InnerJoin && len(x.LeftKeys) > 0
	maySpill := r.state.spill != nil && len(x.LeftKeys) > 0 && level < maxSpillLevel
	memory := &r.state.memory
	for {
		turn := 1
		if either && kept[0].Rows < kept[1].Rows {
			turn = 0
		}
		b, err := sides[turn].Next(ctx)
		if err == nil && b != nil {
			err = kept[turn].add(memory, b)
		}
		table := int64(kept[turn].Rows) * tableBytes
		large := kept[turn].charged > memory.limit/8 // a little is better kept, whoever has the rest
		switch full := maySpill && kept[turn].Rows > 0 && (large && r.pressed() || !memory.fits(table)); {
		case err == nil && b != nil && !full:
			continue
		case err != nil && !(maySpill && r.outOfMemory(err)):
			for _, k := range kept {
				k.release(memory)
			}
			return nil, errors.Join(err, left.Close(), right.Close())
		case err != nil || full:
			return r.splitJoin(ctx, x, r.resume(kept[0], left), r.resume(kept[1], right), level)
		}
		j := &joinOp{run: r, node: x, left: r.resume(kept[1-turn], sides[1-turn]), right: kept[turn], swapped: turn == 0}
		if err := sides[turn].Close(); err != nil {
			return nil, errors.Join(err, j.Close())
		}
		return j, j.start()
	}
}

// tableBytes is about what a row takes in a rowIndex.
const tableBytes = 96

// resume returns a source of rows that were read already, then of the others.
func (r *run) resume(rows *rowSet, rest Source) Source {
	if rows.Rows == 0 {
		return rest
	}
	return &prefixed{
		cursor: cursor{rows: &rows.Batch, all: true}, Source: rest,
		release: func() { rows.release(&r.state.memory) },
	}
}

// start builds the table; after an error the join is closed.
func (j *joinOp) start() error {
	j.widest = widest(&j.right.Batch)
	if j.node.On != nil {
		j.on = expr.NewFilter(j.node.On)
	}
	if err := j.build(); err != nil {
		return errors.Join(err, j.Close())
	}
	return nil
}

// keys are those of the side that is streamed, or of the one that is kept.
func (j *joinOp) keys(kept bool) []expr.Expr {
	if kept != j.swapped {
		return j.node.RightKeys
	}
	return j.node.LeftKeys
}

func (j *joinOp) build() error {
	if len(j.node.RightKeys) == 0 {
		for i := range j.right.Rows {
			j.every = append(j.every, int32(i))
		}
		return j.charge(int64(4 * cap(j.every)))
	}
	keys, err := j.run.eval(j.keys(true), &j.right.Batch)
	if err != nil {
		return err
	}
	j.table = newRowIndex(keys, j.right.Rows)
	return j.charge(j.table.memory())
}

func (j *joinOp) charge(n int64) error {
	if err := j.run.state.memory.grow(n); err != nil {
		return err
	}
	j.charged += n
	return nil
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
			if err := j.look(); err != nil {
				return nil, err
			}
		}
	}
}

// probe is how far a batch of the left side has met its partners: a few rows can
// have very many, which must not all be in memory at once.
type probe struct {
	batch      *types.Batch
	numbers    []int32 // of the keys of its rows
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
			for p.row++; j.table != nil && p.row < p.batch.Rows && p.numbers[p.row] < 0; {
				p.row++ // no row has its key
			}
			if p.row == p.batch.Rows {
				break
			}
			p.candidates = j.candidates(p)
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

// look finds the keys of a batch of the left. Semi and anti joins that have no further
// condition need no more.
func (j *joinOp) look() error {
	if j.table == nil {
		return nil
	}
	p := &j.probed
	keys, err := j.run.eval(j.keys(false), p.batch)
	if err != nil {
		return err
	}
	j.numbers = j.table.find(keys, p.batch.Rows, j.numbers[:0])
	p.numbers = j.numbers
	if !j.yieldsLeft() || j.on != nil {
		return nil
	}
	for i, n := range p.numbers {
		if len(j.table.rows(n)) > 0 {
			p.found.Set(i)
		}
	}
	j.unmatched(p.batch, p.found)
	j.probed = probe{}
	return nil
}

// yieldsLeft reports whether the join yields columns of the left only.
func (j *joinOp) yieldsLeft() bool {
	return j.node.Kind == plan.SemiJoin || j.node.Kind == plan.AntiJoin
}

// candidates are the rows of the right that may be partners of the row of the left.
func (j *joinOp) candidates(p *probe) []int32 {
	if j.table == nil {
		return j.every
	}
	return j.table.rows(p.numbers[p.row])
}

// pairs tests candidates and queues the pairs that hold.
func (j *joinOp) pairs(b *types.Batch, l, r []int32, found *types.Bitmap) error {
	if len(l) == 0 {
		return nil
	}
	out := &types.Batch{Rows: len(l)}
	gather := func() {
		left, right := b.Gather(l).Cols, j.right.Gather(r).Cols
		if j.swapped {
			left, right = right, left
		}
		out.Cols = append(left, right...)
	}
	if j.on != nil {
		gather()
		sel, err := j.on.Select(j.run.ec, out, nil)
		if err != nil {
			return cause(err)
		}
		out = out.Gather(sel)
		l, r = pickRows(l, sel), pickRows(r, sel)
	}
	if j.node.Kind != plan.InnerJoin {
		for i := range l {
			found.Set(int(l[i]))
			j.hit.Set(int(r[i]))
		}
	}
	if j.yieldsLeft() || len(l) == 0 {
		return nil
	}
	if j.on == nil {
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
			rows[i] += len(c.Bytes(i))
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
	if j.node.Kind == plan.InnerJoin || j.node.Kind == plan.RightJoin {
		return
	}
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
	j.run.state.memory.shrink(j.charged)
	j.charged = 0
	return j.left.Close()
}
