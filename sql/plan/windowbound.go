package plan

import (
	"fmt"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// WindowBound is the start or the end of the tumbling window that holds an
// instant: tumble(t, size) and the columns that TUMBLE adds.
type WindowBound struct {
	Time         expr.Expr
	Size, Offset eventtime.Duration
	End          bool
}

// Type implements expr.Expr.
func (w *WindowBound) Type() types.Type { return types.Of(w.Time.Type().OID) }

// Eval implements expr.Expr.
func (w *WindowBound) Eval(ec *expr.Context, in *types.Batch) (*types.Vector, error) {
	t, err := w.Time.Eval(ec, in)
	if err != nil {
		return nil, err
	}
	out := types.NewVector(w.Type(), in.Rows)
	for i := range in.Rows {
		if t.Nulls.Has(i) {
			out.AppendNull()
			continue
		}
		win := eventtime.Tumble(eventtime.Time(t.Ints[i]), w.Size, w.Offset)
		if w.End {
			out.AppendInt(int64(win.End))
		} else {
			out.AppendInt(int64(win.Start))
		}
	}
	return out, nil
}

// Children implements expr.Expr.
func (w *WindowBound) Children() []expr.Expr { return []expr.Expr{w.Time} }

// WithChildren implements expr.Expr.
func (w *WindowBound) WithChildren(c []expr.Expr) expr.Expr {
	n := *w
	n.Time = c[0]
	return &n
}

// String implements expr.Expr.
func (w *WindowBound) String() string {
	name := "tumble_start"
	if w.End {
		name = "tumble_end"
	}
	if w.Offset != 0 {
		return fmt.Sprintf("%s(%s, %dus, %dus)", name, w.Time, w.Size, w.Offset)
	}
	return fmt.Sprintf("%s(%s, %dus)", name, w.Time, w.Size)
}

// Volatility implements expr.Expr.
func (w *WindowBound) Volatility() expr.Volatility { return expr.Immutable }
