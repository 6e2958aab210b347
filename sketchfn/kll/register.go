package kll

import (
	"fmt"
	"strconv"
	"unsafe"

	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/shadow"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

// Limits of k.
const (
	DefaultK = 200
	MinK     = 8
	MaxK     = 8192
)

var (
	kParameter = agg.Parameter{
		Name: "k", Default: DefaultK, Min: MinK, Max: MaxK,
		Meaning: "the size of the top level of the sketch: the rank error is 2.296/k^0.9723 at a confidence of 0.99",
	}
	qParameter = agg.Parameter{
		Name: "quantile", Default: 0.5, Min: 0, Max: 1,
		Meaning: "the share of the values that are at most the result",
	}
)

func descriptor(name, signature string, parameters ...agg.Parameter) agg.Descriptor {
	return agg.Descriptor{
		Name: name, Family: "kll", Signature: signature,
		StreamModel: agg.CashRegister, MergeAlgebra: agg.MergeableSummary, Parameters: parameters,
		Guarantee:    "normalised rank error 2.296/k^0.9723 at a confidence of 0.99; exact up to max(k, 64) values",
		Confidence:   "the error is z(confidence)/z(0.99) times that; Lo and Hi are the values at the quantile less and plus the error",
		Citation:     "Karnin, Lang, Liberty: Optimal quantile approximation in streams, 2016; the constants are those of Apache DataSketches",
		Memory:       "12 bytes a group; 8 to 16 bytes a value up to max(k, 64) values, then about 24 k + 1300 bytes",
		PrivacyClass: agg.HoldsValues, CodecVersion: int(codecV2),
	}
}

// Register registers approx_quantile, approx_median, approx_quantiles,
// approx_rank, approx_cdf and what works on sketch values.
func Register(r *agg.Registry, fs *value.Families) {
	d := descriptor("approx_quantile", "approx_quantile(x number or time, quantile float8 [, k int4]) → float8, or the time's type", qParameter, kParameter)
	d.Aliases = []string{"approx_percentile"}
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		if len(args) < 2 || len(args) > 3 {
			return agg.Bound{}, param.NoFunction("approx_quantile", args)
		}
		if inputType(args[0]).OID == 0 {
			return agg.Bound{}, param.NoFunction("approx_quantile", args)
		}
		q, err := param.Number("approx_quantile", qParameter.Name, args, consts, 1)
		if err == nil {
			err = param.Within("approx_quantile", qParameter, q)
		}
		if err != nil {
			return agg.Bound{}, err
		}
		return bind("approx_quantile", q, args, consts, 2)
	}})
	d = descriptor("approx_median", "approx_median(x number or time [, k int4]) → float8, or the time's type", kParameter)
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		if len(args) < 1 || len(args) > 2 {
			return agg.Bound{}, param.NoFunction("approx_median", args)
		}
		return bind("approx_median", 0.5, args, consts, 1)
	}})
	registerMore(r)
	registerValues(r, fs)
}

func bind(name string, q float64, args []types.Type, consts []*types.Datum, kAt int) (agg.Bound, error) {
	t := inputType(args[0])
	return bindState(name, args, consts, kAt, final{q: q, in: t, out: resultType(t)})
}

// finaliser makes a value of a sketch, or of all values.
type finaliser interface {
	agg.Finaliser
	exact(v *shadow.Values) types.Datum
}

// bindState binds a call with this finaliser whose argument number kAt is k.
func bindState(name string, args []types.Type, consts []*types.Datum, kAt int, f finaliser) (agg.Bound, error) {
	s, err := bindSpec(name, args, consts, kAt)
	return agg.Bound{Inputs: []int{0}, ArgTypes: []types.Type{s.typ}, State: s, Final: f, Shadow: shadow.Of(s.typ, f.Type(), f.exact)}, err
}

// bindSpec is the state of a call whose argument number kAt is k.
func bindSpec(name string, args []types.Type, consts []*types.Datum, kAt int) (spec, error) {
	t := inputType(args[0])
	if t.OID == 0 {
		return spec{}, param.NoFunction(name, args)
	}
	k, err := param.Integer(name, kParameter, args, consts, kAt)
	return spec{typ: t, k: k}, err
}

// inputType returns the type that the input is kept as: int8 for integers,
// float8 for other numbers, times as they are; the zero type for the rest.
func inputType(t types.Type) types.Type {
	switch t.OID {
	case types.Int2, types.Int4, types.Int8:
		return types.Of(types.Int8)
	case types.Float4, types.Float8, types.Numeric, types.Unknown:
		return types.Of(types.Float8)
	case types.Date, types.Time, types.Timestamp, types.Timestamptz:
		return types.Of(t.OID)
	}
	return types.Type{}
}

// spec is the StateSpec of sketches over one type with one k.
type spec struct {
	typ types.Type
	k   int
}

// Identity implements agg.StateSpec.
func (s spec) Identity() string { return fmt.Sprintf("kll(%s) k=%d v%d", s.typ, s.k, codecV1) }

// New implements agg.StateSpec.
func (s spec) New(cfg agg.Config) agg.States {
	var valid func(uint64) bool
	if s.typ.OID == types.Float8 {
		valid = isFloatKey
	}
	return newStates(newShape(s.k, s.Identity(), cfg.Seed), valid)
}

// BytesPerGroup implements agg.StateSpec.
func (s spec) BytesPerGroup(n int64) int64 {
	bytes := int64(unsafe.Sizeof(slot{}))
	if n == 0 {
		return bytes
	}
	full := int64(max(s.k, leastBuffer))
	if n <= full {
		size := int64(4)
		for size < n {
			size *= 2
		}
		return bytes + 8*min(size, full)
	}
	levels := int64(2)
	for n>>levels > int64(s.k) {
		levels++
	}
	return bytes + int64(unsafe.Sizeof(meta{})) + 8*(3*int64(s.k)+leastBuffer+leastCapacity*levels)
}

// final makes a state a quantile.
type final struct {
	q       float64
	in, out types.Type
}

// Type implements agg.Finaliser.
func (f final) Type() types.Type { return f.out }

// Approximate implements agg.Finaliser.
func (final) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (final) Kind() agg.ErrorKind { return agg.Probabilistic }

// String implements agg.Finaliser.
func (f final) String() string { return "quantile " + strconv.FormatFloat(f.q, 'g', -1, 64) }

// Finalise implements agg.Finaliser.
func (f final) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*States)
	for g := range n {
		e := s.quantile(uint32(g), f.q, confidence)
		f.append(out, e.none, e.value)
		if bounds != nil {
			f.append(bounds.Lo, e.none, e.lo)
			f.append(bounds.Hi, e.none, e.hi)
			bounds.Error.AppendFloat(e.rankError)
		}
	}
	return nil
}

// exact implements finaliser.
func (f final) exact(v *shadow.Values) types.Datum {
	d := v.At(rankOf(f.q, v.Total()))
	if f.in.OID == types.Int8 {
		return types.FloatDatum(float64(d.Int))
	}
	return d
}

func (f final) append(out *types.Vector, none bool, key uint64) {
	switch {
	case none:
		out.AppendNull()
	case f.in.OID == types.Float8:
		out.AppendFloat(keyFloat(key))
	case f.in.OID == types.Int8:
		out.AppendFloat(float64(keyInt(key)))
	default:
		out.AppendInt(keyInt(key))
	}
}
