// Package spill keeps rows of a running statement in temporary files when memory does
// not suffice.
//
// It knows nothing of operators. It starts no goroutine; a Set and its files are used
// by the goroutine that runs the statement.
//
// Invariants:
//
//  1. A file is removed when its Set is closed, at the latest; what a crash leaves is
//     removed by Open.
//  2. Bytes are counted against the Quota before they are written.
//  3. What is read was written by this process: a frame whose checksum differs is an
//     error (XX001), never rows.
//
// A file is a sequence of frames: length of the payload (4 bytes, little-endian), its
// CRC-32C (4), the payload, a record batch. The format may change at any time, because
// no file outlives its process.
package spill
