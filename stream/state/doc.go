// Package state holds the groups of continuous views: the arena of one (view,
// window) in memory, its portable form, and the layout of everything a
// partition keeps in the key-value store (docs/format/state.md).
//
// It knows nothing of logs, watermarks or SQL. An Arena is used by one goroutine
// at a time, the partition's, until it is final: then others may read it. Groups are
// copies for others, Finished their values; Changes are copies, or final arenas.
//
// Invariants:
//
//  1. Groups are numbered in the order they were first seen, and keep their
//     number through checkpoint, eviction and reload; so replay gives equal bytes.
//  2. A chunk holds the groups [n·ChunkGroups, (n+1)·ChunkGroups) whole.
package state
