package quantile

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/shadow"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

// Algebra is what a family knows of its states.
type Algebra[T any] interface {
	cells.Algebra[T]
	// Quantile returns the value that a share q of the values is at most.
	Quantile(c *T, q, confidence float64) value.Estimate
	// Rank returns the share of the values that are at most x.
	Rank(c *T, x, confidence float64) value.Estimate
	// Count returns the number of values.
	Count(c *T) uint64
}

// Family is a family of quantile sketches of numbers, which are kept as float8.
type Family[T any] struct {
	Prefix     string         // of the names of its functions
	Descriptor agg.Descriptor // but for the name and the signature
	ErrorKind  agg.ErrorKind
	Parameter  agg.Parameter
	Whole      bool // the parameter is an integer
	Version    byte // of the portable form
	New        func(parameter float64, cfg agg.Config, identity string) Algebra[T]
	// Group estimates the memory behind one state.
	Group func(parameter float64, n int64) int64
}

// qParameter is the quantile asked for.
var qParameter = agg.Parameter{
	Name: "quantile", Default: 0.5, Min: 0, Max: 1, Meaning: "the share of the values that are at most the result",
}

// Register registers the family's functions.
func (f Family[T]) Register(r *agg.Registry, fs *value.Families) {
	family := f.family()
	fs.Add(family)
	number := "float8"
	if f.Whole {
		number = "int4"
	}
	d := f.Descriptor
	d.Family, d.CodecVersion = family.Name, int(f.Version)
	d.Name = f.Prefix + "_quantile"
	d.Signature = fmt.Sprintf("%s(x number, quantile float8 [, %s %s]) → float8", d.Name, f.Parameter.Name, number)
	d.Parameters = []agg.Parameter{qParameter, f.Parameter}
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		if len(args) < 2 {
			return agg.Bound{}, param.NoFunction(f.Prefix+"_quantile", args)
		}
		b, _, err := f.bind(f.Prefix+"_quantile", args, consts, 2)
		if err != nil {
			return agg.Bound{}, err
		}
		q, err := param.Number(f.Prefix+"_quantile", qParameter.Name, args, consts, 1)
		if err == nil {
			err = param.Within(f.Prefix+"_quantile", qParameter, q)
		}
		b.Final = final[T]{q: q, kind: f.ErrorKind}
		float8 := types.Of(types.Float8)
		b.Shadow = shadow.Of(float8, float8, func(v *shadow.Values) types.Datum { return v.At(RankOf(q, v.Total())) })
		return b, err
	}})
	d.Name = f.Prefix + "_agg"
	d.Signature = fmt.Sprintf("%s(x number [, %s %s]) → sketch", d.Name, f.Parameter.Name, number)
	d.Parameters, d.Aliases = []agg.Parameter{f.Parameter}, nil
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		b, kind, err := f.bind(f.Prefix+"_agg", args, consts, 1)
		if err == nil {
			b.Final = value.NewFinal(family, kind)
		}
		return b, err
	}})
	fs.RegisterUnion(r, d, f.Prefix+"_union")
}

// bind binds a call whose argument number at is the parameter.
func (f Family[T]) bind(name string, args []types.Type, consts []*types.Datum, at int) (agg.Bound, value.Kind, error) {
	if len(args) < at || len(args) > at+1 {
		return agg.Bound{}, value.Kind{}, param.NoFunction(name, args)
	}
	switch args[0].OID {
	case types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric, types.Unknown:
	default:
		return agg.Bound{}, value.Kind{}, param.NoFunction(name, args)
	}
	var p float64
	var err error
	if f.Whole {
		var k int
		k, err = param.Integer(name, f.Parameter, args, consts, at)
		p = float64(k)
	} else {
		p, err = param.Float(name, f.Parameter, args, consts, at)
	}
	if err != nil {
		return agg.Bound{}, value.Kind{}, err
	}
	float8 := types.Of(types.Float8)
	kind := value.Kind{Family: f.Descriptor.Family, Type: float8.String(), Params: [3]uint64{math.Float64bits(p)}}
	return agg.Bound{Inputs: []int{0}, ArgTypes: []types.Type{float8}, State: f.spec(p)}, kind, nil
}

