package kll

import (
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// maxWeight limits the values of a sketch, so that maxLevels are enough: a level
// is put on top only when the last one has leastCapacity values.
const maxWeight = 1 << 56

// MergeFrom implements agg.States.
func (s *States) MergeFrom(dst uint32, other agg.States, src uint32) error {
	o := other.(*States)
	block, m := o.read(src)
	return s.merge(dst, block, &m)
}

// read returns the values of a group as a sketch; of a raw group it has one level.
func (s *States) read(g uint32) ([]uint64, meta) {
	slot := s.slots[g]
	switch slot.form {
	case raw:
		block := s.blocks.Block(int(slot.class), slot.ref)[:slot.count]
		return block, meta{levels: 1, bounds: [maxLevels + 1]uint16{0, slot.count}}
	case sketch:
		return s.blocks.Block(int(slot.class), slot.ref), s.metas[slot.meta]
	}
	return nil, meta{levels: 1}
}

// extremes sets the extremes of a sketch of one level, which does not keep them.
func extremes(block []uint64, m *meta) {
	if m.levels > 1 {
		return
	}
	m.min, m.max = ^uint64(0), 0
	for _, key := range m.level(block, 0) {
		m.min, m.max = min(m.min, key), max(m.max, key)
	}
}

// merge folds a sketch into group g. The result is the same whichever side is
// the group and whichever the sketch.
func (s *States) merge(g uint32, block []uint64, m *meta) error {
	slot := &s.slots[g]
	n := m.retained()
	if m.levels == 1 && slot.form != sketch && int(slot.count)+n <= s.raw() {
		if n > 0 {
			s.reserve(slot, int(slot.count)+n)
			copy(s.blocks.Block(int(slot.class), slot.ref)[slot.count:], m.level(block, 0))
			slot.count += uint16(n)
		}
		return nil
	}
	if n == 0 {
		return nil
	}
	if slot.form == empty && n <= s.total[m.levels] {
		s.store(slot, block, *m)
		return nil
	}
	own, om := s.read(g)
	if om.weight()+m.weight() >= maxWeight {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "a quantile sketch of more than 2^56 values")
	}
	extremes(own, &om)
	extremes(block, m)
	joined := meta{coins: om.coins + m.coins, min: min(om.min, m.min), max: max(om.max, m.max)}
	s.join(&joined, own, &om, block, m)
	for joined.retained() > s.total[joined.levels] {
		h := s.fullLevel(&joined)
		if h == int(joined.levels)-1 {
			joined.addLevel()
		}
		s.tmp = s.compact(s.merged, &joined, h, s.tmp)
	}
	s.store(slot, s.merged, joined)
	return nil
}

// store makes a sketch, whose values are in a block, the group's state.
func (s *States) store(slot *slot, block []uint64, m meta) {
	class := s.rawClass + int(m.levels) - 1
	if slot.form == empty || int(slot.class) != class {
		if slot.form != empty {
			s.blocks.Free(int(slot.class), slot.ref)
		}
		slot.class, slot.ref = uint8(class), s.blocks.Alloc(class)
	}
	to := s.blocks.Block(class, slot.ref)
	values := block[m.bounds[0]:m.bounds[m.levels]]
	copy(to[len(to)-len(values):], values)
	m.shift(len(to) - int(m.bounds[m.levels]))
	if slot.form != sketch {
		slot.meta, slot.count, slot.form = s.newMeta(m), 0, sketch
		return
	}
	s.metas[slot.meta] = m
}
