package fragment

import (
	"context"
	"errors"
	"slices"

	"github.com/tallydb/tallydb/distsql/coverage"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/image"
)

// ScanRequest asks for events of the retained log.
type ScanRequest struct {
	Filter  expr.Expr // over the stream's columns; nil admits all
	Columns []int     // of the stream, in the order in which batches have them
	Limit   int64     // so many rows are enough; 0: all are wanted
	Context *expr.Context
}

// reading is what a scan does to a batch of the columns that it decodes.
type reading struct {
	columns []int // that are decoded: those that are yielded, then those that only the filter reads
	width   int   // of what is yielded
	filter  expr.Expr
	context *expr.Context
}

func newReading(req ScanRequest) *reading {
	r := &reading{columns: slices.Clone(req.Columns), width: len(req.Columns), context: req.Context}
	for c := range plan.Columns(req.Filter) {
		if !slices.Contains(r.columns, c) {
			r.columns = append(r.columns, c)
		}
	}
	slices.Sort(r.columns[r.width:])
	r.filter = plan.Remap(req.Filter, func(c int) int { return slices.Index(r.columns, c) })
	return r
}

// newFilter returns the filter for one goroutine; nil admits all.
func (r *reading) newFilter() *expr.Filter {
	if r.filter == nil {
		return nil
	}
	return expr.NewFilter(r.filter)
}

// rows returns the rows that the filter admits.
func (r *reading) rows(filter *expr.Filter, b *types.Batch) (*types.Batch, error) {
	out := &types.Batch{Rows: b.Rows, Cols: b.Cols[:r.width:r.width]}
	if filter == nil || b.Rows == 0 {
		return out, nil
	}
	sel, err := filter.Select(r.context, b, nil)
	if err != nil || len(sel) == b.Rows {
		return out, err
	}
	return out.Gather(sel), nil
}

// errEnough ends a scan that yielded what was asked for.
var errEnough = errors.New("limit reached")

// Scan calls fn with batches of admitted rows that a partition covers, oldest first.
// They are shared with others, and only read. Several are decoded and filtered at a
// time, beside the caller, unless few rows are enough.
func (e *Executor) Scan(ctx context.Context, t Target, covered coverage.Set, req ScanRequest, fn func(*types.Batch) error) error {
	w, err := e.streams.Worker(t.Stream.ID, t.Partition)
	if err != nil {
		return err
	}
	r, left := newReading(req), req.Limit
	limited := func(b *types.Batch) error {
		if req.Limit > 0 && int64(b.Rows) >= left {
			if err := fn(b.Slice(0, int(left))); err != nil {
				return err
			}
			return errEnough
		}
		left -= int64(b.Rows)
		if b.Rows == 0 {
			return nil
		}
		return fn(b)
	}
	for _, c := range covered {
		scan, spans := w.Scan(c.From, c.To, r.columns)
		decode := func() func(context.Context, image.Span) (*types.Batch, error) {
			filter := r.newFilter()
			return func(ctx context.Context, s image.Span) (*types.Batch, error) {
				b, err := scan.Batch(ctx, s)
				if err != nil {
					return nil, err
				}
				return r.rows(filter, b)
			}
		}
		if err := inOrder(ctx, workers(req), spans, decode, limited); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}
