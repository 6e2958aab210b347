package gather

import (
	"context"
	"iter"

	"github.com/tallydb/tallydb/sql/exec"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

var _ exec.Leaves = (*Statement)(nil)

// OpenFold implements exec.Leaves.
func (s *Statement) OpenFold(ctx context.Context, scan *plan.FoldScan, ec *expr.Context) (exec.Source, error) {
	answer, err := s.answer(ctx, scan, ec)
	if err != nil {
		return nil, err
	}
	s.result.Add(answer.coverage)
	return newSource(func(yield func(*types.Batch, error) bool) { yield(answer.batch, nil) }), nil
}

func (s *Statement) answer(ctx context.Context, scan *plan.FoldScan, ec *expr.Context) (*folded, error) {
	if err := s.foldTogether(ctx, scan.Fold.Stream, ec); err != nil {
		return nil, err
	}
	if a := s.answers[scan]; a != nil {
		return a, nil
	}
	if key, shared := s.flightKey(scan, ec); shared {
		return s.flights.do(ctx, key, func() (*folded, error) {
			if err := s.repin(ctx, scan.Fold.Stream); err != nil {
				return nil, err
			}
			return s.fold(ctx, scan, ec)
		})
	}
	return s.fold(ctx, scan, ec)
}

// OpenStream implements exec.Leaves.
func (s *Statement) OpenStream(ctx context.Context, scan *plan.StreamScan, ec *expr.Context) (exec.Stream, error) {
	if err := s.foldTogether(ctx, scan.Stream, ec); err != nil {
		return nil, err
	}
	return s.stream(ctx, scan, ec)
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
