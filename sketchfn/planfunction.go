package sketchfn

import (
	"encoding/json"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// registerPlan registers sketch_plan: the calculator as a function.
func registerPlan(r *agg.Registry) {
	eval := func(_ *expr.Context, args []types.Datum) (types.Datum, error) {
		confidence := 0.95
		if len(args) > 2 {
			confidence = args[2].Float
		}
		p, err := PlanFor(r, string(args[0].Bytes), args[1].Float, confidence)
		if err != nil {
			return types.Datum{}, err
		}
		text, err := json.Marshal(map[string]any{
			"function": p.Function, "family": p.Family, "parameters": p.Parameters, "error": p.Error, "unit": p.Unit,
			"confidence": p.Confidence, "bytes_per_group": p.Bytes, "call": p.Call,
		})
		if err != nil {
			return types.Datum{}, err
		}
		return types.Parse(types.Of(types.JSONB), text, nil)
	}
	for _, signature := range []string{"sketch_plan(text,float8) jsonb", "sketch_plan(text,float8,float8) jsonb"} {
		r.Scalars().Register(expr.Function{
			Signature: signature, Description: "smallest sketch of a function that keeps an error, at a confidence", Eval: eval,
		})
	}
}
