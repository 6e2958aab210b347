package topk

import (
	"bytes"
	"math"
	"strconv"

	"github.com/tallydb/tallydb/sql/types"
)

// datum returns the value of a counter.
func (s *States) datum(c counter) types.Datum {
	switch {
	case s.typ.Kind() == types.KindInt:
		return types.Datum{Type: s.typ, Int: int64(c.payload)}
	case s.typ.Kind() == types.KindFloat:
		return types.Datum{Type: s.typ, Float: math.Float64frombits(c.payload)}
	case s.plain:
		return types.Datum{Type: s.typ, Bytes: s.bytes(c.payload)}
	}
	d, _ := s.decode(s.bytes(c.payload))
	return d
}

// appendList appends counters as canonical jsonb: an array of objects.
func (s *States) appendList(dst []byte, list []counter) []byte {
	dst = append(dst, '[')
	for i, c := range list {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = strconv.AppendUint(append(dst, `{"count": `...), c.upper(), 10)
		dst = strconv.AppendUint(append(dst, `, "error": `...), c.slack, 10)
		dst = appendJSON(append(dst, `, "value": `...), s.datum(c))
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendJSON appends a value as to_jsonb shows it: numbers, booleans, jsonb and
// arrays as such, all else as strings; times in UTC.
func appendJSON(dst []byte, d types.Datum) []byte {
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
			dst = appendJSON(dst, a.Items[*next])
			*next++
		}
	}
	return append(dst, ']')
}
