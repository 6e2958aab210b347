// Package req estimates quantiles with a rank error that shrinks towards the
// largest values: the sketch of Cormode, Karnin, Liberty, Thaler and Veselý
// (Relative error streaming quantiles, 2021), for high ranks. The 99.9th percentile
// of latencies is as exact, in relation to the 0.1 % beyond it, as the median to
// its half.
//
// A sketch is a stack of compactors; a value on level h stands for 2^h values. A
// full compactor sorts its values, protects the largest ones and moves every other
// of the rest up; how many sections of it take part follows a schedule that its
// state counts.
//
// Invariants:
//
//  1. The weights of the retained values sum to the number of values seen.
//  2. A coin is a keyed hash of the identity, the level, the number of coins tossed
//     before and the values at stake, or the opposite of the last one of its
//     level. So the same sequence of updates and merges gives the same bytes, and a
//     merge does not depend on which side was which.
package req
