// Package ingest takes rows into a stream: it validates them, routes each to its
// partition, appends them to the log, and hands the very same memory to the
// partition workers. What it acknowledges is durable (L-1).
//
// It starts no goroutine. An Appender belongs to one statement.
//
// Invariants:
//
//  1. The rows of a statement of up to FrameBytes become durable all or none, in
//     all partitions; a longer one commits in prefixes, each all or none.
//  2. A row that is not appended is either reported in an error or filed in
//     <stream>__rejected with its reason; none is dropped silently.
package ingest
