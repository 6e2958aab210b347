// Package gk estimates quantiles with a rank error that is certain: the summary of
// Greenwald and Khanna (Space-efficient online computation of quantile summaries,
// 2001), pruned greedily (Luo, Wang, Yi, Cormode: Quantiles over data streams:
// experimental comparisons, new analyses, and further improvements, 2016).
//
// A summary is values with limits of their ranks. New values are gathered and
// merged as a summary of their own; two summaries merge by adding the limits that
// each gives to the other's values, which keeps the error (Agarwal, Cormode, Huang,
// Phillips, Wei, Yi: Mergeable summaries, 2012), and then are pruned.
//
// Invariants:
//
//  1. A value that stands for rank r has low ≤ r ≤ high, and neighbours are no
//     further apart than 2*epsilon*n ranks.
//  2. The smallest and the largest value are kept.
//  3. A merge does not depend on which side was which.
package gk
