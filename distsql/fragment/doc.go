// Package fragment runs at the owner of a partition: it answers with the groups
// of continuous views or, where they lie in that partition alone, their values, or reads
// rows of the retained log. What it returns carries its coverage and its identity, so
// that the root can prove that it counts everything once.
//
// It knows nothing of other partitions.
//
// Goroutines: those that decode and filter what a scan reads, within a call.
package fragment
