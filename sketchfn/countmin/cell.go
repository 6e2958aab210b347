package countmin

import (
	"math"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// cell is the state of a group: entries in an open-addressing table, or counters.
type cell struct {
	total    uint64
	entries  []entry
	n        int
	counters []uint64 // depth rows of width; nil while the group counts exactly
}

// entry counts one hash. The zero entry is a free place.
type entry struct{ hash, count uint64 }

// shape is what follows from the parameters.
type shape struct {
	width, depth int
	limit        int // of entries
}

const leastPlaces = 4

// maxTotal limits the values of a group, so that sums do not overflow.
const maxTotal = 1 << 60

func newShape(width, depth int) shape {
	return shape{width: width, depth: depth, limit: max(leastPlaces, width*depth/8)}
}

func fits(n, places int) bool { return 4*n <= 3*places }

// find returns the entry of a hash, or the free place where it goes.
func find(table []entry, hash uint64) *entry {
	mask := uint64(len(table) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if e := &table[i]; e.count == 0 || e.hash == hash {
			return e
		}
	}
}

// add counts n occurrences of a hash.
func (s shape) add(c *cell, hash, n uint64) {
	c.total += n
	if c.counters != nil {
		s.raise(c, hash, n)
		return
	}
	if len(c.entries) > 0 {
		if e := find(c.entries, hash); e.count > 0 {
			e.count += n
			return
		}
	}
	if c.n == s.limit {
		s.spread(c)
		s.put(c.counters, hash, n)
		return
	}
	if !fits(c.n+1, len(c.entries)) {
		old := c.entries
		c.entries = make([]entry, max(leastPlaces, 2*len(old)))
		for _, e := range old {
			if e.count > 0 {
				*find(c.entries, e.hash) = e
			}
		}
	}
	*find(c.entries, hash) = entry{hash, n}
	c.n++
}

// raise is the conservative update: no counter of the value has to be above the
// smallest one and n.
func (s shape) raise(c *cell, hash, n uint64) {
	target := s.least(c, hash) + n
	for row := range s.depth {
		x := &c.counters[s.at(hash, row)]
		*x = max(*x, target)
	}
}

// at returns the place of a hash in a row.
func (s shape) at(hash uint64, row int) int {
	return row*s.width + valuehash.Place(valuehash.Row(hash, row), s.width)
}

// least returns the smallest counter of a hash.
func (s shape) least(c *cell, hash uint64) uint64 {
	least := uint64(math.MaxUint64)
	for row := range s.depth {
		least = min(least, c.counters[s.at(hash, row)])
	}
	return least
}

// put adds to the counters of a hash, all of them.
func (s shape) put(counters []uint64, hash, n uint64) {
	for row := range s.depth {
		counters[s.at(hash, row)] += n
	}
}

// spread makes entries counters.
func (s shape) spread(c *cell) {
	counters := cells.Make[uint64](s.width * s.depth)
	for _, e := range c.entries {
		if e.count > 0 {
			s.put(counters, e.hash, e.count)
		}
	}
	c.counters, c.entries, c.n = counters, nil, 0
}

// sorted returns the entries in the order of their hashes.
func sorted(c *cell) []entry {
	out := make([]entry, 0, c.n)
	for _, e := range c.entries {
		if e.count > 0 {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b entry) int {
		if a.hash < b.hash {
			return -1
		}
		return 1
	})
	return out
}

// merge folds src into dst.
func (s shape) merge(dst, src *cell) error {
	if dst.total+src.total >= maxTotal {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "a frequency sketch of more than 2^60 values")
	}
	switch {
	case src.counters != nil:
		if dst.counters == nil {
			s.spread(dst)
		}
		dst.total += src.total
		for i, x := range src.counters {
			dst.counters[i] += x
		}
	case dst.counters != nil:
		dst.total += src.total
		for _, e := range src.entries {
			if e.count > 0 {
				s.put(dst.counters, e.hash, e.count)
			}
		}
	default:
		s.mergeEntries(dst, sorted(src))
	}
	return nil
}

// mergeEntries folds entries into a group that has entries. The sum does not
// depend on which side was which: beyond the limit, all counters are plain sums.
func (s shape) mergeEntries(dst *cell, entries []entry) {
	for i, e := range entries {
		if dst.counters != nil {
			for _, e := range entries[i:] {
				dst.total += e.count
				s.put(dst.counters, e.hash, e.count)
			}
			return
		}
		s.add(dst, e.hash, e.count)
	}
}

// Estimate is what a state says of the occurrences of one value.
type Estimate struct {
	Count uint64 // the upper limit, for sure
	Lo    uint64 // holds with the confidence
	Error float64
}

// estimate returns the count of a hash. A row counts too much by more than t
// with probability total/(width t) at most (Markov), all rows together with the
// depth-th power of that.
func (s shape) estimate(c *cell, hash uint64, confidence float64) Estimate {
	if c.counters == nil {
		if c.n == 0 {
			return Estimate{}
		}
		n := find(c.entries, hash).count
		return Estimate{Count: n, Lo: n}
	}
	out := Estimate{Count: s.least(c, hash), Error: s.errorShare(c, confidence)}
	if over := uint64(math.Ceil(out.Error * float64(c.total))); over < out.Count {
		out.Lo = out.Count - over
	}
	return out
}

// errorShare is the share of all values that a count is too high by at most.
func (s shape) errorShare(c *cell, confidence float64) float64 {
	if c.counters == nil {
		return 0
	}
	return ErrorShare(s.width, s.depth, confidence)
}

// ErrorShare returns the error of counts at a confidence in [0, 1) as a share of
// all values: (1-confidence)^(-1/depth)/width.
func ErrorShare(width, depth int, confidence float64) float64 {
	return min(1, math.Pow(1-min(max(confidence, 0), 1-1e-12), -1/float64(depth))/float64(width))
}
