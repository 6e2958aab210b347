// Package value is the SQL type sketch: states of aggregates as values that are
// stored, read, merged, exported and imported.
//
// A value says by itself what it may merge with: the family, the type of the
// values it was made of, the parameters and the seed of the hashes. So it means
// the same in every table and view, and nothing merges by accident (L-5).
//
// The package knows how values look and which families there are (Families); what
// a state means, only its family does.
//
// Invariants:
//
//  1. Equal states of one kind and seed are equal bytes.
//  2. Bytes that are not a value are XX001; values of two kinds or seeds are TY003.
package value
