package kll

import (
	"slices"

	"github.com/tallydb/tallydb/sketchfn/sorted"
)

// meta describes a sketch of more than one level. Its values stand in a block:
// level h is block[bounds[h]:bounds[h+1]], the last level ends where the block
// does, and what is before level 0 is free.
type meta struct {
	coins    uint64 // tossed so far, on both sides of every merge
	min, max uint64
	levels   int32
	bounds   [maxLevels + 1]uint16
}

func (m *meta) size(h int) int { return int(m.bounds[h+1]) - int(m.bounds[h]) }

// level returns the values of level h.
func (m *meta) level(block []uint64, h int) []uint64 { return block[m.bounds[h]:m.bounds[h+1]] }

// weight returns the number of values that the sketch stands for.
func (m *meta) weight() uint64 {
	n := uint64(0)
	for h := range int(m.levels) {
		n += uint64(m.size(h)) << h
	}
	return n
}

// retained returns the number of values that the sketch keeps.
func (m *meta) retained() int { return int(m.bounds[m.levels]) - int(m.bounds[0]) }

// shift moves all bounds by d places.
func (m *meta) shift(d int) {
	for h := range m.bounds[:m.levels+1] {
		m.bounds[h] = uint16(int(m.bounds[h]) + d)
	}
}

// fullLevel returns the lowest level that reached its capacity. There is one if
// the sketch has as many values as its capacity.
func (s *shape) fullLevel(m *meta) int {
	for h := range int(m.levels) {
		if m.size(h) >= s.capacity(h, int(m.levels)) {
			return h
		}
	}
	panic("kll: a full sketch has no full level")
}

// addLevel puts an empty level on top.
func (m *meta) addLevel() {
	m.levels++
	m.bounds[m.levels] = m.bounds[m.levels-1]
}

// compact moves every other value of level h, which is not the top, up. An odd
// value out, the smallest, stays. tmp is scratch memory, which it returns.
func (s *shape) compact(block []uint64, m *meta, h int, tmp []uint64) []uint64 {
	lo, mid, hi := int(m.bounds[h]), int(m.bounds[h+1]), int(m.bounds[h+2])
	if h == 0 {
		tmp = sorted.Sort(block[lo:mid], tmp)
	}
	left := block[lo]
	odd := (mid - lo) & 1
	half := (mid - lo) / 2
	offset := s.coin(h, m.coins, block[lo], block[mid-1])
	m.coins++
	tmp = slices.Grow(tmp[:0], half+hi-mid)[:half+hi-mid]
	up, next := tmp[:half], tmp[half:] // what is merged into may not be read
	sorted.EveryOther(up, block[lo+odd+offset:mid])
	copy(next, block[mid:hi])
	sorted.Merge(block[mid-half:hi], up, next)
	m.bounds[h+1] = uint16(mid - half)
	if odd == 1 {
		block[mid-half-1] = left
	}
	first := int(m.bounds[0])
	copy(block[first+half:lo+half], block[first:lo])
	for j := 0; j <= h; j++ {
		m.bounds[j] += uint16(half)
	}
	return tmp
}
