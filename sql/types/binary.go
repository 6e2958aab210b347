package types

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// AppendBinary appends the binary wire form of row i, which is not NULL.
func AppendBinary(dst []byte, v *Vector, i int, opts *TextOptions) []byte {
	switch v.Type.OID { // the commonest, without a Datum
	case Int8, Time, Timestamp, Timestamptz:
		return binary.BigEndian.AppendUint64(dst, uint64(v.Ints[i]))
	case Text, Varchar:
		return append(dst, v.Bytes(i)...)
	case Float8:
		if x := v.Floats[i]; !math.IsNaN(x) { // NaN has one wire form of many
			return binary.BigEndian.AppendUint64(dst, math.Float64bits(x))
		}
	}
	return AppendDatumBinary(dst, v.Datum(i), opts)
}

// binarySize is the wire size of the fixed-length KindInt types.
func binarySize(o OID) int {
	switch o {
	case Bool, Char:
		return 1
	case Int2:
		return 2
	case Int8, Time, Timestamp, Timestamptz:
		return 8
	case TimeTZ:
		return 12
	}
	return 4
}

// AppendDatumBinary appends the binary wire form of d, which is not NULL: that of an
// enum is its label.
func AppendDatumBinary(dst []byte, d Datum, opts *TextOptions) []byte {
	switch d.Type.Kind() {
	case KindInt:
		if d.Type.OID.IsEnum() {
			return appendEnum(dst, d, opts)
		}
		x := d.Int
		if d.Type.OID == Date && Infinite(x) {
			x = int64(int32(math.MaxInt32))
			if d.Int < 0 {
				x = math.MinInt32
			}
		}
		switch binarySize(d.Type.OID) {
		case 1:
			return append(dst, byte(x))
		case 2:
			return binary.BigEndian.AppendUint16(dst, uint16(x))
		case 4:
			return binary.BigEndian.AppendUint32(dst, uint32(x))
		case 12:
			within, east := SplitTimetz(x)
			return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(dst, uint64(within)), uint32(-east))
		}
		return binary.BigEndian.AppendUint64(dst, uint64(x))
	case KindFloat:
		if d.Type.OID == Float4 {
			return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(d.Float)))
		}
		if math.IsNaN(d.Float) {
			return binary.BigEndian.AppendUint64(dst, 0x7ff8<<48)
		}
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(d.Float))
	}
	switch d.Type.OID {
	case Numeric:
		return appendNumericBinary(dst, DecodeDecimal(d.Bytes))
	case JSONB:
		return append(append(dst, 1), d.Bytes...)
	case Bit, Varbit:
		return appendBitsBinary(dst, d.Bytes)
	case Record:
		return appendRecordBinary(dst, d, opts)
	}
	if d.Type.OID.IsArray() {
		return appendArrayBinary(dst, d, opts)
	}
	return append(dst, d.Bytes...)
}

func appendArrayBinary(dst []byte, d Datum, opts *TextOptions) []byte {
	a, _ := ArrayDatum(d)
	hasNull := uint32(0)
	for _, it := range a.Items {
		if it.Null {
			hasNull = 1
		}
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(a.Dims)))
	dst = binary.BigEndian.AppendUint32(dst, hasNull)
	dst = binary.BigEndian.AppendUint32(dst, uint32(a.Elem.OID))
	for i, n := range a.Dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(n))
		dst = binary.BigEndian.AppendUint32(dst, uint32(int32(a.Lower[i])))
	}
	for _, it := range a.Items {
		dst = appendSized(dst, it, opts)
	}
	return dst
}

const (
	numericNeg    = 0x4000
	numericNaN    = 0xC000
	numericPosInf = 0xD000
	numericNegInf = 0xF000
	infiniteScale = 0x20 // what PostgreSQL sends with an infinity
)

