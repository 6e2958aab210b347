// Package hll counts distinct values approximately: HyperLogLog (Flajolet,
// Fusy, Gandouet, Meunier, 2007) with 64-bit keyed hashes and a sparse form
// (Heule, Nunkesser, Hall, 2013) and the improved raw estimator (Ertl: New
// cardinality estimation algorithms for HyperLogLog sketches, 2017), which needs
// no tables of bias.
//
// A group keeps coupons at first: 26 bits of the hash as an index and the rank of
// the rest, one per distinct index. Beyond 3/16 of 2^p coupons it keeps 2^p
// registers of a byte, which the coupons determine.
//
// The package knows hashes and registers; it does not know streams, coverage or
// who merges, and keeps no value.
//
// Invariants:
//
//  1. A state is a function of the set of hashes that it saw: the order, the
//     number of times and the tree of merges leave no trace. Append shows this
//     in bytes. Merging is a semilattice, so an overlap does no harm.
//  2. A group is dense exactly if its hashes have more than maxCoupons(p)
//     distinct indexes.
package hll
