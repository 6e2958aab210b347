package graph

import (
	"math/bits"

	"github.com/tallydb/tallydb/sketchfn/valuehash"
)

// prime is 2^61-1: counters are numbers modulo it, so that weights can be divided
// out.
const prime = 1<<61 - 1

func addMod(a, b uint64) uint64 {
	s := a + b
	if s >= prime {
		s -= prime
	}
	return s
}

func mulMod(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	s := lo&prime + (lo>>61 | hi<<3)
	if s = s&prime + s>>61; s >= prime {
		s -= prime
	}
	return s
}

// inverse returns 1/a by Fermat's little theorem; a is not 0.
func inverse(a uint64) uint64 {
	out := uint64(1)
	for e := uint64(prime - 2); e > 0; e >>= 1 {
		if e&1 == 1 {
			out = mulMod(out, a)
		}
		a = mulMod(a, a)
	}
	return out
}

// fromInt maps a weight into the field.
func fromInt(w int64) uint64 {
	if w < 0 {
		return prime - uint64(-w)%prime
	}
	return uint64(w) % prime
}

// edge is a pair of vertices, the smaller one first.
type edge struct{ u, v uint64 }

// vertexOf makes a hash a vertex.
func vertexOf(hash uint64) uint64 { return hash % prime }

func edgeOf(a, b uint64) edge { return edge{min(a, b), max(a, b)} }

// hash is that of the edge, of which every round and the check take their own bits.
func (e edge) hash() uint64 { return valuehash.Row(e.u*0x9e3779b97f4a7c15+e.v, checkRow+1) }

// checkRow is the row of bits that the check takes; rounds take those below.
const checkRow = 1 << 16

func check(hash uint64) uint64 { return valuehash.Row(hash, checkRow) % prime }

// cell sums the edges that fall into it, each times its signed weight.
type cell struct{ count, u, v, check uint64 }

func (c *cell) add(o *cell) {
	c.count, c.u = addMod(c.count, o.count), addMod(c.u, o.u)
	c.v, c.check = addMod(c.v, o.v), addMod(c.check, o.check)
}

// cellOf is the cell of one edge with a weight.
func cellOf(e edge, hash, w uint64) cell {
	return cell{w, mulMod(w, e.u), mulMod(w, e.v), mulMod(w, check(hash))}
}

// single returns the edge of a cell that holds but one.
func (c *cell) single() (edge, bool) {
	if c.count == 0 {
		return edge{}, false
	}
	by := inverse(c.count)
	e := edge{mulMod(c.u, by), mulMod(c.v, by)}
	return e, e.u < e.v && mulMod(c.count, check(e.hash())) == c.check
}
