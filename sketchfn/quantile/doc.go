// Package quantile makes SQL functions of families that estimate quantiles of
// numbers: <prefix>_quantile(x, q), <prefix>_agg(x), <prefix>_union(s), and what
// sketch_quantile and sketch_rank read.
//
// It knows no family: what a state says, the family's Algebra does.
package quantile
