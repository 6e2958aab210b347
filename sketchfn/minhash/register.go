package minhash

import (
	"fmt"
	"math"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/limits"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

var kParameter = agg.Parameter{
	Name: "k", Default: 128, Min: 16, Max: 4096, Whole: true,
	Meaning: "the places of a signature, even: the standard error of a similarity j is sqrt(j*(1-j)/k)",
}

func descriptor(name, signature string) agg.Descriptor {
	return agg.Descriptor{
		Name: name, Family: "minhash", Signature: signature,
		StreamModel: agg.CashRegister, MergeAlgebra: agg.Idempotent, Parameters: []agg.Parameter{kParameter},
		Guarantee:    "the similarity is unbiased with standard error sqrt(j*(1-j)/k)",
		Confidence:   "Lo and Hi are the Clopper-Pearson limits of a probability with so many hits of k",
		Citation:     "Broder: On the resemblance and containment of documents, 1997",
		Memory:       "24 bytes a group, then 4*k bytes",
		PrivacyClass: agg.HoldsHashes, CodecVersion: int(codecV1),
	}
}

// Register registers minhash_agg, minhash_union, jaccard, lsh_candidates and
// similar_pairs.
func Register(r *agg.Registry, fs *value.Families) {
	f := family()
	fs.Add(f)
	d := descriptor("minhash_agg", "minhash_agg(x any type with equality [, k int4]) → sketch")
	r.Register(&agg.Function{Descriptor: d, Bind: f.Bind(value.Hashed{
		Name: d.Name, Parameters: d.Parameters, State: func(t types.Type, p []float64) (value.Kind, agg.StateSpec) {
			kind := value.Kind{Family: f.Name, Type: t.String(), Params: [3]uint64{uint64(p[0]+1) &^ 1}}
			return kind, specOf(kind)
		},
	})})
	fs.RegisterUnion(r, d, "minhash_union")
	registerScalars(r, fs)
	registerPairs(r)
}

func specOf(k value.Kind) cells.Spec[cell] {
	s := shape{int(k.Params[0])}
	return cells.Spec[cell]{
		Family: "minhash", ID: fmt.Sprintf("minhash(%s) k=%d siphash13 v%d", k.Type, s.k, codecV1), Version: codecV1, HashUse: keyhash.UseDistinct,
		Algebra: func(agg.Config) cells.Algebra[cell] { return s },
		Group:   func(int64) int64 { return 4 * int64(s.k) },
	}
}

func family() *value.Family {
	return &value.Family{
		Name: "minhash", ErrorKind: agg.Probabilistic,
		Spec: func(k value.Kind) agg.StateSpec {
			n := k.Params[0]
			if _, ok := value.TypeOf(k.Type); !ok || n%2 != 0 || n < uint64(kParameter.Min) || n > uint64(kParameter.Max) || k.Params[1] != 0 || k.Params[2] != 0 {
				return nil
			}
			return specOf(k)
		},
		Error: func(s agg.States, g uint32, confidence float64) float64 {
			c := read(s, g)
			if c.least == nil {
				return 0
			}
			return limits.Deviations(confidence) * 0.5 / math.Sqrt(float64(len(c.least))) // at j = 1/2, where it is largest
		},
		Info: func(k value.Kind, s agg.States, g uint32, _ float64) []value.Field {
			return []value.Field{{Name: "k", Value: k.Params[0]}, {Name: "empty", Value: read(s, g).least == nil}}
		},
	}
}

func read(s agg.States, g uint32) *cell { return s.(*cells.States[cell]).Cell(g) }

func registerScalars(r *agg.Registry, fs *value.Families) {
	similarity := func(pick func(hits, k int, confidence float64) float64) func(*expr.Context, []types.Datum) (types.Datum, error) {
		return fs.Eval("jaccard", "minhash", func(ec *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			a, b, err := pair(in)
			if err != nil || a.least == nil && b.least == nil {
				return types.NullOf(types.Of(types.Float8)), err
			}
			return types.FloatDatum(pick(matches(a, b), int(in[0].Kind.Params[0]), ec.Confidence())), nil
		})
	}
	r.Scalars().Register(expr.Function{
		Signature: "jaccard(sketch,sketch) float8", Description: "size of the intersection of two sets, relative to their union",
		Eval: similarity(func(hits, k int, _ float64) float64 { return float64(hits) / float64(k) }),
		Lower: similarity(func(hits, k int, confidence float64) float64 {
			lo, _ := limits.Proportion(hits, k, confidence)
			return lo
		}),
		Upper: similarity(func(hits, k int, confidence float64) float64 {
			_, hi := limits.Proportion(hits, k, confidence)
			return hi
		}),
	})
	r.Scalars().Register(expr.Function{
		Signature: "lsh_candidates(sketch,sketch,int4) bool", Description: "whether two signatures agree in a band of so many rows",
		Eval: fs.Eval("lsh_candidates", "minhash", func(_ *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
			a, b, err := pair(in)
			if rows := rest[0].Int; err == nil && (rows < 1 || rows > int64(in[0].Kind.Params[0])) {
				err = sqlerr.New(sqlerr.InvalidParameterValue, "the rows of a band must be between 1 and %d", in[0].Kind.Params[0])
			}
			if err != nil {
				return types.Datum{}, err
			}
			return types.BoolDatum(candidates(a, b, int(rest[0].Int))), nil
		}),
	})
}

func pair(in []value.Opened) (a, b *cell, err error) {
	return read(in[0].States, 0), read(in[1].States, 0), value.Compatible(in[0].Value, in[1].Value)
}
