package simhash

import (
	"encoding/binary"
	"math"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// cell is the state of a group: the products with each random vector, nil before
// the first weight.
type cell struct {
	weight   uint64 // sum of the absolute weights
	products []int64
}

// shape is cells.Algebra for so many random vectors.
type shape struct{ n int }

const (
	// maxWeight limits the absolute weights of a group, so that no product overflows.
	maxWeight = 1 << 48
	// unit is 1 in fixed point; quantiles of 4096 equal parts are below 4 units.
	unit      = 1 << 9
	tableBits = 12
	perHash   = 64 / tableBits
)

// quantiles are those in the middle of 4096 equal parts of the normal distribution.
var quantiles = func() (out [1 << tableBits]int64) {
	for i := range out {
		p := (float64(i) + 0.5) / float64(len(out))
		out[i] = int64(math.Round(unit * math.Sqrt2 * math.Erfinv(2*p-1)))
	}
	return out
}()

func tooHeavy() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "a vector of a weight of more than 2^48")
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
	if c.products == nil {
		c.products = cells.Make[int64](s.n)
	}
	c.weight += size
	for at := 0; at < s.n; at += perHash {
		h := valuehash.Row(hash, at/perHash)
		for i := at; i < min(at+perHash, s.n); i++ {
			c.products[i] += w * quantiles[h&(1<<tableBits-1)]
			h >>= tableBits
		}
	}
	return nil
}

// Merge implements cells.Algebra.
func (s shape) Merge(dst, src *cell) error {
	if src.products == nil {
		return nil
	}
	if dst.weight+src.weight >= maxWeight {
		return tooHeavy()
	}
	if dst.products == nil {
		dst.products = cells.Make[int64](s.n)
	}
	dst.weight += src.weight
	for i, x := range src.products {
		dst.products[i] += x
	}
	return nil
}

// The portable form, version 1, behind the version byte: a byte, 1 if there was a
// weight; then uvarint sum of the absolute weights; varint each product.
const codecV1 byte = 1

// Append implements cells.Algebra.
func (shape) Append(dst []byte, c *cell) []byte {
	if c.products == nil {
		return append(dst, 0)
	}
	dst = binary.AppendUvarint(append(dst, 1), c.weight)
	for _, x := range c.products {
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
	if len(r.Rest()) < s.n {
		r.Fail()
		return cell{}
	}
	c.products = cells.Make[int64](s.n)
	for i := range c.products {
		u := r.Uvarint(2 * 4 * unit * maxWeight) // zigzag, as binary.AppendVarint writes it
		x := int64(u>>1) ^ -int64(u&1)
		if most := int64(c.weight) * 4 * unit; x > most || -x > most {
			r.Fail()
		}
		c.products[i] = x
	}
	return c
}

// Bytes implements cells.Algebra.
func (shape) Bytes(c *cell) int64 { return 8 * int64(cap(c.products)) }

// agreements returns in how many signs two vectors agree, of those that both have:
// products that are zero in fixed point have none.
func agreements(a, b *cell) (hits, n int) {
	for i, x := range a.products {
		y := b.products[i]
		if x == 0 || y == 0 {
			continue
		}
		n++
		if (x < 0) == (y < 0) {
			hits++
		}
	}
	return hits, n
}
