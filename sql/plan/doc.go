// Package plan is the logical plan of a statement: the nodes, the rewrites that
// make a plan cheaper, the rules by which the envelope travels through it, and
// the text that EXPLAIN shows. It also holds the Fold, the partial aggregation
// that continuous views and ad-hoc queries share.
//
// It knows nothing of syntax (bind makes plans), of how nodes run (exec) and of
// where partitions live (distsql). It does no I/O and starts no goroutine.
//
// Invariants:
//
//  1. Nodes are immutable once a plan is bound; a rewrite returns new nodes.
//     A plan may be run many times, and by several goroutines at once.
//  2. A relation that derives from a stream carries the envelope columns, side
//     by side and in the order of EnvelopeColumns (L-7). Only Prune removes
//     those that nothing reads.
//  3. An approximate value has bounds, or NULL for bounds; never equal ones (L-8).
//  4. Pruning never renumbers the states of a Fold: FoldScan.Needed says which
//     aggregates are read.
package plan
