package theta

import (
	"slices"

	"github.com/tallydb/tallydb/sketchfn/hashset"
	"github.com/tallydb/tallydb/sketchfn/selection"
)

// maxTheta is the theta of a set whose hashes are all kept. Hashes have 63 bits.
const maxTheta = 1<<63 - 1

// cell is the state of a group: hashes below theta.
type cell struct {
	cut uint64 // maxTheta - theta, so that the zero cell is empty
	set hashset.Set
}

func (c *cell) theta() uint64 { return maxTheta - c.cut }

// shape is what follows from k.
type shape struct {
	k     int
	limit int // hashes that a cell has before it is trimmed
}

func newShape(k int) shape { return shape{k: k, limit: hashset.Places(k+1) / 4 * 3} }

// insert adds a hash below theta.
func (s shape) insert(c *cell, h uint64) {
	if c.set.Insert(h) && c.set.Len() >= s.limit && c.set.Len() > s.k {
		s.trim(c)
	}
}

// trim keeps the k smallest hashes of a cell that has more, and makes the next
// one theta.
func (s shape) trim(c *cell) {
	all := c.set.Append(make([]uint64, 0, c.set.Len()))
	theta := selection.Nth(all, s.k)
	c.cut, c.set = maxTheta-theta, hashset.Of(all[:s.k]) // Nth leaves the smaller ones before it
}

// join folds the hashes of another cell into one that is not empty: those that it lacks
// are found first, and with them at most one selection and one new table are made.
func (s shape) join(dst, src *cell, tmp *scratch) {
	theta := min(dst.theta(), src.theta())
	if theta == dst.theta() && dst.set.Covers(&src.set) {
		return
	}
	all := tmp.room(dst.set.Len() + 2*src.set.Len() + 1)
	fresh := src.set.AppendMissing(all, &dst.set, theta)
	fresh = dst.set.AppendAbsent(all[:len(fresh)], fresh)[len(fresh):]
	if len(fresh) == 0 && theta == dst.theta() {
		return
	}
	n := copy(all[:cap(all)], fresh)
	all = dst.set.AppendBelow(all[:n], theta)
	if len(all) >= s.limit && len(all) > s.k {
		theta = selection.Nth(all, s.k)
		all = all[:s.k] // Nth leaves the smaller ones before it
	}
	dst.cut = maxTheta - theta
	dst.set.Refill(all)
}

// sample returns the sorted hashes and theta with no more than k of them.
func (s shape) sample(c *cell) Sample {
	return Sample{Theta: c.theta(), Hashes: c.set.Sorted()}.trim(s.k)
}

// lower drops what is not below theta.
func (s shape) lower(c *cell, theta uint64) {
	if theta >= c.theta() {
		return
	}
	c.cut = maxTheta - theta
	all := c.set.Append(make([]uint64, 0, c.set.Len()))
	c.set = hashset.Of(slices.DeleteFunc(all, func(h uint64) bool { return h >= theta }))
}

// add folds hashes of a sample into a cell.
func (s shape) add(c *cell, in Sample) {
	s.lower(c, in.Theta)
	for _, h := range in.Hashes {
		if h >= c.theta() {
			break // they are sorted
		}
		s.insert(c, h)
	}
}
