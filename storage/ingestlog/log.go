package ingestlog

import (
	"context"
	"slices"

	"github.com/tallydb/tallydb/catalog/id"
)

// RecordKind says what a record's payload is.
type RecordKind uint8

// Kinds of records. Numbers are part of the format.
const (
	// Data is a batch of rows (storage/recordbatch).
	Data RecordKind = 1
	// Control is a decision of a clock or a command (stream/partition).
	Control RecordKind = 2
	// Rejects is a batch of rows that could not be parsed, with their reasons.
	Rejects RecordKind = 3
)

// Record is one entry of a partition's log.
type Record struct {
	Kind          RecordKind
	SchemaVersion uint64
	Producer      uint64 // who numbered it; 0 if nobody did
	Sequence      uint64
	Rows          uint32
	Payload       []byte

	// Filled in by the log.
	Offset     id.Offset
	AppendTime int64 // microseconds since 1970, never going backwards within a log
	Fence      id.FencingToken

	// Attached is the payload in memory, handed to the subscriber in the process
	// that appended it, in place of the payload. It is not stored: nil on what was
	// read back.
	Attached Attachment
}

// Attachment is a decoded payload that is counted by reference, so that its
// memory is used again when the last holder releases it.
type Attachment interface {
	Retain()
	Release()
}

// Delivered returns what a log gives a subscriber of a record: the attachment,
// retained, or else a copy of the payload, whose memory is the appender's.
func Delivered(r *Record) *Record {
	rec := *r
	if rec.Attached != nil {
		rec.Attached.Retain()
		rec.Payload = nil
	} else {
		rec.Payload = slices.Clone(rec.Payload)
	}
	return &rec
}

// Entry is a record and the partition that it goes to.
type Entry struct {
	Partition id.StreamPartition
	Record    Record
}

// Log is a set of partition logs on one node. It is safe for concurrent use.
type Log interface {
	// Append makes the entries durable, all or none, and sets the Offset and
	// AppendTime of each. It retains an attachment until every subscriber was
	// given it. Payloads must not change until it returns. Errors that wrap
	// storage.ErrStalled leave no trace and may be gone at the next attempt; after
	// any other the log may take no more.
	Append(ctx context.Context, entries []Entry) error
	// Partitions returns the partitions that the log knows of, in any order.
	Partitions() []id.StreamPartition
	// Head returns the offset that the partition's next record will get.
	Head(p id.StreamPartition) id.Offset
	// Base returns the offset of the oldest record kept.
	Base(p id.StreamPartition) id.Offset
	// Read calls fn for the records of p in [from, to) in order until it returns
	// an error, which Read returns. Records and payloads are valid during the
	// call only. storage.ErrTrimmed if from is below Base.
	Read(ctx context.Context, p id.StreamPartition, from, to id.Offset, fn func(*Record) error) error
	// Subscribe makes deliver get every record of p from the current head on, in
	// order, and returns that head. deliver runs on the log's own goroutine and
	// must not block; it may keep rec and its attachment, which it must release.
	Subscribe(p id.StreamPartition, deliver func(rec *Record)) (from id.Offset, cancel func())
	// Trim lets records below offset to be removed; Base says how far it went.
	Trim(p id.StreamPartition, to id.Offset) error
	// Rows returns how many rows the records in [from, to) hold, as far as they are kept.
	Rows(p id.StreamPartition, from, to id.Offset) int64
	// AppendedAt returns the append time of the record at an offset, 0 if unknown.
	AppendedAt(p id.StreamPartition, at id.Offset) int64
	// Close stops the log. Appends that wait fail with storage.ErrClosed.
	Close() error
}
