package types

import (
	"encoding/binary"
	"math"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// An array is stored in KindBytes as
//
//	ndim     1 byte, 0 for the empty array
//	dims     per dimension: uvarint length, varint lower bound
//	elements uvarint 0 for NULL; 1 then 8 bytes for KindInt and KindFloat;
//	         length + 1 then the bytes for KindBytes
//
// int2vector and oidvector are arrays of one dimension with lower bound 0.

// MaxArrayDims is the largest number of dimensions.
const MaxArrayDims = 6

const maxArrayElements = 1 << 27

// Array is an array value in a form that can be computed with.
type Array struct {
	Elem  Type
	Dims  []int // length of each dimension, none for the empty array
	Lower []int // lower bounds
	Items []Datum
}

// NewArray returns a one-dimensional array.
func NewArray(elem Type, items []Datum) Array {
	a := Array{Elem: elem, Items: items}
	if len(items) > 0 {
		a.Dims, a.Lower = []int{len(items)}, []int{1}
	}
	return a
}

// DecodeArray reads the stored form of an array of elem. Bytes of elements alias b.
func DecodeArray(b []byte, elem Type) (Array, error) {
	a := Array{Elem: elem}
	if len(b) == 0 || b[0] == 0 {
		return a, nil
	}
	ndim := int(b[0])
	b = b[1:]
	corrupt := sqlerr.New(sqlerr.DataCorrupted, "array value is damaged")
	if ndim > MaxArrayDims {
		return a, corrupt
	}
	total := 1
	for range ndim {
		n, k := binary.Uvarint(b)
		if k <= 0 {
			return a, corrupt
		}
		lo, k2 := binary.Varint(b[k:])
		if k2 <= 0 || n > maxArrayElements || total > maxArrayElements {
			return a, corrupt
		}
		b = b[k+k2:]
		total *= int(n)
		a.Dims, a.Lower = append(a.Dims, int(n)), append(a.Lower, int(lo))
	}
	if total > len(b) {
		return a, corrupt
	}
	a.Items = make([]Datum, total)
	for i := range a.Items {
		var ok bool
		if a.Items[i], b, ok = readElement(b, elem); !ok {
			return a, corrupt
		}
	}
	return a, nil
}

func readElement(b []byte, elem Type) (Datum, []byte, bool) {
	n, k := binary.Uvarint(b)
	if k <= 0 {
		return Datum{}, b, false
	}
	b = b[k:]
	d := Datum{Type: elem}
	if n == 0 {
		d.Null = true
		return d, b, true
	}
	switch elem.Kind() {
	case KindBytes:
		if n-1 > uint64(len(b)) {
			return d, b, false
		}
		d.Bytes = b[: n-1 : n-1]
		return d, b[n-1:], true
	default:
		if len(b) < 8 {
			return d, b, false
		}
		u := binary.BigEndian.Uint64(b)
		if elem.Kind() == KindInt {
			d.Int = int64(u)
		} else {
			d.Float = math.Float64frombits(u)
		}
		return d, b[8:], true
	}
}

// Append appends the stored form.
func (a Array) Append(dst []byte) []byte {
	if len(a.Items) == 0 {
		return append(dst, 0)
	}
	dst = append(dst, byte(len(a.Dims)))
	for i, n := range a.Dims {
		dst = binary.AppendUvarint(dst, uint64(n))
		dst = binary.AppendVarint(dst, int64(a.Lower[i]))
	}
	for _, d := range a.Items {
		dst = appendElement(dst, a.Elem.Kind(), d)
	}
	return dst
}

func appendElement(dst []byte, kind Kind, d Datum) []byte {
	switch {
	case d.Null:
		return append(dst, 0)
	case kind == KindInt:
		return binary.BigEndian.AppendUint64(append(dst, 1), uint64(d.Int))
	case kind == KindFloat:
		return binary.BigEndian.AppendUint64(append(dst, 1), math.Float64bits(d.Float))
	}
	return append(binary.AppendUvarint(dst, uint64(len(d.Bytes))+1), d.Bytes...)
}

// AppendArrayOf appends the stored form of the array of a vector's values.
func AppendArrayOf(dst []byte, items *Vector) []byte {
	n := items.Len()
	if n == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(binary.AppendUvarint(append(dst, 1), uint64(n)), 1)
	kind := items.Type.Kind()
	for i := range n {
		dst = appendElement(dst, kind, items.Datum(i))
	}
	return dst
}

// Type returns the array's type.
func (a Array) Type() Type { return Type{OID: a.Elem.OID.ArrayOf(), mod: a.Elem.mod} }

// Datum returns the array as a value of its type.
func (a Array) Datum() Datum { return Datum{Type: a.Type(), Bytes: a.Append(nil)} }

// ElemType returns the element type of an array type.
func (t Type) ElemType() Type { return Type{OID: t.OID.Elem(), mod: t.mod} }

// ArrayDatum decodes an array value.
func ArrayDatum(d Datum) (Array, error) { return DecodeArray(d.Bytes, d.Type.ElemType()) }

// Vector builds an int2vector or oidvector.
func vectorArray(elem Type, items []Datum) Array {
	a := NewArray(elem, items)
	if len(items) > 0 {
		a.Lower[0] = 0
	}
	return a
}

// VectorDatum returns an int2vector (elem Int2) or oidvector (elem Oid).
func VectorDatum(t OID, values ...int64) Datum {
	items := make([]Datum, len(values))
	for i, x := range values {
		items[i] = IntDatum(t.Elem(), x)
	}
	return Datum{Type: Of(t), Bytes: vectorArray(Of(t.Elem()), items).Append(nil)}
}

func compareArrays(a, b Datum) int {
	x, err1 := ArrayDatum(a)
	y, err2 := ArrayDatum(b)
	if err1 != nil || err2 != nil {
		return 0
	}
	for i := 0; i < len(x.Items) && i < len(y.Items); i++ {
		if c := Compare(x.Items[i], y.Items[i]); c != 0 {
			return c
		}
	}
	if n := len(x.Items) - len(y.Items); n != 0 {
		return n
	}
	if n := len(x.Dims) - len(y.Dims); n != 0 {
		return n
	}
	for i := range x.Dims {
		if n := x.Dims[i] - y.Dims[i]; n != 0 {
			return n
		}
	}
	for i := range x.Lower {
		if n := x.Lower[i] - y.Lower[i]; n != 0 {
			return n
		}
	}
	return 0
}
