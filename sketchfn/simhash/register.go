package simhash

import (
	"fmt"
	"math"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/limits"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

var bitsParameter = agg.Parameter{
	Name: "bits", Default: 256, Min: 16, Max: 4096, Whole: true,
	Meaning: "the signs of a vector: the standard error of an angle is at most π/(2*sqrt(bits))",
}

// Register registers simhash_agg, simhash_union and cosine.
func Register(r *agg.Registry, fs *value.Families) {
	f := family()
	fs.Add(f)
	d := agg.Descriptor{
		Name: "simhash_agg", Family: f.Name, Signature: "simhash_agg(x any type with equality, weight int8 [, bits int4]) → sketch",
		StreamModel: agg.Turnstile, MergeAlgebra: agg.CommutativeMonoid, Parameters: []agg.Parameter{bitsParameter},
		Guarantee:    "signs agree with the probability 1-angle/π; the share that agrees is unbiased with standard error sqrt(p*(1-p)/bits)",
		Confidence:   "Lo and Hi are the cosines at the Clopper-Pearson limits of that share",
		Citation:     "Charikar: Similarity estimation techniques from rounding algorithms, 2002",
		Memory:       "32 bytes a group, then 8*bits bytes",
		PrivacyClass: agg.HoldsHashes, CodecVersion: int(codecV1),
	}
	r.Register(&agg.Function{Descriptor: d, Weight: 2, Bind: f.Bind(value.Hashed{
		Name: d.Name, Weighted: true, Parameters: d.Parameters, State: func(t types.Type, p []float64) (value.Kind, agg.StateSpec) {
			kind := value.Kind{Family: f.Name, Type: t.String(), Params: [3]uint64{uint64(p[0])}}
			return kind, specOf(kind)
		},
	})})
	fs.RegisterUnion(r, d, "simhash_union")
	registerCosine(r, fs)
}

func specOf(k value.Kind) cells.Spec[cell] {
	s := shape{int(k.Params[0])}
	return cells.Spec[cell]{
		Family: "simhash", ID: fmt.Sprintf("simhash(%s) bits=%d siphash13 v%d", k.Type, s.n, codecV1), Version: codecV1, HashUse: keyhash.UseCounter,
		Algebra: func(agg.Config) cells.Algebra[cell] { return s },
		Group:   func(int64) int64 { return 8 * int64(s.n) },
	}
}

func family() *value.Family {
	return &value.Family{
		Name: "simhash", ErrorKind: agg.Probabilistic,
		Spec: func(k value.Kind) agg.StateSpec {
			n := k.Params[0]
			if _, ok := value.TypeOf(k.Type); !ok || n < uint64(bitsParameter.Min) || n > uint64(bitsParameter.Max) || k.Params[1] != 0 || k.Params[2] != 0 {
				return nil
			}
			return specOf(k)
		},
		Error: func(s agg.States, g uint32, confidence float64) float64 { // of the share of signs that agree, at 1/2
			c := read(s, g)
			if c.products == nil {
				return 0
			}
			return limits.Deviations(confidence) / 2 / math.Sqrt(float64(len(c.products)))
		},
		Info: func(k value.Kind, s agg.States, g uint32, _ float64) []value.Field {
			return []value.Field{{Name: "bits", Value: k.Params[0]}, {Name: "weight", Value: read(s, g).weight}}
		},
	}
}

func read(s agg.States, g uint32) *cell { return s.(*cells.States[cell]).Cell(g) }

func registerCosine(r *agg.Registry, fs *value.Families) {
	cosine := func(pick func(hits, n int, confidence float64) float64) func(*expr.Context, []types.Datum) (types.Datum, error) {
		return fs.Eval("cosine", "simhash", func(ec *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			a, b := read(in[0].States, 0), read(in[1].States, 0)
			if err := value.Compatible(in[0].Value, in[1].Value); err != nil {
				return types.Datum{}, err
			}
			hits, n := 0, 0
			if a.products != nil && b.products != nil {
				hits, n = agreements(a, b)
			}
			if n == 0 { // of no direction
				return types.NullOf(types.Of(types.Float8)), nil
			}
			share := pick(hits, n, ec.Confidence())
			return types.FloatDatum(-math.Cos(math.Pi * share)), nil
		})
	}
	r.Scalars().Register(expr.Function{
		Signature: "cosine(sketch,sketch) float8", Description: "cosine of the angle between two vectors of weights",
		Eval: cosine(func(hits, n int, _ float64) float64 { return float64(hits) / float64(n) }),
		Lower: cosine(func(hits, n int, confidence float64) float64 {
			lo, _ := limits.Proportion(hits, n, confidence)
			return lo
		}),
		Upper: cosine(func(hits, n int, confidence float64) float64 {
			_, hi := limits.Proportion(hits, n, confidence)
			return hi
		}),
	})
}
