package types

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// A numeric is stored in KindBytes as
//
//	tag      1 byte: 0 -Infinity, 1 negative, 2 zero or positive, 3 Infinity, 4 NaN
//	scale    uvarint, digits shown after the point (finite values only)
//	coef     |value| * 10^scale, big-endian without leading zeros
//
// The scale is part of the value, so 1.0 and 1.00 are different bytes. They are
// equal to Compare, and their keys (see key.go) are equal.
const (
	decNegInf byte = iota
	decNegative
	decPositive
	decPosInf
	decNaN
)

// Limits of numeric in PostgreSQL.
const (
	maxDecimalDigits = 131072
	maxDecimalScale  = 16383
	maxResultScale   = 1000
	minSigDigits     = 16
)

// Decimal is a numeric in a form that can be computed with. The zero Decimal is 0.
// Values whose coefficient fits 64 bits need no allocation.
type Decimal struct {
	form  byte // decFinite or one of the special tags + 1
	neg   bool
	scale int32
	small uint64
	big   *big.Int // the coefficient when it does not fit small; never written
}

const (
	formFinite byte = iota
	formNegInf
	formPosInf
	formNaN
)

// Special values.
var (
	DecimalNaN    = Decimal{form: formNaN}
	DecimalInf    = Decimal{form: formPosInf}
	DecimalNegInf = Decimal{form: formNegInf}
)

