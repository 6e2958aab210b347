package varopt

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/jsonvalue"
	"github.com/tallydb/tallydb/sketchfn/limits"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/ranked"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

var kParameter = agg.Parameter{
	Name: "k", Default: 100, Min: 2, Max: 10000,
	Meaning: "the rows that are drawn of 2k: the standard error of a sum is at most its total over sqrt(k-1)",
}

// Register registers varopt_agg, varopt_union, varopt_sum and varopt_items.
func Register(r *agg.Registry, fs *value.Families) {
	f := family()
	fs.Add(f)
	d := agg.Descriptor{
		Name: "varopt_agg", Family: f.Name, Signature: "varopt_agg(x any type with equality, weight float8 [, k int4]) → sketch",
		StreamModel: agg.CashRegister, MergeAlgebra: agg.MergeableSummary, Parameters: []agg.Parameter{kParameter},
		Guarantee:    "the sum of the weights of any subset is unbiased, with the least average variance of all samples of its size; that of all rows is exact",
		Confidence:   "_lo and _hi of a sum are the Clopper-Pearson limits of the share of the sampled rows that are in the subset",
		Citation:     "Cohen, Duffield, Kaplan, Lund, Thorup: Stream sampling for variance-optimal estimation of subset sums, 2009; Efficient stream sampling, 2011",
		Memory:       "64 bytes a group; 40 bytes and its value for each of at most 2*k rows",
		PrivacyClass: agg.HoldsValues, CodecVersion: int(codecV1),
	}
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		if len(args) < 2 || len(args) > 3 || !valuehash.Hashable(args[0].OID) || args[1].OID.Category() != 'N' && args[1].OID != types.Unknown {
			return agg.Bound{}, param.NoFunction("varopt_agg", args)
		}
		k, err := param.Integer("varopt_agg", kParameter, args, consts, 2)
		if err != nil {
			return agg.Bound{}, err
		}
		t := valuehash.Widest(args[0])
		kind := value.Kind{Family: f.Name, Type: t.String(), Params: [3]uint64{uint64(k)}}
		return agg.Bound{Inputs: []int{0, 1}, ArgTypes: []types.Type{t, types.Of(types.Float8)}, State: specOf(kind, t), Final: value.NewFinal(f, kind)}, nil
	}})
	fs.RegisterUnion(r, d, "varopt_union")
	registerScalars(r, fs)
}

func specOf(kind value.Kind, t types.Type) cells.Spec[state] {
	k := int(kind.Params[0])
	return cells.Spec[state]{
		Family: "varopt", ID: fmt.Sprintf("varopt(%s) k=%d siphash13 v%d", kind.Type, k, codecV1), Version: codecV1, HashUse: keyhash.UseSample,
		Algebra: func(cfg agg.Config) cells.Algebra[state] {
			return shape{k, t, valuehash.New(cfg.Seed, keyhash.UseSample)}
		},
		Group: func(n int64) int64 { return 56 * min(n, int64(2*k)) },
	}
}

func family() *value.Family {
	return &value.Family{
		Name: "varopt", ErrorKind: agg.Probabilistic,
		Spec: func(k value.Kind) agg.StateSpec {
			n := k.Params[0]
			t, ok := value.TypeOf(k.Type)
			if !ok || n < uint64(kParameter.Min) || n > uint64(kParameter.Max) || k.Params[1] != 0 || k.Params[2] != 0 {
				return nil
			}
			return specOf(k, t)
		},
		Error: func(s agg.States, g uint32, confidence float64) float64 { // of a sum, as a share of the total
			c := read(s, g)
			light := c.light()
			if light == 0 {
				return 0
			}
			share := float64(light) * c.threshold / c.total
			return share * limits.Deviations(confidence) / 2 / math.Sqrt(float64(light))
		},
		Info: func(k value.Kind, s agg.States, g uint32, _ float64) []value.Field {
			c := read(s, g)
			return []value.Field{
				{Name: "k", Value: k.Params[0]},
				{Name: "rows", Value: c.rows},
				{Name: "retained", Value: len(c.items)},
				{Name: "total", Value: c.total},
				{Name: "threshold", Value: c.threshold},
			}
		},
	}
}

func read(s agg.States, g uint32) *state { return s.(*cells.States[state]).Cell(g) }

// light is how many items stand for others.
func (c *state) light() int {
	n := 0
	for _, i := range c.items {
		if i.light {
			n++
		}
	}
	return n
}

// sum estimates the weight of the rows whose value is in a subset, with its limits:
// the rows that were kept for sure are exact, and of the others' weight, which is
// exact too, the share of the subset is that of its rows in the sample.
func (c *state) sum(in func(value []byte) bool, confidence float64) (lo, x, hi float64) {
	sure, hits, light := 0.0, 0, 0
	for _, i := range c.items {
		yes := in(i.value)
		switch {
		case i.light:
			light++
			if yes {
				hits++
			}
		case yes:
			sure += i.weight
		}
	}
	if light == 0 {
		return sure, sure, sure
	}
	all := float64(light) * c.threshold
	a, b := limits.Proportion(hits, light, confidence)
	return sure + a*all, sure + float64(hits)*c.threshold, sure + b*all
}

func registerScalars(r *agg.Registry, fs *value.Families) {
	// pick returns one of lo, x and hi.
	for signature, description := range map[string]string{
		"varopt_sum(sketch) float8":         "sum of all weights",
		"varopt_sum(sketch,any) float8":     "sum of the weights of the rows with a value",
		"varopt_sum(sketch,any,any) float8": "sum of the weights of the rows with values between two, both included",
	} {
		eval := func(pick int) func(*expr.Context, []types.Datum) (types.Datum, error) {
			return fs.Eval("varopt_sum", "varopt", func(ec *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
				c := read(in[0].States, 0)
				if len(rest) == 0 {
					return types.FloatDatum(c.total), nil
				}
				keys := make([][]byte, len(rest))
				for i, d := range rest {
					v, err := value.Column(in[0].Kind, d)
					if err != nil {
						return types.Datum{}, err
					}
					keys[i] = types.AppendKey(nil, v, 0)
				}
				lo, x, hi := c.sum(func(v []byte) bool {
					return bytes.Compare(keys[0], v) <= 0 && bytes.Compare(v, keys[len(keys)-1]) <= 0
				}, ec.Confidence())
				return types.FloatDatum([3]float64{lo, x, hi}[pick]), nil
			})
		}
		r.Scalars().Register(expr.Function{Signature: signature, Description: description, Volatility: expr.Stable, Eval: eval(1), Lower: eval(0), Upper: eval(2)})
	}
	r.Scalars().Register(expr.Function{
		Signature: "varopt_items(sketch) jsonb", Description: "the sampled rows: value, and the weight that each stands for",
		Eval: fs.Eval("varopt_items", "varopt", func(_ *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			t, _ := value.TypeOf(in[0].Kind.Type)
			text := []byte{'['}
			for n, i := range read(in[0].States, 0).items {
				if n > 0 {
					text = append(text, ',')
				}
				d, _ := ranked.Decode(t, i.value)
				text = jsonvalue.Append(append(text, `{"value": `...), d)
				text = strconv.AppendFloat(append(text, `, "estimate": `...), i.weight, 'g', -1, 64)
				text = fmt.Appendf(text, `, "exact": %t}`, !i.light)
			}
			return types.Parse(types.Of(types.JSONB), append(text, ']'), nil)
		}),
	})
}
