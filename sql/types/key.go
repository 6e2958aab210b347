package types

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// Key encoding: the concatenation of the encoded values of a row compares
// bytewise as the row does under ORDER BY with NULLS LAST, and decodes back.
//
//	NULL   0xFF
//	int    0x01, 8 bytes big-endian with the sign bit flipped
//	float  0x01, 8 bytes of the total order (-NaN never occurs; NaN sorts last)
//	bytes  0x01, the bytes with 0x00 written as 0x00 0xFF, closed by 0x00 0x01
//
// Types whose equality is not that of their bytes (numeric, interval, char(n),
// jsonb, arrays, records) have keys of their own in keytypes.go: values that are equal to
// Compare have equal keys.
const (
	keyValue byte = 0x01
	keyNull  byte = 0xFF
)

// AppendKey appends the key encoding of row i of v.
func AppendKey(dst []byte, v *Vector, i int) []byte {
	if v.Nulls.Has(i) {
		return append(dst, keyNull)
	}
	dst = append(dst, keyValue)
	switch v.Type.Kind() {
	case KindInt:
		return binary.BigEndian.AppendUint64(dst, uint64(v.Ints[i])^(1<<63))
	case KindFloat:
		return binary.BigEndian.AppendUint64(dst, floatKey(v.Floats[i]))
	default:
		return appendTypedKey(dst, v.Type, v.Bytes(i))
	}
}

// IsNullKey reports whether a key begins with a NULL.
func IsNullKey(key []byte) bool { return len(key) > 0 && key[0] == keyNull }

// AppendDatumKey appends the key encoding of d.
func AppendDatumKey(dst []byte, d Datum) []byte {
	if d.Null {
		return append(dst, keyNull)
	}
	dst = append(dst, keyValue)
	switch d.Type.Kind() {
	case KindInt:
		return binary.BigEndian.AppendUint64(dst, uint64(d.Int)^(1<<63))
	case KindFloat:
		return binary.BigEndian.AppendUint64(dst, floatKey(d.Float))
	default:
		return appendTypedKey(dst, d.Type, d.Bytes)
	}
}

func appendKeyBytes(dst, b []byte) []byte {
	for {
		k := bytes.IndexByte(b, 0)
		if k < 0 {
			break
		}
		dst = append(dst, b[:k]...)
		dst = append(dst, 0, 0xFF)
		b = b[k+1:]
	}
	dst = append(dst, b...)
	return append(dst, 0, 1)
}

// FloatOrder maps a float to a number that orders as PostgreSQL does.
func FloatOrder(f float64) uint64 { return floatKey(f) }

// floatKey maps a float to bits that order as PostgreSQL does: -0 equals 0,
// every NaN is one value above infinity.
func floatKey(f float64) uint64 {
	if f == 0 {
		f = 0
	}
	if math.IsNaN(f) {
		return math.MaxUint64
	}
	u := math.Float64bits(f)
	if u>>63 != 0 {
		return ^u
	}
	return u | 1<<63
}

// ReadKey decodes one value from the front of key into v and returns the rest.
func ReadKey(key []byte, v *Vector) ([]byte, error) {
	if len(key) == 0 {
		return nil, fmt.Errorf("key ends before the value of type %d", v.Type.OID)
	}
	tag, key := key[0], key[1:]
	if tag == keyNull {
		v.AppendNull()
		return key, nil
	}
	if tag != keyValue {
		return nil, fmt.Errorf("key has tag %#x", tag)
	}
	if v.Type.Kind() == KindBytes {
		return readTypedKey(key, v)
	}
	if len(key) < 8 {
		return nil, fmt.Errorf("key ends inside a value of type %d", v.Type.OID)
	}
	u := binary.BigEndian.Uint64(key)
	if v.Type.Kind() == KindInt {
		v.AppendInt(int64(u ^ (1 << 63)))
		return key[8:], nil
	}
	switch {
	case u == math.MaxUint64:
		v.AppendFloat(math.NaN())
	case u>>63 != 0:
		v.AppendFloat(math.Float64frombits(u &^ (1 << 63)))
	default:
		v.AppendFloat(math.Float64frombits(^u))
	}
	return key[8:], nil
}

func readKeyBytes(key []byte, v *Vector) ([]byte, error) {
	for {
		k := bytes.IndexByte(key, 0)
		if k < 0 || k+1 >= len(key) {
			return nil, fmt.Errorf("key ends inside a value of type %d", v.Type.OID)
		}
		v.Data = append(v.Data, key[:k]...)
		closed := key[k+1] == 1
		key = key[k+2:]
		if closed {
			v.endRow()
			return key, nil
		}
		v.Data = append(v.Data, 0)
	}
}
