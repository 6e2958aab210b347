package jsonvalue

import (
	"bytes"
	"strconv"

	"github.com/tallydb/tallydb/sql/types"
)

// Append appends a value as to_jsonb shows it: numbers, booleans, jsonb and
// arrays as such, all else as strings; times in UTC.
func Append(dst []byte, d types.Datum) []byte {
	t := d.Type.OID
	switch {
	case d.Null:
		return append(dst, "null"...)
	case t == types.Bool:
		return strconv.AppendBool(dst, d.Int != 0)
	case t == types.JSONB:
		return append(dst, d.Bytes...)
	case t.IsArray():
		a, _ := types.ArrayDatum(d)
		next := 0
		return appendArray(dst, a, 0, &next)
	case t == types.Int2 || t == types.Int4 || t == types.Int8 || t == types.Numeric || t == types.Float4 || t == types.Float8:
		return appendNumber(dst, d)
	}
	return types.AppendJSONString(dst, string(types.AppendJSONDateTime(nil, d, nil)))
}

// appendNumber appends a number without an exponent, as jsonb does; NaN and the
// infinities as strings.
func appendNumber(dst []byte, d types.Datum) []byte {
	at := len(dst)
	dst = types.AppendDatumText(dst, d, nil)
	text := dst[at:]
	if last := text[len(text)-1]; last < '0' || last > '9' {
		return types.AppendJSONString(dst[:at], string(text))
	}
	if bytes.IndexByte(text, 'e') >= 0 {
		if v, err := types.Parse(types.Of(types.JSONB), text, nil); err == nil {
			return append(dst[:at], v.Bytes...)
		}
	}
	return dst
}

func appendArray(dst []byte, a types.Array, dim int, next *int) []byte {
	dst = append(dst, '[')
	if dim < len(a.Dims) {
		for i := range a.Dims[dim] {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			if dim+1 < len(a.Dims) {
				dst = appendArray(dst, a, dim+1, next)
				continue
			}
			dst = Append(dst, a.Items[*next])
			*next++
		}
	}
	return append(dst, ']')
}
