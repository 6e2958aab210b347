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
	"github.com/tallydb/tallydb/sql/exec"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// Rows is a sequence of batches that ends with the first error.
type Rows = iter.Seq2[*types.Batch, error]

// stream is the events of the retained log that a StreamScan reads, each partition's
// in log order. All partitions are heard from before the first row, so that every row
// knows the coverage of the whole.
type stream struct {
	*source
	gate *gate
	scan *plan.StreamScan
	ec   *expr.Context
}

func (s *Statement) stream(ctx context.Context, scan *plan.StreamScan, ec *expr.Context) (*stream, error) {
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
	out := &stream{gate: g, scan: scan, ec: ec}
	out.source = newSource(func(yield func(*types.Batch, error) bool) { out.rows(ctx, yield) })
	return out, nil
}

// errStop ends a scan whose consumer has enough.
var errStop = errors.New("enough rows")

// rows yields the rows of all partitions.
func (r *stream) rows(ctx context.Context, yield func(*types.Batch, error) bool) {
	req := fragment.ScanRequest{Filter: r.scan.Filter, Limit: r.scan.Limit, Context: r.ec}
	data := len(r.scan.Stream.Columns)
	for _, c := range r.scan.Columns {
		if c < data {
			req.Columns = append(req.Columns, c)
		}
	}
	for _, part := range r.gate.reaches {
		err := r.gate.s.transport.Scan(ctx, r.gate.s.target(r.scan.Stream, part.Partition), part.Covered, req, func(b *types.Batch) error {
			if !yield(r.batch(b, data), nil) {
				return errStop
			}
			return nil
		})
		if errors.Is(err, errStop) {
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
	}
}

// batch puts the envelope beside the columns of the stream.
func (r *stream) batch(b *types.Batch, data int) *types.Batch {
	if len(b.Cols) == len(r.scan.Columns) {
		return b
	}
	s := r.gate.s
	e := &rowEnvelope{gate: r.gate, rows: b.Rows, kind: agg.Exact, confidence: s.settings.Confidence}
	out := &types.Batch{Rows: b.Rows}
	next := 0
	for _, c := range r.scan.Columns {
		if c >= data {
			out.Cols = append(out.Cols, e.column(c-data))
			continue
		}
		out.Cols = append(out.Cols, b.Cols[next])
		next++
	}
	return out
}

// Envelope implements exec.Stream.
func (r *stream) Envelope(of *exec.Groups, columns []int) []*types.Vector {
	f := of.Fold
	end := func(row int) eventtime.Time { return eventtime.Time(of.Starts.Ints[row]).Add(f.Window.Size) }
	e := &rowEnvelope{
		gate: r.gate, rows: of.Rows, windowed: f.Window.Kind != plan.NoWindow, end: end, closes: end,
		errors: of.Errors, kind: worstKind(f, of.Needed), confidence: r.gate.s.settings.Confidence,
	}
	out := make([]*types.Vector, len(columns))
	for i, c := range columns {
		out[i] = e.column(c)
	}
	return out
}

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
