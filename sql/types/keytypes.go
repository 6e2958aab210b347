package types

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
)

// Keys of types whose equality is not that of their bytes. All but jsonb order
// as Compare does.
//
//	numeric   0x10 -Infinity, 0x20 negative, 0x30 zero, 0x40 positive, 0x50 Infinity, 0x60 NaN; numbers
//	          go on with the decimal exponent (4 bytes, biased) and the digits as 1..10, closed by 0;
//	          both inverted for negative numbers. 1.0 and 1.00 have one key; reading it back gives
//	          the fewest digits, or the scale of the column's numeric(p,s).
//	interval  the 128-bit count of microseconds with months of 30 days, sign bit flipped, so
//	          that '1 month' and '30 days' have one key; reading it back gives days and time.
//	bpchar    as text, without trailing spaces; reading it back pads to the column's char(n).
//	jsonb     as text; numbers without trailing zeros after the point. Equality only.
//	record    the types of the fields, 4 bytes each and 0, then their keys; reading it
//	          back leaves the fields without names.
//	arrays    the keys of the elements, 0x00, then the dimensions.
func appendTypedKey(dst []byte, t Type, b []byte) []byte {
	switch t.OID {
	case Numeric:
		return appendNumericKey(dst, DecodeDecimal(b))
	case Interval:
		hi, lo := DecodeSpan(b).linear()
		dst = binary.BigEndian.AppendUint64(dst, uint64(hi)^1<<63)
		return binary.BigEndian.AppendUint64(dst, lo)
	case Bpchar:
		return appendKeyBytes(dst, bytes.TrimRight(b, " "))
	case JSONB:
		if bytes.IndexByte(b, '.') >= 0 {
			if v, err := ParseJSON(b); err == nil {
				trimNumbers(v)
				b = v.Append(nil)
			}
		}
		return appendKeyBytes(dst, b)
	case Record:
		return appendRecordKey(dst, b)
	}
	if t.OID.IsArray() {
		return appendArrayKey(dst, Datum{Type: t, Bytes: b})
	}
	return appendKeyBytes(dst, b)
}

func trimNumbers(v *JSONValue) {
	if v.Kind == JSONNumber {
		if d, err := ParseDecimal([]byte(v.Text)); err == nil {
			v.Text = d.Trim().String()
		}
	}
	for _, it := range v.Items {
		trimNumbers(it)
	}
}

const numericKeyBias = 1 << 30

func appendNumericKey(dst []byte, d Decimal) []byte {
	switch {
	case d.form == formNegInf:
		return append(dst, 0x10)
	case d.form == formPosInf:
		return append(dst, 0x50)
	case d.form == formNaN:
		return append(dst, 0x60)
	case d.Sign() == 0:
		return append(dst, 0x30)
	}
	flip, tag := byte(0), byte(0x40)
	if d.neg {
		flip, tag = 0xFF, 0x20
	}
	var tmp [24]byte
	digits := d.Abs().coefficient().Append(tmp[:0], 10)
	exp := len(digits) - int(d.scale)
	digits = bytes.TrimRight(digits, "0")
	dst = append(dst, tag)
	at := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(exp+numericKeyBias))
	for _, c := range digits {
		dst = append(dst, c-'0'+1)
	}
	dst = append(dst, 0)
	for i := at; flip != 0 && i < len(dst); i++ {
		dst[i] ^= flip
	}
	return dst
}

func readNumericKey(key []byte, t Type) (Decimal, []byte, error) {
	fail := fmt.Errorf("key ends inside a value of type %d", t.OID)
	if len(key) == 0 {
		return Decimal{}, nil, fail
	}
	tag, key := key[0], key[1:]
	switch tag {
	case 0x10:
		return DecimalNegInf, key, nil
	case 0x30:
		return scaleToType(Decimal{}, t), key, nil
	case 0x50:
		return DecimalInf, key, nil
	case 0x60:
		return DecimalNaN, key, nil
	case 0x20, 0x40:
	default:
		return Decimal{}, nil, fmt.Errorf("numeric key has tag %#x", tag)
	}
	flip := byte(0)
	if tag == 0x20 {
		flip = 0xFF
	}
	end := bytes.IndexByte(key[min(4, len(key)):], flip)
	if len(key) < 5 || end < 0 {
		return Decimal{}, nil, fail
	}
	exp := int(binary.BigEndian.Uint32(key))
	if flip != 0 {
		exp = int(^uint32(exp))
	}
	digits := make([]byte, end)
	for i, c := range key[4 : 4+end] {
		if c^flip > 10 {
			return Decimal{}, nil, fmt.Errorf("numeric key has digit %d", c^flip)
		}
		digits[i] = (c ^ flip) + '0' - 1
	}
	d, err := scaledDecimal(digits, len(digits)-(exp-numericKeyBias), flip != 0)
	return scaleToType(d, t), key[4+end+1:], err
}

