package countsketch

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/limits"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// cell is the state of a group.
type cell struct {
	weight   uint64  // sum of the absolute weights
	counters []int64 // depth rows of width; nil before the first value
}

type shape struct{ width, depth int }

// maxWeight limits the absolute weights of a group, so that no counter overflows.
const maxWeight = 1 << 60

func tooHeavy() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "a count sketch of a weight of more than 2^60")
}

// place returns where a hash falls in a row, and its sign.
func (s shape) place(hash uint64, row int) (at int, negative bool) {
	h := valuehash.Row(hash, row)
	return row*s.width + valuehash.Place(h, s.width), h&1 == 1
}

// Add implements cells.Algebra.
func (s shape) Add(c *cell, in []*types.Vector, row int, hash uint64) error {
	w := in[1].Ints[row]
	size := uint64(w)
	if w < 0 {
		size = -size
	}
	if size >= maxWeight || c.weight+size >= maxWeight {
		return tooHeavy()
	}
	if c.counters == nil {
		c.counters = cells.Make[int64](s.width * s.depth)
	}
	c.weight += size
	for row := range s.depth {
		if at, negative := s.place(hash, row); negative {
			c.counters[at] -= w
		} else {
			c.counters[at] += w
		}
	}
	return nil
}

// Merge implements cells.Algebra.
func (s shape) Merge(dst, src *cell) error {
	if src.counters == nil {
		return nil
	}
	if dst.weight+src.weight >= maxWeight {
		return tooHeavy()
	}
	if dst.counters == nil {
		dst.counters = cells.Make[int64](s.width * s.depth)
	}
	dst.weight += src.weight
	for i, x := range src.counters {
		dst.counters[i] += x
	}
	return nil
}

// The portable form, version 1, behind the version byte: a byte, 1 if there was a
// value; then uvarint sum of the absolute weights; varint each counter, row by row.
const codecV1 byte = 1

// Append implements cells.Algebra.
func (s shape) Append(dst []byte, c *cell) []byte {
	if c.counters == nil {
		return append(dst, 0)
	}
	dst = binary.AppendUvarint(append(dst, 1), c.weight)
	for _, x := range c.counters {
		dst = binary.AppendVarint(dst, x)
	}
	return dst
}

// Read implements cells.Algebra.
func (s shape) Read(r *statecodec.Reader) cell {
	var c cell
	switch r.Byte() {
	case 0:
		return c
	case 1:
	default:
		r.Fail()
	}
	c.weight = r.Uvarint(maxWeight - 1)
	if len(r.Rest()) < s.width*s.depth {
		r.Fail()
		return cell{}
	}
	c.counters = cells.Make[int64](s.width * s.depth)
	for i := range c.counters {
		u := r.Uvarint(2 * maxWeight) // zigzag, as binary.AppendVarint writes it
		x := int64(u>>1) ^ -int64(u&1)
		if x > int64(c.weight) || -x > int64(c.weight) {
			r.Fail()
		}
		c.counters[i] = x
	}
	return c
}

// Bytes implements cells.Algebra.
func (shape) Bytes(c *cell) int64 { return 8 * int64(cap(c.counters)) }

// sum returns the estimate of the weight of a hash.
func (s shape) sum(c *cell, hash uint64) int64 {
	if c.counters == nil {
		return 0
	}
	rows := make([]int64, s.depth)
	for row := range rows {
		at, negative := s.place(hash, row)
		if rows[row] = c.counters[at]; negative {
			rows[row] = -rows[row]
		}
	}
	slices.Sort(rows)
	return rows[s.depth/2]
}

// secondMoment returns the estimate of the sum of the squares of the weights of
// values: the median of the sums of squares of the rows.
func (s shape) secondMoment(c *cell) float64 {
	if c.counters == nil {
		return 0
	}
	rows := make([]float64, s.depth)
	for i, x := range c.counters {
		rows[i/s.width] += float64(x) * float64(x)
	}
	slices.Sort(rows)
	return rows[s.depth/2]
}

// margin returns how far a sum is off at most with the confidence: each row has
// the variance F2/width at most, so Chebyshev bounds its failure, and the median
// needs half of the rows to fail. F2 itself is estimated, with a relative standard
// error of sqrt(2/width) a row, two of which are added to it.
func (s shape) margin(c *cell, confidence float64) float64 {
	f2 := s.secondMoment(c) * (1 + 2*math.Sqrt(2/float64(s.width)))
	return math.Ceil(math.Sqrt(f2 / float64(s.width) / limits.MedianRate(s.depth, confidence)))
}

// momentError is the relative error of the second moment at the confidence.
func (s shape) momentError(confidence float64) float64 {
	return math.Sqrt(2 / float64(s.width) / limits.MedianRate(s.depth, confidence))
}
