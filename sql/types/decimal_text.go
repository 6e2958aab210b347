package types

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// ParseDecimal reads PostgreSQL's text form of numeric.
func ParseDecimal(text []byte) (Decimal, error) {
	s := trimSpace(text)
	neg := false
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		neg, s = s[0] == '-', s[1:]
	}
	if len(s) > 0 && (s[0] < '0' || s[0] > '9') && s[0] != '.' {
		return specialDecimal(text, s, neg)
	}
	digits := make([]byte, 0, 40)
	scale, seen, point := 0, false, false
	i := 0
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen = true
		digits = append(digits, c)
		if point {
			scale++
		}
	}
	if !seen {
		return Decimal{}, badInput("numeric", text)
	}
	exp := 0
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		x, err := strconv.Atoi(string(s[i+1:]))
		if err != nil || i+1 < len(s) && s[i+1] == '_' {
			return Decimal{}, badInput("numeric", text)
		}
		if x > math.MaxInt32/2 || x < -math.MaxInt32/2 {
			return Decimal{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
		}
		exp, i = x, len(s)
	}
	if i != len(s) {
		return Decimal{}, badInput("numeric", text)
	}
	return scaledDecimal(digits, scale-exp, neg)
}

func specialDecimal(text, s []byte, neg bool) (Decimal, error) {
	switch string(bytes.ToLower(s)) {
	case "nan":
		if len(trimSpace(text)) == 3 {
			return DecimalNaN, nil
		}
	case "inf", "infinity":
		if neg {
			return DecimalNegInf, nil
		}
		return DecimalInf, nil
	}
	return Decimal{}, badInput("numeric", text)
}

// scaledDecimal is digits * 10^-scale.
func scaledDecimal(digits []byte, scale int, neg bool) (Decimal, error) {
	digits = bytes.TrimLeft(digits, "0")
	if len(digits) == 0 {
		return Decimal{scale: int32(min(max(scale, 0), maxDecimalScale))}, nil
	}
	if len(digits)-scale > maxDecimalDigits {
		return Decimal{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
	}
	var d Decimal
	if len(digits) <= 19 {
		d.small, _ = strconv.ParseUint(string(digits), 10, 64)
	} else {
		x, _ := new(big.Int).SetString(string(digits), 10)
		d = fromSigned(x, 0)
	}
	switch {
	case scale < 0:
		d = d.Round(-scale)
		d.scale = 0
	case scale > maxDecimalScale:
		d.scale = int32(maxDecimalScale)
		cut := scale - maxDecimalScale
		if cut > len(digits)+1 {
			return Decimal{scale: maxDecimalScale}, nil
		}
		x := roundedQuo(d.coefficient(), bigPow10(cut))
		d = fromSigned(x, maxDecimalScale)
	default:
		d.scale = int32(scale)
	}
	d.neg = neg && d.Sign() != 0
	return d, nil
}

// AppendText appends PostgreSQL's text form.
func (d Decimal) AppendText(dst []byte) []byte {
	switch d.form {
	case formNaN:
		return append(dst, "NaN"...)
	case formNegInf:
		return append(dst, "-Infinity"...)
	case formPosInf:
		return append(dst, "Infinity"...)
	}
	if d.neg {
		dst = append(dst, '-')
	}
	start := len(dst)
	if d.big != nil {
		dst = d.big.Append(dst, 10)
	} else {
		dst = strconv.AppendUint(dst, d.small, 10)
	}
	if d.scale == 0 {
		return dst
	}
	n, s := len(dst)-start, int(d.scale)
	if pad := s + 1 - n; pad > 0 {
		dst = append(dst, bytes.Repeat([]byte{'0'}, pad)...)
		copy(dst[start+pad:], dst[start:start+n])
		for i := range pad {
			dst[start+i] = '0'
		}
		n += pad
	}
	dst = append(dst, 0)
	copy(dst[start+n-s+1:], dst[start+n-s:start+n])
	dst[start+n-s] = '.'
	return dst
}

// String returns PostgreSQL's text form.
func (d Decimal) String() string { return string(d.AppendText(nil)) }

// DecimalFromFloat converts as PostgreSQL's cast does: with 15 significant
// digits for float8, 6 for float4.
func DecimalFromFloat(f float64, digits int) Decimal {
	switch {
	case math.IsNaN(f):
		return DecimalNaN
	case math.IsInf(f, 1):
		return DecimalInf
	case math.IsInf(f, -1):
		return DecimalNegInf
	}
	d, err := ParseDecimal(strconv.AppendFloat(nil, f, 'e', digits-1, 64))
	if err != nil {
		return DecimalNaN
	}
	return d.Trim()
}

// Scientific returns the number with one digit before the point, frac behind it, and
// an exponent of two digits or more.
func (d Decimal) Scientific(frac int) string {
	exponent := 0
	if d.Sign() != 0 {
		exponent = d.digits() - 1 - d.Scale()
	}
	r := d.Round(frac - exponent)
	if e := r.digits() - 1 - r.Scale(); d.Sign() != 0 && e > exponent { // 9.99 became 10
		exponent = e
		r = d.Round(frac - exponent)
	}
	digits := r.Abs().coefficient().String()
	for len(digits) <= frac {
		digits += "0"
	}
	s := digits[:1]
	if frac > 0 {
		s += "." + digits[1:1+frac]
	}
	if r.Sign() < 0 {
		s = "-" + s
	}
	return s + fmt.Sprintf("e%+03d", exponent)
}
