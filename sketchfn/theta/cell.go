package theta

import (
	"slices"

	"github.com/tallydb/tallydb/sketchfn/selection"
)

// maxTheta is the theta of a set whose hashes are all kept. Hashes have 63 bits.
const maxTheta = 1<<63 - 1

// cell is the state of a group. Hashes stand in an open-addressing table, free
// places are 0.
type cell struct {
	cut   uint64 // maxTheta - theta, so that the zero cell is empty
	table []uint64
	n     int // hashes in the table
}

func (c *cell) theta() uint64 { return maxTheta - c.cut }

// shape is what follows from k.
type shape struct {
	k      int
	places int // of the largest table
}

func newShape(k int) shape {
	s := shape{k: k, places: leastPlaces}
	for s.places < 2*k {
		s.places *= 2
	}
	return s
}

const leastPlaces = 8

func fits(n, places int) bool { return 4*n <= 3*places }

// insert puts a hash below theta into the table unless it is there.
func (s shape) insert(c *cell, h uint64) {
	if len(c.table) > 0 {
		mask := uint64(len(c.table) - 1)
		i := h & mask
		for ; c.table[i] != 0; i = (i + 1) & mask {
			if c.table[i] == h {
				return
			}
		}
		if fits(c.n+1, len(c.table)) {
			c.table[i] = h
			c.n++
			return
		}
	}
	if len(c.table) < s.places {
		s.rehash(c, max(leastPlaces, 2*len(c.table)))
	} else {
		s.trim(c)
	}
	if h < c.theta() {
		place(c.table, h)
		c.n++
	}
}

// place puts a hash that the table does not have into it.
func place(table []uint64, h uint64) {
	mask := uint64(len(table) - 1)
	i := h & mask
	for table[i] != 0 {
		i = (i + 1) & mask
	}
	table[i] = h
}

// rehash moves the hashes to a table of another size.
func (s shape) rehash(c *cell, places int) {
	table := make([]uint64, places)
	for _, h := range c.table {
		if h != 0 {
			place(table, h)
		}
	}
	c.table = table
}

// trim keeps the k smallest hashes of a cell that has more, and makes the next
// one theta.
func (s shape) trim(c *cell) {
	all := hashes(c)
	theta := selection.Nth(all, s.k)
	c.cut, c.n = maxTheta-theta, 0
	table := make([]uint64, len(c.table))
	for _, h := range all {
		if h < theta {
			place(table, h)
			c.n++
		}
	}
	c.table = table
}

// hashes returns the hashes in no order, in memory of their own.
func hashes(c *cell) []uint64 {
	out := make([]uint64, 0, c.n)
	for _, h := range c.table {
		if h != 0 {
			out = append(out, h)
		}
	}
	return out
}

// sample returns the sorted hashes and theta with no more than k of them.
func (s shape) sample(c *cell) Sample {
	out := Sample{Theta: c.theta(), Hashes: hashes(c)}
	slices.Sort(out.Hashes)
	return out.trim(s.k)
}

// add folds hashes of a sample into a cell.
func (s shape) add(c *cell, in Sample) {
	if in.Theta < c.theta() {
		s.lower(c, in.Theta)
	}
	for _, h := range in.Hashes {
		if h >= c.theta() {
			break // they are sorted
		}
		s.insert(c, h)
	}
}

// lower drops what is not below theta.
func (s shape) lower(c *cell, theta uint64) {
	c.cut = maxTheta - theta
	kept := 0
	for _, h := range c.table {
		if h != 0 && h < theta {
			kept++
		}
	}
	if kept == c.n {
		return
	}
	places := leastPlaces
	for !fits(kept, places) {
		places *= 2
	}
	table := make([]uint64, places)
	for _, h := range c.table {
		if h != 0 && h < theta {
			place(table, h)
		}
	}
	c.table, c.n = table, kept
}
