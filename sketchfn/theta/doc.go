// Package theta samples sets so that set operations work on the samples: the
// smallest k hashes of a set and the next larger one, theta, below which all
// hashes of the set are kept (Bar-Yossef, Jayram, Kumar, Sivakumar, Trevisan:
// Counting distinct elements in a data stream, 2002; Dasgupta, Lang, Rhodes,
// Thaler: A framework for estimating stream expression cardinalities, 2016).
//
// A union keeps the smaller theta and trims to k; an intersection and a difference
// keep the smaller theta and the hashes below it that belong. What is kept is then
// a sample of the result at the rate theta.
//
// The package knows hashes; it does not know streams or who merges, and keeps no
// value.
//
// Invariants:
//
//  1. The state of an aggregate is a function of the set of hashes that it saw,
//     and Append shows it in bytes. Merging is a semilattice.
//  2. All hashes of a state are below its theta and above 0, and are read in order
//     without being sorted, up to any of them.
package theta