func (f Family[T]) spec(p float64) cells.Spec[T] {
	id := fmt.Sprintf("%s(float8) %s=%s v1", f.Descriptor.Family, f.Parameter.Name, strconv.FormatFloat(p, 'g', -1, 64))
	return cells.Spec[T]{
		Family: f.Descriptor.Family, ID: id, Version: f.Version,
		Algebra: func(cfg agg.Config) cells.Algebra[T] { return f.New(p, cfg, id) },
		Group:   func(n int64) int64 { return f.Group(p, n) },
	}
}

// read returns a state and its algebra.
func read[T any](s agg.States, g uint32) (*T, Algebra[T]) {
	in := s.(*cells.States[T])
	return in.Cell(g), in.Algebra().(Algebra[T])
}

func (f Family[T]) family() *value.Family {
	float8 := types.Of(types.Float8)
	return &value.Family{
		Name: f.Descriptor.Family, ErrorKind: f.ErrorKind, Unseeded: true,
		Spec: func(k value.Kind) agg.StateSpec {
			p := math.Float64frombits(k.Params[0])
			if k.Type != float8.String() || k.Params[1] != 0 || k.Params[2] != 0 || !(p >= f.Parameter.Min && p <= f.Parameter.Max) || f.Whole && p != math.Trunc(p) {
				return nil
			}
			return f.spec(p)
		},
		Error: func(s agg.States, g uint32, confidence float64) float64 {
			c, a := read[T](s, g)
			return a.Quantile(c, 0.5, confidence).Error
		},
		Info: func(k value.Kind, s agg.States, g uint32, _ float64) []value.Field {
			c, a := read[T](s, g)
			return []value.Field{{Name: f.Parameter.Name, Value: math.Float64frombits(k.Params[0])}, {Name: "n", Value: a.Count(c)}}
		},
		Quantile: func(s agg.States, g uint32, q, confidence float64) value.Estimate {
			c, a := read[T](s, g)
			return a.Quantile(c, q, confidence)
		},
		Rank: func(s agg.States, g uint32, x, confidence float64) value.Estimate {
			c, a := read[T](s, g)
			return a.Rank(c, x, confidence)
		},
	}
}

// final makes a state a quantile.
type final[T any] struct {
	q    float64
	kind agg.ErrorKind
}

// Type implements agg.Finaliser.
func (final[T]) Type() types.Type { return types.Of(types.Float8) }

// Approximate implements agg.Finaliser.
func (final[T]) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (f final[T]) Kind() agg.ErrorKind { return f.kind }

// String implements agg.Finaliser.
func (f final[T]) String() string { return "quantile " + strconv.FormatFloat(f.q, 'g', -1, 64) }

// Finalise implements agg.Finaliser.
func (f final[T]) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	for g := range uint32(n) {
		c, a := read[T](states, g)
		e := a.Quantile(c, f.q, confidence)
		appendFloat(out, e.None, e.Value)
		if bounds != nil {
			unknown := e.None || math.IsNaN(e.Error)
			appendFloat(bounds.Lo, unknown, e.Lo)
			appendFloat(bounds.Hi, unknown, e.Hi)
			appendFloat(bounds.Error, !e.None && math.IsNaN(e.Error), e.Error)
		}
	}
	return nil
}

func appendFloat(out *types.Vector, null bool, x float64) {
	if null {
		out.AppendNull()
		return
	}
	out.AppendFloat(x)
}

// RankOf is the 1-based rank of a quantile of n values, as percentile_disc has it.
func RankOf(q float64, n uint64) uint64 {
	r := math.Ceil(q * float64(n))
	switch {
	case r < 1:
		return min(1, n)
	case r >= float64(n):
		return n
	}
	return uint64(r)
}
