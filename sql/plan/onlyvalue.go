package plan

import (
	"fmt"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// TooManyRows is the error of a scalar subquery with several rows.
func TooManyRows() error {
	return sqlerr.New(sqlerr.CardinalityViolation, "more than one row returned by a subquery used as an expression")
}

// onlyValue is the value of a scalar subquery that was looked up: an error where
// there were several rows.
type onlyValue struct {
	value expr.Expr
	rows  expr.Expr // how many there were, an int8; NULL for none
}

// Type implements expr.Expr.
func (o *onlyValue) Type() types.Type { return o.value.Type() }

// Eval implements expr.Expr.
func (o *onlyValue) Eval(ec *expr.Context, in *types.Batch) (*types.Vector, error) {
	rows, err := o.rows.Eval(ec, in)
	if err != nil {
		return nil, err
	}
	for i := range in.Rows {
		if !rows.Nulls.Has(i) && rows.Ints[i] > 1 {
			return nil, &expr.RowError{Row: i, Err: TooManyRows()}
		}
	}
	return o.value.Eval(ec, in)
}

// Children implements expr.Expr.
func (o *onlyValue) Children() []expr.Expr { return []expr.Expr{o.value, o.rows} }

// WithChildren implements expr.Expr.
func (o *onlyValue) WithChildren(c []expr.Expr) expr.Expr { return &onlyValue{c[0], c[1]} }

// String implements expr.Expr.
func (o *onlyValue) String() string { return fmt.Sprintf("only(%s, %s)", o.value, o.rows) }

// Volatility implements expr.Expr. It may fail, but only as the subquery would.
func (o *onlyValue) Volatility() expr.Volatility { return expr.Immutable }
