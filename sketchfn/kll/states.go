package kll

import (
	"slices"
	"unsafe"

	"github.com/tallydb/tallydb/sketchfn/slab"
	"github.com/tallydb/tallydb/sql/types"
)

// States is an array of sketches of one k. A group without values takes twelve
// bytes; then a block that doubles until it holds shape.raw values; then a block
// of the capacity of its levels, and a meta.
type States struct {
	*shape
	valid    func(key uint64) bool // nil: every word is a key
	slots    []slot
	blocks   *slab.Pool[uint64]
	rawClass int // class of raw blocks of full size; that of L levels is rawClass + L - 1
	metas    []meta

	tmp     []uint64 // of compact, halve and merge3
	merged  []uint64 // block of a merge
	halves  []uint64 // of runs of a level that are compacted
	up      []uint64 // those halves merged
	decoded []uint64 // block of a portable state
	keys    []uint64 // of Append and Finalise
	view    view
}

// slot is where a group's values are.
type slot struct {
	ref, meta uint32
	count     uint16 // values of a raw group
	class     uint8
	form      form
}

type form uint8

const (
	empty form = iota
	raw        // all values, in a block that has room behind count
	sketch
)

func newStates(s *shape, valid func(uint64) bool) *States {
	var sizes []int
	for n := 4; n < s.raw(); n *= 2 {
		sizes = append(sizes, n)
	}
	st := &States{shape: s, valid: valid, rawClass: len(sizes)}
	st.blocks = slab.New[uint64](append(sizes, s.total[1:]...)...)
	return st
}

// Grow implements agg.States.
func (s *States) Grow(n int) { s.slots = slab.GrowTo(s.slots, n) }

// Update implements agg.States.
func (s *States) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	hasNulls := len(in.Nulls) > 0
	floats := in.Type.Kind() == types.KindFloat
	rows = rows[:len(groups)]
	for i, g := range groups {
		r := int(rows[i])
		if hasNulls && in.Nulls.Has(r) {
			continue
		}
		if floats {
			s.add(g, floatKey(in.Floats[r]))
		} else {
			s.add(g, intKey(in.Ints[r]))
		}
	}
	return nil
}

// add folds one key into group g.
func (s *States) add(g uint32, key uint64) {
	slot := &s.slots[g]
	if slot.form != sketch {
		if int(slot.count) < s.raw() {
			s.addRaw(slot, key)
			return
		}
		s.sketchify(slot)
	}
	m := &s.metas[slot.meta]
	if m.bounds[0] == 0 {
		s.makeRoom(slot, m)
	}
	m.min, m.max = min(m.min, key), max(m.max, key)
	m.bounds[0]--
	s.blocks.Block(int(slot.class), slot.ref)[m.bounds[0]] = key
}

// addRaw adds a key to a group that has less than raw of them.
func (s *States) addRaw(slot *slot, key uint64) {
	s.reserve(slot, int(slot.count)+1)
	s.blocks.Block(int(slot.class), slot.ref)[slot.count] = key
	slot.count++
}

// reserve makes room for n values in a raw group; n is at most raw.
func (s *States) reserve(slot *slot, n int) {
	if slot.form == raw && n <= s.blocks.Size(int(slot.class)) {
		return
	}
	class := 0
	for s.blocks.Size(class) < n {
		class++
	}
	ref := s.blocks.Alloc(class)
	if slot.form == raw {
		copy(s.blocks.Block(class, ref), s.blocks.Block(int(slot.class), slot.ref))
		s.blocks.Free(int(slot.class), slot.ref)
	}
	slot.ref, slot.class, slot.form = ref, uint8(class), raw
}

// sketchify makes a raw group that is full a sketch of one level. It has no room.
func (s *States) sketchify(slot *slot) {
	block := s.blocks.Block(int(slot.class), slot.ref)
	slot.meta = s.newMeta(meta{
		min: slices.Min(block), max: slices.Max(block), levels: 1, bounds: [maxLevels + 1]uint16{0, uint16(len(block))},
	})
	slot.count, slot.form = 0, sketch
}

func (s *States) newMeta(m meta) uint32 {
	s.metas = append(s.metas, m)
	return uint32(len(s.metas) - 1)
}

// makeRoom compacts a level of a full sketch, with a new one on top where needed.
func (s *States) makeRoom(slot *slot, m *meta) {
	h := s.fullLevel(m)
	if h == int(m.levels)-1 {
		m.addLevel()
		s.enlarge(slot, m)
	}
	s.tmp = s.compact(s.blocks.Block(int(slot.class), slot.ref), m, h, s.tmp)
}

// enlarge moves a sketch to a block for its number of levels.
func (s *States) enlarge(slot *slot, m *meta) {
	old := s.blocks.Block(int(slot.class), slot.ref)[m.bounds[0]:]
	oldClass, oldRef := slot.class, slot.ref
	slot.class = uint8(s.rawClass + int(m.levels) - 1)
	slot.ref = s.blocks.Alloc(int(slot.class))
	block := s.blocks.Block(int(slot.class), slot.ref)
	copy(block[len(block)-len(old):], old)
	m.shift(len(block) - int(m.bounds[m.levels]))
	s.blocks.Free(int(oldClass), oldRef)
}

// MemoryBytes implements agg.States.
func (s *States) MemoryBytes() int64 {
	scratch := cap(s.tmp) + cap(s.merged) + cap(s.halves) + cap(s.up) + cap(s.decoded) + cap(s.keys)
	return int64(cap(s.slots))*int64(unsafe.Sizeof(slot{})) + int64(cap(s.metas))*int64(unsafe.Sizeof(meta{})) +
		int64(8*scratch) + s.blocks.MemoryBytes() + s.view.memoryBytes()
}
