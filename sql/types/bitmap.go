package types

import "math/bits"

// Bitmap is a set of row numbers, least significant bit first. Rows beyond its
// length are not in the set, so nil is the empty set of any size.
type Bitmap []uint64

// Has reports whether row i is in the set.
func (b Bitmap) Has(i int) bool {
	w := i >> 6
	return w < len(b) && b[w]&(1<<(i&63)) != 0
}

// Set adds row i, growing the bitmap where needed.
func (b *Bitmap) Set(i int) {
	w := i >> 6
	for len(*b) <= w {
		*b = append(*b, 0)
	}
	(*b)[w] |= 1 << (i & 63)
}

// Clear removes row i.
func (b Bitmap) Clear(i int) {
	if w := i >> 6; w < len(b) {
		b[w] &^= 1 << (i & 63)
	}
}

// Count returns how many rows are in the set.
func (b Bitmap) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// Any reports whether the set has a row.
func (b Bitmap) Any() bool {
	for _, w := range b {
		if w != 0 {
			return true
		}
	}
	return false
}
