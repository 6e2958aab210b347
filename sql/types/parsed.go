package types

import (
	"encoding/binary"
	"math"
)

// AppendParsed is Parse straight into a column. Integers, floats, booleans,
// text, timestamps, dates and uuids of usual shape cost no allocation.
func AppendParsed(v *Vector, text []byte, opts *TextOptions) error {
	switch v.Type.OID {
	case Int8:
		x, err := parseInt(text, math.MinInt64, math.MaxInt64, "bigint")
		if err != nil {
			return err
		}
		v.Ints = append(v.Ints, x)
	case Int4:
		x, err := parseInt(text, math.MinInt32, math.MaxInt32, "integer")
		if err != nil {
			return err
		}
		v.Ints = append(v.Ints, x)
	case Float8:
		x, err := parseFloat8(text)
		if err != nil {
			return err
		}
		v.Floats = append(v.Floats, x)
	case Text:
		if !isASCII(text) {
			if err := CheckUTF8(text); err != nil {
				return err
			}
		}
		v.AppendBytes(text)
	case Varchar, Bpchar, Name:
		if err := CheckUTF8(text); err != nil {
			return err
		}
		b, err := fitText(text, v.Type, false)
		if err != nil {
			return err
		}
		v.AppendBytes(b)
	case Timestamp, Timestamptz:
		x, err := parseTimestamp(text, v.Type, opts)
		if err != nil {
			return err
		}
		v.Ints = append(v.Ints, x)
	case UUID:
		u, err := parseUUID(text)
		if err != nil {
			return err
		}
		v.AppendBytes(u[:])
	default:
		d, err := Parse(v.Type, text, opts)
		if err != nil {
			return err
		}
		v.AppendDatum(d)
	}
	return nil
}

// isASCII reports whether every byte is in 1..127, eight at a time.
func isASCII(b []byte) bool {
	const low, high = 0x0101010101010101, 0x8080808080808080
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		if (x|(x-low))&high != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c-1 > 126 {
			return false
		}
	}
	return true
}
