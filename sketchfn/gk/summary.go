package gk

import (
	"cmp"
	"slices"

	"github.com/tallydb/tallydb/sql/types"
)

// tuple is a value of the stream and the limits of its rank, counted from 1.
type tuple struct {
	value     float64
	low, high uint64
}

// summary is the values kept, in order; n is the number it stands for.
type summary struct {
	tuples []tuple
	n      uint64
}

// exactly makes s the summary of sorted values.
func (s *summary) exactly(sorted []float64) {
	s.tuples, s.n = s.tuples[:0], uint64(len(sorted))
	for i, x := range sorted {
		s.tuples = append(s.tuples, tuple{x, uint64(i + 1), uint64(i + 1)})
	}
}

// compareSummaries orders summaries, so that merges can begin with the same one.
func compareSummaries(a, b summary) int {
	return slices.CompareFunc(a.tuples, b.tuples, func(x, y tuple) int {
		return cmp.Or(types.CompareFloat(x.value, y.value), cmp.Compare(x.low, y.low), cmp.Compare(x.high, y.high))
	})
}

// merge makes s the summary of both: each value's limits grow by those that its
// neighbours in the other summary have there.
func (s *summary) merge(a, b summary) {
	if compareSummaries(a, b) > 0 {
		a, b = b, a
	}
	s.tuples, s.n = s.tuples[:0], a.n+b.n
	i, j := 0, 0
	for i < len(a.tuples) || j < len(b.tuples) {
		if j == len(b.tuples) || i < len(a.tuples) && types.CompareFloat(a.tuples[i].value, b.tuples[j].value) <= 0 {
			s.tuples = append(s.tuples, widen(a.tuples[i], b, j))
			i++
		} else {
			s.tuples = append(s.tuples, widen(b.tuples[j], a, i))
			j++
		}
	}
}

// widen adds to a value's limits what the other summary says of its place there,
// before tuple at.
func widen(t tuple, other summary, at int) tuple {
	if at > 0 {
		t.low += other.tuples[at-1].low
	}
	if at < len(other.tuples) {
		t.high += other.tuples[at].high - 1
	} else {
		t.high += other.n
	}
	return t
}

// prune drops values whose neighbours are close enough without them: no more
// than 2*epsilon*n ranks apart.
func (s *summary) prune(epsilon float64) {
	width := uint64(2 * epsilon * float64(s.n))
	if len(s.tuples) < 3 || width < 2 {
		return
	}
	at := len(s.tuples) - 1 // of the tuple kept last; they move to the end
	for i := at - 1; i > 0; i-- {
		// Without tuple i, the gap before the one kept last reaches back to i-1.
		if s.tuples[at].high-s.tuples[i-1].low > width {
			at--
			s.tuples[at] = s.tuples[i]
		}
	}
	at--
	s.tuples[at] = s.tuples[0]
	s.tuples = append(s.tuples[:0], s.tuples[at:]...)
}

// limits returns the tuples that are certain to be at or before, and at or behind
// the value of a rank, and the one whose own rank is nearest to it.
func (s summary) limits(rank uint64) (lo, best, hi float64) {
	lo, hi = s.tuples[0].value, s.tuples[len(s.tuples)-1].value
	distance := ^uint64(0)
	for _, t := range s.tuples {
		if t.high <= rank {
			lo = t.value
		}
		if d := max(diff(t.high, rank), diff(rank, t.low)); d < distance {
			best, distance = t.value, d
		}
	}
	for i := len(s.tuples) - 1; i >= 0 && s.tuples[i].low >= rank; i-- {
		hi = s.tuples[i].value
	}
	return lo, best, hi
}

// diff returns a-b, or 0 where it is negative.
func diff(a, b uint64) uint64 {
	if a < b {
		return 0
	}
	return a - b
}

// atMost returns limits of the number of values that are at most x.
func (s summary) atMost(x float64) (lo, hi uint64) {
	i, _ := slices.BinarySearchFunc(s.tuples, x, func(t tuple, x float64) int {
		if types.CompareFloat(t.value, x) <= 0 {
			return -1
		}
		return 1
	})
	hi = s.n
	if i > 0 {
		lo = s.tuples[i-1].low
	}
	if i < len(s.tuples) {
		hi = s.tuples[i].high - 1
	}
	return lo, hi
}
