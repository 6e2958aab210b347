// Package topk finds the most frequent values: the counters of SpaceSaving
// (Metwally, Agrawal, El Abbadi, 2005), which are those of Misra and Gries (1982)
// seen from above, with the merge of Agarwal, Cormode, Huang, Phillips, Wei and Yi
// (Mergeable summaries, 2012).
//
// A counter says that its value occurred at least low times and at most
// low + floor - known; a value without a counter occurred at most floor times. When the
// counters are too many, the floor rises to the (capacity+1)-th largest upper limit, and
// those above it stay; of those at it only as many as it takes to have a few.
//
// The package knows values by their bytes or words; it does not know streams or
// who merges. Its state contains input values.
//
// Invariants:
//
//  1. floor ≤ total/(capacity+1), in every tree of merges.
//  2. known ≤ floor and known ≤ low for every counter.
//  3. No tie is broken by position: of counters at the floor those with the smallest
//     hashes stay, so merging is commutative; equal counts are listed by value.
package topk