// appendNumericBinary writes base-10000 digits: count, weight, sign, scale, digits.
func appendNumericBinary(dst []byte, d Decimal) []byte {
	head := func(n, weight, sign, scale int) {
		for _, x := range [4]int{n, weight, sign, scale} {
			dst = binary.BigEndian.AppendUint16(dst, uint16(x))
		}
	}
	switch d.form {
	case formNaN:
		head(0, 0, numericNaN, 0)
		return dst
	case formPosInf:
		head(0, 0, numericPosInf, infiniteScale)
		return dst
	case formNegInf:
		head(0, 0, numericNegInf, infiniteScale)
		return dst
	}
	text := d.Abs()
	pad := (4 - int(d.scale)%4) % 4
	x := new(big.Int).Mul(text.coefficient(), bigPow10(pad))
	fracGroups := (int(d.scale) + pad) / 4
	s := x.Append(nil, 10)
	if x.Sign() == 0 {
		s = nil
	}
	for len(s)%4 != 0 {
		s = append([]byte{'0'}, s...)
	}
	groups := make([]uint16, 0, len(s)/4)
	for i := 0; i < len(s); i += 4 {
		groups = append(groups, uint16(digit2(s[i:])*100+digit2(s[i+2:])))
	}
	weight := len(groups) - fracGroups - 1
	for len(groups) > 0 && groups[len(groups)-1] == 0 {
		groups = groups[:len(groups)-1]
	}
	if len(groups) == 0 {
		weight = 0
	}
	sign := 0
	if d.neg {
		sign = numericNeg
	}
	head(len(groups), weight, sign, int(d.scale))
	for _, g := range groups {
		dst = binary.BigEndian.AppendUint16(dst, g)
	}
	return dst
}

func badBinary(t Type) error {
	return sqlerr.New(sqlerr.InvalidBinaryRepresentation, "incorrect binary data format for type %s", t)
}

// ReadBinary appends the value that data holds in binary wire form to v.
func ReadBinary(v *Vector, data []byte) error {
	d, err := ParseBinary(v.Type, data)
	if err != nil {
		return err
	}
	v.AppendDatum(d)
	return nil
}

// ParseBinary reads the binary wire form of a value. Bytes may alias data.
func ParseBinary(t Type, data []byte) (Datum, error) {
	d := Datum{Type: t}
	switch t.Kind() {
	case KindInt:
		if t.OID.IsEnum() {
			return Parse(t, data, nil)
		}
		return readIntBinary(t, data)
	case KindFloat:
		switch {
		case t.OID == Float4 && len(data) == 4:
			d.Float = float64(math.Float32frombits(binary.BigEndian.Uint32(data)))
		case t.OID == Float8 && len(data) == 8:
			d.Float = math.Float64frombits(binary.BigEndian.Uint64(data))
		default:
			return d, badBinary(t)
		}
		return d, nil
	}
	var err error
	switch t.OID {
	case Numeric:
		var x Decimal
		if x, err = readNumericBinary(data); err == nil {
			x, err = x.Fit(t)
		}
		d.Bytes = x.Append(nil)
	case Interval:
		if len(data) != 16 {
			return d, badBinary(t)
		}
		d.Bytes = DecodeSpan(data).Fit(t).Append(nil)
	case UUID:
		if len(data) != 16 {
			return d, badBinary(t)
		}
		d.Bytes = data
	case Bytea, Sketch:
		d.Bytes = data
	case Bit, Varbit:
		d.Bytes, err = readBitsBinary(data, t)
	case JSONB:
		if len(data) == 0 || data[0] != 1 {
			return d, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "unsupported jsonb version number")
		}
		d.Bytes, err = parseJSONB(data[1:])
	default:
		if t.OID.IsArray() {
			return readArrayBinary(t, data)
		}
		return parseBytesKind(t, data, nil)
	}
	return d, err
}

func readIntBinary(t Type, data []byte) (Datum, error) {
	d := Datum{Type: t}
	if len(data) != binarySize(t.OID) {
		return d, badBinary(t)
	}
	switch len(data) {
	case 1:
		d.Int = int64(data[0])
		if t.OID == Bool && d.Int != 0 {
			d.Int = 1
		}
	case 2:
		d.Int = int64(int16(binary.BigEndian.Uint16(data)))
	case 4:
		d.Int = int64(binary.BigEndian.Uint32(data))
		if t.OID == Int4 || t.OID == Date {
			d.Int = int64(int32(d.Int))
		}
	case 12:
		within, west := int64(binary.BigEndian.Uint64(data)), int32(binary.BigEndian.Uint32(data[8:]))
		if within < 0 || within > usecDay {
			return d, sqlerr.New(sqlerr.DatetimeFieldOverflow, "time out of range")
		}
		if west < -maxOffset || west > maxOffset {
			return d, sqlerr.New(invalidZoneDisplacement, "time zone displacement out of range")
		}
		d.Int = roundTimetz(Timetz(within, int(-west)), t)
	default:
		d.Int = int64(binary.BigEndian.Uint64(data))
	}
	switch t.OID {
	case Date:
		switch d.Int {
		case math.MaxInt32:
			d.Int = maxInt64
		case math.MinInt32:
			d.Int = minInt64
		}
		if !ValidDate(d.Int) {
			return d, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range")
		}
	case Time:
		if d.Int < 0 || d.Int > usecDay {
			return d, sqlerr.New(sqlerr.DatetimeFieldOverflow, "time out of range")
		}
		d.Int = roundTimestamp(d.Int, t)
	case Timestamp, Timestamptz:
		if !ValidTimestamp(d.Int) {
			return d, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
		}
		d.Int = roundTimestamp(d.Int, t)
	}
	return d, nil
}

