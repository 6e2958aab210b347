package expr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

func mathFunctions() []overload {
	var out []overload
	num := func(sig, desc string, f func(types.Decimal) (types.Decimal, error)) {
		out = append(out, fn(sig, desc, func(_ *Context, a []types.Datum) (types.Datum, error) { return decResult(f(dec(a[0]))) }))
	}
	total := func(f func(types.Decimal) types.Decimal) func(types.Decimal) (types.Decimal, error) {
		return func(d types.Decimal) (types.Decimal, error) { return f(d), nil }
	}
	num("abs(numeric) numeric", "absolute value", total(types.Decimal.Abs))
	num("ceil(numeric) numeric", "nearest integer not below", total(types.Decimal.Ceil))
	num("ceiling(numeric) numeric", "nearest integer not below", total(types.Decimal.Ceil))
	num("floor(numeric) numeric", "nearest integer not above", total(types.Decimal.Floor))
	num("round(numeric) numeric", "round half away from zero", total(func(d types.Decimal) types.Decimal { return d.Round(0) }))
	num("trunc(numeric) numeric", "truncate toward zero", total(func(d types.Decimal) types.Decimal { return d.Trunc(0) }))
	num("sign(numeric) numeric", "sign: -1, 0 or 1", total(func(d types.Decimal) types.Decimal {
		if d.IsNaN() {
			return d
		}
		return types.DecimalFromInt(int64(d.Sign()))
	}))
	num("sqrt(numeric) numeric", "square root", types.NumericSqrt)
	num("exp(numeric) numeric", "natural exponential", types.NumericExp)
	num("ln(numeric) numeric", "natural logarithm", types.NumericLn)
	ten := func(d types.Decimal) (types.Decimal, error) { return types.NumericLog(types.DecimalFromInt(10), d) }
	num("log(numeric) numeric", "base 10 logarithm", ten)
	num("log10(numeric) numeric", "base 10 logarithm", ten)
	num("trim_scale(numeric) numeric", "without trailing zeros", total(types.Decimal.Trim))
	num2 := func(sig, desc string, f func(a, b types.Decimal) (types.Decimal, error)) {
		out = append(out, fn(sig, desc, func(_ *Context, a []types.Datum) (types.Datum, error) {
			return decResult(f(dec(a[0]), dec(a[1])))
		}))
	}
	num2("log(numeric,numeric) numeric", "logarithm to a base", types.NumericLog)
	num2("power(numeric,numeric) numeric", "exponentiation", types.NumericPower)
	num2("pow(numeric,numeric) numeric", "exponentiation", types.NumericPower)
	num2("mod(numeric,numeric) numeric", "remainder", types.NumericMod)
	num2("div(numeric,numeric) numeric", "integer quotient", types.NumericQuo)
	num2("gcd(numeric,numeric) numeric", "greatest common divisor", types.NumericGCD)
	num2("lcm(numeric,numeric) numeric", "least common multiple", types.NumericLCM)
	return slices.Concat(out, otherMathFunctions(), floatFunctions(), degreeFunctions(), integerFunctions())
}

func otherMathFunctions() []overload {
	scaled := func(f func(d types.Decimal, s int) types.Decimal) rowFunc {
		return func(_ *Context, a []types.Datum) (types.Datum, error) {
			return f(dec(a[0]), int(min(max(a[1].Int, -2000), 2000))).Datum(), nil
		}
	}
	return []overload{
		fn("round(numeric,int4) numeric", "round to digits after the point", scaled(types.Decimal.Round)),
		fn("trunc(numeric,int4) numeric", "truncate to digits after the point", scaled(types.Decimal.Trunc)),
		fn("scale(numeric) int4", "digits after the point", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if !dec(a[0]).Finite() {
				return types.NullOf(types.Of(types.Int4)), nil
			}
			return types.IntDatum(types.Int4, int64(dec(a[0]).Scale())), nil
		}),
		fn("min_scale(numeric) int4", "needed digits after the point", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if !dec(a[0]).Finite() {
				return types.NullOf(types.Of(types.Int4)), nil
			}
			return types.IntDatum(types.Int4, int64(dec(a[0]).MinScale())), nil
		}),
		fn("factorial(int8) numeric", "product of the integers up to it", factorial),
		fn("random() float8", "random value in [0, 1)", func(*Context, []types.Datum) (types.Datum, error) {
			return types.FloatDatum(rand.Float64()), nil
		}).volatile(),
		fn("pg_sleep(float8) void", "waits for some seconds", sleep).volatile(),
		fn("pi() float8", "the constant π", func(*Context, []types.Datum) (types.Datum, error) {
			return types.FloatDatum(math.Pi), nil
		}),
		fn("atan2(float8,float8) float8", "arc tangent of y / x", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return types.FloatDatum(math.Atan2(a[0].Float, a[1].Float)), nil
		}),
		fn("width_bucket(float8,float8,float8,int4) int4", "bucket number of operand", widthBucket),
		fn("width_bucket(numeric,numeric,numeric,int4) int4", "bucket number of operand", widthBucketNumeric),
	}
}

