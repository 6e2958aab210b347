package kll

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/tallydb/tallydb/sketchfn/sorted"
)

// join lays the levels of two sketches out in s.merged. Where that is too much, it
// compacts full levels on the way, the lowest first, with what came up to them.
func (s *States) join(out *meta, a []uint64, am *meta, b []uint64, bm *meta) {
	n := am.retained() + bm.retained()
	s.merged = s.room(s.merged, n)
	out.levels = max(am.levels, bm.levels)
	at := 0
	var up []uint64 // came from the level below
	for h := 0; h < int(out.levels); h++ {
		x, y := am.levelOrNone(a, h), bm.levelOrNone(b, h)
		out.bounds[h] = uint16(at)
		to := s.merged[at:]
		size := len(x) + len(y) + len(up)
		if h == 0 {
			x = to[:copy(to, x)]
			y = to[len(x):][:copy(to[len(x):], y)]
		}
		if n <= s.total[out.levels] || size < s.capacity(h, int(out.levels)) {
			if h > 0 {
				s.merge3(to[:size], x, y, up)
			}
			at += size
			up = nil
			continue
		}
		if h == 0 {
			s.tmp = sorted.Sort(y, sorted.Sort(x, s.tmp))
		}
		if h == int(out.levels)-1 {
			out.levels++
		}
		var left uint64
		if left, up = s.halve(h, out, x, y, up); size&1 == 1 {
			to[0] = left
			at++
		}
		n -= len(up)
	}
	out.bounds[out.levels] = uint16(at)
}

// room returns n words of scratch memory, those it is given if they are enough. New memory
// is for the values of the largest level of two sketches, so that it seldom grows.
func (s *shape) room(words []uint64, n int) []uint64 {
	if cap(words) < n {
		return make([]uint64, n, max(n, 2*s.k))
	}
	return words[:n]
}

// levelOrNone is level, of a level that may be above the last.
func (m *meta) levelOrNone(block []uint64, h int) []uint64 {
	if h >= int(m.levels) {
		return nil
	}
	return m.level(block, h)
}

// halve compacts level h, whose values are those of three sorted runs, two of them of the
// sides of a merge. It returns every other value in order, and, where they are odd in
// number, one that is left.
//
// The values are not merged first: every other one of the longest run and of the two
// others are, which is half as many. To compact runs on their own would add up their
// errors. But of two runs, one keeps its values at odd places if the other keeps those
// at even ones. Of r values up to some value that are counted twice where they are kept,
// the odd places count one too many if r is odd, and the even places one too few. So the
// error of both is one or minus one if just one of the two counts is odd, and nothing if
// both or none is: that of a compaction of all in order, with the sign of the coin. And as
// many values are kept: of two runs of odd lengths, one keeps one more than the other.
func (s *States) halve(h int, m *meta, x, y, up []uint64) (left uint64, halved []uint64) {
	if len(x) > len(y) || len(x) == len(y) && !equal(x, y) && slices.Compare(x, y) > 0 {
		x, y = y, x // sides are told by what they have
	}
	if len(up) > len(y) {
		y, up = up, y
	}
	if len(x) > 0 && len(up) > 0 {
		n := len(x) + len(up)
		s.tmp = s.room(s.tmp, n)
		sorted.Merge(s.tmp, x, up)
		x = s.tmp
	} else if len(x) == 0 {
		x = up
	}
	first, last := y[0], y[len(y)-1]
	if len(x) > 0 {
		first, last = min(first, x[0]), max(last, x[len(x)-1])
	}
	offset := s.coin(h, m.coins, first, last)
	m.coins++
	switch {
	case (len(x)+len(y))&1 == 0:
	case len(x)&1 == 1:
		left, x = x[0], x[1:]
	default:
		left, y = y[0], y[1:]
	}
	n := (len(x) + len(y)) / 2
	s.halves = s.room(s.halves, n)
	ofX := (len(x) + 1 - offset) / 2
	sorted.EveryOther(s.halves[:ofX], x[min(offset, len(x)):])
	sorted.EveryOther(s.halves[ofX:], y[min(1-offset, len(y)):])
	s.up = s.room(s.up, n) // what came up before was read
	sorted.Merge(s.up, s.halves[:ofX], s.halves[ofX:])
	return left, s.up
}

// equal is slices.Equal, many words at a time.
func equal(x, y []uint64) bool { return bytes.Equal(asBytes(x), asBytes(y)) }

func asBytes(x []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 8*len(x))
}

// merge3 merges three sorted runs.
func (s *States) merge3(to, x, y, z []uint64) {
	if len(x) > len(z) { // the longest is merged once
		x, z = z, x
	}
	if len(y) > len(z) {
		y, z = z, y
	}
	switch {
	case len(x) == 0:
		sorted.Merge(to, y, z)
	case len(y) == 0:
		sorted.Merge(to, x, z)
	default:
		s.tmp = s.room(s.tmp, len(x)+len(y))
		sorted.Merge(s.tmp, x, y)
		sorted.Merge(to, s.tmp, z)
	}
}
