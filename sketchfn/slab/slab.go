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
	bytes   int64 // of chunks and of the numbers of free blocks
}

type class[T any] struct {
	size   int  // elements of a block
	shift  uint // log2 of the blocks of a chunk
	chunks []chunk[T]
	open   []uint32 // chunks that may have a free block
	gone   []uint32 // chunks whose memory was given back
}

// chunk is memory of 1<<shift blocks. The first chunk of a class is smaller until
// it has to be larger.
type chunk[T any] struct {
	data []T
	free []uint16 // blocks given back
	used uint32   // blocks before it were handed out once
	live uint32   // blocks in use
	open bool     // is in the class's list
}

// New returns a pool of blocks of these sizes, in elements. A block is named by
// its class, the index of its size, and a number.
func New[T any](sizes ...int) *Pool[T] {
	var zero T
	p := &Pool[T]{classes: make([]class[T], len(sizes))}
	for i, size := range sizes {
		blocks := min(max(1, chunkBytes/(size*int(unsafe.Sizeof(zero)))), 1<<16)
		p.classes[i] = class[T]{size: size, shift: uint(bits.Len(uint(blocks)) - 1)}
	}
	return p
}

// Size returns the number of elements of a block of class c.
func (p *Pool[T]) Size(c int) int { return p.classes[c].size }

// Block returns the block of class c with this number.
func (p *Pool[T]) Block(c int, ref uint32) []T {
	k := &p.classes[c]
	at := int(ref&(1<<k.shift-1)) * k.size
	return k.chunks[ref>>k.shift].data[at : at+k.size : at+k.size]
}

// Alloc returns the number of a zero block of class c.
func (p *Pool[T]) Alloc(c int) uint32 {
	k := &p.classes[c]
	for len(k.open) > 0 {
		id := k.open[len(k.open)-1]
		h := &k.chunks[id]
		if h.data != nil {
			if n := len(h.free); n > 0 {
				ref := id<<k.shift | uint32(h.free[n-1])
				h.free = h.free[:n-1]
				h.live++
				clear(p.Block(c, ref))
				return ref
			}
			if h.used < 1<<k.shift {
				return p.extend(k, id)
			}
		}
		h.open = false
		k.open = k.open[:len(k.open)-1]
	}
	return p.extend(k, p.addChunk(k))
}

// addChunk returns the number of a chunk without data that is in the open list.
func (p *Pool[T]) addChunk(k *class[T]) uint32 {
	var id uint32
	if n := len(k.gone); n > 0 {
		id = k.gone[n-1]
		k.gone = k.gone[:n-1]
	} else {
		id = uint32(len(k.chunks))
		k.chunks = append(k.chunks, chunk[T]{})
	}
	if !k.chunks[id].open {
		k.chunks[id].open = true
		k.open = append(k.open, id)
	}
	return id
}

// extend hands out a block of a chunk that was not in use before.
func (p *Pool[T]) extend(k *class[T], id uint32) uint32 {
	h := &k.chunks[id]
	if int(h.used)*k.size == len(h.data) {
		n := k.size << k.shift
		if id == 0 { // which doubles, so that a few groups need little
			n = min(n, max(k.size, 2*len(h.data)))
		}
		p.bytes += sizeOf(n, h.data)
		p.bytes -= sizeOf(len(h.data), h.data)
		grown := make([]T, n)
		copy(grown, h.data)
		h.data = grown
	}
	h.used++
	h.live++
	return id<<k.shift | (h.used - 1)
}

// sizeOf returns the bytes that the runtime takes for n elements: it rounds large
// objects up to whole pages.
func sizeOf[T any](n int, _ []T) int64 {
	const large, page = 32 << 10, 8 << 10
	var zero T
	size := int64(n) * int64(unsafe.Sizeof(zero))
	if size > large {
		size = (size + page - 1) / page * page
	}
	return size
}

// Free gives a block back. A chunk without blocks in use is given back to the
// runtime.
func (p *Pool[T]) Free(c int, ref uint32) {
	k := &p.classes[c]
	id := ref >> k.shift
	h := &k.chunks[id]
	if h.live--; h.live == 0 {
		p.bytes -= sizeOf(len(h.data), h.data) + 2*int64(cap(h.free))
		*h = chunk[T]{open: h.open}
		k.gone = append(k.gone, id)
		return
	}
	p.bytes -= 2 * int64(cap(h.free))
	h.free = append(h.free, uint16(ref&(1<<k.shift-1)))
	p.bytes += 2 * int64(cap(h.free))
	if !h.open {
		h.open = true
		k.open = append(k.open, id)
	}
}

// MemoryBytes returns the bytes held, free blocks included.
func (p *Pool[T]) MemoryBytes() int64 {
	n := p.bytes + int64(cap(p.classes))*int64(unsafe.Sizeof(class[T]{}))
	for i := range p.classes {
		k := &p.classes[i]
		n += int64(cap(k.chunks))*int64(unsafe.Sizeof(chunk[T]{})) + 4*int64(cap(k.open)+cap(k.gone))
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
