package expr

import (
	"math"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

func dec(d types.Datum) types.Decimal { return types.DecodeDecimal(d.Bytes) }

func decResult(x types.Decimal, err error) (types.Datum, error) { return x.Datum(), err }

func numberOperators() []overload {
	var out []overload
	for _, l := range []types.OID{types.Float4, types.Float8} {
		for _, r := range []types.OID{types.Float4, types.Float8} {
			t := types.Float8
			if l == types.Float4 && r == types.Float4 {
				t = types.Float4
			}
			for _, op := range []string{"+", "-", "*", "/"} {
				out = append(out, floatOperator(op, l, r, t))
			}
		}
		out = append(out, floatPrefix("-", l, func(x float64) float64 { return -x }),
			floatPrefix("+", l, func(x float64) float64 { return x }), floatPrefix("@", l, math.Abs))
	}
	out = append(out,
		fn("^(float8,float8) float8", "exponentiation", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return floatPower(a[0].Float, a[1].Float)
		}),
		fn("|/(float8) float8", "square root", sqrtFloat), fn("||/(float8) float8", "cube root", floatFn(math.Cbrt)))
	binary := func(op string, f func(a, b types.Decimal) (types.Decimal, error)) {
		out = append(out, fn(op+"(numeric,numeric) numeric", "numeric arithmetic",
			func(_ *Context, a []types.Datum) (types.Datum, error) { return decResult(f(dec(a[0]), dec(a[1]))) }))
	}
	binary("+", types.NumericAdd)
	binary("-", types.NumericSub)
	binary("*", types.NumericMul)
	binary("/", types.NumericDiv)
	binary("%", types.NumericMod)
	binary("^", types.NumericPower)
	unary := func(op string, f func(types.Decimal) types.Decimal) {
		out = append(out, fn(op+"(numeric) numeric", "numeric arithmetic",
			func(_ *Context, a []types.Datum) (types.Datum, error) { return f(dec(a[0])).Datum(), nil }))
	}
	unary("-", types.Decimal.Neg)
	unary("+", func(d types.Decimal) types.Decimal { return d })
	unary("@", types.Decimal.Abs)
	return out
}

// checkFloat reports overflow to infinity and underflow to zero.
func checkFloat(r float64, infiniteIn, zeroOK bool) error {
	if math.IsInf(r, 0) && !infiniteIn {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow")
	}
	if r == 0 && !zeroOK {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: underflow")
	}
	return nil
}

func floatArith(op byte, a, b float64) (float64, error) {
	inf := math.IsInf(a, 0) || math.IsInf(b, 0)
	switch op {
	case '+':
		r := a + b
		return r, checkFloat(r, inf, true)
	case '-':
		r := a - b
		return r, checkFloat(r, inf, true)
	case '*':
		r := a * b
		return r, checkFloat(r, inf, a == 0 || b == 0)
	}
	if b == 0 && !math.IsNaN(a) {
		return 0, divisionByZero()
	}
	r := a / b
	return r, checkFloat(r, math.IsInf(a, 0), a == 0 || math.IsInf(b, 0))
}

func floatOperator(op string, l, r, t types.OID) overload {
	c := op[0]
	one := func(a, b float64) (float64, error) {
		x, err := floatArith(c, a, b)
		if t == types.Float4 && err == nil {
			n := float64(float32(x))
			err = checkFloat(n, math.IsInf(x, 0), x == 0)
			x = n
		}
		return x, err
	}
	f := overload{name: op, args: []types.OID{l, r}, ret: t, desc: "floating point arithmetic"}
	f.row = func(_ *Context, a []types.Datum) (types.Datum, error) {
		x, err := one(a[0].Float, a[1].Float)
		return types.Datum{Type: types.Of(t), Float: x}, err
	}
	f.vec = func(args []arg, n int, out *types.Vector) error {
		x, y, xm, ym := args[0].v.Floats, args[1].v.Floats, args[0].mask, args[1].mask
		if t == types.Float8 && c != '/' && floatLoop(c, x, y, xm, ym, out.Floats[:n]) {
			return nil
		}
		for i := range out.Floats[:n] {
			if out.Nulls.Has(i) {
				continue
			}
			v, err := one(x[i&xm], y[i&ym])
			if err != nil {
				return &RowError{Row: i, Err: err}
			}
			out.Floats[i] = v
		}
		return nil
	}
	return f
}

// floatLoop is the fast path; false means that a result needs the checks: it is
// infinite, NaN, or a product that became zero.
func floatLoop(op byte, x, y []float64, xm, ym int, out []float64) bool {
	suspect := 0
	switch op {
	case '+':
		for i := range out {
			r := x[i&xm] + y[i&ym]
			suspect |= b2i(!(math.Abs(r) <= math.MaxFloat64))
			out[i] = r
		}
	case '-':
		for i := range out {
			r := x[i&xm] - y[i&ym]
			suspect |= b2i(!(math.Abs(r) <= math.MaxFloat64))
			out[i] = r
		}
	default:
		for i := range out {
			r := x[i&xm] * y[i&ym]
			suspect |= b2i(!(math.Abs(r) <= math.MaxFloat64)) | b2i(r == 0 && x[i&xm] != 0 && y[i&ym] != 0)
			out[i] = r
		}
	}
	return suspect == 0
}

func floatPrefix(name string, t types.OID, op func(float64) float64) overload {
	return overload{
		name: name, args: []types.OID{t}, ret: t, desc: "floating point arithmetic", total: true,
		row: func(_ *Context, a []types.Datum) (types.Datum, error) {
			return types.Datum{Type: types.Of(t), Float: op(a[0].Float)}, nil
		},
	}
}

func floatFn(f func(float64) float64) rowFunc {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		x := a[0].Float
		r := f(x)
		return types.FloatDatum(r), checkFloat(r, math.IsInf(x, 0), true)
	}
}

func sqrtFloat(_ *Context, a []types.Datum) (types.Datum, error) {
	if a[0].Float < 0 {
		return types.Datum{}, sqlerr.New("2201F", "cannot take square root of a negative number")
	}
	return types.FloatDatum(math.Sqrt(a[0].Float)), nil
}

func floatPower(x, y float64) (types.Datum, error) {
	switch {
	case x == 0 && y < 0:
		return types.Datum{}, sqlerr.New("2201F", "zero raised to a negative power is undefined")
	case x < 0 && y != math.Floor(y) && !math.IsNaN(y) && !math.IsInf(x, 0):
		return types.Datum{}, sqlerr.New("2201F", "a negative number raised to a non-integer power yields a complex result")
	}
	r := math.Pow(x, y)
	inf := math.IsInf(x, 0) || math.IsInf(y, 0)
	return types.FloatDatum(r), checkFloat(r, inf, inf || x == 0)
}
