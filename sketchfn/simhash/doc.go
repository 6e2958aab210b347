// Package simhash estimates the angle between vectors of weights of values: the
// signs of their products with random vectors (Charikar: Similarity estimation
// techniques from rounding algorithms, 2002; Goemans, Williamson: Improved
// approximation algorithms for maximum cut, 1995). Two vectors agree in a sign with
// the probability 1 - angle/π.
//
// The random vectors are normal, by a table of 4096 quantiles in fixed point, so
// that sums are whole numbers and merging is exact.
//
// Invariant: the state is linear in the weights; it is a function of the sum of the
// weights of each value.
package simhash