func floatFunctions() []overload {
	var out []overload
	for name, f := range map[string]func(float64) float64{
		"abs": math.Abs, "ceil": math.Ceil, "ceiling": math.Ceil, "floor": math.Floor, "round": math.RoundToEven,
		"trunc": math.Trunc, "cbrt": math.Cbrt, "atan": math.Atan, "tanh": math.Tanh, "asinh": math.Asinh,
		"degrees": func(x float64) float64 { return x / (math.Pi / 180) },
		"radians": func(x float64) float64 { return x * (math.Pi / 180) },
		"sign": func(x float64) float64 {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return -1
			}
			return 0
		},
	} {
		out = append(out, fn(name+"(float8) float8", name+" of a floating point number", floatFn(f)))
	}
	out = append(out, fn("abs(float4) float4", "absolute value", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Datum{Type: types.Of(types.Float4), Float: math.Abs(a[0].Float)}, nil
	}))
	domain := func(name string, f func(float64) float64, lo, hi float64) {
		out = append(out, fn(name+"(float8) float8", name+" of a number", func(_ *Context, a []types.Datum) (types.Datum, error) {
			x := a[0].Float
			if x < lo || x > hi {
				return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "input is out of range")
			}
			return types.FloatDatum(f(x)), nil
		}))
	}
	domain("sin", math.Sin, -math.MaxFloat64, math.MaxFloat64)
	domain("cos", math.Cos, -math.MaxFloat64, math.MaxFloat64)
	domain("tan", math.Tan, -math.MaxFloat64, math.MaxFloat64)
	domain("cot", func(x float64) float64 { return 1 / math.Tan(x) }, -math.MaxFloat64, math.MaxFloat64)
	domain("sinh", math.Sinh, math.Inf(-1), math.Inf(1)) // infinite where it overflows
	domain("cosh", math.Cosh, math.Inf(-1), math.Inf(1))
	domain("asin", math.Asin, -1, 1)
	domain("acos", math.Acos, -1, 1)
	domain("acosh", math.Acosh, 1, math.Inf(1))
	domain("atanh", math.Atanh, -1, 1)
	logs := func(name string, f func(float64) float64) {
		out = append(out, fn(name+"(float8) float8", "logarithm", func(_ *Context, a []types.Datum) (types.Datum, error) {
			switch x := a[0].Float; {
			case x == 0:
				return types.Datum{}, sqlerr.New("2201E", "cannot take logarithm of zero")
			case x < 0:
				return types.Datum{}, sqlerr.New("2201E", "cannot take logarithm of a negative number")
			}
			return types.FloatDatum(f(a[0].Float)), nil
		}))
	}
	logs("ln", math.Log)
	logs("log", log10)
	logs("log10", log10)
	pow := func(_ *Context, a []types.Datum) (types.Datum, error) { return floatPower(a[0].Float, a[1].Float) }
	return append(out,
		fn("sqrt(float8) float8", "square root", sqrtFloat),
		fn("power(float8,float8) float8", "exponentiation", pow), fn("pow(float8,float8) float8", "exponentiation", pow),
		fn("exp(float8) float8", "natural exponential", func(_ *Context, a []types.Datum) (types.Datum, error) {
			r := math.Exp(a[0].Float)
			return types.FloatDatum(r), checkFloat(r, math.IsInf(a[0].Float, 0), math.IsInf(a[0].Float, 0))
		}))
}

// log10 is exact for the powers of ten.
func log10(x float64) float64 {
	r := math.Log10(x)
	if n := math.Round(r); math.Pow10(int(n)) == x {
		return n
	}
	return r
}

