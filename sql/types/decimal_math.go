package types

import (
	"math"
	"math/big"

	"github.com/cockroachdb/apd/v3"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Logarithms, exponentials and roots are computed with apd at a precision well
// above the scale that PostgreSQL shows, then rounded.

// SQLSTATEs of numeric functions alone.
const (
	invalidLogarithmArgument sqlerr.Code = "2201E"
	invalidPowerArgument     sqlerr.Code = "2201F"
)

func toAPD(d Decimal) *apd.Decimal {
	x := &apd.Decimal{Exponent: -d.scale, Negative: d.neg}
	x.Coeff.SetMathBigInt(d.coefficient())
	return x
}

func fromAPD(x *apd.Decimal, scale int) (Decimal, error) {
	if x.Form != apd.Finite {
		return Decimal{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
	}
	c := x.Coeff.MathBigInt()
	e := int(x.Exponent)
	if e >= 0 {
		if e > maxDecimalDigits {
			return Decimal{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
		}
		c = new(big.Int).Mul(c, bigPow10(e))
		e = 0
	}
	if -e > maxDecimalScale*2 {
		return Decimal{scale: int32(scale)}, nil
	}
	if x.Negative {
		c = new(big.Int).Neg(c)
	}
	return checkDecimal(fromSigned(c, -e).Round(scale))
}

func apdContext(digits int) *apd.Context {
	c := apd.BaseContext.WithPrecision(uint32(max(digits, 20) + 12))
	c.MaxExponent, c.MinExponent = apd.MaxExponent, apd.MinExponent
	c.Rounding = apd.RoundHalfUp
	return c
}

// NumericSqrt returns the square root.
func NumericSqrt(d Decimal) (Decimal, error) {
	switch {
	case d.IsNaN() || d.form == formPosInf:
		return d, nil
	case d.Sign() < 0:
		return d, sqlerr.New(invalidPowerArgument, "cannot take square root of a negative number")
	}
	w, _ := d.weight()
	sw := (w+1)*4/2 - 1
	if w < 0 {
		sw = floorDiv((w+1)*4, 2) - 1
	}
	scale := clampScale(max(minSigDigits-sw, int(d.scale)))
	shift := 2*(scale+1) - int(d.scale)
	c := new(big.Int).Mul(d.coefficient(), bigPow10(max(shift, 0)))
	return fromSigned(c.Sqrt(c), scale+1).Round(scale), nil
}

// NumericExp returns e^d.
func NumericExp(d Decimal) (Decimal, error) {
	switch d.form {
	case formNaN, formPosInf:
		return d, nil
	case formNegInf:
		return Decimal{}, nil
	}
	v := d.Float64() * 0.434294481903252
	if v > maxDecimalDigits {
		return d, sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
	}
	scale := clampScale(max(minSigDigits-int(math.Max(v, -2000)), int(d.scale)))
	if v < -2000 {
		return Decimal{scale: int32(scale)}, nil
	}
	var r apd.Decimal
	if _, err := apdContext(scale+int(math.Max(v, 0))).Exp(&r, toAPD(d)); err != nil {
		return d, sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
	}
	return fromAPD(&r, scale)
}

// logWeight estimates the decimal weight of ln(d), as PostgreSQL does.
func logWeight(d Decimal) int {
	if d.Sign() <= 0 {
		return 0
	}
	f := d.Float64()
	if f >= 0.9 && f <= 1.1 {
		x, _ := NumericSub(d, DecimalFromInt(1))
		w, first := x.weight()
		if first == 0 {
			return 0
		}
		return w*4 + int(math.Log10(float64(first)))
	}
	var r apd.Decimal
	if _, err := apdContext(10).Ln(&r, toAPD(d)); err != nil {
		return 0
	}
	l, _ := r.Float64()
	return int(math.Log10(math.Abs(l)))
}

func checkLog(d Decimal) error {
	switch {
	case d.IsNaN():
		return nil
	case d.Sign() == 0:
		return sqlerr.New(invalidLogarithmArgument, "cannot take logarithm of zero")
	case d.Sign() < 0:
		return sqlerr.New(invalidLogarithmArgument, "cannot take logarithm of a negative number")
	}
	return nil
}

func lnAPD(d Decimal, digits int) (*apd.Decimal, error) {
	var r apd.Decimal
	if _, err := apdContext(digits).Ln(&r, toAPD(d)); err != nil {
		return nil, sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: %w", err)
	}
	return &r, nil
}

// NumericLn returns the natural logarithm.
func NumericLn(d Decimal) (Decimal, error) {
	if err := checkLog(d); err != nil || !d.Finite() {
		return d, err
	}
	w := logWeight(d)
	scale := clampScale(max(minSigDigits-w, int(d.scale)))
	r, err := lnAPD(d, scale+max(w, 0)+10)
	if err != nil {
		return d, err
	}
	return fromAPD(r, scale)
}

// NumericLog returns the logarithm of d to a base.
func NumericLog(base, d Decimal) (Decimal, error) {
	for _, x := range []Decimal{base, d} {
		if err := checkLog(x); err != nil {
			return d, err
		}
	}
	if !base.Finite() || !d.Finite() {
		if base.IsNaN() || d.IsNaN() || base.IsInf() && d.IsInf() {
			return DecimalNaN, nil
		}
		if base.IsInf() {
			return Decimal{}, nil
		}
		return DecimalInf, nil
	}
	w := logWeight(d) - logWeight(base)
	scale := clampScale(max(minSigDigits-w, int(base.scale), int(d.scale)))
	prec := scale + max(w, 0) + 10
	a, err := lnAPD(d, prec)
	if err != nil {
		return d, err
	}
	b, err := lnAPD(base, prec)
	if err != nil {
		return d, err
	}
	if b.IsZero() {
		return d, divisionByZero()
	}
	var r apd.Decimal
	if _, err := apdContext(prec).Quo(&r, a, b); err != nil {
		return d, sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: %w", err)
	}
	return fromAPD(&r, scale)
}

// NumericPower returns base^exp.
func NumericPower(base, exp Decimal) (Decimal, error) {
	if base.Sign() < 0 && exp.Finite() && exp.Cmp(exp.Trunc(0)) != 0 {
		return base, sqlerr.New(invalidPowerArgument,
			"a negative number raised to a non-integer power yields a complex result")
	}
	if base.Sign() == 0 && exp.Sign() < 0 {
		return base, sqlerr.New(invalidPowerArgument, "zero raised to a negative power is undefined")
	}
	if !base.Finite() || !exp.Finite() {
		return DecimalFromFloat(math.Pow(base.Float64(), exp.Float64()), 15), nil
	}
	whole := exp.Cmp(exp.Trunc(0)) == 0
	if base.Sign() == 0 {
		if exp.Sign() == 0 {
			return DecimalFromInt(1).Round(minSigDigits), nil
		}
		return Decimal{scale: minSigDigits}, nil
	}
	v := math.Log10(math.Abs(base.Float64())) * exp.Float64()
	if v > maxDecimalDigits {
		return base, sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
	}
	scale := clampScale(max(minSigDigits, int(base.scale)))
	if n, ok := exp.Int64(); !whole || !ok || n > math.MaxInt32 || n < math.MinInt32 {
		scale = clampScale(max(minSigDigits-int(v), int(base.scale), int(exp.scale)))
	}
	if v < -2000 {
		return Decimal{scale: int32(scale)}, nil
	}
	var r apd.Decimal
	if _, err := apdContext(scale+int(math.Abs(v))+10).Pow(&r, toAPD(base), toAPD(exp)); err != nil {
		return base, sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
	}
	return fromAPD(&r, scale)
}

// NumericGCD returns the greatest common divisor, at the larger of both scales.
func NumericGCD(a, b Decimal) (Decimal, error) {
	if !a.Finite() || !b.Finite() {
		return DecimalNaN, nil
	}
	scale := max(a.Scale(), b.Scale())
	for b.Sign() != 0 {
		rest, err := NumericMod(a, b)
		if err != nil {
			return a, err
		}
		a, b = b, rest
	}
	return a.Abs().Round(scale), nil
}

// NumericLCM returns the least common multiple, at the larger of both scales.
func NumericLCM(a, b Decimal) (Decimal, error) {
	if !a.Finite() || !b.Finite() {
		return DecimalNaN, nil
	}
	scale := max(a.Scale(), b.Scale())
	if a.Sign() == 0 || b.Sign() == 0 {
		return DecimalFromInt(0).Round(scale), nil
	}
	g, err := NumericGCD(a, b)
	if err != nil {
		return a, err
	}
	q, err := NumericQuo(a, g)
	if err != nil {
		return a, err
	}
	r, err := NumericMul(q, b)
	return r.Abs().Round(scale), err
}
