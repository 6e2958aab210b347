// Package selection finds order statistics without sorting. It
// knows words only: who has floats or counters maps them to words that order alike.
//
// Invariant: the answer depends on the multiset of the keys, not on their order.
package selection
