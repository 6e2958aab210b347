package kll

import (
	"github.com/tallydb/tallydb/sketchfn/sorted"
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
	s.store(slot, &joined)
	return nil
}

// join lays the levels of two sketches out in s.merged.
func (s *States) join(out *meta, a []uint64, am *meta, b []uint64, bm *meta) {
	n := am.retained() + bm.retained()
	if cap(s.merged) < n {
		s.merged = make([]uint64, n)
	}
	s.merged = s.merged[:n]
	out.levels = max(am.levels, bm.levels)
	at := 0
	for h := range int(out.levels) {
		var x, y []uint64
		if h < int(am.levels) {
			x = am.level(a, h)
		}
		if h < int(bm.levels) {
			y = bm.level(b, h)
		}
		out.bounds[h] = uint16(at)
		to := s.merged[at : at+len(x)+len(y)]
		at += len(to)
		if h == 0 {
			copy(to[copy(to, x):], y)
		} else {
			sorted.Merge(to, x, y)
		}
	}
	out.bounds[out.levels] = uint16(at)
}

// store makes the sketch in s.merged the group's state.
func (s *States) store(slot *slot, m *meta) {
	class := s.rawClass + int(m.levels) - 1
	if slot.form == empty || int(slot.class) != class {
		if slot.form != empty {
			s.blocks.Free(int(slot.class), slot.ref)
		}
		slot.class, slot.ref = uint8(class), s.blocks.Alloc(class)
	}
	block := s.blocks.Block(class, slot.ref)
	values := s.merged[m.bounds[0]:]
	copy(block[len(block)-len(values):], values)
	m.shift(len(block) - int(m.bounds[m.levels]))
	if slot.form != sketch {
		slot.meta, slot.count, slot.form = s.newMeta(meta{}), 0, sketch
	}
	s.metas[slot.meta] = *m
}
