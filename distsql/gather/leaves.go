package gather

import (
	"context"
	"iter"

	"github.com/tallydb/tallydb/distsql/envelope"
	"github.com/tallydb/tallydb/sql/exec"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

var _ exec.Leaves = (*Statement)(nil)

// OpenFold implements exec.Leaves.
func (s *Statement) OpenFold(ctx context.Context, scan *plan.FoldScan, ec *expr.Context) (exec.Source, error) {
	var b *types.Batch
	var coverage *envelope.Relation
	var err error
	if key, shared := s.flightKey(scan, ec); shared {
		b, coverage, err = s.flights.do(ctx, key, func() (*types.Batch, *envelope.Relation, error) {
			if err := s.repin(ctx, scan.Fold.Stream); err != nil {
				return nil, nil, err
			}
			return s.fold(ctx, scan, ec)
		})
	} else {
		b, coverage, err = s.fold(ctx, scan, ec)
	}
	if err != nil {
		return nil, err
	}
	s.result.Add(coverage)
	return newSource(func(yield func(*types.Batch, error) bool) { yield(b, nil) }), nil
}

// OpenStream implements exec.Leaves.
func (s *Statement) OpenStream(ctx context.Context, scan *plan.StreamScan, ec *expr.Context) (exec.Source, error) {
	rows, err := s.stream(ctx, scan, ec)
	if err != nil {
		return nil, err
	}
	return newSource(rows), nil
}

// OpenSide implements exec.Leaves.
func (s *Statement) OpenSide(ctx context.Context, scan *plan.SideScan, ec *expr.Context) (exec.Source, error) {
	rows, err := s.side(ctx, scan, ec)
	if err != nil {
		return nil, err
	}
	return newSource(rows), nil
}

// source pulls from a sequence.
type source struct {
	next func() (*types.Batch, error, bool)
	stop func()
}

func newSource(rows Rows) *source {
	next, stop := iter.Pull2(rows)
	return &source{next, stop}
}

// Next implements exec.Source.
func (s *source) Next(context.Context) (*types.Batch, error) {
	for {
		b, err, ok := s.next()
		if !ok || err != nil {
			return nil, err
		}
		if b.Rows > 0 {
			return b, nil
		}
	}
}

// Close implements exec.Source.
func (s *source) Close() error {
	s.stop()
	return nil
}
