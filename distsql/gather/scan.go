package gather

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/distsql/fragment"
	"github.com/tallydb/tallydb/distsql/physical"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// Rows is a sequence of batches that ends with the first error.
type Rows = iter.Seq2[*types.Batch, error]

// stream runs a StreamScan: the admitted events of the retained log, each
// partition's in log order. All partitions are heard from before the first row,
// so that every row knows the coverage of the whole.
func (s *Statement) stream(ctx context.Context, scan *plan.StreamScan, ec *expr.Context) (Rows, error) {
	rel := scan.Stream
	partitions, err := physical.Partitions(rel, scan.Partition, ec)
	if err != nil {
		return nil, err
	}
	replies, err := ask(ctx, s, rel, partitions, s.transport.Await)
	if err != nil {
		return nil, err
	}
	births := map[id.Partition]id.Offset{}
	for _, r := range replies {
		if r.err == nil && len(r.answer.Covered) > 0 {
			births[r.partition] = r.answer.Covered[0].From
		}
	}
	g := s.newGate(rel, rel.Name, partitions, births)
	for _, r := range replies {
		if r.err != nil {
			g.miss(r.partition, missingReason(r.err))
			continue
		}
		g.admit(r.answer, "", "")
	}
	g.coverage.Shorter = g.shorter
	g.close()
	return func(yield func(*types.Batch, error) bool) {
		for _, r := range g.reaches {
			more, err := s.streamPartition(ctx, scan, ec, g, r, yield)
			if err != nil {
				yield(nil, err)
			}
			if err != nil || !more {
				return
			}
		}
	}, nil
}

// errStop ends a scan whose consumer has enough.
type errStop struct{}

func (errStop) Error() string { return "enough rows" }

func (s *Statement) streamPartition(ctx context.Context, scan *plan.StreamScan, ec *expr.Context, g *gate, r fragment.Reach, yield func(*types.Batch, error) bool) (more bool, err error) {
	left := scan.Limit
	err = s.transport.Scan(ctx, s.target(scan.Stream, r.Partition), r.Covered, func(b *types.Batch) error {
		sel, err := selectRows(ec, scan.Filter, b)
		if err != nil {
			return err
		}
		if scan.Limit > 0 && int64(len(sel)) > left {
			sel = sel[:left]
		}
		if len(sel) > 0 && !yield(g.streamBatch(scan, b, sel), nil) {
			return errStop{}
		}
		if left -= int64(len(sel)); scan.Limit > 0 && left == 0 {
			return errLimit{}
		}
		return nil
	})
	switch {
	case errors.Is(err, errStop{}):
		return false, nil
	case errors.Is(err, errLimit{}):
		return true, nil
	}
	return err == nil, err
}

// errLimit ends the scan of one partition that yielded what was asked for.
type errLimit struct{}

func (errLimit) Error() string { return "limit reached" }

// selectRows returns the rows that a filter admits; nil admits all.
func selectRows(ec *expr.Context, filter expr.Expr, b *types.Batch) ([]int32, error) {
	if filter != nil {
		return expr.FilterSel(ec, filter, b, nil)
	}
	sel := make([]int32, b.Rows)
	for i := range sel {
		sel[i] = int32(i)
	}
	return sel, nil
}

// streamBatch copies the chosen rows with the columns of the scan.
func (g *gate) streamBatch(scan *plan.StreamScan, b *types.Batch, sel []int32) *types.Batch {
	e := &rowEnvelope{gate: g, rows: len(sel), kind: agg.Exact, confidence: g.s.settings.Confidence}
	out := &types.Batch{Rows: len(sel)}
	for _, c := range scan.Columns {
		if c < len(b.Cols) {
			out.Cols = append(out.Cols, b.Cols[c].Gather(sel))
		} else {
			out.Cols = append(out.Cols, e.column(c-len(b.Cols)))
		}
	}
	return out
}

// side runs a SideScan. Side relations are reports without an envelope, but a
// partition that does not answer makes them partial all the same.
func (s *Statement) side(ctx context.Context, scan *plan.SideScan, ec *expr.Context) (Rows, error) {
	targets := []id.Relation{0}
	if scan.View != nil {
		targets = []id.Relation{scan.View.ID}
	} else if scan.Kind != plan.SideRejected {
		targets = targets[:0]
		for _, v := range s.views(scan.Stream.ID) {
			targets = append(targets, v.ID)
		}
	}
	partitions := scan.Stream.Stream.Partitions()
	replies, err := ask(ctx, s, scan.Stream, partitions, func(ctx context.Context, t fragment.Target) ([]*types.Batch, error) {
		var out []*types.Batch
		for _, view := range targets {
			err := s.transport.Side(ctx, t, scan.Kind, view, func(b *types.Batch) error {
				out = append(out, b)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	g := s.newGate(scan.Stream, scan.Name(), partitions, nil)
	var batches []*types.Batch
	for _, r := range replies {
		if r.err != nil {
			g.miss(r.partition, missingReason(r.err))
			continue
		}
		g.coverage.PartsDone++
		batches = slices.Concat(batches, r.answer)
	}
	g.coverage.Covered = g.coverage.Expected
	g.close()
	return func(yield func(*types.Batch, error) bool) {
		for _, b := range batches {
			sel, err := selectRows(ec, scan.Filter, b)
			if err != nil {
				yield(nil, err)
				return
			}
			out := &types.Batch{Rows: len(sel)}
			for _, c := range scan.Columns {
				out.Cols = append(out.Cols, b.Cols[c].Gather(sel))
			}
			if !yield(out, nil) {
				return
			}
		}
	}, nil
}
