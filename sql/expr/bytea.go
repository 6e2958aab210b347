package expr

import (
	"bytes"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// byteaFunctions are the functions of strings that byte strings have too, and those
// of their bits.
func byteaFunctions() []overload {
	trim := func(cut func(b []byte, set string) []byte) rowFunc {
		return func(_ *Context, a []types.Datum) (types.Datum, error) { return bytea(cut(a[0].Bytes, str(a[1]))), nil }
	}
	left := func(b []byte, set string) []byte {
		for len(b) > 0 && bytes.IndexByte([]byte(set), b[0]) >= 0 {
			b = b[1:]
		}
		return b
	}
	right := func(b []byte, set string) []byte {
		for len(b) > 0 && bytes.IndexByte([]byte(set), b[len(b)-1]) >= 0 {
			b = b[:len(b)-1]
		}
		return b
	}
	both := func(b []byte, set string) []byte { return right(left(b, set), set) }
	return []overload{
		fn("btrim(bytea,bytea) bytea", "without bytes of a set at both ends", trim(both)),
		fn("ltrim(bytea,bytea) bytea", "without bytes of a set at the start", trim(left)),
		fn("rtrim(bytea,bytea) bytea", "without bytes of a set at the end", trim(right)),
		fn("substr(bytea,int4) bytea", "part of a byte string", partOfBytes), fn("substr(bytea,int4,int4) bytea", "part of a byte string", partOfBytes),
		fn("substring(bytea,int4) bytea", "part of a byte string", partOfBytes), fn("substring(bytea,int4,int4) bytea", "part of a byte string", partOfBytes),
		fn("bit_length(bytea) int4", "number of bits", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return int4(8 * len(a[0].Bytes))
		}),
		fn("get_bit(bytea,int8) int4", "bit at an offset", func(_ *Context, a []types.Datum) (types.Datum, error) {
			n := a[1].Int
			if err := bitOffset(a[0].Bytes, n); err != nil {
				return types.Datum{}, err
			}
			return int4(int(a[0].Bytes[n/8] >> (n % 8) & 1))
		}),
		fn("set_bit(bytea,int8,int4) bytea", "with a bit at an offset replaced", func(_ *Context, a []types.Datum) (types.Datum, error) {
			n, bit := a[1].Int, a[2].Int
			if err := bitOffset(a[0].Bytes, n); err != nil {
				return types.Datum{}, err
			}
			if bit != 0 && bit != 1 {
				return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "new bit must be 0 or 1")
			}
			out := bytes.Clone(a[0].Bytes)
			out[n/8] = out[n/8]&^(1<<(n%8)) | byte(bit)<<(n%8)
			return bytea(out), nil
		}),
	}
}

func bitOffset(b []byte, n int64) error {
	if n < 0 || n >= 8*int64(len(b)) {
		return sqlerr.New("2202E", "index %d out of valid range, 0..%d", n, 8*len(b)-1)
	}
	return nil
}

// partOfBytes is substring of a byte string: from an offset, from 1 on, to the end or of
// a length.
func partOfBytes(_ *Context, a []types.Datum) (types.Datum, error) {
	n := int64(len(a[0].Bytes))
	from, end := a[1].Int-1, n
	if len(a) > 2 {
		if a[2].Int < 0 {
			return types.Datum{}, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
		}
		end = min(from+a[2].Int, n)
	}
	if from = max(from, 0); from >= end {
		return bytea(nil), nil
	}
	return bytea(a[0].Bytes[from:end]), nil
}
