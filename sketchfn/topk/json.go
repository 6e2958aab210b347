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

// item is a value in a list, with how often it came and by how much that may be
// too much.
type item struct {
	value        types.Datum
	count, slack uint64
}

// items returns counters of a group with this floor as items.
func (s *States) items(list []counter, floor uint64) []item {
	out := make([]item, len(list))
	for i, c := range list {
		low, high := c.limits(floor)
		out[i] = item{s.datum(c), high, high - low}
	}
	return out
}

// appendList appends items as canonical jsonb: an array of objects.
func appendList(dst []byte, list []item) []byte {
	dst = append(dst, '[')
	for i, x := range list {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = strconv.AppendUint(append(dst, `{"count": `...), x.count, 10)
		dst = strconv.AppendUint(append(dst, `, "error": `...), x.slack, 10)
		dst = jsonvalue.Append(append(dst, `, "value": `...), x.value)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
