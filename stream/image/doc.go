// Package image keeps columns of retained logs in memory, decoded, so that queries
// that read a stream again need not take its records apart again.
//
// A partition's log is cut into blocks of consecutive records. What a block holds
// never changes: records do not, nor does which of their rows were admitted. So
// nothing is ever invalidated. Columns are decoded when a query first asks for them,
// and those that no query has asked for longest make room for others. Texts with few
// distinct values have a dictionary, one for a column of a stream, that grows.
//
// It knows nothing of where records are (Read) and starts no goroutine. Everything is
// safe for concurrent use; batches are only read.
package image
