package expr

import (
	"bytes"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Bit strings are stored as their digits; see types.

func bitString(digits []byte) (types.Datum, error) {
	return types.Datum{Type: types.Of(types.Bit), Bytes: digits}, nil
}

// bitOperators are those of the type bit; bit varying is cast to it.
func bitOperators() []overload {
	both := func(verb string, op func(a, b byte) byte) rowFunc {
		return func(_ *Context, a []types.Datum) (types.Datum, error) {
			x, y := a[0].Bytes, a[1].Bytes
			if len(x) != len(y) {
				return types.Datum{}, sqlerr.New("22026", "cannot %s bit strings of different sizes", verb)
			}
			out := make([]byte, len(x))
			for i := range x {
				out[i] = '0' + op(x[i]&1, y[i]&1)
			}
			return bitString(out)
		}
	}
	shift := func(sign int64) rowFunc {
		return func(_ *Context, a []types.Datum) (types.Datum, error) {
			x := a[0].Bytes
			by := min(max(sign*a[1].Int, -int64(len(x))), int64(len(x)))
			out := bytes.Repeat([]byte{'0'}, len(x))
			if by >= 0 {
				copy(out, x[by:])
			} else {
				copy(out[-by:], x)
			}
			return bitString(out)
		}
	}
	return []overload{
		fn("&(bit,bit) bit", "bitwise and", both("AND", func(a, b byte) byte { return a & b })),
		fn("|(bit,bit) bit", "bitwise or", both("OR", func(a, b byte) byte { return a | b })),
		fn("#(bit,bit) bit", "bitwise exclusive or", both("XOR", func(a, b byte) byte { return a ^ b })),
		fn("~(bit) bit", "bitwise not", func(_ *Context, a []types.Datum) (types.Datum, error) {
			out := make([]byte, len(a[0].Bytes))
			for i, c := range a[0].Bytes {
				out[i] = c ^ 1
			}
			return bitString(out)
		}),
		fn("<<(bit,int4) bit", "shifted left", shift(1)),
		fn(">>(bit,int4) bit", "shifted right", shift(-1)),
		fn("||(varbit,varbit) varbit", "concatenate", func(_ *Context, a []types.Datum) (types.Datum, error) {
			digits, err := types.FitBits(append(bytes.Clone(a[0].Bytes), a[1].Bytes...), types.Of(types.Varbit), true)
			return types.Datum{Type: types.Of(types.Varbit), Bytes: digits}, err
		}),
	}
}

func bitFunctions() []overload {
	part := func(_ *Context, a []types.Datum) (types.Datum, error) {
		from, to, err := bitRange(a)
		if err != nil {
			return types.Datum{}, err
		}
		n := int64(len(a[0].Bytes))
		from, to = min(max(from, 0), n), min(max(to, 0), n)
		return bitString(a[0].Bytes[from:max(from, to)])
	}
	overlay := func(_ *Context, a []types.Datum) (types.Datum, error) {
		x, with, from, length := a[0].Bytes, a[1].Bytes, a[2].Int-1, int64(len(a[1].Bytes))
		if len(a) > 3 {
			length = a[3].Int
		}
		if from < 0 {
			return types.Datum{}, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
		}
		n := int64(len(x))
		out := append(bytes.Clone(x[:min(from, n)]), with...)
		return bitString(append(out, x[min(max(from+length, 0), n):]...))
	}
	position := func(_ *Context, a []types.Datum) (types.Datum, error) {
		return int4(bytes.Index(a[0].Bytes, a[1].Bytes) + 1)
	}
	return []overload{
		fn("length(bit) int4", "number of bits", func(_ *Context, a []types.Datum) (types.Datum, error) { return int4(len(a[0].Bytes)) }),
		fn("bit_length(bit) int4", "number of bits", func(_ *Context, a []types.Datum) (types.Datum, error) { return int4(len(a[0].Bytes)) }),
		fn("octet_length(bit) int4", "number of bytes", func(_ *Context, a []types.Datum) (types.Datum, error) { return int4((len(a[0].Bytes) + 7) / 8) }),
		fn("bit_count(bit) int8", "number of bits that are set", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return types.IntDatum(types.Int8, int64(bytes.Count(a[0].Bytes, []byte{'1'}))), nil
		}),
		fn("get_bit(bit,int4) int4", "bit at an offset from the left", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if err := bitIndex(a[0].Bytes, a[1].Int); err != nil {
				return types.Datum{}, err
			}
			return int4(int(a[0].Bytes[a[1].Int] & 1))
		}),
		fn("set_bit(bit,int4,int4) bit", "with a bit at an offset replaced", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if err := bitIndex(a[0].Bytes, a[1].Int); err != nil {
				return types.Datum{}, err
			}
			if a[2].Int != 0 && a[2].Int != 1 {
				return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "new bit must be 0 or 1")
			}
			out := bytes.Clone(a[0].Bytes)
			out[a[1].Int] = '0' + byte(a[2].Int)
			return bitString(out)
		}),
		fn("substring(bit,int4) bit", "part of a bit string", part), fn("substring(bit,int4,int4) bit", "part of a bit string", part),
		fn("overlay(bit,bit,int4) bit", "with a part replaced", overlay), fn("overlay(bit,bit,int4,int4) bit", "with a part replaced", overlay),
		fn("position(bit,bit) int4", "where a bit string is in another", position),
	}
}

func bitIndex(b []byte, n int64) error {
	if n < 0 || n >= int64(len(b)) {
		return sqlerr.New("2202E", "bit index %d out of valid range (0..%d)", n, len(b)-1)
	}
	return nil
}

// bitRange returns the bits that substring means, from 0 on, which may lie outside.
func bitRange(a []types.Datum) (from, to int64, err error) {
	from, to = a[1].Int-1, int64(len(a[0].Bytes))
	if len(a) > 2 {
		if a[2].Int < 0 {
			return 0, 0, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
		}
		to = from + a[2].Int
	}
	return from, to, nil
}

// castBits casts to or from a bit string: by its length, or as the two's complement of an
// integer, of which a short bit string has the lowest bits.
func castBits(c *castContext, d types.Datum) (types.Datum, error) {
	switch from := d.Type.OID; {
	case c.to.OID.IsInteger():
		size := 32
		if c.to.OID == types.Int8 {
			size = 64
		}
		if len(d.Bytes) > size {
			return d, outOfRange(c.to.OID)
		}
		var x uint64
		for _, digit := range d.Bytes {
			x = x<<1 | uint64(digit&1)
		}
		if size == 32 {
			return types.IntDatum(c.to.OID, int64(int32(uint32(x)))), nil
		}
		return types.IntDatum(c.to.OID, int64(x)), nil
	case from.IsInteger():
		n := max(int(c.to.Modifier()), 1)
		digits := make([]byte, n)
		for i := range digits {
			digits[i] = '0' + byte(d.Int>>min(n-1-i, 63)&1)
		}
		return types.Datum{Type: c.to, Bytes: digits}, nil
	}
	digits, err := types.FitBits(d.Bytes, c.to, c.explicit)
	return types.Datum{Type: c.to, Bytes: digits}, err
}

func isBits(t types.OID) bool { return t == types.Bit || t == types.Varbit }
