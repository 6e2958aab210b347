// Package countmin counts how often each value occurs, in space that does not
// depend on the number of values: the Count-Min sketch (Cormode, Muthukrishnan:
// An improved data stream summary: the Count-Min sketch and its applications,
// 2005) with conservative update (Estan, Varghese: New directions in traffic
// measurement and accounting, 2002), which streams without deletes allow.
//
// A group counts exactly while it has few values, by their hashes. Then it has
// depth rows of width counters; a value raises one counter in each row, those only
// that are not above the new count.
//
// The package knows hashes and counters; it does not know streams or who merges,
// and keeps no value.
//
// Invariants:
//
//  1. Every counter of a value is at least the number of its occurrences, and at
//     most that of all rows. Adding the counters of two sketches keeps this.
//  2. A group has counters exactly if it or what it was merged of had more than
//     limit(width, depth) values.
package countmin
