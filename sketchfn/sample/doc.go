// Package sample draws samples that merge and that replay draws again: the rows
// whose identifiers have the smallest keyed hashes (bottom-k: Cohen, Kaplan:
// Summarizing data using bottom-k sketches, 2007), and, where rows have weights,
// those with the largest priority weight/hash (Duffield, Lund, Thorup: Priority
// sampling for estimation of arbitrary subset sums, 2007).
//
// It knows hashes of identifiers; what is the identifier of a row, the caller says.
//
// Invariant: a sample is a function of the set of rows. A row that comes twice is
// sampled once at most.
package sample
