package types

import (
	"bytes"
	"math"
)

// Compare orders two values of one type as PostgreSQL's btree does: NULLs last,
// NaN above every number, text by bytes (the C collation).
func Compare(a, b Datum) int {
	if a.Null || b.Null {
		switch {
		case a.Null && b.Null:
			return 0
		case a.Null:
			return 1
		}
		return -1
	}
	switch a.Type.Kind() {
	case KindInt:
		switch {
		case a.Int < b.Int:
			return -1
		case a.Int > b.Int:
			return 1
		}
		return 0
	case KindFloat:
		return CompareFloat(a.Float, b.Float)
	}
	return CompareBytes(a.Type, a.Bytes, b.Bytes)
}

// CompareFloat orders floats with NaN equal to itself and above infinity.
func CompareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return 1
	}
	return -1
}

// CompareBytes orders two values of a KindBytes type.
func CompareBytes(t Type, a, b []byte) int {
	switch t.OID {
	case Numeric:
		return compareDecimals(a, b)
	case Interval:
		return DecodeSpan(a).Cmp(DecodeSpan(b))
	case Bpchar:
		return bytes.Compare(bytes.TrimRight(a, " "), bytes.TrimRight(b, " "))
	case JSONB:
		x, err1 := ParseJSON(a)
		y, err2 := ParseJSON(b)
		if err1 != nil || err2 != nil {
			return bytes.Compare(a, b)
		}
		return CompareJSON(x, y)
	case Record:
		return compareRecords(a, b)
	}
	if t.OID.IsArray() {
		return compareArrays(Datum{Type: t, Bytes: a}, Datum{Type: t, Bytes: b})
	}
	return bytes.Compare(a, b)
}

// compareDecimals orders stored decimals. Those of one sign and one scale below 128
// differ in their coefficients alone, which have no leading zeros.
func compareDecimals(a, b []byte) int {
	if len(a) < 2 || len(b) < 2 || a[0] != b[0] || a[1] != b[1] || a[1] >= 0x80 {
		return DecodeDecimal(a).Cmp(DecodeDecimal(b))
	}
	o := len(a) - len(b)
	if o == 0 {
		o = bytes.Compare(a[2:], b[2:])
	}
	if a[0] == decNegative {
		return -o
	}
	return o
}

// CompareRows orders row i of a against row j of b, columns of one type.
func CompareRows(a *Vector, i int, b *Vector, j int) int { return Compare(a.Datum(i), b.Datum(j)) }
