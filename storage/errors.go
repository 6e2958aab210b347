package storage

import "errors"

// What can be wrong with stored bytes. Callers test with errors.Is.
var (
	// ErrCorrupt: a checksum or an invariant does not hold. Nothing was changed.
	ErrCorrupt = errors.New("stored data is corrupt")
	// ErrFenced: a newer owner has taken over; this one must stop writing (L-10).
	ErrFenced = errors.New("fenced by a newer owner")
	// ErrTooNew: the bytes were written by a later version than this one reads.
	ErrTooNew = errors.New("stored data is of a newer format version")
	// ErrTrimmed: the record was removed by retention.
	ErrTrimmed = errors.New("the log was trimmed beyond this offset")
	// ErrStalled: nothing was written, nothing is in doubt, and the same may succeed
	// later, when the disk has space.
	ErrStalled = errors.New("not written for the time being")
	// ErrClosed: the store is closed.
	ErrClosed = errors.New("the store is closed")
)

// FormatVersion is the version of the data directory's layout. It grows with
// every change that an older binary could not read; docs/format says what changed.
const FormatVersion = 1
