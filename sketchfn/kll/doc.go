// Package kll estimates quantiles: the sketch of Karnin, Lang and Liberty
// (Optimal quantile approximation in streams, 2016), with lazy compaction and
// the error constants of Apache DataSketches.
//
// A sketch is a stack of levels; a value on level h stands for 2^h values. When
// the sketch is full, the lowest level that reached its capacity is sorted and
// every other value of it moves up; a coin says whether the odd or the even ones. A
// merge compacts what both sides have of a level before it merges them (join.go).
// Up to max(k, 64) values a group keeps them all and its quantiles are exact.
//
// Values are kept as words that order as the values do (key.go), so one sketch
// serves floats, integers and times without loss. The package does not know SQL
// beyond sql/agg's contract, streams, or who merges.
//
// Invariants:
//
//  1. The weights of the retained values sum to the number of values seen.
//  2. A coin is a keyed hash of the identity, the level, the number of coins
//     tossed before and the values at stake. So the same sequence of updates and
//     merges gives the same bytes; a merge does not depend on which side was which.
//  3. Levels above 0 are sorted; level 0 is sorted when it is compacted or shown.
package kll
