package bucket

import (
	"fmt"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

var valuesParameter = agg.Parameter{Name: "values", Default: 100_000, Min: 1, Max: 1_000_000, Meaning: "the values that are kept, at most"}

// Register registers bucket_agg, bucket_union, bucket_ids, bucket_cardinality and
// bucket_cardinalities.
func Register(r *agg.Registry, fs *value.Families) {
	f := family()
	fs.Add(f)
	d := agg.Descriptor{
		Name: "bucket_agg", Family: f.Name, Signature: "bucket_agg(x any type with equality, bucket int4 [, at int8 or a time [, values int4]]) → sketch",
		StreamModel: agg.CashRegister, MergeAlgebra: agg.Idempotent, Parameters: []agg.Parameter{valuesParameter},
		Guarantee:    "exact, but for values whose 64-bit hashes collide; of a value counts the row with the largest at, of equal ones that with the larger bucket",
		Confidence:   "not used",
		Citation:     "PipelineDB 1.0: bucket_agg, 2018",
		Memory:       "8 bytes a group; 40 bytes a value",
		PrivacyClass: agg.HoldsHashes, CodecVersion: int(codecV1),
	}
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) { return bind(f, args, consts) }})
	fs.RegisterUnion(r, d, "bucket_union")
	registerScalars(r, fs)
}

func bind(f *value.Family, args []types.Type, consts []*types.Datum) (agg.Bound, error) {
	const name = "bucket_agg"
	if len(args) < 2 || len(args) > 4 || !valuehash.Hashable(args[0].OID) || valuehash.Widest(args[1]).OID != types.Int8 {
		return agg.Bound{}, param.NoFunction(name, args)
	}
	t := valuehash.Widest(args[0])
	b := agg.Bound{Inputs: []int{0, 1}, ArgTypes: []types.Type{t, types.Of(types.Int4)}}
	if len(args) > 2 {
		at := valuehash.Widest(args[2])
		switch at.OID {
		case types.Int8, types.Timestamptz, types.Timestamp, types.Date:
		default:
			return agg.Bound{}, param.NoFunction(name, args)
		}
		b.Inputs, b.ArgTypes = append(b.Inputs, 2), append(b.ArgTypes, at)
	}
	most, err := param.Integer(name, valuesParameter, args, consts, 3)
	if err != nil {
		return agg.Bound{}, err
	}
	kind := value.Kind{Family: f.Name, Type: t.String(), Params: [3]uint64{uint64(most), uint64(len(b.Inputs) - 2)}}
	b.State, b.Final = specOf(kind), value.NewFinal(f, kind)
	return b, nil
}

func specOf(k value.Kind) cells.Spec[cell] {
	s := shape{int(k.Params[0]), k.Params[1] == 1}
	return cells.Spec[cell]{
		Family: "bucket", ID: fmt.Sprintf("bucket(%s) values=%d keyed=%t siphash13 v%d", k.Type, s.most, s.keyed, codecV1), Version: codecV1, HashUse: keyhash.UseDistinct,
		Algebra: func(agg.Config) cells.Algebra[cell] { return s },
		Group:   func(n int64) int64 { return bytesOfPlace * min(n, int64(s.most)) },
	}
}

func family() *value.Family {
	return &value.Family{
		Name: "bucket", ErrorKind: agg.Probabilistic, // hashes may collide
		Spec: func(k value.Kind) agg.StateSpec {
			n := k.Params[0]
			if _, ok := value.TypeOf(k.Type); !ok || n < uint64(valuesParameter.Min) || n > uint64(valuesParameter.Max) || k.Params[1] > 1 || k.Params[2] != 0 {
				return nil
			}
			return specOf(k)
		},
		Error: func(agg.States, uint32, float64) float64 { return 0 },
		Info: func(k value.Kind, s agg.States, g uint32, _ float64) []value.Field {
			buckets, _ := read(s, g).counts()
			return []value.Field{{Name: "values", Value: len(read(s, g).places)}, {Name: "buckets", Value: len(buckets)}, {Name: "most_values", Value: k.Params[0]}}
		},
	}
}

func read(s agg.States, g uint32) *cell { return s.(*cells.States[cell]).Cell(g) }

func registerScalars(r *agg.Registry, fs *value.Families) {
	r.Scalars().Register(expr.Function{
		Signature: "bucket_ids(sketch) int4[]", Description: "the buckets that have values, in order",
		Eval: fs.Eval("bucket_ids", "bucket", func(_ *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			var items []types.Datum
			buckets, _ := read(in[0].States, 0).counts()
			for _, b := range buckets {
				items = append(items, types.IntDatum(types.Int4, int64(b)))
			}
			return types.NewArray(types.Of(types.Int4), items).Datum(), nil
		}),
	})
	r.Scalars().Register(expr.Function{
		Signature: "bucket_cardinalities(sketch) int8[]", Description: "how many values each bucket has, in the order of bucket_ids",
		Eval: fs.Eval("bucket_cardinalities", "bucket", func(_ *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			var items []types.Datum
			buckets, counts := read(in[0].States, 0).counts()
			for _, b := range buckets {
				items = append(items, types.IntDatum(types.Int8, counts[b]))
			}
			return types.NewArray(types.Of(types.Int8), items).Datum(), nil
		}),
	})
	r.Scalars().Register(expr.Function{
		Signature: "bucket_cardinality(sketch,int4) int8", Description: "how many values a bucket has",
		Eval: fs.Eval("bucket_cardinality", "bucket", func(_ *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
			_, counts := read(in[0].States, 0).counts()
			return types.IntDatum(types.Int8, counts[int32(rest[0].Int)]), nil
		}),
	})
}
