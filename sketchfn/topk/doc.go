// Package topk finds the most frequent values: the counters of SpaceSaving
// (Metwally, Agrawal, El Abbadi, 2005), which are those of Misra and Gries (1982)
// seen from above, with the merge of Agarwal, Cormode, Huang, Phillips, Wei and Yi
// (Mergeable summaries, 2012).
//
// A counter says that its value occurred at least low times and at most
// low + slack; a value without a counter occurred at most floor times. When the
// counters are too many, those with the largest upper limits stay, as many as the
// capacity, and the floor rises to the largest upper limit of those that go.
//
// The package knows values by their bytes or words; it does not know streams or
// who merges. Its state contains input values.
//
// Invariants:
//
//  1. floor ≤ total/(capacity+1), in every tree of merges.
//  2. slack ≤ floor ≤ low + slack for every counter.
//  3. No tie is broken by position: of counters with equal limits those with the
//     smaller hashes stay, so merging is commutative; equal counts are listed by
//     value.
package topk