var pow10u = func() (p [20]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

func bigPow10(n int) *big.Int {
	if n < len(pow10u) {
		return new(big.Int).SetUint64(pow10u[n])
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// DecodeDecimal reads the stored form.
func DecodeDecimal(b []byte) Decimal {
	if len(b) == 0 {
		return Decimal{}
	}
	switch b[0] {
	case decNegInf:
		return DecimalNegInf
	case decPosInf:
		return DecimalInf
	case decNaN:
		return DecimalNaN
	}
	s, n := binary.Uvarint(b[1:])
	if n <= 0 || s > maxDecimalScale {
		return DecimalNaN
	}
	d := Decimal{neg: b[0] == decNegative, scale: int32(s)}
	coef := b[1+n:]
	if len(coef) <= 8 {
		for _, c := range coef {
			d.small = d.small<<8 | uint64(c)
		}
		return d
	}
	d.big = new(big.Int).SetBytes(coef)
	return d
}

// Append appends the stored form.
func (d Decimal) Append(dst []byte) []byte {
	switch d.form {
	case formNegInf:
		return append(dst, decNegInf)
	case formPosInf:
		return append(dst, decPosInf)
	case formNaN:
		return append(dst, decNaN)
	}
	tag := decPositive
	if d.neg {
		tag = decNegative
	}
	dst = binary.AppendUvarint(append(dst, tag), uint64(d.scale))
	if d.big != nil {
		return append(dst, d.big.Bytes()...)
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], d.small)
	return append(dst, b[bits.LeadingZeros64(d.small)/8:]...)
}

// Datum returns d as a numeric.
func (d Decimal) Datum() Datum { return Datum{Type: Of(Numeric), Bytes: d.Append(nil)} }

// DecimalFromInt converts an integer.
func DecimalFromInt(x int64) Decimal {
	if x < 0 {
		return Decimal{neg: true, small: uint64(-x)}
	}
	return Decimal{small: uint64(x)}
}

// NumericFromInt128 converts a signed 128-bit integer hi*2^64 + lo, the
// accumulator of sum(int8).
func NumericFromInt128(hi int64, lo uint64) Decimal {
	neg := hi < 0
	h := uint64(hi)
	if neg {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		h, _ = bits.Sub64(0, h, borrow)
	}
	if h == 0 {
		return Decimal{neg: neg, small: lo}
	}
	x := new(big.Int).SetUint64(h)
	x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(lo))
	return Decimal{neg: neg, big: x}
}

// coefficient returns the coefficient, to be read only.
func (d Decimal) coefficient() *big.Int {
	if d.big != nil {
		return d.big
	}
	return new(big.Int).SetUint64(d.small)
}

// signed returns the coefficient with its sign.
func (d Decimal) signed() *big.Int {
	x := d.coefficient()
	if d.neg {
		return new(big.Int).Neg(x)
	}
	return x
}

// fromSigned normalises x * 10^-scale.
func fromSigned(x *big.Int, scale int) Decimal {
	d := Decimal{neg: x.Sign() < 0, scale: int32(scale)}
	if d.neg {
		x = new(big.Int).Neg(x)
	}
	if x.IsUint64() {
		d.small = x.Uint64()
	} else {
		d.big = x
	}
	return d
}

func checkDecimal(d Decimal) (Decimal, error) {
	if d.big != nil && d.big.BitLen() > 60000 && d.digits()-int(d.scale) > maxDecimalDigits {
		return d, sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
	}
	if d.scale > maxDecimalScale {
		return d.Round(maxDecimalScale), nil
	}
	return d, nil
}

// IsNaN reports whether d is NaN.
func (d Decimal) IsNaN() bool { return d.form == formNaN }

// IsInf reports whether d is an infinity.
func (d Decimal) IsInf() bool { return d.form == formNegInf || d.form == formPosInf }

// Finite reports whether d is a number.
func (d Decimal) Finite() bool { return d.form == formFinite }

// Scale returns the digits shown after the point.
func (d Decimal) Scale() int { return int(d.scale) }

// Sign returns -1, 0 or 1; 1 for NaN.
func (d Decimal) Sign() int {
	switch {
	case d.form == formNegInf:
		return -1
	case d.form != formFinite:
		return 1
	case d.big == nil && d.small == 0:
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// digits returns the number of decimal digits of the coefficient, 0 for zero.
func (d Decimal) digits() int {
	if d.big != nil {
		n := int(float64(d.big.BitLen()-1)*0.30102999566398) + 1
		if d.big.CmpAbs(bigPow10(n)) >= 0 {
			n++
		}
		return n
	}
	n := 0
	for n < 20 && (n == 19 && d.small >= pow10u[19] || n < 19 && d.small >= pow10u[n]) {
		n++
	}
	return n
}

// weight returns PostgreSQL's base-10000 weight and first digit.
func (d Decimal) weight() (w, first int) {
	n := d.digits()
	if n == 0 {
		return 0, 0
	}
	e := n - 1 - int(d.scale)
	w = floorDiv(e, 4)
	take := e - 4*w + 1
	x := d.coefficient()
	if n > take {
		x = new(big.Int).Quo(x, bigPow10(n-take))
	} else if n < take {
		x = new(big.Int).Mul(x, bigPow10(take-n))
	}
	return w, int(x.Int64())
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// rank orders the forms: -Infinity, numbers, Infinity, NaN.
func (d Decimal) rank() int {
	return [...]int{formFinite: 1, formNegInf: 0, formPosInf: 2, formNaN: 3}[d.form]
}

// Cmp orders decimals as PostgreSQL does; NaN equals itself and is the greatest.
func (d Decimal) Cmp(o Decimal) int {
	if r := d.rank() - o.rank(); r != 0 || d.form != formFinite {
		return r
	}
	if d.scale == o.scale && d.big == nil && o.big == nil && d.neg == o.neg {
		c := 0
		if d.small != o.small {
			c = 1
			if d.small < o.small {
				c = -1
			}
		}
		if d.neg {
			return -c
		}
		return c
	}
	if s, t := d.Sign(), o.Sign(); s != t {
		return s - t
	}
	a, b := align(d, o)
	return a.Cmp(b)
}

// align returns both signed coefficients at the larger scale.
func align(d, o Decimal) (a, b *big.Int) {
	a, b = d.signed(), o.signed()
	if d.scale < o.scale {
		a = new(big.Int).Mul(a, bigPow10(int(o.scale-d.scale)))
	} else if d.scale > o.scale {
		b = new(big.Int).Mul(b, bigPow10(int(d.scale-o.scale)))
	}
	return a, b
}

// Int64 rounds to an integer; ok is false if it does not fit.
func (d Decimal) Int64() (x int64, ok bool) {
	if d.form != formFinite {
		return 0, false
	}
	s := d.Round(0).signed()
	return s.Int64(), s.IsInt64()
}

// Float64 returns the nearest float8; overflow gives an infinity.
func (d Decimal) Float64() float64 {
	switch d.form {
	case formNaN:
		return math.NaN()
	case formNegInf:
		return math.Inf(-1)
	case formPosInf:
		return math.Inf(1)
	}
	if d.big == nil && d.small < 1<<53 && d.scale <= 22 {
		f := float64(d.small) / pow10f[d.scale]
		if d.neg {
			return -f
		}
		return f
	}
	f, _ := strconv.ParseFloat(string(d.AppendText(nil)), 64) // infinite where it is too large
	return f
}
