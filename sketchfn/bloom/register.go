package bloom

import (
	"fmt"
	"math"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/hashset"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

var (
	pParameter = agg.Parameter{
		Name: "p", Default: 0.02, Min: 0.000001, Max: 0.5,
		Meaning: "the share of false positives among values that are not in the set, once it has n values",
	}
	nParameter = agg.Parameter{
		Name: "n", Default: 16384, Min: 8, Max: 1 << 27, Whole: true,
		Meaning: "the number of values that the filter is made for",
	}
)

// Limits of the shape that parameters lead to.
const (
	maxBits   = 1 << 32
	maxHashes = 20
)

func descriptor(name, signature string) agg.Descriptor {
	return agg.Descriptor{
		Name: name, Family: "bloom", Signature: signature,
		StreamModel: agg.CashRegister, Subtracting: "freq_agg(x)", MergeAlgebra: agg.Idempotent, Parameters: []agg.Parameter{pParameter, nParameter},
		Guarantee:    "no false negatives; false positives (1-e^(-hashes*values/bits))^hashes, p at n values; none up to bits/512 values",
		Confidence:   "of bloom_cardinality: z(confidence) standard errors sqrt(bits*(e^t-t-1))/hashes, t = hashes*values/bits",
		Citation:     "Bloom: Space/time trade-offs in hash coding with allowable errors, 1970; Whang, Vander-Zanden, Taylor: A linear-time probabilistic counting algorithm, 1990",
		Memory:       "56 bytes a group; 11 to 21 bytes a value up to bits/512 values, then bits/8 bytes; bits = n*ln(1/p)/0.48",
		PrivacyClass: agg.HoldsHashes, CodecVersion: int(codecV1),
	}
}

// Register registers bloom_agg, bloom_union, bloom_contains, bloom_intersection
// and bloom_cardinality.
func Register(r *agg.Registry, fs *value.Families) {
	f := family()
	fs.Add(f)
	d := descriptor("bloom_agg", "bloom_agg(x any type with equality [, p float8 [, n int8]]) → sketch")
	r.Register(&agg.Function{Descriptor: d, Bind: f.Bind(value.Hashed{
		Name: d.Name, Parameters: d.Parameters, State: func(t types.Type, p []float64) (value.Kind, agg.StateSpec) {
			kind := kindFor(t.String(), p[0], int(p[1]))
			return kind, specOf(kind)
		},
	})})
	fs.RegisterUnion(r, d, "bloom_union", "bloom_union_agg")
	registerScalars(r, fs)
}

// kindFor is the kind of the smallest filter with this share of false positives
// at n values: n*ln(1/p)/ln(2)² bits, bits/n*ln(2) of each value.
func kindFor(typ string, p float64, n int) value.Kind {
	bits := math.Ceil(-float64(n)*math.Log(p)/(math.Ln2*math.Ln2)/64) * 64
	return value.Kind{Family: "bloom", Type: typ, Params: [3]uint64{uint64(bits), uint64(max(1, math.Round(-math.Log2(p))))}}
}

func specOf(k value.Kind) cells.Spec[cell] {
	s := newShape(int(k.Params[0]), int(k.Params[1]))
	return cells.Spec[cell]{
		Family: "bloom", ID: fmt.Sprintf("bloom(%s) bits=%d hashes=%d siphash13 v%d", k.Type, s.bits, s.hashes, codecV1),
		Version: codecV1, HashUse: keyhash.UseCounter,
		Algebra: func(agg.Config) cells.Algebra[cell] { return s },
		Group: func(n int64) int64 {
			if n > int64(s.limit) {
				return int64(s.bits / 8)
			}
			return 8 * int64(hashset.Places(int(n)))
		},
	}
}

// family is Bloom filters as sketch values.
func family() *value.Family {
	return &value.Family{
		Name: "bloom", ErrorKind: agg.Asymptotic,
		Spec: func(k value.Kind) agg.StateSpec {
			bits, hashes := k.Params[0], k.Params[1]
			if _, ok := value.TypeOf(k.Type); !ok || bits < 64 || bits > maxBits || bits%64 != 0 || hashes < 1 || hashes > maxHashes || k.Params[2] != 0 {
				return nil
			}
			return specOf(k)
		},
		Error: func(s agg.States, g uint32, _ float64) float64 {
			c, shape := read(s, g)
			return shape.falsePositives(c)
		},
		Info: func(k value.Kind, s agg.States, g uint32, confidence float64) []value.Field {
			c, shape := read(s, g)
			e := shape.estimate(c, confidence)
			return []value.Field{
				{Name: "bits", Value: k.Params[0]},
				{Name: "hashes", Value: k.Params[1]},
				{Name: "exact", Value: c.dense == nil},
				{Name: "false_positives", Value: shape.falsePositives(c)},
				{Name: "estimate", Value: e.Value},
				{Name: "lower", Value: e.Lo},
				{Name: "confidence", Value: confidence},
			}
		},
	}
}

func read(s agg.States, g uint32) (*cell, shape) {
	in := s.(*cells.States[cell])
	return in.Cell(g), in.Algebra().(shape)
}

func registerScalars(r *agg.Registry, fs *value.Families) {
	r.Scalars().Register(expr.Function{
		Signature: "bloom_contains(sketch,any) bool", Description: "whether a value may be in a set; false is certain",
		Volatility: expr.Stable,
		Eval: fs.Eval("bloom_contains", "bloom", func(ec *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
			hash, err := in[0].Hash(ec, rest[0], keyhash.UseCounter)
			if err != nil {
				return types.Datum{}, err
			}
			c, shape := read(in[0].States, 0)
			return types.BoolDatum(shape.contains(c, hash)), nil
		}),
	})
	r.Scalars().Register(expr.Function{
		Signature: "bloom_intersection(sketch,sketch) sketch", Description: "filter of what may be in both sets",
		Eval: fs.Eval("bloom_intersection", "bloom", func(_ *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			if err := value.Compatible(in[0].Value, in[1].Value); err != nil {
				return types.Datum{}, err
			}
			a, shape := read(in[0].States, 0)
			b, _ := read(in[1].States, 0)
			shape.intersect(a, b)
			return in[0].Datum(), nil
		}),
	})
	cardinality := func(pick func(Estimate) float64) func(*expr.Context, []types.Datum) (types.Datum, error) {
		return fs.Eval("bloom_cardinality", "bloom", func(ec *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			c, shape := read(in[0].States, 0)
			x := pick(shape.estimate(c, ec.Confidence()))
			if math.IsInf(x, 1) {
				return types.NullOf(types.Of(types.Int8)), nil
			}
			return types.IntDatum(types.Int8, int64(x)), nil
		})
	}
	r.Scalars().Register(expr.Function{
		Signature: "bloom_cardinality(sketch) int8", Description: "number of values in a set",
		Eval:  cardinality(func(e Estimate) float64 { return math.Round(e.Value) }),
		Lower: cardinality(func(e Estimate) float64 { return math.Floor(e.Lo) }),
		Upper: cardinality(func(e Estimate) float64 { return math.Ceil(e.Hi) }),
	})
}
