package exec

import "github.com/tallydb/tallydb/sql/types"

// inSet is the rows of IN (query).
type inSet struct {
	keys *keyTable // of the rows without NULLs
	rows []*types.Vector
	n    int
	// partial are the rows with NULLs: a comparison with them may be unknown.
	partial []int32
	buf     []byte

	asked   *types.Dict // whose values were looked up
	answers []uint8     // for each of them: 0, 1, or 2 for unknown
}

func newInSet(cols []*types.Vector, n int) *inSet {
	s := &inSet{keys: newKeyTable(), rows: cols, n: n}
	for i := range n {
		if hasNull(cols, i) {
			s.partial = append(s.partial, int32(i))
			continue
		}
		s.buf = appendKeys(s.buf[:0], cols, i)
		s.keys.add(s.buf)
	}
	if len(cols) == 1 { // what a NULL may equal does not depend on the other values
		s.rows = nil
	}
	return s
}

func (s *inSet) memory() int64 {
	return s.keys.memory() + int64((&types.Batch{Cols: s.rows}).MemoryBytes()+4*cap(s.partial))
}

// appendAll appends for each row whether it is in the set. Each value of a dictionary is
// looked up once.
func (s *inSet) appendAll(out *types.Vector, args []*types.Vector, rows int) {
	if len(args) != 1 || args[0].Dict == nil {
		for i := range rows {
			s.append(out, args, i)
		}
		return
	}
	v := args[0]
	if s.asked != v.Dict {
		s.asked, s.answers = v.Dict, make([]uint8, v.Dict.Len())
		answer := types.NewVector(out.Type, len(s.answers))
		for code := range s.answers {
			s.append(answer, []*types.Vector{v.Dict.Values()}, code)
			if s.answers[code] = uint8(answer.Ints[code]); answer.Nulls.Has(code) {
				s.answers[code] = 2
			}
		}
	}
	for i, code := range v.Codes {
		switch a := s.answers[code]; {
		case v.Nulls.Has(i):
			s.append(out, args, i)
		case a == 2:
			out.AppendNull()
		default:
			out.AppendInt(int64(a))
		}
	}
}

// append appends whether row i of args is in the set; NULL where that is unknown.
func (s *inSet) append(out *types.Vector, args []*types.Vector, i int) {
	if s.n == 0 {
		out.AppendBool(false)
		return
	}
	null := hasNull(args, i)
	if !null {
		s.buf = appendKeys(s.buf[:0], args, i)
		if _, ok := s.keys.find(s.buf); ok {
			out.AppendBool(true)
			return
		}
	}
	if s.maybe(args, i, null) {
		out.AppendNull()
	} else {
		out.AppendBool(false)
	}
}

// maybe reports whether the comparison with some row is unknown.
func (s *inSet) maybe(args []*types.Vector, i int, null bool) bool {
	if s.rows == nil {
		return null || len(s.partial) > 0
	}
	if !null {
		for _, r := range s.partial {
			if s.compatible(args, i, int(r)) {
				return true
			}
		}
		return false
	}
	for r := range s.n {
		if s.compatible(args, i, r) {
			return true
		}
	}
	return false
}

// compatible reports whether no column of a row differs for sure.
func (s *inSet) compatible(args []*types.Vector, i, row int) bool {
	for c, a := range args {
		if !a.Nulls.Has(i) && !s.rows[c].Nulls.Has(row) && compareValues(a, i, s.rows[c], row) != 0 {
			return false
		}
	}
	return true
}
