package agg

import (
	"encoding/binary"
	"math"

	"github.com/tallydb/tallydb/sql/types"
)

// EnvelopeRule says how one qualifier of several rows becomes that of one row.
// The rules are used by the envelope rewrite of sql/plan, both for groups of
// rows and for pairs of rows that a join puts together; clients cannot call them.
type EnvelopeRule uint8

// Envelope rules.
const (
	// Smallest and Largest skip NULLs, which say nothing about a row.
	Smallest EnvelopeRule = iota + 1
	Largest
	// LargestKnown is Largest, but unknown (NULL) stays unknown.
	LargestKnown
	// AllBits joins flags.
	AllBits
	// UnionBound turns confidences c into 1 - Σ(1-c), at least 0.
	UnionBound
	// WorstOf takes the value that stands last in the rule's list.
	WorstOf
)

// EnvelopeSpec is one rule for one column.
type EnvelopeSpec struct {
	Name string // of the qualifier
	Rule EnvelopeRule
	Type types.Type
	// Order lists the values of WorstOf from best to worst; a value that is not
	// in it is worse than all.
	Order []string
}

// Bound returns the rule as a bound aggregate of one argument.
func (e EnvelopeSpec) Bound() Bound {
	return Bound{
		Inputs: []int{0}, ArgTypes: []types.Type{e.Type},
		State: spec{identity: "envelope " + e.Name + " v1", bytes: 16, make: func(Config) States { return &envelopeStates{spec: e} }},
		Final: exactly("envelope "+e.Name, e.Type, func(states States, n int, out *types.Vector) error {
			s := states.(*envelopeStates)
			for g := range n {
				out.AppendDatum(s.value(g))
			}
			return nil
		}),
	}
}

// Merge applies the rule to the values of two rows.
func (e EnvelopeSpec) Merge(a, b types.Datum) types.Datum {
	s := envelopeStates{spec: e}
	s.Grow(1)
	s.add(0, a)
	s.add(0, b)
	return s.value(0)
}

const (
	envelopeSet     = 1
	envelopeUnknown = 2
)

// envelopeStates: flags (a value was seen, a NULL was seen), and a word: the
// integer, the bits of the float, or the rank in Order. A text outside Order is
// kept itself. Portable form: version, flags, word,
// text.
type envelopeStates struct {
	spec  EnvelopeSpec
	flags []uint8
	word  []uint64
	text  map[int]string
}

// Grow implements States.
func (s *envelopeStates) Grow(n int) { s.flags, s.word = growTo(s.flags, n), growTo(s.word, n) }

// Update implements States.
func (s *envelopeStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	ranked := s.spec.Type.Kind() == types.KindBytes
	for i, g := range groups {
		r := int(rows[i])
		if ranked && !in.Nulls.Has(r) {
			s.addText(int(g), in.Bytes(r))
			continue
		}
		s.add(int(g), in.Datum(r))
	}
	return nil
}

func (s *envelopeStates) add(g int, d types.Datum) {
	if d.Null {
		s.flags[g] |= envelopeUnknown
		return
	}
	switch d.Type.Kind() {
	case types.KindInt:
		s.fold(g, uint64(d.Int), "")
	case types.KindFloat:
		x := d.Float
		if s.spec.Rule == UnionBound {
			x = 1 - x // the sum of failure probabilities is kept
		}
		s.fold(g, math.Float64bits(x), "")
	default:
		s.addText(g, d.Bytes)
	}
}

// addText folds a text by its rank; only a text without one is kept itself.
func (s *envelopeStates) addText(g int, text []byte) {
	for i, o := range s.spec.Order {
		if o == string(text) {
			s.fold(g, uint64(i), "")
			return
		}
	}
	s.fold(g, uint64(len(s.spec.Order)), string(text))
}

func (s *envelopeStates) fold(g int, word uint64, text string) {
	first := s.flags[g]&envelopeSet == 0
	s.flags[g] |= envelopeSet
	old := s.word[g]
	take := first
	switch {
	case first:
	case s.spec.Rule == AllBits:
		word, take = old|word, true
	case s.spec.Rule == UnionBound:
		word, take = math.Float64bits(math.Float64frombits(old)+math.Float64frombits(word)), true
	case s.spec.Type.Kind() == types.KindFloat:
		c := compareFloats(math.Float64frombits(word), math.Float64frombits(old))
		take = c < 0 == (s.spec.Rule == Smallest) && c != 0
	case s.spec.Type.Kind() == types.KindInt:
		take = int64(word) < int64(old) == (s.spec.Rule == Smallest) && word != old
	default:
		take = word > old || word == old && text > s.text[g]
	}
	if !take {
		return
	}
	s.word[g] = word
	if text != "" {
		if s.text == nil {
			s.text = map[int]string{}
		}
		s.text[g] = text
	}
}

func (s *envelopeStates) value(g int) types.Datum {
	d := types.Datum{Type: s.spec.Type}
	flags := s.flags[g]
	if flags&envelopeSet == 0 || s.spec.Rule == LargestKnown && flags&envelopeUnknown != 0 {
		return types.NullOf(s.spec.Type)
	}
	switch s.spec.Type.Kind() {
	case types.KindInt:
		d.Int = int64(s.word[g])
	case types.KindFloat:
		d.Float = math.Float64frombits(s.word[g])
		if s.spec.Rule == UnionBound {
			d.Float = max(0, 1-d.Float)
		}
	default:
		if w := s.word[g]; w < uint64(len(s.spec.Order)) {
			d.Bytes = []byte(s.spec.Order[w])
		} else {
			d.Bytes = []byte(s.text[g])
		}
	}
	return d
}

// MergeFrom implements States.
func (s *envelopeStates) MergeFrom(dst uint32, other States, src uint32) error {
	o := other.(*envelopeStates)
	s.flags[dst] |= o.flags[src] & envelopeUnknown
	if o.flags[src]&envelopeSet != 0 {
		s.fold(int(dst), o.word[src], o.text[int(src)])
	}
	return nil
}

// Append implements States.
func (s *envelopeStates) Append(dst []byte, g uint32) []byte {
	dst = append(dst, codecV1, s.flags[g])
	return appendBytes(binary.AppendUvarint(dst, s.word[g]), []byte(s.text[int(g)]))
}

// Merge implements States.
func (s *envelopeStates) Merge(group uint32, state []byte) error {
	r := newReader("envelope", state)
	flags, word, text := r.uvarint(), r.uvarint(), r.bytes()
	if err := r.done(); err != nil {
		return err
	}
	if flags > envelopeSet|envelopeUnknown || s.spec.Type.Kind() == types.KindBytes && word > uint64(len(s.spec.Order)) {
		return corrupt("envelope")
	}
	s.flags[group] |= uint8(flags) & envelopeUnknown
	if flags&envelopeSet != 0 {
		s.fold(int(group), word, string(text))
	}
	return nil
}

// MemoryBytes implements States.
func (s *envelopeStates) MemoryBytes() int64 {
	return int64(cap(s.flags) + cap(s.word)*8 + len(s.text)*64)
}
