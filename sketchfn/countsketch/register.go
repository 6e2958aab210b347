package countsketch

import (
	"fmt"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

var (
	widthParameter = agg.Parameter{
		Name: "width", Default: 512, Min: 8, Max: 1 << 18, Whole: true,
		Meaning: "the number of counters in a row: the variance of a sum is the second moment over it",
	}
	depthParameter = agg.Parameter{
		Name: "depth", Default: 5, Min: 1, Max: 15, Whole: true,
		Meaning: "the number of rows, of which the median is taken; even numbers are raised to odd ones",
	}
)

func descriptor(name, signature string) agg.Descriptor {
	return agg.Descriptor{
		Name: name, Family: "countsketch", Signature: signature,
		StreamModel: agg.Turnstile, MergeAlgebra: agg.CommutativeMonoid, Parameters: []agg.Parameter{widthParameter, depthParameter},
		Guarantee:    "unbiased; |sum - true sum| ≤ sqrt(F2/(width*p)) where the median of depth rows fails with p of each; F2 is the sum of the squares of all sums",
		Confidence:   "P(more than depth/2 of depth rows fail, each with probability p) = 1-confidence",
		Citation:     "Charikar, Chen, Farach-Colton: Finding frequent items in data streams, 2002; Alon, Matias, Szegedy: The space complexity of approximating the frequency moments, 1996",
		Memory:       "32 bytes a group, then 8*width*depth bytes",
		PrivacyClass: agg.HoldsHashes, CodecVersion: int(codecV1),
	}
}

// Register registers count_sketch_agg, count_sketch_union, count_sketch_sum and
// count_sketch_f2.
func Register(r *agg.Registry, fs *value.Families) {
	f := family()
	fs.Add(f)
	d := descriptor("count_sketch_agg", "count_sketch_agg(x any type with equality, weight int8 [, width int4 [, depth int4]]) → sketch")
	r.Register(&agg.Function{Descriptor: d, Weight: 2, Bind: f.Bind(value.Hashed{
		Name: d.Name, Weighted: true, Parameters: d.Parameters, State: func(t types.Type, p []float64) (value.Kind, agg.StateSpec) {
			kind := kindOf(t.String(), int(p[0]), int(p[1])|1)
			return kind, specOf(kind)
		},
	})})
	fs.RegisterUnion(r, d, "count_sketch_union")
	registerScalars(r, fs)
}

func kindOf(typ string, width, depth int) value.Kind {
	return value.Kind{Family: "countsketch", Type: typ, Params: [3]uint64{uint64(width), uint64(depth)}}
}

func specOf(k value.Kind) cells.Spec[cell] {
	s := shape{int(k.Params[0]), int(k.Params[1])}
	return cells.Spec[cell]{
		Family: "countsketch", ID: fmt.Sprintf("countsketch(%s) width=%d depth=%d siphash13 v%d", k.Type, s.width, s.depth, codecV1),
		Version: codecV1, HashUse: keyhash.UseCounter,
		Algebra: func(agg.Config) cells.Algebra[cell] { return s },
		Group:   func(int64) int64 { return 8 * int64(s.width) * int64(s.depth) },
	}
}

// family is Count Sketch as sketch values.
func family() *value.Family {
	return &value.Family{
		Name: "countsketch", ErrorKind: agg.Probabilistic,
		Spec: func(k value.Kind) agg.StateSpec {
			width, depth := k.Params[0], k.Params[1]
			if _, ok := value.TypeOf(k.Type); !ok || width < uint64(widthParameter.Min) || width > uint64(widthParameter.Max) ||
				depth%2 == 0 || depth > uint64(depthParameter.Max) || k.Params[2] != 0 {
				return nil
			}
			return specOf(k)
		},
		// The unit of the error is the root of the second moment.
		Error: func(s agg.States, g uint32, confidence float64) float64 {
			c, shape := read(s, g)
			return shape.errorShare(c, confidence)
		},
		Info: func(k value.Kind, s agg.States, g uint32, confidence float64) []value.Field {
			c, shape := read(s, g)
			return []value.Field{
				{Name: "width", Value: k.Params[0]},
				{Name: "depth", Value: k.Params[1]},
				{Name: "weight", Value: c.weight},
				{Name: "f2", Value: shape.secondMoment(c)},
				{Name: "sum_error", Value: shape.margin(c, confidence)},
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
	sum := func(side int64) func(*expr.Context, []types.Datum) (types.Datum, error) {
		return fs.Eval("count_sketch_sum", "countsketch", func(ec *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
			hash, err := in[0].Hash(ec, rest[0], keyhash.UseCounter)
			if err != nil {
				return types.Datum{}, err
			}
			x, margin := Sum(in[0], hash, ec.Confidence())
			return types.IntDatum(types.Int8, x+side*margin), nil
		})
	}
	r.Scalars().Register(expr.Function{
		Signature: "count_sketch_sum(sketch,any) int8", Description: "sum of the weights of a value",
		Volatility: expr.Stable, Eval: sum(0), Lower: sum(-1), Upper: sum(1),
	})
	moment := func(side float64) func(*expr.Context, []types.Datum) (types.Datum, error) {
		return fs.Eval("count_sketch_f2", "countsketch", func(ec *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			c, shape := read(in[0].States, 0)
			return types.FloatDatum(max(0, shape.secondMoment(c)*(1+side*shape.momentError(ec.Confidence())))), nil
		})
	}
	r.Scalars().Register(expr.Function{
		Signature: "count_sketch_f2(sketch) float8", Description: "sum of the squares of the sums of all values",
		Eval: moment(0), Lower: moment(-1), Upper: moment(1),
	})
}
