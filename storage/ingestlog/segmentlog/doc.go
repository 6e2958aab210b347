// Package segmentlog is the ingest log of one node: all partitions share a
// series of preallocated segment files, so that one write and one sync make the
// appends of every partition and every connection durable (group commit).
//
// The file format is documented in docs/format/segment-log.md.
//
// Goroutines: one committer per Log (log.go: run) and one that prepares the next
// segment (prepare.go); Close ends both.
//
// Invariants:
//
//  1. Frames carry consecutive sequence numbers across segments. Recovery reads
//     up to the first frame that is not there; what follows was never
//     acknowledged, and where that cannot be, the log refuses to open.
//  2. After a failed write or sync the log takes no more appends: what the
//     kernel kept of the failed pages is unknown.
//  3. A segment is written by one process only; a reopened log starts a new one.
package segmentlog
