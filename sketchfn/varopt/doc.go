// Package varopt samples rows with weights so that the sum of any subset can be
// estimated with the least variance that a sample of its size allows (Cohen,
// Duffield, Kaplan, Lund, Thorup: Stream sampling for variance-optimal estimation of
// subset sums, 2009; Efficient stream sampling for variance-optimal estimation of
// subset sums, 2011).
//
// Rows that weigh more than a threshold are kept with their weight, of the others
// some stand for the threshold each, so that the sum of all is exact. The sample of
// samples is a sample: rows are collected until there are 2k, and then k are drawn,
// by pairwise rounding (Srinivasan: Distributions on level-sets, 2001).
//
// Unlike the priority sample of package sample, a row that comes twice counts twice,
// and there is no need for identifiers. The package knows weights and encoded values.
//
// Invariants:
//
//  1. A state has fewer than 2k rows; if some were left out, k or more.
//  2. Rows that stand for others all weigh the threshold, which never falls.
//  3. The draw is a hash of the state with the secret seed: replay draws again the
//     same, and merging two states gives the same bytes in either order.
package varopt
