// Package slab keeps the memory of many small states: blocks of a few fixed
// sizes, named by number, in chunks without pointers. Two million groups cost
// the garbage collector what one slice does.
//
// It does not know what a block holds. A Pool belongs to one goroutine.
//
// Invariants:
//
//  1. A block is zero when Alloc returns it.
//  2. A slice that Block returned is good until the next Alloc of its class.
package slab

import (
	"math/bits"
	"unsafe"
)

// chunkBytes is the size that chunks grow to; larger blocks have a chunk each.
const chunkBytes = 64 << 10

// Pool hands out blocks of T. T holds no pointer.
type Pool[T any] struct {
	classes []class[T]
	bytes   int64
}

type class[T any] struct {
	size   int  // elements of a block
	shift  uint // log2 of the blocks of a chunk
	chunks [][]T
	used   uint32
	free   []uint32
}

// New returns a pool of blocks of these sizes, in elements. A block is named by
// its class, the index of its size, and a number.
func New[T any](sizes ...int) *Pool[T] {
	var zero T
	p := &Pool[T]{classes: make([]class[T], len(sizes))}
	for i, size := range sizes {
		blocks := max(1, chunkBytes/(size*int(unsafe.Sizeof(zero))))
		p.classes[i] = class[T]{size: size, shift: uint(bits.Len(uint(blocks)) - 1)}
	}
	return p
}

// Classes returns the number of classes.
func (p *Pool[T]) Classes() int { return len(p.classes) }

// Size returns the number of elements of a block of class c.
func (p *Pool[T]) Size(c int) int { return p.classes[c].size }

// Block returns the block of class c with this number.
func (p *Pool[T]) Block(c int, ref uint32) []T {
	k := &p.classes[c]
	at := int(ref&(1<<k.shift-1)) * k.size
	return k.chunks[ref>>k.shift][at : at+k.size : at+k.size]
}

// Alloc returns the number of a zero block of class c.
func (p *Pool[T]) Alloc(c int) uint32 {
	k := &p.classes[c]
	if n := len(k.free); n > 0 {
		ref := k.free[n-1]
		k.free = k.free[:n-1]
		clear(p.Block(c, ref))
		return ref
	}
	ref := k.used
	k.used++
	at := int(ref >> k.shift)
	switch {
	case at == len(k.chunks):
		blocks := 1
		if at > 0 {
			blocks <<= k.shift
		}
		k.chunks = append(k.chunks, p.chunk(blocks*k.size))
	case at == 0 && int(ref)*k.size == len(k.chunks[0]):
		// The first chunk doubles, so that a few groups need little.
		p.bytes -= sizeOf(k.chunks[0])
		grown := p.chunk(2 * len(k.chunks[0]))
		copy(grown, k.chunks[0])
		k.chunks[0] = grown
	}
	return ref
}

func (p *Pool[T]) chunk(n int) []T {
	c := make([]T, n)
	p.bytes += sizeOf(c)
	return c
}

func sizeOf[T any](s []T) int64 {
	var zero T
	return int64(cap(s)) * int64(unsafe.Sizeof(zero))
}

// Free gives a block back.
func (p *Pool[T]) Free(c int, ref uint32) {
	k := &p.classes[c]
	k.free = append(k.free, ref)
}

// MemoryBytes returns the bytes held, free blocks included.
func (p *Pool[T]) MemoryBytes() int64 {
	n := p.bytes
	for i := range p.classes {
		n += int64(4*cap(p.classes[i].free) + 24*cap(p.classes[i].chunks))
	}
	return n
}

// GrowTo returns s with at least n elements; new ones are zero.
func GrowTo[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		return s[:n]
	}
	out := make([]T, n, max(n, 2*cap(s)))
	copy(out, s)
	return out
}
