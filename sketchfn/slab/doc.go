// Package slab keeps the memory of many small states: blocks of a few fixed
// sizes, named by number, in chunks without pointers. Two million groups cost
// the garbage collector what one slice does.
//
// It does not know what a block holds. A Pool belongs to one goroutine.
//
// Invariants:
//
//  1. A block is zero when Alloc returns it.
//  2. A slice that Block returned is good until the next Alloc of its class, or
//     until the block is given back.
package slab
