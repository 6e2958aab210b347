package kll

import (
	"math"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/selection"
)

// estimate is what a state says about a quantile, in keys.
type estimate struct {
	none          bool // no values
	value, lo, hi uint64
	rankError     float64 // 0 while all values are kept
}

// RankError returns the normalised rank error of a single quantile: with this
// confidence its true rank is within that of the one asked for. 2.296/k^0.9723
// at 99 % is the fit of Apache DataSketches to the variance of the coins; other
// confidences scale as the normal distribution does.
func RankError(k int, confidence float64) float64 {
	z := math.Erfinv(min(max(confidence, 0), 1-1e-12)) / math.Erfinv(0.99)
	return min(1, z*2.296/math.Pow(float64(k), 0.9723))
}

// rankOf is the 1-based rank of a quantile of n values, as percentile_disc has it.
func rankOf(q float64, n uint64) uint64 {
	r := math.Ceil(q * float64(n))
	switch {
	case r < 1:
		return 1
	case r >= float64(n):
		return n
	}
	return uint64(r)
}

// quantile returns the estimate of quantile q of a group.
func (s *States) quantile(g uint32, q, confidence float64) estimate {
	block, m := s.read(g)
	n := m.weight()
	if n == 0 {
		return estimate{none: true}
	}
	if m.levels == 1 {
		s.keys = append(s.keys[:0], m.level(block, 0)...)
		x := selection.Nth(s.keys, int(rankOf(q, n))-1)
		return estimate{value: x, lo: x, hi: x}
	}
	s.keys = append(s.keys[:0], m.level(block, 0)...)
	slices.Sort(s.keys)
	s.view.build(s.keys, block, &m)
	e := RankError(s.k, confidence)
	return estimate{
		value: s.view.at(rankOf(q, n), n, &m), lo: s.view.at(rankOf(q-e, n), n, &m), hi: s.view.at(rankOf(q+e, n), n, &m),
		rankError: e,
	}
}

// view is the sorted values of a sketch with the weight up to and with each.
type view struct {
	a, b []weighted
}

type weighted struct{ key, weight uint64 }

// build merges the levels, lowest and smallest first. level0 is level 0 sorted.
func (v *view) build(level0, block []uint64, m *meta) {
	out := v.a[:0]
	for _, key := range level0 {
		out = append(out, weighted{key, 1})
	}
	spare := v.b
	for h := 1; h < int(m.levels); h++ {
		level := m.level(block, h)
		if len(level) == 0 {
			continue
		}
		n := len(out) + len(level)
		spare = slices.Grow(spare[:0], n)[:n]
		mergeWeighted(spare, out, level, 1<<h)
		out, spare = spare, out
	}
	sum := uint64(0)
	for i := range out {
		sum += out[i].weight
		out[i].weight = sum
	}
	v.a, v.b = out, spare
}

func mergeWeighted(out, a []weighted, b []uint64, weight uint64) {
	i, j := 0, 0
	for w := range out {
		if j == len(b) {
			copy(out[w:], a[i:])
			return
		}
		if i < len(a) && a[i].key <= b[j] {
			out[w] = a[i]
			i++
		} else {
			out[w] = weighted{b[j], weight}
			j++
		}
	}
}

// at returns the value of a rank of n.
func (v *view) at(rank, n uint64, m *meta) uint64 {
	switch {
	case rank <= 1:
		return m.min
	case rank >= n:
		return m.max
	}
	i, _ := slices.BinarySearchFunc(v.a, rank, func(w weighted, rank uint64) int {
		if w.weight < rank {
			return -1
		}
		return 1
	})
	return v.a[i].key
}

func (v *view) memoryBytes() int64 { return 16 * int64(cap(v.a)+cap(v.b)) }
