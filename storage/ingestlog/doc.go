// Package ingestlog is the contract of the partition log: the durable order of
// a partition's records, from which all state is derived (L-1, L-2).
//
// Drivers: segmentlog (files, one group commit for all partitions of a node) and
// memlog (a fake for tests). All pass the suite in logtest.
//
// Invariants, for every driver:
//
//  1. Append returns without error only after the records survive a power cut.
//  2. The records of one Append become visible all together or not at all, also
//     across a crash.
//  3. Offsets of a partition are dense from 0 and number records, not rows.
//  4. A subscriber gets every record of its partition once, in offset order,
//     after it is durable.
//  5. An appender whose fencing token is lower than one seen is refused (L-10).
package ingestlog
