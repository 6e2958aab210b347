// Package bucket keeps each value in one bucket at a time: that of its latest row.
// It answers how many values each bucket has, as for funnels and states of things.
// It is exact but for values whose 64-bit hashes collide, and bounded by a number of
// values; the idea and the names are PipelineDB's bucket_agg.
//
// The package knows hashes; it keeps no value.
//
// Invariant: the state is a function of the set of rows: of each hash the row with
// the largest key counts, of equal keys the one with the larger bucket.
package bucket
