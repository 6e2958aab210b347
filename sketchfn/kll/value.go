package kll

import (
	"math"

	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// family is KLL as sketch values: of numbers, kept as bigint or double precision.
func family() *value.Family {
	return &value.Family{
		Name: "kll", ErrorKind: agg.Probabilistic, Unseeded: true,
		Spec: func(k value.Kind) agg.StateSpec {
			t, ok := value.TypeOf(k.Type)
			s := spec{typ: t, k: int(k.Params[0])}
			if !ok || t.OID != types.Int8 && t.OID != types.Float8 || k.Params[0] < MinK || k.Params[0] > MaxK || s.kind() != k {
				return nil
			}
			return s
		},
		Error: func(s agg.States, g uint32, confidence float64) float64 {
			in := s.(*States)
			if _, m := in.read(g); m.levels > 1 {
				return RankError(in.k, confidence)
			}
			return 0
		},
		Info: func(k value.Kind, s agg.States, g uint32, confidence float64) []value.Field {
			in := s.(*States)
			_, m := in.read(g)
			fields := []value.Field{
				{Name: "k", Value: k.Params[0]},
				{Name: "n", Value: m.weight()},
				{Name: "retained", Value: m.retained()},
				{Name: "levels", Value: m.levels},
				{Name: "rank_error", Value: RankError(in.k, confidence)},
				{Name: "confidence", Value: confidence},
			}
			return fields
		},
		Export: export, Imports: []byte{dsFamily}, Import: importDataSketches,
	}
}

func (s spec) kind() value.Kind {
	return value.Kind{Family: "kll", Type: s.typ.String(), Params: [3]uint64{uint64(s.k)}}
}

// registerValues registers kll_agg, kll_union, kll_quantile and kll_rank.
func registerValues(r *agg.Registry, fs *value.Families) {
	f := family()
	fs.Add(f)
	d := descriptor("kll_agg", "kll_agg(x number [, k int4]) → sketch", kParameter)
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		if len(args) < 1 || len(args) > 2 {
			return agg.Bound{}, param.NoFunction("kll_agg", args)
		}
		if t := inputType(args[0]); t.OID != types.Int8 && t.OID != types.Float8 {
			return agg.Bound{}, param.NoFunction("kll_agg", args)
		}
		b, err := bindState("kll_agg", args, consts, 1, nil)
		if err == nil {
			b.Final = value.NewFinal(f, b.State.(spec).kind())
		}
		return b, err
	}})
	d = descriptor("kll_union", "kll_union(s sketch) → sketch")
	r.Register(&agg.Function{Descriptor: d, Bind: fs.BindUnion(d.Name, "kll", nil)})
	fs.RegisterMerge(r, "kll_union", "kll")
	quantile := func(pick func(estimate) uint64) func(*expr.Context, []types.Datum) (types.Datum, error) {
		return fs.Eval("kll_quantile", "kll", func(ec *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
			q := rest[0].Float
			if err := param.Within("kll_quantile", qParameter, q); err != nil {
				return types.Datum{}, err
			}
			s := in[0].States.(*States)
			e := s.quantile(0, q, ec.Confidence())
			if e.none {
				return types.NullOf(types.Of(types.Float8)), nil
			}
			return types.FloatDatum(s.float(pick(e))), nil
		})
	}
	r.Scalars().Register(expr.Function{
		Signature: "kll_quantile(sketch,float8) float8", Description: "value that this share of a sketch's values is at most",
		Eval:  quantile(func(e estimate) uint64 { return e.value }),
		Lower: quantile(func(e estimate) uint64 { return e.lo }), Upper: quantile(func(e estimate) uint64 { return e.hi }),
	})
	rank := func(pick func(share) float64) func(*expr.Context, []types.Datum) (types.Datum, error) {
		return fs.Eval("kll_rank", "kll", func(ec *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
			s := in[0].States.(*States)
			key := floatKey(rest[0].Float)
			if s.valid == nil {
				key = intKey(floorInt(rest[0].Float))
			}
			x := s.share(0, key, ec.Confidence())
			if x.none {
				return types.NullOf(types.Of(types.Float8)), nil
			}
			return types.FloatDatum(pick(x)), nil
		})
	}
	r.Scalars().Register(expr.Function{
		Signature: "kll_rank(sketch,float8) float8", Description: "share of a sketch's values that are at most a value",
		Eval:  rank(func(x share) float64 { return x.value }),
		Lower: rank(func(x share) float64 { return x.lo }), Upper: rank(func(x share) float64 { return x.hi }),
	})
}

// float returns the number that a key of a sketch of numbers stands for.
func (s *States) float(key uint64) float64 {
	if s.valid != nil { // of floats; every word is the key of an integer
		return keyFloat(key)
	}
	return float64(keyInt(key))
}

// floorInt returns the largest integer that is at most x, within int64.
func floorInt(x float64) int64 {
	switch f := math.Floor(x); {
	case f >= math.MaxInt64 || f != f: // NaN is above all numbers
		return math.MaxInt64
	case f < math.MinInt64:
		return math.MinInt64
	default:
		return int64(f)
	}
}

// unsupported is the error for sketches beyond what is kept here.
func unsupported(what string) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "KLL sketches with %s are not supported", what)
}
