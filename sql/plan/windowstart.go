package plan

import (
	"fmt"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// windowStart is where the window of an event begins.
type windowStart struct {
	time   expr.Expr
	window WindowSpec
}

// WindowStart returns the start of the window that an event is in, over the columns of
// the stream; nil without windows.
func (f *Fold) WindowStart() expr.Expr {
	if f.Window.Kind == NoWindow {
		return nil
	}
	return &windowStart{NewColumn(&types.Schema{Columns: f.Stream.Columns}, f.Window.TimeColumn), f.Window}
}

// Type implements expr.Expr.
func (w *windowStart) Type() types.Type { return w.time.Type() }

// Eval implements expr.Expr.
func (w *windowStart) Eval(ec *expr.Context, in *types.Batch) (*types.Vector, error) {
	times, err := w.time.Eval(ec, in)
	if err != nil {
		return nil, err
	}
	out := types.NewVector(w.Type(), in.Rows)
	for _, t := range times.Ints[:in.Rows] {
		out.AppendInt(int64(eventtime.Tumble(eventtime.Time(t), w.window.Size, w.window.Offset).Start))
	}
	return out, nil
}

// Children implements expr.Expr.
func (w *windowStart) Children() []expr.Expr { return []expr.Expr{w.time} }

// WithChildren implements expr.Expr.
func (w *windowStart) WithChildren(c []expr.Expr) expr.Expr { return &windowStart{c[0], w.window} }

// String implements expr.Expr.
func (w *windowStart) String() string {
	return fmt.Sprintf("window_start(%s, %d, %d)", w.time, w.window.Size, w.window.Offset)
}

// Volatility implements expr.Expr.
func (w *windowStart) Volatility() expr.Volatility { return expr.Immutable }
