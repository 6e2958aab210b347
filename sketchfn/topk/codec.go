package topk

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/types"
)

// The portable form, version 2:
//
//	version  1 byte, 2
//	total    uvarint values seen
//	floor    uvarint
//	counters uvarint number; for each, in the order of values:
//	         the value, but for numbers and times: uvarint length and bytes (text,
//	         bytea, uuid as they are, other types in their key encoding);
//	         uvarint low, uvarint known
//	values   of numbers and times: words in their order, as statecodec.AppendSorted
//	         has them
//
// In version 1 a number or a time is 8 bytes little-endian, the integer or the bits
// of the float, before low, and floor - known is in the place of known.
const (
	codecV1 byte = 1
	codecV2 byte = 2
)

// order returns a word that orders as the value of a word does.
func (s *States) order(word uint64) uint64 {
	const sign = 1 << 63
	switch {
	case s.typ.Kind() != types.KindFloat:
		return word ^ sign
	case word == valuehash.FloatBits(math.NaN()): // above infinity
		return math.MaxUint64
	case word >= sign:
		return ^word
	}
	return word | sign
}

// unorder is the inverse of order.
func (s *States) unorder(key uint64) uint64 {
	const sign = 1 << 63
	switch {
	case s.typ.Kind() != types.KindFloat:
		return key ^ sign
	case key == math.MaxUint64:
		return valuehash.FloatBits(math.NaN())
	case key >= sign:
		return key &^ sign
	}
	return ^key
}

// counters returns the counters of a group in no order.
func (s *States) counters(g *group) []counter {
	out := append(s.kept[:0], s.of(g)...)
	s.kept = out
	return out
}

// sorted returns the counters of a group in the order of values.
func (s *States) sorted(g *group) []counter {
	out := s.counters(g)
	slices.SortFunc(out, s.compareValues)
	return out
}

// compareValues orders counters by value.
func (s *States) compareValues(a, b counter) int {
	switch s.typ.Kind() {
	case types.KindInt:
		return cmp.Compare(int64(a.payload), int64(b.payload))
	case types.KindFloat:
		return types.CompareFloat(math.Float64frombits(a.payload), math.Float64frombits(b.payload))
	}
	return bytes.Compare(s.bytes(a.payload), s.bytes(b.payload))
}

// Append implements agg.States.
func (s *States) Append(dst []byte, dstGroup uint32) []byte {
	g := &s.groups[dstGroup]
	dst = binary.AppendUvarint(append(dst, codecV2), g.total)
	dst = binary.AppendUvarint(dst, g.floor)
	dst = binary.AppendUvarint(dst, uint64(g.n))
	s.selected = s.selected[:0]
	for _, c := range s.sorted(g) {
		if s.words {
			s.selected = append(s.selected, s.order(c.payload))
		} else {
			b := s.bytes(c.payload)
			dst = append(binary.AppendUvarint(dst, uint64(len(b))), b...)
		}
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, c.low), c.known)
	}
	return statecodec.AppendSorted(dst, s.selected)
}

// Merge implements agg.States.
func (s *States) Merge(group uint32, state []byte) error {
	r := statecodec.NewReader("top-k", codecV2, state)
	total := r.Uvarint(maxTotal - 1)
	floor := r.Uvarint(total / uint64(s.capacity+1))
	n := int(r.Uvarint(uint64(s.limit)))
	s.read = s.read[:0]
	counted := uint64(0)
	for range n {
		p := s.readCounter(&r, total, floor)
		if counted += p.low; counted > total {
			r.Fail()
		}
		if r.Bad() {
			break
		}
		s.read = append(s.read, p)
	}
	if s.words && r.Version() > codecV1 && !r.Bad() {
		s.selected = r.Sorted(s.selected[:0], n)
		for i, key := range s.selected {
			s.read[i].word = s.unorder(key)
			s.read[i].hash = s.hasher.Word(s.read[i].word)
		}
	}
	for i, p := range s.read {
		if !s.validValue(p) || i > 0 && s.comparePortable(s.read[i-1], p) >= 0 {
			r.Fail()
		}
	}
	if floor == 0 && counted != total {
		r.Fail()
	}
	if err := r.Done(); err != nil {
		return err
	}
	return s.merge(group, total, floor)
}

// readCounter reads a counter, without its word if that stands behind all of them.
func (s *States) readCounter(r *statecodec.Reader, total, floor uint64) portable {
	var p portable
	switch old := r.Version() == codecV1; {
	case !s.words:
		p.value = r.Bytes(int(r.Uvarint(math.MaxInt32)))
		p.hash = s.hasher.Bytes(p.value)
	case old:
		p.word = r.Word()
		p.hash = s.hasher.Word(p.word)
	}
	p.low, p.known = r.Uvarint(total), r.Uvarint(floor)
	if r.Version() == codecV1 {
		p.known = floor - p.known
	}
	if !r.Bad() && (p.low == 0 || p.low < p.known) {
		r.Fail()
	}
	return p
}

func (s *States) comparePortable(a, b portable) int {
	if s.words {
		return s.compareValues(counter{payload: a.word}, counter{payload: b.word})
	}
	return bytes.Compare(a.value, b.value)
}

// validValue reports whether p has a value of the type.
func (s *States) validValue(p portable) bool {
	switch {
	case s.typ.Kind() == types.KindFloat:
		return p.word == valuehash.FloatBits(math.Float64frombits(p.word))
	case s.words:
		return true
	case s.typ.OID == types.UUID:
		return len(p.value) == 16
	case s.typ.OID == types.Bytea:
		return true
	case s.plain:
		return utf8.Valid(p.value)
	}
	_, ok := s.decode(p.value)
	return ok
}

// decode returns the value that a key encoding stands for.
func (s *States) decode(key []byte) (types.Datum, bool) {
	v := types.NewVector(s.typ, 1)
	rest, err := types.ReadKey(key, v)
	if err != nil || len(rest) != 0 || v.Nulls.Has(0) {
		return types.Datum{}, false
	}
	return v.Datum(0), bytes.Equal(types.AppendKey(nil, v, 0), key)
}