func readNumericBinary(b []byte) (Decimal, error) {
	if len(b) < 8 {
		return Decimal{}, badBinary(Of(Numeric))
	}
	n, weight := int(binary.BigEndian.Uint16(b)), int(int16(binary.BigEndian.Uint16(b[2:])))
	sign, scale := binary.BigEndian.Uint16(b[4:]), int(binary.BigEndian.Uint16(b[6:]))
	b = b[8:]
	switch sign {
	case numericNaN:
		return DecimalNaN, nil
	case numericPosInf:
		return DecimalInf, nil
	case numericNegInf:
		return DecimalNegInf, nil
	case 0, numericNeg:
	default:
		return Decimal{}, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid sign in external \"numeric\" value")
	}
	if scale > maxDecimalScale {
		return Decimal{}, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid scale in external \"numeric\" value")
	}
	if len(b) != 2*n {
		return Decimal{}, badBinary(Of(Numeric))
	}
	digits := make([]byte, 0, 4*n)
	for i := range n {
		g := binary.BigEndian.Uint16(b[2*i:])
		if g > 9999 {
			return Decimal{}, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid digit in external \"numeric\" value")
		}
		digits = appendPadded(digits, int(g), 4)
	}
	shown := 4 * (n - 1 - weight) // digits after the point that the groups hold
	d, err := scaledDecimal(digits, shown, sign == numericNeg)
	if err != nil {
		return d, err
	}
	return d.Trunc(scale), nil
}

func readArrayBinary(t Type, data []byte) (Datum, error) {
	if len(data) < 12 {
		return Datum{}, badBinary(t)
	}
	ndim, elem := binary.BigEndian.Uint32(data), OID(binary.BigEndian.Uint32(data[8:]))
	data = data[12:]
	if ndim > MaxArrayDims {
		return Datum{}, sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", ndim, MaxArrayDims)
	}
	if elem != t.OID.Elem() {
		return Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "binary data has array element type %d (%s) instead of expected %d (%s)",
			elem, Of(elem), t.OID.Elem(), Of(t.OID.Elem()))
	}
	a := Array{Elem: t.ElemType()}
	total := 1
	for range ndim {
		if len(data) < 8 {
			return Datum{}, badBinary(t)
		}
		n := int(int32(binary.BigEndian.Uint32(data)))
		if n < 0 || n > maxArrayElements || total > maxArrayElements {
			return Datum{}, sqlerr.New(sqlerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxArrayElements)
		}
		total *= n
		a.Dims = append(a.Dims, n)
		a.Lower = append(a.Lower, int(int32(binary.BigEndian.Uint32(data[4:]))))
		data = data[8:]
	}
	if ndim == 0 {
		total = 0
	}
	if total > len(data)/4 {
		return Datum{}, badBinary(t)
	}
	for range total {
		if len(data) < 4 {
			return Datum{}, badBinary(t)
		}
		size := int(int32(binary.BigEndian.Uint32(data)))
		data = data[4:]
		if size < 0 {
			a.Items = append(a.Items, NullOf(a.Elem))
			continue
		}
		if size > len(data) {
			return Datum{}, badBinary(t)
		}
		d, err := ParseBinary(a.Elem, data[:size])
		if err != nil {
			return Datum{}, err
		}
		a.Items, data = append(a.Items, d), data[size:]
	}
	if len(data) > 0 {
		return Datum{}, badBinary(t)
	}
	return Datum{Type: t, Bytes: a.Append(nil)}, nil
}
