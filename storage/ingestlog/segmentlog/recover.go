package segmentlog

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/vfs"
)

// recover reads the segments, rebuilds the indexes and finds where the log ends.
// It returns the highest segment number in use.
func (l *Log) recover() (last uint64, err error) {
	numbers, err := l.listSegments()
	if err != nil {
		return 0, err
	}
	for _, n := range numbers {
		last = n
		name := segmentName(n)
		f, err := l.fs.OpenReadWrite(l.fs.PathJoin(l.dir, name), vfs.CategoryLog)
		if err != nil {
			return 0, err
		}
		used, err := l.recoverSegment(n, name, f)
		if err != nil {
			_ = f.Close()
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		if !used { // prepared, never begun
			if err := f.Close(); err != nil {
				return 0, err
			}
			if err := l.fs.Remove(l.fs.PathJoin(l.dir, name)); err != nil {
				return 0, err
			}
		}
	}
	return last, nil
}

func (l *Log) listSegments() ([]uint64, error) {
	names, err := l.fs.List(l.dir)
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, name := range names {
		if n, ok := segmentNumber(name); ok {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// recoverSegment reads one segment. used is false for a file that holds no
// segment yet: only the last one may.
func (l *Log) recoverSegment(number uint64, name string, f vfs.File) (used bool, err error) {
	head := make([]byte, headerBytes)
	if _, err := readFull(f, head, 0); err != nil {
		return false, err
	}
	if allZero(head) {
		return false, nil
	}
	h, err := decodeSegmentHeader(head)
	if err != nil {
		if l.couldBeTorn(f) {
			return false, nil
		}
		return false, err
	}
	if err := l.follows(h, number); err != nil {
		return false, err
	}
	s := newSegment(h, name, f)
	end, err := l.recoverFrames(s)
	if err != nil {
		return false, err
	}
	if end == headerBytes { // the first frame is written with the header and synced before use
		return false, nil
	}
	l.segments[number] = s
	l.active, l.end = s, end
	return true, nil
}

// couldBeTorn reports whether a segment with a broken header may be one whose
// very first write never became durable: nothing after that write is in it.
func (l *Log) couldBeTorn(f vfs.File) bool {
	_, found := findFrame(f, headerBytes+8)
	return !found
}

// follows checks that the segment continues the one before, whose end it vouches for.
func (l *Log) follows(h segmentHeader, number uint64) error {
	if h.number != number {
		return fmt.Errorf("holds segment %d: %w", h.number, storage.ErrCorrupt)
	}
	if h.fence > l.fence {
		return fmt.Errorf("written by owner %d, this is owner %d: %w", h.fence, l.fence, storage.ErrFenced)
	}
	if l.active == nil {
		l.seq = h.firstSeq // older segments were trimmed
		return nil
	}
	if h.firstSeq != l.seq || int64(h.prevEnd) != l.end {
		return fmt.Errorf("segment begins with frame %d after position %d, but the one before ends with frame %d at %d: %w",
			h.firstSeq, h.prevEnd, l.seq, l.end, storage.ErrCorrupt)
	}
	return nil
}

// recoverFrames reads frames up to the first that is not whole, and returns where that is.
func (l *Log) recoverFrames(s *segment) (end int64, err error) {
	end = headerBytes
	st, err := s.file.Stat()
	if err != nil {
		return 0, err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(s.file, headerBytes, st.Size()-headerBytes), int(min(1<<20, st.Size())))
	var body []byte
	for {
		h, payload, ok := readFrame(r, &body)
		if !ok || h.seq != l.seq || h.fence != s.header.fence {
			break
		}
		if err := l.recoverFrame(s, &h, end, payload); err != nil {
			return 0, err
		}
		l.seq++
		l.lastTime = max(l.lastTime, h.time)
		end += int64(h.total)
	}
	l.synced = l.seq
	// A later frame that knew this one durable proves damage, not a torn write.
	if h, found := findFrame(s.file, end); found && h.fence == s.header.fence && h.seq > l.seq && h.synced > l.seq {
		return 0, fmt.Errorf("frame %d at %d is damaged, frame %d after it was written when it was durable: %w",
			l.seq, end, h.seq, storage.ErrCorrupt)
	}
	return end, nil
}

// recoverFrame enters the records of a frame at position at into the indexes.
func (l *Log) recoverFrame(s *segment, h *frameHeader, at int64, _ []byte) error {
	at += int64(h.headBytes)
	for i := range h.entries {
		e := &h.entries[i]
		idx := l.index(e.partition)
		if h.heads || len(idx.locations) == 0 && idx.base == 0 {
			if len(idx.locations) == 0 {
				idx.base = max(idx.base, e.offset)
			}
			if h.heads {
				if idx.head() != e.offset {
					return fmt.Errorf("partition %d is at offset %d, the segment begins at %d: %w", e.partition.Partition, idx.head(), e.offset, storage.ErrCorrupt)
				}
				continue
			}
		}
		if idx.head() != e.offset {
			return fmt.Errorf("partition %d is at offset %d, the frame holds %d: %w", e.partition.Partition, idx.head(), e.offset, storage.ErrCorrupt)
		}
		idx.locations = append(idx.locations, location{
			segment: uint32(s.header.number), position: uint32(at), length: e.length, crc: e.crc, rows: e.rows,
			kind: e.kind, schema: uint32(e.schema), time: h.time, fence: h.fence,
		})
		s.highest[e.partition] = e.offset
		at += int64(e.length)
	}
	return nil
}

// readFrame reads one frame and checks every payload's checksum.
func readFrame(r *bufio.Reader, body *[]byte) (h frameHeader, payload []byte, ok bool) {
	fixed, err := r.Peek(frameFixed)
	if err != nil {
		return h, nil, false
	}
	n := headerLength(fixed)
	if n == 0 {
		return h, nil, false
	}
	if cap(*body) < n {
		*body = make([]byte, n)
	}
	head := (*body)[:n]
	if _, err := io.ReadFull(r, head); err != nil {
		return h, nil, false
	}
	if h, ok = decodeFrameHeader(head); !ok {
		return h, nil, false
	}
	rest := h.total - h.headBytes
	if cap(*body) < rest {
		*body = make([]byte, rest)
	}
	payload = (*body)[:rest]
	if _, err := io.ReadFull(r, payload); err != nil {
		return h, nil, false
	}
	at := 0
	for i := range h.entries {
		n := int(h.entries[i].length)
		if !h.heads && checksum(payload[at:at+n]) != h.entries[i].crc {
			return h, nil, false
		}
		at += n
	}
	return h, payload, true
}
