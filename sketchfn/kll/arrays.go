package kll

import (
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/shadow"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// maxPoints limits the arrays that approx_quantiles and approx_cdf take.
const maxPoints = 1000

// registerMore registers approx_quantiles, approx_rank and approx_cdf.
func registerMore(r *agg.Registry) {
	d := descriptor("approx_quantiles", "approx_quantiles(x number or time, quantiles float8[] [, k int4]) → float8[], or an array of the time's type", kParameter)
	r.Register(&agg.Function{Descriptor: d, Bind: bindPoints("approx_quantiles", func(name string, in types.Type, points []types.Datum) (finaliser, error) {
		f := quantilesFinal{in: in, out: resultType(in)}
		for _, p := range points {
			q, err := numberOf(name, p)
			if err == nil {
				err = param.Within(name, qParameter, q)
			}
			if err != nil {
				return nil, err
			}
			f.qs = append(f.qs, q)
		}
		return f, nil
	})})
	d = descriptor("approx_cdf", "approx_cdf(x number or time, points array of x's type [, k int4]) → float8[]", kParameter)
	r.Register(&agg.Function{Descriptor: d, Bind: bindPoints("approx_cdf", func(name string, in types.Type, points []types.Datum) (finaliser, error) {
		f := cdfFinal{}
		for _, p := range points {
			x, err := pointOf(name, in, p)
			if err != nil {
				return nil, err
			}
			f.points = append(f.points, x)
		}
		return f, nil
	})})
	d = descriptor("approx_rank", "approx_rank(x number or time, value of x's type [, k int4]) → float8", kParameter)
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		const name = "approx_rank"
		if len(args) < 2 || len(args) > 3 || inputType(args[0]).OID == 0 {
			return agg.Bound{}, param.NoFunction(name, args)
		}
		v, err := param.Constant(name, "value", consts, 1)
		if err != nil {
			return agg.Bound{}, err
		}
		in := inputType(args[0])
		x, err := pointOf(name, in, v)
		if err != nil {
			return agg.Bound{}, err
		}
		return bindState(name, args, consts, 2, rankFinal{x})
	}})
}

// bindPoints binds a call whose second argument is an array of constants.
func bindPoints(name string, final func(name string, in types.Type, points []types.Datum) (finaliser, error)) func([]types.Type, []*types.Datum) (agg.Bound, error) {
	return func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		if len(args) < 2 || len(args) > 3 || inputType(args[0]).OID == 0 || !args[1].OID.IsArray() && args[1].OID != types.Unknown {
			return agg.Bound{}, param.NoFunction(name, args)
		}
		d, err := param.Constant(name, "array", consts, 1)
		if err != nil {
			return agg.Bound{}, err
		}
		if d.Type.OID == types.Unknown {
			if d, err = types.Parse(types.Of(types.TextArray), d.Bytes, nil); err != nil {
				return agg.Bound{}, err
			}
		}
		a, err := types.ArrayDatum(d)
		if err != nil {
			return agg.Bound{}, err
		}
		if len(a.Items) == 0 || len(a.Items) > maxPoints || len(a.Dims) != 1 {
			return agg.Bound{}, sqlerr.New(sqlerr.InvalidParameterValue, "the array of %s must have between 1 and %d elements", name, maxPoints)
		}
		f, err := final(name, inputType(args[0]), a.Items)
		if err != nil {
			return agg.Bound{}, err
		}
		return bindState(name, args, consts, 2, f)
	}
}

// numberOf returns an element as a number.
func numberOf(name string, d types.Datum) (float64, error) {
	if d.Type.OID == types.Text {
		p, err := types.Parse(types.Of(types.Float8), d.Bytes, nil)
		if err != nil {
			return 0, err
		}
		d = p
	}
	return param.Number(name, "quantile", []types.Type{d.Type}, []*types.Datum{&d}, 0)
}

// point is a value that the input is compared with.
type point struct {
	value types.Datum // of the input's type
	key   uint64
	text  string
}

// exactShare returns the share of values that are at most the point.
func (p point) exactShare(v *shadow.Values) types.Datum {
	return types.FloatDatum(float64(v.AtMost(p.value)) / float64(v.Total()))
}

// pointOf returns a value that x is compared with. Where x is an integer and the value
// lies between two, it is the lower one.
func pointOf(name string, in types.Type, d types.Datum) (point, error) {
	if d.Null {
		return point{}, sqlerr.New(sqlerr.InvalidParameterValue, "the values of %s must not be null", name)
	}
	text := types.FormatDatum(d, nil)
	switch {
	case d.Type.OID == in.OID:
	case d.Type.Kind() == types.KindBytes && d.Type.OID != types.Numeric || in.OID != types.Int8 && in.OID != types.Float8:
		p, err := types.Parse(in, []byte(text), nil)
		if err != nil {
			return point{}, err
		}
		d = p
	default:
		x, err := numberOf(name, d)
		if err != nil {
			return point{}, err
		}
		d = types.FloatDatum(x)
	}
	switch {
	case d.Type.Kind() == types.KindInt:
		return point{types.Datum{Type: in, Int: d.Int}, intKey(d.Int), text}, nil
	case in.OID == types.Float8:
		return point{d, floatKey(d.Float), text}, nil
	}
	x := floorInt(d.Float)
	return point{types.Datum{Type: in, Int: x}, intKey(x), text}, nil
}