func integerFunctions() []overload {
	var out []overload
	for _, t := range []types.OID{types.Int2, types.Int4, types.Int8} {
		n, _ := types.Lookup(t)
		absolute, mod := intPrefix("@", t, func(x int64) int64 { return max(x, -x) }), intOperator("%", t, t, t, modInt, true)
		absolute.name, mod.name = "abs", "mod"
		out = append(out, absolute, mod)
		if t == types.Int2 {
			continue
		}
		sig := "(" + n.Name + "," + n.Name + ") " + n.Name
		out = append(out, fn("gcd"+sig, "greatest common divisor", func(_ *Context, a []types.Datum) (types.Datum, error) {
			g, ok := gcd(a[0].Int, a[1].Int)
			if !ok {
				return types.Datum{}, outOfRange(t)
			}
			return checkInt(g, types.Of(t))
		}), fn("lcm"+sig, "least common multiple", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if a[0].Int == 0 || a[1].Int == 0 {
				return types.IntDatum(t, 0), nil
			}
			g, ok := gcd(a[0].Int, a[1].Int)
			if !ok {
				return types.Datum{}, outOfRange(t)
			}
			r, ok := mulInt(a[0].Int/g, a[1].Int)
			if !ok || r == math.MinInt64 {
				return types.Datum{}, outOfRange(t)
			}
			return checkInt(max(r, -r), types.Of(t))
		}))
	}
	return out
}

func gcd(a, b int64) (int64, bool) {
	for b != 0 {
		if b == -1 {
			return 1, true
		}
		a, b = b, a%b
	}
	return max(a, -a), a != math.MinInt64
}

func factorial(_ *Context, a []types.Datum) (types.Datum, error) {
	n := a[0].Int
	if n < 0 {
		return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "factorial of a negative number is undefined")
	}
	if n > 32177 {
		return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
	}
	d, err := types.ParseDecimal(new(big.Int).MulRange(1, n).Append(nil, 10))
	return d.Datum(), err
}

func bucketErrors(count int64, equal bool) error {
	if count <= 0 {
		return sqlerr.New("2201G", "count must be greater than zero")
	}
	if equal {
		return sqlerr.New("2201G", "lower bound cannot equal upper bound")
	}
	return nil
}

func widthBucket(_ *Context, a []types.Datum) (types.Datum, error) {
	x, lo, hi, n := a[0].Float, a[1].Float, a[2].Float, a[3].Int
	if err := bucketErrors(n, lo == hi); err != nil {
		return types.Datum{}, err
	}
	if math.IsNaN(x) || math.IsNaN(lo) || math.IsNaN(hi) {
		return types.Datum{}, sqlerr.New("2201G", "operand, lower bound, and upper bound cannot be NaN")
	}
	if math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return types.Datum{}, sqlerr.New("2201G", "lower and upper bounds must be finite")
	}
	if lo > hi {
		x, lo, hi = -x, -lo, -hi
	}
	b := int64(0)
	switch {
	case x < lo:
	case x >= hi:
		b = n + 1
	default:
		b = min(int64(float64(n)*((x-lo)/(hi-lo)))+1, n)
	}
	return checkInt(b, types.Of(types.Int4))
}

func widthBucketNumeric(_ *Context, a []types.Datum) (types.Datum, error) {
	x, lo, hi, n := dec(a[0]), dec(a[1]), dec(a[2]), a[3].Int
	if err := bucketErrors(n, lo.Cmp(hi) == 0); err != nil {
		return types.Datum{}, err
	}
	if x.IsNaN() || lo.IsNaN() || hi.IsNaN() {
		return types.Datum{}, sqlerr.New("2201G", "operand, lower bound, and upper bound cannot be NaN")
	}
	if !lo.Finite() || !hi.Finite() {
		return types.Datum{}, sqlerr.New("2201G", "lower and upper bounds must be finite")
	}
	if lo.Cmp(hi) > 0 {
		x, lo, hi = x.Neg(), lo.Neg(), hi.Neg()
	}
	b := int64(0)
	switch {
	case x.Cmp(lo) < 0:
	case x.Cmp(hi) >= 0:
		b = n + 1
	default:
		p, _ := types.NumericSub(x, lo)
		w, _ := types.NumericSub(hi, lo)
		p, _ = types.NumericMul(p, types.DecimalFromInt(n))
		q, err := types.NumericQuo(p, w)
		if err != nil {
			return types.Datum{}, err
		}
		b, _ = q.Int64()
		b++
	}
	return checkInt(b, types.Of(types.Int4))
}

// sleep is pg_sleep: it ends early where the statement is cancelled.
func sleep(ec *Context, a []types.Datum) (types.Datum, error) {
	if ec.Wait == nil {
		return types.Datum{}, sqlerr.New(sqlerr.FeatureNotSupported, "pg_sleep is not supported in this place")
	}
	const longest = 1 << 62
	d := time.Duration(longest)
	if ns := a[0].Float * float64(time.Second); ns < longest {
		d = time.Duration(ns)
	}
	return types.Datum{Type: types.Of(types.Void)}, ec.Wait(d)
}
