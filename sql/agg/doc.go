// Package agg is the contract of aggregate functions: what each one promises
// (Descriptor), how its states are kept for many groups at once (States), how a
// state becomes a value with bounds (Finaliser), and the identity that decides
// whether two states may merge (L-5). It also holds the exact aggregates.
//
// Sketches implement the same contract in sketchfn; nothing here knows them.
// Aggregates are pure: no clock, no I/O, no goroutine. A coin that an algorithm
// needs is a hash of the state's identity and of the state itself, so replay
// gives equal bytes (L-2).
//
// Invariants:
//
//  1. A zero state, one that saw no row, exists for every group as soon as the
//     group does, and merging it changes nothing.
//  2. Append and Merge round-trip: merging the appended bytes into a zero state
//     gives a state that behaves as the original does, to the last bit.
//  3. Two calls with the same Identity share one state.
package agg
