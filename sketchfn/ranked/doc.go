// Package ranked keeps the n rows of a group with the smallest keys, and a payload
// of each: the row with the largest key, the first values, a random sample by a
// hash. Keys and payloads are bytes in the order-preserving encoding of sql/types.
//
// It knows bytes and no function; which key ranks a row, its users say.
//
// Invariants:
//
//  1. Entries are in the order of key, then of payload.
//  2. A state is a function of the multiset of rows, or of the set of keys where
//     keys are unique; the order of rows and merges leaves no trace.
package ranked
