package theta

import (
	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// foreignTypeName stands for the type of values that DataSketches hashed.
const foreignTypeName = "any"

// family is samples as sketch values.
func family() *value.Family {
	return &value.Family{
		Name: "theta", ErrorKind: agg.Probabilistic,
		Spec: func(k value.Kind) agg.StateSpec {
			if k.Params[0] < MinK || k.Params[0] > MaxK || k != kindOf(k.Type, int(k.Params[0]), k.Params[1] == 1) {
				return nil
			}
			if _, ok := value.TypeOf(k.Type); !ok && !(k.Type == foreignTypeName && k.Params[1] == 1) {
				return nil
			}
			return specOf(k)
		},
		Error: func(s agg.States, g uint32, confidence float64) float64 {
			return sampleOf(s, g).Estimate(confidence).Error
		},
		Info: func(k value.Kind, s agg.States, g uint32, confidence float64) []value.Field {
			in := sampleOf(s, g)
			e := in.Estimate(confidence)
			return []value.Field{
				{Name: "k", Value: k.Params[0]},
				{Name: "retained", Value: len(in.Hashes)},
				{Name: "theta", Value: float64(in.Theta) / (1 << 63)},
				{Name: "estimate", Value: e.Value},
				{Name: "lower", Value: e.Lo},
				{Name: "upper", Value: e.Hi},
				{Name: "confidence", Value: confidence},
			}
		},
		Export: export, Imports: []byte{dsFamily}, Import: importDataSketches,
	}
}

// sampleOf returns the sample that a group is.
func sampleOf(s agg.States, g uint32) Sample {
	in := s.(*cells.States[cell])
	return in.Algebra().(algebra).sample(in.Cell(g))
}

func registerScalars(r *agg.Registry, fs *value.Families) {
	for _, op := range []struct {
		name, about string
		of          func(a, b Sample, k int) Sample
	}{
		{"theta_union", "union of two sets", Union},
		{"theta_intersect", "intersection of two sets", func(a, b Sample, _ int) Sample { return Intersect(a, b) }},
		{"theta_diff", "what is in the first set and not in the second", func(a, b Sample, _ int) Sample { return Difference(a, b) }},
	} {
		r.Scalars().Register(expr.Function{
			Signature: op.name + "(sketch,sketch) sketch", Description: op.about,
			Eval: fs.Eval(op.name, "theta", func(_ *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
				return setOperation(in[0], in[1], op.of)
			}),
		})
	}
	estimate := func(pick func(Estimate) float64) func(*expr.Context, []types.Datum) (types.Datum, error) {
		return fs.Eval("theta_estimate", "theta", func(ec *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			return types.FloatDatum(pick(sampleOf(in[0].States, 0).Estimate(ec.Confidence()))), nil
		})
	}
	r.Scalars().Register(expr.Function{
		Signature: "theta_estimate(sketch) float8", Description: "number of values in a set",
		Eval:  estimate(func(e Estimate) float64 { return e.Value }),
		Lower: estimate(func(e Estimate) float64 { return e.Lo }),
		Upper: estimate(func(e Estimate) float64 { return e.Hi }),
	})
}

// setOperation works on two samples of one type and seed; the result keeps the
// smaller k.
func setOperation(a, b value.Opened, of func(a, b Sample, k int) Sample) (types.Datum, error) {
	smaller := a
	if b.Kind.Params[0] < a.Kind.Params[0] {
		smaller = b
	}
	k := smaller.Kind.Params[0]
	other := b.Value
	other.Kind.Params[0] = a.Kind.Params[0]
	if err := value.Compatible(a.Value, other); err != nil {
		return types.Datum{}, err
	}
	out := of(sampleOf(a.States, 0), sampleOf(b.States, 0), int(k)).trim(int(k))
	v := smaller.Value
	v.State = out.append([]byte{codecV1})
	return types.Datum{Type: types.Of(types.Sketch), Bytes: value.Append(nil, v)}, nil
}

// tooMany is the error for samples that no k here keeps.
func tooMany(n int) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "theta sketches of %d hashes are not supported, up to %d are", n, MaxK)
}
