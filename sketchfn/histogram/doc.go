// Package histogram counts values by buckets of equal width, numbered as
// PostgreSQL's width_bucket numbers them.
//
// Invariant: a state is a function of the multiset of values.
package histogram