func scaleToType(d Decimal, t Type) Decimal {
	if t.Modifier() >= 0 {
		if _, s := t.NumericLimits(); s > int(d.scale) {
			return d.Round(s)
		}
	}
	return d
}

func readIntervalKey(key []byte) (Span, []byte, error) {
	if len(key) < 16 {
		return Span{}, nil, fmt.Errorf("key ends inside an interval")
	}
	hi := int64(binary.BigEndian.Uint64(key) ^ 1<<63)
	x := new(big.Int).Lsh(big.NewInt(hi), 64)
	x.Add(x, new(big.Int).SetUint64(binary.BigEndian.Uint64(key[8:])))
	q, r := new(big.Int).QuoRem(x, big.NewInt(usecDay), new(big.Int))
	months := int64(0)
	days := q.Int64()
	if days != int64(int32(days)) {
		months, days = days/30, days%30
	}
	return Span{r.Int64(), int32(days), int32(months)}, key[16:], nil
}

func appendArrayKey(dst []byte, d Datum) []byte {
	a, _ := ArrayDatum(d)
	for _, it := range a.Items {
		dst = AppendDatumKey(dst, it)
	}
	dst = append(dst, 0, byte(len(a.Dims)))
	for _, n := range a.Dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	}
	for _, l := range a.Lower {
		dst = binary.BigEndian.AppendUint32(dst, uint32(int32(l))^1<<31)
	}
	return dst
}

func readArrayKey(key []byte, v *Vector) ([]byte, error) {
	a := Array{Elem: v.Type.ElemType()}
	fail := fmt.Errorf("key ends inside an array")
	elems := NewVector(a.Elem, 8)
	for len(key) > 0 && key[0] != 0 {
		var err error
		if key, err = ReadKey(key, elems); err != nil {
			return nil, err
		}
	}
	if len(key) < 2 || int(key[1]) > MaxArrayDims || len(key) < 2+8*int(key[1]) {
		return nil, fail
	}
	ndim := int(key[1])
	key = key[2:]
	total := min(ndim, 1)
	for i := range ndim {
		a.Dims = append(a.Dims, int(binary.BigEndian.Uint32(key[4*i:])))
		a.Lower = append(a.Lower, int(int32(binary.BigEndian.Uint32(key[4*(ndim+i):])^1<<31)))
		if total *= a.Dims[i]; total > maxArrayElements {
			return nil, fail
		}
	}
	if total != elems.Len() {
		return nil, fmt.Errorf("array key has %d elements for %d", elems.Len(), total)
	}
	for i := range elems.Len() {
		a.Items = append(a.Items, elems.Datum(i))
	}
	v.AppendBytes(a.Append(nil))
	return key[8*ndim:], nil
}

func readTypedKey(key []byte, v *Vector) ([]byte, error) {
	switch v.Type.OID {
	case Numeric:
		d, rest, err := readNumericKey(key, v.Type)
		if err != nil {
			return nil, err
		}
		v.AppendBytes(d.Append(nil))
		return rest, nil
	case Interval:
		s, rest, err := readIntervalKey(key)
		if err != nil {
			return nil, err
		}
		v.AppendBytes(s.Append(nil))
		return rest, nil
	case Bpchar:
		return readBpcharKey(key, v)
	case Record:
		return readRecordKey(key, v)
	}
	if v.Type.OID.IsArray() {
		return readArrayKey(key, v)
	}
	return readKeyBytes(key, v)
}

func readBpcharKey(key []byte, v *Vector) ([]byte, error) {
	tmp := NewVector(Of(Text), 1)
	rest, err := readKeyBytes(key, tmp)
	if err != nil {
		return nil, err
	}
	b, err := fitText(tmp.Bytes(0), v.Type, true)
	v.AppendBytes(b)
	return rest, err
}
