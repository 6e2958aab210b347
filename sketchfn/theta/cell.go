package theta

import (
	"slices"

	"github.com/tallydb/tallydb/sketchfn/hashset"
	"github.com/tallydb/tallydb/sketchfn/sorted"
)

// maxTheta is the theta of a set whose hashes are all kept. Hashes have 63 bits.
const maxTheta = 1<<63 - 1

// cell is the state of a group: hashes below theta.
type cell struct {
	cut uint64 // maxTheta - theta, so that the zero cell is empty
	set set
}

func (c *cell) theta() uint64 { return maxTheta - c.cut }

// shape is what follows from k.
type shape struct {
	k     int
	limit int // hashes that a cell has before it is trimmed
}

func newShape(k int) shape { return shape{k: k, limit: hashset.Places(k+1) / 4 * 3} }

// insert adds a hash below theta.
func (a algebra) insert(c *cell, h uint64) {
	if !c.set.takesOne() {
		theta := c.theta()
		c.set = tableOf(c.set.below(0, theta, a.first.room(int(c.set.n))), theta, hashset.Places(int(c.set.n)+1))
	}
	if c.set.add(h) && int(c.set.n) >= a.limit && int(c.set.n) > a.k {
		a.trim(c)
	}
}

// trim keeps the k smallest hashes of a table that has more, and makes the next one
// theta.
func (a algebra) trim(c *cell) {
	all := c.set.below(0, c.theta(), a.first.room(int(c.set.n)))
	c.cut = maxTheta - all[a.k]
	c.set.refill(all[:a.k], all[a.k])
}

// join folds the hashes of another cell into one that is not empty. The k smallest of
// both, and the next one, are all that is needed: so they are united up to where these are
// likely to lie, and then further as long as they are too few.
func (a algebra) join(dst, src *cell) {
	theta := min(dst.theta(), src.theta())
	if theta == dst.theta() && dst.set.same(&src.set) {
		return
	}
	x, y := a.first.room(int(dst.set.n)), a.second.room(int(src.set.n))
	all := a.united.room(a.k + a.k/8 + 64)
	density := float64(dst.set.n)/float64(dst.theta()) + float64(src.set.n)/float64(src.theta())
	for from := uint64(0); from < theta && len(all) <= a.k; {
		missing := float64(a.k + 1 - len(all))
		to := theta
		if up := float64(from) + (missing+missing/16+16)/density; up < float64(theta) {
			to = uint64(up)
		}
		ours, theirs := dst.set.below(from, to, x), src.set.below(from, to, y)
		all = slices.Grow(all, len(ours)+len(theirs))
		n := sorted.Unite(all[len(all):cap(all)], ours, theirs)
		all = all[:len(all)+n]
		from = to
		density = float64(len(all)+1) / float64(from)
	}
	if len(all) > a.k {
		theta, all = all[a.k], all[:a.k]
	}
	if theta == dst.theta() && len(all) == int(dst.set.n) {
		return // all of them were there
	}
	dst.cut = maxTheta - theta
	dst.set.replace(all, a.k)
}

// sample returns the hashes, in order, and theta with no more than k of them.
func (a algebra) sample(c *cell) Sample {
	n := int(c.set.n)
	return Sample{Theta: c.theta(), Hashes: c.set.below(0, c.theta(), make([]uint64, 0, n+1))}.trim(a.k)
}
