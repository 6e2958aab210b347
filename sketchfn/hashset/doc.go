// Package hashset keeps a set of 64-bit hashes that are not 0 in an
// open-addressing table. It knows no family and does not say what the hashes are of.
//
// Invariant: the zero Set is empty, and holds no memory.
package hashset
