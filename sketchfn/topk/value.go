package topk

import (
	"math"

	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// family is counters as sketch values. Their hashes only order the table.
func family() *value.Family {
	return &value.Family{
		Name: "topk", ErrorKind: agg.WorstCase, Unseeded: true,
		Spec: func(k value.Kind) agg.StateSpec {
			t, ok := value.TypeOf(k.Type)
			s := spec{t, int(k.Params[0])}
			if !ok || k.Params[0] < MinCapacity || k.Params[0] > MaxCapacity || s.kind() != k {
				return nil
			}
			return s
		},
		Error: func(s agg.States, g uint32, _ float64) float64 {
			in := s.(*States).groups[g]
			return float64(in.floor) / float64(max(in.total, 1))
		},
		Info: func(k value.Kind, s agg.States, g uint32, _ float64) []value.Field {
			in := s.(*States).groups[g]
			return []value.Field{
				{Name: "capacity", Value: k.Params[0]}, {Name: "n", Value: in.total}, {Name: "counters", Value: in.n}, {Name: "count_error", Value: in.floor},
			}
		},
		Export: export, Imports: []byte{dsFamily}, Import: importDataSketches,
	}
}

func (s spec) kind() value.Kind {
	return value.Kind{Family: "topk", Type: s.typ.String(), Params: [3]uint64{uint64(s.capacity)}}
}

// registerValues registers frequent_agg, frequent_union, frequent_items and
// frequent_count.
func registerValues(r *agg.Registry, fs *value.Families, d agg.Descriptor) {
	f := family()
	fs.Add(f)
	d.Name, d.Aliases, d.Parameters = "frequent_agg", nil, []agg.Parameter{capacityParameter}
	d.Signature = "frequent_agg(x any type with equality [, capacity int4]) → sketch"
	r.Register(&agg.Function{Descriptor: d, Bind: f.Bind(value.Hashed{
		Name: d.Name, Parameters: d.Parameters, State: func(t types.Type, p []float64) (value.Kind, agg.StateSpec) {
			s := spec{t, int(p[0])}
			return s.kind(), s
		},
	})})
	fs.RegisterUnion(r, d, "frequent_union")
	r.Scalars().Register(expr.Function{
		Signature: "frequent_items(sketch,int4) jsonb", Description: "most frequent values with their counts",
		Eval: fs.Eval("frequent_items", "topk", func(_ *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
			k := rest[0].Int
			if err := param.Within("frequent_items", kParameter, float64(k)); err != nil {
				return types.Datum{}, err
			}
			s := in[0].States.(*States)
			g := &s.groups[0]
			return types.Datum{Type: types.Of(types.JSONB), Bytes: appendList(nil, s.items(s.top(g, int(k)), g.floor))}, nil
		}),
	})
	count := func(pick func(low, high uint64) uint64) func(*expr.Context, []types.Datum) (types.Datum, error) {
		return fs.Eval("frequent_count", "topk", func(_ *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
			v, err := value.Column(in[0].Kind, rest[0])
			if err != nil {
				return types.Datum{}, err
			}
			return types.IntDatum(types.Int8, int64(pick(in[0].States.(*States).count(0, v)))), nil
		})
	}
	r.Scalars().Register(expr.Function{
		Signature: "frequent_count(sketch,any) int8", Description: "occurrences of a value, at most",
		Eval:  count(func(_, high uint64) uint64 { return high }),
		Lower: count(func(low, _ uint64) uint64 { return low }), Upper: count(func(_, high uint64) uint64 { return high }),
	})
}

// count returns the limits of the occurrences of the value in row 0 of v.
func (s *States) count(g uint32, v *types.Vector) (low, high uint64) {
	group := &s.groups[g]
	p := portable{}
	switch {
	case v.Type.Kind() == types.KindInt:
		p.word = uint64(v.Ints[0])
	case v.Type.Kind() == types.KindFloat:
		p.word = valuehash.FloatBits(v.Floats[0])
	case s.plain:
		p.value = v.Bytes(0)
	default:
		p.value = types.AppendKey(nil, v, 0)
	}
	if p.hash = s.hasher.Word(p.word); !s.words {
		p.hash = s.hasher.Bytes(p.value)
	}
	if c, _ := s.find(s.table(group), p); c != nil {
		return c.limits(group.floor)
	}
	return 0, group.floor
}

// unsupported is the error for values that one of the formats has no form for.
func unsupported(t types.Type) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "frequent items of type %s have no DataSketches format", t).
		WithHint("Those of bigint and text have.")
}

// capacityOf returns the capacity of a DataSketches map: its error is at most
// 3.5/size of all values, ours 1/(capacity+1).
func capacityOf(lgMax byte) int {
	return min(max(int(math.Exp2(float64(lgMax))/3.5)-1, MinCapacity), MaxCapacity)
}
