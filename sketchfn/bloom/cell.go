package bloom

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/hashset"
	"github.com/tallydb/tallydb/sketchfn/limits"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/types"
)

// cell is the state of a group.
type cell struct {
	set   hashset.Set // while words is nil
	dense []uint64
}

// shape is what follows from the parameters: the number of bits, a multiple of
// 64, and of bits of each value.
type shape struct {
	bits, hashes int
	limit        int // of hashes kept as such
}

func newShape(bits, hashes int) shape { return shape{bits, hashes, max(8, bits/512)} }

// set sets the bits of a hash, at h1 + i h2 + i³/6 (enhanced double hashing:
// Dillinger, Manolios: Bloom filters in probabilistic verification, 2004).
func (s shape) set(words []uint64, hash uint64) {
	x, y := hash, valuehash.Row(hash, 0)
	for i := range uint64(s.hashes) {
		at := uint(valuehash.Place(x, s.bits))
		words[at/64] |= 1 << (at % 64)
		x, y = x+y, y+i
	}
}

// has reports whether all bits of a hash are set.
func (s shape) has(words []uint64, hash uint64) bool {
	x, y := hash, valuehash.Row(hash, 0)
	for i := range uint64(s.hashes) {
		at := uint(valuehash.Place(x, s.bits))
		if words[at/64]&(1<<(at%64)) == 0 {
			return false
		}
		x, y = x+y, y+i
	}
	return true
}

// spread makes hashes bits.
func (s shape) spread(c *cell) {
	c.dense = cells.Make[uint64](s.bits / 64)
	for _, h := range c.set.Append(nil) {
		s.set(c.dense, h)
	}
	c.set = hashset.Set{}
}

func (s shape) add(c *cell, hash uint64) {
	if c.dense != nil {
		s.set(c.dense, hash)
		return
	}
	if c.set.Insert(max(hash, 1)); c.set.Len() > s.limit {
		s.spread(c)
	}
}

func (s shape) contains(c *cell, hash uint64) bool {
	if hash = max(hash, 1); c.dense == nil {
		return c.set.Has(hash)
	}
	return s.has(c.dense, hash)
}

// Add implements cells.Algebra.
func (s shape) Add(c *cell, _ []*types.Vector, _ int, hash uint64) error {
	s.add(c, max(hash, 1))
	return nil
}

// Merge implements cells.Algebra.
func (s shape) Merge(dst, src *cell) error {
	if src.dense == nil {
		for _, h := range src.set.Append(nil) {
			s.add(dst, h)
		}
		return nil
	}
	if dst.dense == nil {
		s.spread(dst)
	}
	for i, w := range src.dense {
		dst.dense[i] |= w
	}
	return nil
}

// intersect keeps what is in both.
func (s shape) intersect(dst, src *cell) {
	switch {
	case dst.dense != nil && src.dense != nil:
		for i, w := range src.dense {
			dst.dense[i] &= w
		}
	case dst.dense != nil:
		dst.set, dst.dense = s.among(src, dst), nil
	default:
		dst.set = s.among(dst, src)
	}
}

// among returns the hashes of a that b contains.
func (s shape) among(a, b *cell) hashset.Set {
	var kept []uint64
	for _, h := range a.set.Append(nil) {
		if s.contains(b, h) {
			kept = append(kept, h)
		}
	}
	return hashset.Of(kept)
}

// The portable form, version 1, behind the version byte:
//
//	form  1 byte: 0 hashes, 1 bits
//	hashes  uvarint number; the sorted hashes, 8 bytes little-endian each
//	bits    words of 64 bits, 8 bytes little-endian each
const codecV1 byte = 1

const (
	formHashes byte = 0
	formBits   byte = 1
)

// Append implements cells.Algebra.
func (s shape) Append(dst []byte, c *cell) []byte {
	words := c.dense
	if c.dense == nil {
		words = c.set.Sorted()
		dst = binary.AppendUvarint(append(dst, formHashes), uint64(len(words)))
	} else {
		dst = append(dst, formBits)
	}
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

// Read implements cells.Algebra.
func (s shape) Read(r *statecodec.Reader) cell {
	var c cell
	switch r.Byte() {
	case formHashes:
		n, last := int(r.Uvarint(uint64(s.limit))), uint64(0)
		for range n {
			h := r.Word()
			if r.Bad() || h <= last {
				r.Fail()
				break
			}
			c.set.Insert(h)
			last = h
		}
	case formBits:
		if len(r.Rest()) < s.bits/8 {
			r.Fail()
			break
		}
		c.dense = cells.Make[uint64](s.bits / 64)
		for i := range c.dense {
			c.dense[i] = r.Word()
		}
	default:
		r.Fail()
	}
	return c
}

// Bytes implements cells.Algebra.
func (shape) Bytes(c *cell) int64 { return c.set.Bytes() + 8*int64(cap(c.dense)) }

// ones returns the number of bits that are set.
func (c *cell) ones() int {
	n := 0
	for _, w := range c.dense {
		n += bits.OnesCount64(w)
	}
	return n
}

// Estimate is what a filter says of the number of its values.
type Estimate struct {
	Value, Lo, Hi float64
	Error         float64 // half the relative width of the limits; NaN if unknown
}

// estimate counts linearly. Where all bits are set there is no upper limit.
func (s shape) estimate(c *cell, confidence float64) Estimate {
	if c.dense == nil {
		n := float64(c.set.Len())
		return Estimate{Value: n, Lo: n, Hi: n}
	}
	m, k := float64(s.bits), float64(s.hashes)
	unset := m - float64(c.ones())
	if unset == 0 {
		least := m / k * math.Log(m)
		return Estimate{Value: least, Lo: least / 2, Hi: math.Inf(1), Error: math.NaN()}
	}
	value := -m / k * math.Log(unset/m)
	t := k * value / m
	half := limits.Deviations(confidence) * math.Sqrt(m*(math.Expm1(t)-t)) / k
	e := Estimate{Value: value, Lo: max(0, value-half), Hi: value + half}
	if value > 0 {
		e.Error = half / value
	}
	return e
}

// falsePositives returns the share of values that are not in the set and are said
// to be.
func (s shape) falsePositives(c *cell) float64 {
	if c.dense == nil {
		return 0
	}
	return math.Pow(float64(c.ones())/float64(s.bits), float64(s.hashes))
}
