// Package fragment runs at the owner of a partition: it answers with the groups
// of continuous views or, where they lie in that partition alone, their values, folds the retained log for an ad-hoc query, or reads
// rows. What it returns carries its coverage and its identity, so that the root
// can prove that it counts everything once.
//
// It knows nothing of other partitions and starts no goroutine.
package fragment
