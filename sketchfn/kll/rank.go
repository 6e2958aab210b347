package kll

import (
	"slices"
	"sort"

	"github.com/tallydb/tallydb/sketchfn/shadow"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

// share is what a state says about the share of values that are at most some value.
type share struct {
	none          bool // no values
	value, lo, hi float64
	rankError     float64 // 0 where it is exact
}

// prepare readies the sorted view of a group; ok is false if it has no values.
func (s *States) prepare(g uint32) (m meta, n uint64, ok bool) {
	block, m := s.read(g)
	if n = m.weight(); n == 0 {
		return m, 0, false
	}
	s.keys = append(s.keys[:0], m.level(block, 0)...)
	slices.Sort(s.keys)
	s.view.build(s.keys, block, &m)
	if m.levels == 1 {
		m.min, m.max = s.keys[0], s.keys[len(s.keys)-1]
	}
	return m, n, true
}

// share returns the share of the values of a group that are at most key.
func (s *States) share(g uint32, key uint64, confidence float64) share {
	m, n, ok := s.prepare(g)
	if !ok {
		return share{none: true}
	}
	return s.shareOf(&m, n, key, confidence)
}

// shareOf is share of the prepared group. The smallest and the largest value are
// known, so what lies beyond them is exact.
func (s *States) shareOf(m *meta, n, key uint64, confidence float64) share {
	switch {
	case key < m.min:
		return share{}
	case key >= m.max:
		return share{value: 1, lo: 1, hi: 1}
	}
	i := sort.Search(len(s.view.a), func(i int) bool { return s.view.a[i].key > key })
	out := share{}
	if i > 0 {
		out.value = float64(s.view.a[i-1].weight) / float64(n)
	}
	if m.levels > 1 {
		out.rankError = RankError(s.k, confidence)
	}
	out.lo, out.hi = max(0, out.value-out.rankError), min(1, out.value+out.rankError)
	return out
}

// rankFinal makes a state the share of values that are at most key.
type rankFinal struct {
	point point
}

// Type implements agg.Finaliser.
func (rankFinal) Type() types.Type { return types.Of(types.Float8) }

// Approximate implements agg.Finaliser.
func (rankFinal) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (rankFinal) Kind() agg.ErrorKind { return agg.Probabilistic }

// String implements agg.Finaliser.
func (f rankFinal) String() string { return "rank " + f.point.text }

// Finalise implements agg.Finaliser.
func (f rankFinal) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*States)
	for g := range uint32(n) {
		x := s.share(g, f.point.key, confidence)
		appendShare(out, x.none, x.value)
		if bounds != nil {
			appendShare(bounds.Lo, x.none, x.lo)
			appendShare(bounds.Hi, x.none, x.hi)
			bounds.Error.AppendFloat(x.rankError)
		}
	}
	return nil
}

// exact implements finaliser.
func (f rankFinal) exact(v *shadow.Values) types.Datum { return f.point.exactShare(v) }

func appendShare(out *types.Vector, none bool, x float64) {
	if none {
		out.AppendNull()
		return
	}
	out.AppendFloat(x)
}
