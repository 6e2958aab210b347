package value

import (
	"math"

	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Estimate is what a state says of a quantile or of a rank.
type Estimate struct {
	None          bool // no values
	Value, Lo, Hi float64
	Error         float64 // declared, in the family's unit; 0 is exact, NaN: no limits
}

var quantileParameter = agg.Parameter{
	Name: "quantile", Min: 0, Max: 1, Meaning: "the share of the values that are at most the result",
}

// registerQuantiles registers sketch_quantile and sketch_rank, for all families
// that have quantiles.
func (fs *Families) registerQuantiles(r *agg.Registry) {
	r.Scalars().Register(fs.estimateFunction("sketch_quantile", "value that this share of a sketch's values is at most",
		func(o Opened, x, confidence float64) (Estimate, error) {
			if o.Family.Quantile == nil {
				return Estimate{}, noQuantiles("sketch_quantile", o)
			}
			if err := param.Within("sketch_quantile", quantileParameter, x); err != nil {
				return Estimate{}, err
			}
			return o.Family.Quantile(o.States, 0, x, confidence), nil
		}))
	r.Scalars().Register(fs.estimateFunction("sketch_rank", "share of a sketch's values that are at most a value",
		func(o Opened, x, confidence float64) (Estimate, error) {
			if o.Family.Rank == nil {
				return Estimate{}, noQuantiles("sketch_rank", o)
			}
			return o.Family.Rank(o.States, 0, x, confidence), nil
		}))
}

func noQuantiles(name string, o Opened) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "%s takes a sketch of quantiles, not %s", name, o.Kind.Family)
}

func (fs *Families) estimateFunction(name, about string, of func(o Opened, x, confidence float64) (Estimate, error)) expr.Function {
	pick := func(f func(Estimate) float64) func(*expr.Context, []types.Datum) (types.Datum, error) {
		return fs.Eval(name, "", func(ec *expr.Context, in []Opened, rest []types.Datum) (types.Datum, error) {
			e, err := of(in[0], rest[0].Float, ec.Confidence())
			if x := f(e); err != nil || !e.None && !math.IsNaN(x) {
				return types.FloatDatum(x), err
			}
			return types.NullOf(types.Of(types.Float8)), nil
		})
	}
	limit := func(f func(Estimate) float64) func(Estimate) float64 {
		return func(e Estimate) float64 {
			if math.IsNaN(e.Error) {
				return math.NaN()
			}
			return f(e)
		}
	}
	return expr.Function{
		Signature: name + "(sketch,float8) float8", Description: about,
		Eval:  pick(func(e Estimate) float64 { return e.Value }),
		Lower: pick(limit(func(e Estimate) float64 { return e.Lo })),
		Upper: pick(limit(func(e Estimate) float64 { return e.Hi })),
	}
}
