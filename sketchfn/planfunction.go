package sketchfn

import (
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// registerPlan registers sketch_plan: the calculator as a function that yields a
// row.
func registerPlan(r *agg.Registry) {
	column := func(name string, t types.OID) types.Column { return types.Column{Name: name, Type: types.Of(t)} }
	r.Scalars().RegisterSet(&expr.SetFunction{
		Name: "sketch_plan", Args: []types.OID{types.Text, types.Float8, types.Float8},
		Params:      []expr.Parameter{{Name: "function"}, {Name: "error"}, {Name: "confidence", Default: expr.NewConst(types.FloatDatum(0.95))}},
		Description: "smallest sketch of a function that keeps an error, at a confidence",
		Columns: []types.Column{
			column("function", types.Text), column("family", types.Text), column("call", types.Text), column("parameters", types.Text),
			column("error", types.Float8), column("unit", types.Text), column("confidence", types.Float8), column("bytes_per_group", types.Int8),
		},
		Rows: func(_ *expr.Context, args []types.Datum) (expr.RowStep, error) {
			p, err := PlanFor(r, string(args[0].Bytes), args[1].Float, args[2].Float)
			if err != nil {
				return nil, err
			}
			return expr.OneRow([]types.Datum{
				types.TextDatum(p.Function), types.TextDatum(p.Family), types.TextDatum(p.Call), types.TextDatum(p.Parameters),
				types.FloatDatum(p.Error), types.TextDatum(p.Unit), types.FloatDatum(p.Confidence), types.IntDatum(types.Int8, p.Bytes),
			}), nil
		},
	})
}
