package kll

import (
	"math"

	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
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
		Quantile: func(s agg.States, g uint32, q, confidence float64) value.Estimate {
			in := s.(*States)
			e := in.quantile(g, q, confidence)
			return value.Estimate{None: e.none, Value: in.float(e.value), Lo: in.float(e.lo), Hi: in.float(e.hi), Error: e.rankError}
		},
		Rank: func(s agg.States, g uint32, x, confidence float64) value.Estimate {
			in := s.(*States)
			key := floatKey(x)
			if in.valid == nil {
				key = intKey(floorInt(x))
			}
			e := in.share(g, key, confidence)
			return value.Estimate{None: e.none, Value: e.value, Lo: e.lo, Hi: e.hi, Error: e.rankError}
		},
		Export: export, Imports: []byte{dsFamily}, Import: importDataSketches,
	}
}

func (s spec) kind() value.Kind {
	return value.Kind{Family: "kll", Type: s.typ.String(), Params: [3]uint64{uint64(s.k)}}
}

// registerValues registers kll_agg and kll_union.
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
		s, err := bindSpec("kll_agg", args, consts, 1)
		return agg.Bound{Inputs: []int{0}, ArgTypes: []types.Type{s.typ}, State: s, Final: value.NewFinal(f, s.kind())}, err
	}})
	fs.RegisterUnion(r, d, "kll_union")
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
