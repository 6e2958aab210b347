package types

import (
	"math/big"
	"math/bits"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Neg returns -d.
func (d Decimal) Neg() Decimal {
	switch d.form {
	case formNegInf:
		return DecimalInf
	case formPosInf:
		return DecimalNegInf
	case formNaN:
		return d
	}
	d.neg = !d.neg && d.Sign() != 0
	return d
}

// Abs returns |d|.
func (d Decimal) Abs() Decimal {
	if d.form == formNegInf {
		return DecimalInf
	}
	d.neg = false
	return d
}

// NumericAdd returns a + b.
func NumericAdd(a, b Decimal) (Decimal, error) {
	if a.form != formFinite || b.form != formFinite {
		switch {
		case a.IsNaN() || b.IsNaN(), a.IsInf() && b.IsInf() && a.form != b.form:
			return DecimalNaN, nil
		case a.IsInf():
			return a, nil
		}
		return b, nil
	}
	if a.big == nil && b.big == nil && a.scale == b.scale && a.neg == b.neg {
		if sum, carry := bits.Add64(a.small, b.small, 0); carry == 0 {
			a.small = sum
			return a, nil
		}
	}
	x, y := align(a, b)
	return checkDecimal(fromSigned(new(big.Int).Add(x, y), int(max(a.scale, b.scale))))
}

// NumericSub returns a - b.
func NumericSub(a, b Decimal) (Decimal, error) { return NumericAdd(a, b.Neg()) }

// NumericMul returns a * b.
func NumericMul(a, b Decimal) (Decimal, error) {
	if a.form != formFinite || b.form != formFinite {
		s := a.Sign() * b.Sign()
		switch {
		case a.IsNaN() || b.IsNaN() || s == 0:
			return DecimalNaN, nil
		case s < 0:
			return DecimalNegInf, nil
		}
		return DecimalInf, nil
	}
	scale := int(a.scale + b.scale)
	if a.big == nil && b.big == nil {
		if hi, lo := bits.Mul64(a.small, b.small); hi == 0 {
			return checkDecimal(Decimal{neg: a.neg != b.neg && lo != 0, scale: int32(scale), small: lo})
		}
	}
	return checkDecimal(fromSigned(new(big.Int).Mul(a.signed(), b.signed()), scale))
}

func divisionByZero() error { return sqlerr.New(sqlerr.DivisionByZero, "division by zero") }

// NumericDiv returns a / b with the scale that PostgreSQL chooses: at least 16
// significant digits and no fewer than the operands show.
func NumericDiv(a, b Decimal) (Decimal, error) {
	if a.form != formFinite || b.form != formFinite {
		switch {
		case a.IsNaN() || b.IsNaN(), a.IsInf() && b.IsInf():
			return DecimalNaN, nil
		case b.IsInf():
			return Decimal{}, nil
		case b.Sign() == 0:
			return Decimal{}, divisionByZero()
		case a.Sign()*b.Sign() < 0:
			return DecimalNegInf, nil
		}
		return DecimalInf, nil
	}
	if b.Sign() == 0 {
		return Decimal{}, divisionByZero()
	}
	return checkDecimal(divScale(a, b, divResultScale(a, b)))
}

func divResultScale(a, b Decimal) int {
	w1, f1 := a.weight()
	w2, f2 := b.weight()
	q := w1 - w2
	if f1 <= f2 {
		q--
	}
	return clampScale(max(minSigDigits-4*q, int(a.scale), int(b.scale)))
}

func clampScale(s int) int { return min(max(s, 0), maxResultScale) }

// divScale divides and rounds half away from zero at scale.
func divScale(a, b Decimal, scale int) Decimal {
	num, den := a.coefficient(), b.coefficient()
	if shift := scale + int(b.scale) - int(a.scale); shift >= 0 {
		num = new(big.Int).Mul(num, bigPow10(shift))
	} else {
		den = new(big.Int).Mul(den, bigPow10(-shift))
	}
	q := roundedQuo(num, den)
	if a.neg != b.neg {
		q.Neg(q)
	}
	return fromSigned(q, scale)
}

// roundedQuo divides non-negative numbers, half up.
func roundedQuo(num, den *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(num, den, new(big.Int))
	if r.Lsh(r, 1).Cmp(den) >= 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// NumericQuo returns the integer part of a / b, PostgreSQL's div().
func NumericQuo(a, b Decimal) (Decimal, error) {
	if a.form != formFinite || b.form != formFinite {
		return NumericDiv(a, b)
	}
	if b.Sign() == 0 {
		return Decimal{}, divisionByZero()
	}
	x, y := align(a, b)
	return fromSigned(new(big.Int).Quo(x, y), 0), nil
}

// NumericMod returns the remainder, with the sign of a.
func NumericMod(a, b Decimal) (Decimal, error) {
	if a.form != formFinite || b.form != formFinite {
		switch {
		case a.IsNaN() || b.IsNaN():
			return DecimalNaN, nil
		case a.IsInf():
			if b.Sign() == 0 {
				return Decimal{}, divisionByZero()
			}
			return DecimalNaN, nil
		}
		return a, nil
	}
	if b.Sign() == 0 {
		return Decimal{}, divisionByZero()
	}
	x, y := align(a, b)
	return fromSigned(new(big.Int).Rem(x, y), int(max(a.scale, b.scale))), nil
}

// NumericAvg returns sum / n as avg() does.
func NumericAvg(sum Decimal, n int64) (Decimal, error) { return NumericDiv(sum, DecimalFromInt(n)) }

// Round rounds half away from zero to scale digits after the point; a negative
// scale rounds before it. The result shows max(scale, 0) digits.
func (d Decimal) Round(scale int) Decimal { return d.rescale(scale, true) }

// Trunc cuts to scale digits after the point.
func (d Decimal) Trunc(scale int) Decimal { return d.rescale(scale, false) }

func (d Decimal) rescale(scale int, round bool) Decimal {
	if d.form != formFinite || int(d.scale) == scale {
		return d
	}
	if diff := scale - int(d.scale); diff > 0 {
		if d.big == nil && diff < len(pow10u) {
			if hi, lo := bits.Mul64(d.small, pow10u[diff]); hi == 0 {
				d.small, d.scale = lo, int32(scale)
				return d
			}
		}
		return fromSigned(new(big.Int).Mul(d.signed(), bigPow10(diff)), scale)
	}
	cut := int(d.scale) - scale
	if cut > d.digits()+1 {
		return Decimal{scale: int32(max(scale, 0))}
	}
	var q *big.Int
	if p := bigPow10(cut); round {
		q = roundedQuo(d.coefficient(), p)
	} else {
		q = new(big.Int).Quo(d.coefficient(), p)
	}
	if scale < 0 {
		q.Mul(q, bigPow10(-scale))
	}
	if d.neg {
		q.Neg(q)
	}
	return fromSigned(q, max(scale, 0))
}

// Ceil returns the smallest integer not below d.
func (d Decimal) Ceil() Decimal { return d.toward(1) }

// Floor returns the largest integer not above d.
func (d Decimal) Floor() Decimal { return d.toward(-1) }

func (d Decimal) toward(sign int) Decimal {
	if d.form != formFinite {
		return d
	}
	t := d.Trunc(0)
	if t.Cmp(d) != 0 && d.Sign() == sign {
		t, _ = NumericAdd(t, DecimalFromInt(int64(sign)))
	}
	return t
}

// Trim drops trailing zeros after the point.
func (d Decimal) Trim() Decimal {
	if d.form != formFinite {
		return d
	}
	return d.Round(d.MinScale())
}

// MinScale returns the digits after the point that are needed to show d.
func (d Decimal) MinScale() int {
	if d.form != formFinite || d.Sign() == 0 {
		return 0
	}
	if d.big == nil {
		s, c := int(d.scale), d.small
		for s > 0 && c%10 == 0 {
			s, c = s-1, c/10
		}
		return s
	}
	s, c, ten, r := int(d.scale), new(big.Int).Set(d.big), big.NewInt(10), new(big.Int)
	for q := new(big.Int); s > 0; s-- {
		q.QuoRem(c, ten, r)
		if r.Sign() != 0 {
			break
		}
		c.Set(q)
	}
	return s
}

// Fit applies the modifier of a numeric type: rounds to its scale, and fails
// where the integer part has too many digits.
func (d Decimal) Fit(t Type) (Decimal, error) {
	if t.Modifier() < 0 || d.IsNaN() {
		return d, nil
	}
	p, s := t.NumericLimits()
	if d.IsInf() {
		return d, sqlerr.New(sqlerr.NumericValueOutOfRange, "numeric field overflow").
			WithDetail("A field with precision %d, scale %d cannot hold an infinite value.", p, s)
	}
	r := d.Round(s)
	if r.digits()-int(r.scale) > p-s {
		one := "10^"
		if p == s {
			return d, sqlerr.New(sqlerr.NumericValueOutOfRange, "numeric field overflow").
				WithDetail("A field with precision %d, scale %d must round to an absolute value less than 1.", p, s)
		}
		return d, sqlerr.New(sqlerr.NumericValueOutOfRange, "numeric field overflow").
			WithDetail("A field with precision %d, scale %d must round to an absolute value less than %s%d.", p, s, one, p-s)
	}
	return r, nil
}
