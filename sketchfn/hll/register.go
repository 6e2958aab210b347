package hll

import (
	"fmt"
	"math"

	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/shadow"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

var precision = agg.Parameter{
	Name: "precision", Default: DefaultPrecision, Min: MinPrecision, Max: MaxPrecision,
	Meaning: "the logarithm of the number of registers; a number below 1 is the relative standard error wanted",
}

func descriptor(name, signature string) agg.Descriptor {
	return agg.Descriptor{
		Name: name, Family: "hll", Signature: signature,
		StreamModel: agg.CashRegister, Subtracting: "count(DISTINCT x)", MergeAlgebra: agg.Idempotent, Parameters: []agg.Parameter{precision},
		Guarantee:    "relative standard error 1.04/sqrt(2^precision), up to 1.22/sqrt(2^precision) below precision 9; up to 3/16 of 2^precision values, 2^-13.5",
		Confidence:   "the error is z(confidence) relative standard errors, z = 1.96 at 0.95; Lo = estimate*(1-error), Hi = estimate*exp(error)",
		Citation:     "Flajolet, Fusy, Gandouet, Meunier: HyperLogLog, 2007; Heule, Nunkesser, Hall: HyperLogLog in practice, 2013; Ertl: New cardinality estimation algorithms for HyperLogLog sketches, 2017",
		Memory:       "8 bytes a group; 5.3 to 10.7 bytes a value up to 3/16 of 2^precision values, then 2^precision bytes",
		PrivacyClass: agg.HoldsHashes, CodecVersion: int(codecV1),
	}
}

// Register registers approx_distinct, hll_agg, hll_union, hll_union_count and
// hll_cardinality.
func Register(r *agg.Registry, fs *value.Families) {
	d := descriptor("approx_distinct", "approx_distinct(x any type with equality [, precision int4 | rse float8]) → int8")
	d.Aliases = []string{"approx_count_distinct", "hll_count_distinct"}
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		b, err := bind("approx_distinct", args, consts, func(spec) agg.Finaliser { return countFinal{} })
		if err == nil {
			b.Shadow = shadow.Count(b.ArgTypes[0], (*shadow.Values).Distinct)
		}
		return b, err
	}})
	f := family()
	d = descriptor("hll_agg", "hll_agg(x any type with equality [, precision int4 | rse float8]) → sketch")
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		return bind("hll_agg", args, consts, func(s spec) agg.Finaliser { return value.NewFinal(f, s.kind()) })
	}})
	registerValues(r, fs)
}

func bind(name string, args []types.Type, consts []*types.Datum, final func(spec) agg.Finaliser) (agg.Bound, error) {
	if len(args) < 1 || len(args) > 2 || !valuehash.Hashable(args[0].OID) {
		return agg.Bound{}, param.NoFunction(name, args)
	}
	p, err := precisionOf(name, args, consts)
	if err != nil {
		return agg.Bound{}, err
	}
	t := valuehash.Widest(args[0])
	s := spec{typ: t.String(), p: p}
	return agg.Bound{Inputs: []int{0}, ArgTypes: []types.Type{t}, State: s, Final: final(s)}, nil
}

// precisionOf reads the second argument: a precision, or a relative standard error.
func precisionOf(name string, args []types.Type, consts []*types.Datum) (uint, error) {
	if len(args) < 2 {
		return DefaultPrecision, nil
	}
	x, err := param.Number(name, "precision", args, consts, 1)
	if err != nil {
		return 0, err
	}
	if x >= 1 {
		p, err := param.Integer(name, precision, args, consts, 1)
		return uint(p), err
	}
	least, most := RelativeError(MaxPrecision), RelativeError(MinPrecision)
	if !(x >= least && x <= most) {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "the error of %s must be between %.6f and %.4f", name, least, most).
			WithHint("Or give the precision, between %d and %d.", MinPrecision, MaxPrecision)
	}
	p := uint(MinPrecision)
	for RelativeError(p) > x {
		p++
	}
	return p, nil
}

// spec is the StateSpec of HyperLogLogs over one type at one precision.
type spec struct {
	typ     string
	p       uint
	foreign bool // hashed by Apache DataSketches
}

// Identity implements agg.StateSpec.
func (s spec) Identity() string {
	hash := "siphash13"
	if s.foreign {
		hash = "datasketches"
	}
	return fmt.Sprintf("hll(%s) p=%d %s v%d", s.typ, s.p, hash, codecV1)
}

// New implements agg.StateSpec.
func (s spec) New(cfg agg.Config) agg.States {
	out := newStates(s.p, cfg.Seed)
	out.foreign = s.foreign
	return out
}

// BytesPerGroup implements agg.StateSpec.
func (s spec) BytesPerGroup(n int64) int64 {
	switch {
	case n <= 1:
		return 8
	case n > int64(maxCoupons(s.p)):
		return 8 + 1<<s.p
	}
	size := int64(4)
	for size*3 < n*4 {
		size *= 2
	}
	return 8 + 4*size
}

// countFinal makes the estimate of a state an int8.
type countFinal struct{}

// Type implements agg.Finaliser.
func (countFinal) Type() types.Type { return types.Of(types.Int8) }

// Approximate implements agg.Finaliser.
func (countFinal) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (countFinal) Kind() agg.ErrorKind { return agg.Asymptotic }

// String implements agg.Finaliser.
func (countFinal) String() string { return "distinct" }

// Finalise implements agg.Finaliser.
func (countFinal) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	for g := range uint32(n) {
		var e Estimate
		switch s := states.(type) {
		case *States:
			e = s.estimate(g, confidence)
		case *value.Union:
			if in := s.At(g); in != nil {
				e = in.(*States).estimate(g, confidence)
			}
		}
		out.AppendInt(e.count())
		if bounds != nil {
			bounds.Lo.AppendInt(e.least())
			bounds.Hi.AppendInt(e.most())
			bounds.Error.AppendFloat(e.Error)
		}
	}
	return nil
}

func (e Estimate) count() int64 { return saturate(math.Round(e.Value)) }
func (e Estimate) least() int64 { return saturate(math.Floor(e.Lo)) }
func (e Estimate) most() int64  { return saturate(math.Ceil(e.Hi)) }

func saturate(x float64) int64 {
	if x >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(x)
}
