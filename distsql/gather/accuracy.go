package gather

import (
	"context"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// keepAccuracy does what the view's contract says with values whose error is larger
// than it allows, or unknown, wherever they were finished, and counts the rows that
// still have such values: a statement has to tell of them.
func (a *answer) keepAccuracy(ctx context.Context, l *plan.OutputLayout, cols map[int]*types.Vector) error {
	c := a.scan.Accuracy
	if c == nil {
		return nil
	}
	if c.OnExceeded == catalog.ExactExceeded {
		if err := a.recount(ctx, l, cols); err != nil {
			return err
		}
	}
	beyond := map[int]bool{}
	for _, e := range a.estimates {
		for row := range a.groups() {
			if !a.exceeded(e.errors, row) {
				continue
			}
			if beyond[row] = true; c.OnExceeded == catalog.FailExceeded {
				limit := agg.Accuracy{MaxError: c.MaxError, Function: a.scan.Fold.Aggs[e.agg].Name, View: a.scan.View.Name}
				return limit.Error(e.errors, row)
			}
		}
		if c.OnExceeded == catalog.NullExceeded {
			where := func(row int) bool { return a.exceeded(e.errors, row) }
			for _, i := range []int{l.Aggs + e.agg, l.Lo[e.agg], l.Hi[e.agg]} {
				cols[i] = replaced(cols[i], where, func(int) types.Datum { return types.NullOf(cols[i].Type) })
			}
		}
	}
	a.gate.coverage.Inaccurate = int64(len(beyond))
	return nil
}

// exceeded reports whether the error of a row is larger than the contract allows.
func (a *answer) exceeded(errors *types.Vector, row int) bool {
	return agg.Accuracy{MaxError: a.scan.Accuracy.MaxError}.Exceeded(errors, row)
}
