package hll

import (
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// Parameters of a value's kind: the precision; then 1 for the hashes of
// DataSketches, whose type is anyType.
const (
	keyedHash       uint64 = 0
	dataSketchHash  uint64 = 1
	foreignTypeName        = "any"
)

// family is HyperLogLog as sketch values.
func family() *value.Family {
	return &value.Family{
		Name: "hll", ErrorKind: agg.Asymptotic,
		Spec: func(k value.Kind) agg.StateSpec {
			s := spec{typ: k.Type, p: uint(k.Params[0]), foreign: k.Params[1] == dataSketchHash}
			if s.kind() != k || s.p < MinPrecision || s.p > MaxPrecision {
				return nil
			}
			if _, ok := value.TypeOf(k.Type); !ok && !(s.foreign && k.Type == foreignTypeName) {
				return nil
			}
			return s
		},
		Error: func(s agg.States, g uint32, confidence float64) float64 {
			return s.(*States).estimate(g, confidence).Error
		},
		Info: func(k value.Kind, s agg.States, g uint32, confidence float64) []value.Field {
			e := s.(*States).estimate(g, confidence)
			return []value.Field{
				{Name: "precision", Value: k.Params[0]},
				{Name: "dense", Value: s.(*States).slots[g].class == denseClass},
				{Name: "estimate", Value: e.Value},
				{Name: "lower", Value: e.Lo},
				{Name: "upper", Value: e.Hi},
				{Name: "confidence", Value: confidence},
				{Name: "relative_standard_error", Value: RelativeError(uint(k.Params[0]))},
			}
		},
		Export: export, Imports: []byte{dsFamily}, Import: importDataSketches,
	}
}

func (s spec) kind() value.Kind {
	k := value.Kind{Family: "hll", Type: s.typ, Params: [3]uint64{uint64(s.p), keyedHash}}
	if s.foreign {
		k.Params[1] = dataSketchHash
	}
	return k
}

// registerValues registers what works on sketch values.
func registerValues(r *agg.Registry, fs *value.Families) {
	fs.Add(family())
	d := descriptor("hll_union", "hll_union(s sketch) → sketch")
	fs.RegisterUnion(r, d, "hll_union", "hll_union_agg")
	d = descriptor("hll_union_count", "hll_union_count(s sketch) → int8")
	d.Parameters = nil
	r.Register(&agg.Function{Descriptor: d, Bind: fs.BindUnion(d.Name, "hll", countFinal{})})
	cardinality := func(pick func(Estimate) int64) func(*expr.Context, []types.Datum) (types.Datum, error) {
		return fs.Eval("hll_cardinality", "hll", func(ec *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			return types.IntDatum(types.Int8, pick(in[0].States.(*States).estimate(0, ec.Confidence()))), nil
		})
	}
	r.Scalars().Register(expr.Function{
		Signature: "hll_cardinality(sketch) int8", Description: "number of distinct values that a HyperLogLog saw",
		Volatility: expr.Immutable, Eval: cardinality(Estimate.count), Lower: cardinality(Estimate.least), Upper: cardinality(Estimate.most),
	})
}

// EstimateValue returns what a sketch value of hll_agg or hll_union says, at a
// confidence in (0, 1). Bytes that are no such value are XX001.
func EstimateValue(b []byte, confidence float64) (Estimate, error) {
	var fs value.Families
	fs.Add(family())
	o, err := fs.Open(b, agg.Config{Seed: keyhash.Seed{}})
	if err != nil {
		return Estimate{}, err
	}
	return o.States.(*States).estimate(0, confidence), nil
}
