package exec

import (
	"context"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/spill"
	"github.com/tallydb/tallydb/sql/types"
)

// splitJoin joins files: rows of both sides with equal keys are in files of the same
// number (the Grace join; Kitsuregawa, Tanaka, Moto-oka, 1983). One pair of files after
// the other is joined as if it were all.
type splitJoin struct {
	run     *run
	node    *plan.Join
	level   int
	pairs   [][2]*spill.File
	current Source
}

func (r *run) splitJoin(ctx context.Context, x *plan.Join, left, right Source, level int) (Source, error) {
	write := func(src Source, schema *types.Schema, keys []expr.Expr) (*partitioner, error) {
		p := r.newPartitioner(schema, level)
		return p, p.all(ctx, src, func(b *types.Batch) ([]*types.Vector, error) { return r.eval(keys, b) })
	}
	rights, err := write(right, x.Right.Schema(), x.RightKeys)
	if err != nil {
		return nil, closing(left, err)
	}
	lefts, err := write(left, x.Left.Schema(), x.LeftKeys)
	if err != nil {
		return nil, err
	}
	s := &splitJoin{run: r, node: x, level: level}
	for i := range lefts.files {
		if lefts.files[i] != nil || rights.files[i] != nil {
			s.pairs = append(s.pairs, [2]*spill.File{lefts.files[i], rights.files[i]})
		}
	}
	st := r.stats(x)
	st.Batches += len(s.pairs)
	st.DiskBytes += lefts.bytes() + rights.bytes()
	return s, nil
}

// Next implements Source.
func (s *splitJoin) Next(ctx context.Context) (*types.Batch, error) {
	for {
		if s.current == nil {
			if len(s.pairs) == 0 {
				return nil, nil
			}
			p := s.pairs[0]
			s.pairs = s.pairs[1:]
			left := &fileSource{run: s.run, file: p[0], schema: s.node.Left.Schema()}
			right := &fileSource{run: s.run, file: p[1], schema: s.node.Right.Schema()}
			var err error
			if s.current, err = s.run.joinSources(ctx, s.node, left, right, s.level+1); err != nil {
				s.current = nil
				return nil, err
			}
		}
		b, err := s.current.Next(ctx)
		if err != nil || b != nil {
			return b, err
		}
		if err := s.Close(); err != nil {
			return nil, err
		}
	}
}

// Close implements Source. Files that were not read go with the statement.
func (s *splitJoin) Close() error {
	if s.current == nil {
		return nil
	}
	c := s.current
	s.current = nil
	return c.Close()
}
