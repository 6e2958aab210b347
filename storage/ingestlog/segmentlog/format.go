package segmentlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/ingestlog"
)

// Layout of a segment: a header of headerBytes, then frames aligned to 8 bytes,
// then zeros. All numbers are little-endian.
const (
	formatVersion = 1
	segmentMagic  = "TALLYSEG"
	headerBytes   = 64
	frameMagic    = 0x52464C54 // "TLFR"
	frameFixed    = 48
	entryBytes    = 64
	maxEntries    = 1 << 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// segmentHeader says where a segment stands in the series.
type segmentHeader struct {
	number   uint64
	firstSeq uint64 // of the first frame
	fence    id.FencingToken
	prevEnd  uint64 // where the frames of the previous segment end; 0 for the first
}

func (h segmentHeader) encode() []byte {
	b := make([]byte, headerBytes)
	copy(b, segmentMagic)
	binary.LittleEndian.PutUint32(b[8:], formatVersion)
	binary.LittleEndian.PutUint64(b[16:], h.number)
	binary.LittleEndian.PutUint64(b[24:], h.firstSeq)
	binary.LittleEndian.PutUint64(b[32:], uint64(h.fence))
	binary.LittleEndian.PutUint64(b[40:], h.prevEnd)
	binary.LittleEndian.PutUint32(b[60:], checksum(b[:60]))
	return b
}

func decodeSegmentHeader(b []byte) (segmentHeader, error) {
	if len(b) < headerBytes || string(b[:8]) != segmentMagic ||
		binary.LittleEndian.Uint32(b[60:]) != checksum(b[:60]) {
		return segmentHeader{}, fmt.Errorf("segment header: %w", storage.ErrCorrupt)
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v > formatVersion {
		return segmentHeader{}, fmt.Errorf("segment of version %d: %w", v, storage.ErrTooNew)
	}
	return segmentHeader{
		number:   binary.LittleEndian.Uint64(b[16:]),
		firstSeq: binary.LittleEndian.Uint64(b[24:]),
		fence:    id.FencingToken(binary.LittleEndian.Uint64(b[32:])),
		prevEnd:  binary.LittleEndian.Uint64(b[40:]),
	}, nil
}

// frameHeader precedes the payloads of one Append. Heads frames carry entries
// without payloads: the head of each partition when the segment began.
type frameHeader struct {
	seq       uint64
	fence     id.FencingToken
	synced    uint64 // every frame below this was durable when this one was written
	time      int64
	heads     bool
	entries   []frameEntry
	headBytes int // of the encoded header
	total     int // with payloads and padding
}

type frameEntry struct {
	partition id.StreamPartition
	kind      ingestlog.RecordKind
	rows      uint32
	schema    uint64
	producer  uint64
	sequence  uint64
	offset    id.Offset
	length    uint32
	crc       uint32
}

func align8(n int) int { return (n + 7) &^ 7 }

// appendFrameHeader appends the encoded header; payloads follow it, then padding
// to a multiple of 8.
func appendFrameHeader(dst []byte, h *frameHeader) []byte {
	start := len(dst)
	var flags uint32
	if h.heads {
		flags = 1
	}
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, frameMagic)
	dst = le.AppendUint32(dst, 0) // checksum, below
	dst = le.AppendUint32(dst, uint32(len(h.entries)))
	dst = le.AppendUint32(dst, flags)
	dst = le.AppendUint64(dst, h.seq)
	dst = le.AppendUint64(dst, uint64(h.fence))
	dst = le.AppendUint64(dst, h.synced)
	dst = le.AppendUint64(dst, uint64(h.time))
	for i := range h.entries {
		e := &h.entries[i]
		dst = le.AppendUint32(dst, uint32(e.partition.Tenant))
		dst = le.AppendUint32(dst, uint32(e.partition.Stream))
		dst = le.AppendUint32(dst, uint32(e.partition.Partition))
		dst = le.AppendUint32(dst, uint32(e.kind))
		dst = le.AppendUint32(dst, e.rows)
		dst = le.AppendUint32(dst, e.length)
		dst = le.AppendUint32(dst, e.crc)
		dst = le.AppendUint32(dst, 0)
		dst = le.AppendUint64(dst, e.schema)
		dst = le.AppendUint64(dst, e.producer)
		dst = le.AppendUint64(dst, e.sequence)
		dst = le.AppendUint64(dst, uint64(e.offset))
	}
	le.PutUint32(dst[start+4:], checksum(dst[start+8:]))
	return dst
}

// decodeFrameHeader decodes a frame header from the front of b, which may be
// longer. It returns ok = false for anything that is not a whole, valid header.
func decodeFrameHeader(b []byte) (h frameHeader, ok bool) {
	le := binary.LittleEndian
	if len(b) < frameFixed || le.Uint32(b) != frameMagic {
		return h, false
	}
	n := int(le.Uint32(b[8:]))
	h.headBytes = frameFixed + n*entryBytes
	if n > maxEntries || len(b) < h.headBytes || le.Uint32(b[4:]) != checksum(b[8:h.headBytes]) {
		return h, false
	}
	h.heads = le.Uint32(b[12:])&1 != 0
	h.seq = le.Uint64(b[16:])
	h.fence = id.FencingToken(le.Uint64(b[24:]))
	h.synced = le.Uint64(b[32:])
	h.time = int64(le.Uint64(b[40:]))
	h.entries = make([]frameEntry, n)
	total := h.headBytes
	for i := range h.entries {
		e := b[frameFixed+i*entryBytes:]
		h.entries[i] = frameEntry{
			partition: id.StreamPartition{
				Tenant: id.Tenant(le.Uint32(e)), Stream: id.Relation(le.Uint32(e[4:])), Partition: id.Partition(le.Uint32(e[8:])),
			},
			kind: ingestlog.RecordKind(le.Uint32(e[12:])), rows: le.Uint32(e[16:]), length: le.Uint32(e[20:]), crc: le.Uint32(e[24:]),
			schema: le.Uint64(e[32:]), producer: le.Uint64(e[40:]), sequence: le.Uint64(e[48:]), offset: id.Offset(le.Uint64(e[56:])),
		}
		total += int(h.entries[i].length)
	}
	h.total = align8(total)
	return h, true
}
