// Package statecodec takes portable states apart. Portable states begin with a
// version byte and go on with varints, fixed little-endian words and bytes, in
// the order that each family documents.
//
// A state has one portable form only (states that are equal have equal bytes),
// so a number in more bytes than it needs is as corrupt as one that is missing.
// It knows no family; what the numbers mean, and which are allowed, is theirs.
package statecodec