// resultType is the type of a quantile of inputs that are kept as t.
func resultType(t types.Type) types.Type {
	if t.OID == types.Int8 {
		return types.Of(types.Float8)
	}
	return t
}

// quantilesFinal makes a state an array of quantiles.
type quantilesFinal struct {
	qs      []float64
	in, out types.Type
}

// Type implements agg.Finaliser.
func (f quantilesFinal) Type() types.Type { return types.Of(f.out.OID.ArrayOf()) }

// Approximate implements agg.Finaliser.
func (quantilesFinal) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (quantilesFinal) Kind() agg.ErrorKind { return agg.Probabilistic }

// String implements agg.Finaliser.
func (f quantilesFinal) String() string {
	parts := make([]string, len(f.qs))
	for i, q := range f.qs {
		parts[i] = strconv.FormatFloat(q, 'g', -1, 64)
	}
	return "quantiles " + strings.Join(parts, ", ")
}

// Finalise implements agg.Finaliser. Each quantile holds its limits with the
// confidence, not all at once.
func (f quantilesFinal) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*States)
	one := final{in: f.in, out: f.out}
	for g := range uint32(n) {
		columns := [3]*types.Vector{}
		for i := range columns {
			columns[i] = types.NewVector(f.out, len(f.qs))
		}
		e := estimate{none: true}
		for _, q := range f.qs {
			e = s.quantile(g, q, confidence)
			one.append(columns[0], e.none, e.value)
			one.append(columns[1], e.none, e.lo)
			one.append(columns[2], e.none, e.hi)
		}
		appendArray(out, e.none, columns[0])
		if bounds != nil {
			appendArray(bounds.Lo, e.none, columns[1])
			appendArray(bounds.Hi, e.none, columns[2])
			bounds.Error.AppendFloat(e.rankError)
		}
	}
	return nil
}

// exact implements finaliser.
func (f quantilesFinal) exact(v *shadow.Values) types.Datum {
	list := make([]types.Datum, len(f.qs))
	for i, q := range f.qs {
		list[i] = final{q: q, in: f.in, out: f.out}.exact(v)
	}
	return types.NewArray(f.out, list).Datum()
}

// appendArray appends the values of a column as one array.
func appendArray(out *types.Vector, none bool, items *types.Vector) {
	if none {
		out.AppendNull()
		return
	}
	list := make([]types.Datum, items.Len())
	for i := range list {
		list[i] = items.Datum(i)
	}
	out.AppendDatum(types.NewArray(items.Type, list).Datum())
}

// cdfFinal makes a state the shares of values that are at most each of the keys.
type cdfFinal struct{ points []point }

// Type implements agg.Finaliser.
func (cdfFinal) Type() types.Type { return types.Of(types.Float8Array) }

// Approximate implements agg.Finaliser.
func (cdfFinal) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (cdfFinal) Kind() agg.ErrorKind { return agg.Probabilistic }

// String implements agg.Finaliser.
func (f cdfFinal) String() string {
	parts := make([]string, len(f.points))
	for i, p := range f.points {
		parts[i] = p.text
	}
	return "cdf " + strings.Join(parts, ", ")
}

// Finalise implements agg.Finaliser.
func (f cdfFinal) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*States)
	for g := range uint32(n) {
		columns := [3]*types.Vector{}
		for i := range columns {
			columns[i] = types.NewVector(types.Of(types.Float8), len(f.points))
		}
		m, weight, ok := s.prepare(g)
		e := 0.0
		for _, p := range f.points {
			if !ok {
				break
			}
			x := s.shareOf(&m, weight, p.key, confidence)
			columns[0].AppendFloat(x.value)
			columns[1].AppendFloat(x.lo)
			columns[2].AppendFloat(x.hi)
			e = max(e, x.rankError)
		}
		appendArray(out, !ok, columns[0])
		if bounds != nil {
			appendArray(bounds.Lo, !ok, columns[1])
			appendArray(bounds.Hi, !ok, columns[2])
			bounds.Error.AppendFloat(e)
		}
	}
	return nil
}

// exact implements finaliser.
func (f cdfFinal) exact(v *shadow.Values) types.Datum {
	list := make([]types.Datum, len(f.points))
	for i, p := range f.points {
		list[i] = p.exactShare(v)
	}
	return types.NewArray(types.Of(types.Float8), list).Datum()
}
