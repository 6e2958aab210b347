// Package triest counts the triangles of a graph whose edges come one after the
// other, from a sample of them: TRIEST-IMPR (De Stefani, Epasto, Riondato, Upfal:
// TRIEST: counting local and global triangles in fully dynamic streams with fixed
// memory size, 2016). Each edge counts the triangles that it closes with sampled
// ones, weighted by how likely it was that both were sampled; then it enters the
// sample, a reservoir (Vitter: Random sampling with a reservoir, 1985), or not.
//
// What an edge counts depends on those before it, so states do not merge: all edges
// of a group have to be in one partition. The package knows vertices by keyed
// hashes and keeps no value.
//
// Invariants:
//
//  1. The state is a function of the edges in their order; the coin of an edge is a
//     hash of it and of the number of edges before it.
//  2. Until the sample is full the count is exact.
//  3. A state merges only with one that saw nothing.
package triest
