package minhash

import (
	"encoding/binary"
	"math"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/types"
)

// cell is the state of a group: the signature, nil for the empty set.
type cell struct{ least []uint32 }

// shape is cells.Algebra for signatures of k places.
type shape struct{ k int }

// Add implements cells.Algebra. Two places share the bits of one hash.
func (s shape) Add(c *cell, _ []*types.Vector, _ int, hash uint64) error {
	s.prepare(c)
	for i := 0; i < s.k; i += 2 {
		h := valuehash.Row(hash, i/2)
		c.least[i] = min(c.least[i], uint32(h))
		c.least[i+1] = min(c.least[i+1], uint32(h>>32))
	}
	return nil
}

func (s shape) prepare(c *cell) {
	if c.least == nil {
		c.least = cells.Make[uint32](s.k)
		for i := range c.least {
			c.least[i] = math.MaxUint32
		}
	}
}

// Merge implements cells.Algebra.
func (s shape) Merge(dst, src *cell) error {
	if src.least == nil {
		return nil
	}
	s.prepare(dst)
	for i, x := range src.least {
		dst.least[i] = min(dst.least[i], x)
	}
	return nil
}

// The portable form, version 1, behind the version byte: a byte, 1 if the set has
// a value; then k hashes, 4 bytes little-endian each.
const codecV1 byte = 1

// Append implements cells.Algebra.
func (shape) Append(dst []byte, c *cell) []byte {
	if c.least == nil {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	for _, x := range c.least {
		dst = binary.LittleEndian.AppendUint32(dst, x)
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
	b := r.Bytes(4 * s.k)
	if r.Bad() {
		return c
	}
	c.least = cells.Make[uint32](s.k)
	for i := range c.least {
		c.least[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return c
}

// Bytes implements cells.Algebra.
func (shape) Bytes(c *cell) int64 { return 4 * int64(cap(c.least)) }

// matches returns the number of places in which two signatures agree. Empty sets
// agree with nothing.
func matches(a, b *cell) int {
	n := 0
	for i := range min(len(a.least), len(b.least)) {
		if a.least[i] == b.least[i] {
			n++
		}
	}
	return n
}

// candidates reports whether signatures agree in all places of one of the bands of
// so many rows.
func candidates(a, b *cell, rows int) bool {
	for at := 0; at+rows <= min(len(a.least), len(b.least)); at += rows {
		if equal(a.least[at:at+rows], b.least[at:at+rows]) {
			return true
		}
	}
	return false
}

func equal(a, b []uint32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
