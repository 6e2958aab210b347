package topk

import (
	"math"
	"strconv"

	"github.com/tallydb/tallydb/sketchfn/jsonvalue"
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
		dst = jsonvalue.Append(append(dst, `, "value": `...), s.datum(c))
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
