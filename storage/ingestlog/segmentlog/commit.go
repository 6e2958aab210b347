package segmentlog

import (
	"errors"
	"fmt"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/ingestlog"
)

// maxWriteBytes bounds one write; a group larger than it takes several writes
// and still one sync.
const maxWriteBytes = 8 << 20

// run is the committer: it takes all that waits, writes it, syncs once,
// publishes and acknowledges.
func (l *Log) run() {
	for {
		l.queueMu.Lock()
		for len(l.queue) == 0 && l.failed == nil {
			l.queueCond.Wait()
		}
		if l.failed != nil {
			l.queueMu.Unlock()
			return
		}
		group := l.queue
		bytes := l.queuedBytes
		l.queue = nil
		l.queueMu.Unlock()

		start := l.now()
		durable, err := l.commit(group)
		var unprepared *noSegment
		switch {
		case errors.As(err, &unprepared): // nothing of the rest was written
			err = fmt.Errorf("write log: %w", err)
			l.stall(err)
		case err != nil:
			err = fmt.Errorf("write log: %w", err)
			l.fail(err)
		default:
			l.stall(nil)
		}
		for i, req := range group {
			if i < durable {
				req.finish(nil)
			} else {
				req.finish(err)
			}
		}
		l.observe(l.now().Sub(start), len(group), bytes)

		l.queueMu.Lock()
		l.queuedBytes -= bytes
		l.queueCond.Broadcast()
		l.queueMu.Unlock()
	}
}

// noSegment says that there is no segment to go on in. What was acknowledged is
// durable, what was not is not written, and the next append tries again.
type noSegment struct{ cause error }

func (e *noSegment) Error() string { return e.cause.Error() }
func (e *noSegment) Unwrap() error { return e.cause }

// Is makes it a storage.ErrStalled.
func (e *noSegment) Is(target error) bool { return target == storage.ErrStalled }

// stall notes why appends fail for the time being, nil if they do not.
func (l *Log) stall(err error) {
	l.queueMu.Lock()
	changed := (l.stalled == nil) != (err == nil)
	l.stalled = err
	l.queueMu.Unlock()
	if changed {
		l.onStall(err)
	}
}

// Stalled returns why appends fail for the time being, or nil.
func (l *Log) Stalled() error {
	l.queueMu.Lock()
	defer l.queueMu.Unlock()
	return l.stalled
}

// finish tells the appender. The attachments were retained for the delivery.
func (r *appendRequest) finish(err error) {
	for i := range r.entries {
		if a := r.entries[i].Record.Attached; a != nil {
			a.Release()
		}
	}
	r.done <- err
}

// placed is a frame that was written but is not yet durable.
type placed struct {
	req     *appendRequest
	header  *frameHeader
	segment *segment
	at      int64 // of the first payload
}

// commit makes a group durable. It returns how many of the requests are, from the
// first on, also with an error.
func (l *Log) commit(group []*appendRequest) (durable int, err error) {
	l.lastTime = max(l.lastTime, l.now().UnixMicro())
	heads := map[id.StreamPartition]id.Offset{}
	frames := make([]placed, 0, len(group))
	l.buffer = l.buffer[:0]
	start := l.end
	for n, req := range group {
		h := l.frameFor(req, heads)
		size := frameSize(h)
		if l.end+int64(size) > l.segmentBytes && l.end > headerBytes || len(l.buffer) > 0 && len(l.buffer)+size > maxWriteBytes {
			if err := l.write(start); err != nil {
				return durable, err
			}
			if l.end+int64(size) > l.segmentBytes {
				if err := l.sync(); err != nil { // the new segment's header vouches for this one's end
					return durable, err
				}
				l.publish(frames) // and its first frame for the heads
				frames, durable = frames[:0], n
				if err := l.roll(); err != nil {
					return durable, err
				}
			}
			start = l.end
			h.seq = l.seq // the roll took a number
		}
		l.buffer = appendFrameHeader(l.buffer, h)
		at := start + int64(len(l.buffer))
		for i := range req.entries {
			l.buffer = append(l.buffer, req.entries[i].Record.Payload...)
		}
		l.buffer = append(l.buffer, zeros[:align8(len(l.buffer))-len(l.buffer)]...)
		l.end = start + int64(len(l.buffer))
		l.seq++
		frames = append(frames, placed{req, h, l.active, at})
	}
	if err := l.write(start); err != nil {
		return durable, err
	}
	if err := l.sync(); err != nil {
		return durable, err
	}
	l.advance(l.end)
	l.publish(frames)
	return len(group), nil
}

// frameFor numbers the records of an append.
func (l *Log) frameFor(req *appendRequest, heads map[id.StreamPartition]id.Offset) *frameHeader {
	h := &frameHeader{seq: l.seq, fence: l.fence, synced: l.synced, time: l.lastTime, entries: make([]frameEntry, len(req.entries))}
	for i := range req.entries {
		e := &req.entries[i]
		head, ok := heads[e.Partition]
		if !ok {
			head = l.Head(e.Partition)
		}
		heads[e.Partition] = head + 1
		r := &e.Record
		r.Offset, r.AppendTime, r.Fence = head, l.lastTime, l.fence
		h.entries[i] = frameEntry{
			partition: e.Partition, kind: r.Kind, rows: r.Rows, schema: r.SchemaVersion, producer: r.Producer,
			sequence: r.Sequence, offset: head, length: uint32(len(r.Payload)), crc: checksum(r.Payload),
		}
	}
	return h
}

func frameSize(h *frameHeader) int {
	n := frameFixed + len(h.entries)*entryBytes
	for i := range h.entries {
		n += int(h.entries[i].length)
	}
	return align8(n)
}

func (l *Log) write(at int64) error {
	if len(l.buffer) == 0 {
		return nil
	}
	_, err := l.active.file.WriteAt(l.buffer, at)
	l.buffer = l.buffer[:0]
	return err
}

func (l *Log) sync() error {
	if err := l.active.file.SyncData(); err != nil {
		return err
	}
	l.synced = l.seq
	return nil
}

// roll makes the next prepared file the active segment. Its first frame holds
// the heads of all partitions, so that they survive when older segments go.
func (l *Log) roll() error {
	l.used.Store(0)
	l.rolls.Add(1)
	l.goOn()
	p, ok := <-l.ready
	if ok && p.err != nil {
		p, ok = <-l.ready // that may have been long ago; this is an attempt of now
	}
	switch {
	case !ok || errors.Is(p.err, storage.ErrClosed):
		return storage.ErrClosed
	case p.err != nil:
		l.rolls.Add(-1)
		l.used.Store(l.end)
		return &noSegment{p.err}
	}
	h := segmentHeader{number: p.number, firstSeq: l.seq, fence: l.fence, prevEnd: uint64(l.end)}
	s := newSegment(h, segmentName(p.number), p.file)
	frame := &frameHeader{seq: l.seq, fence: l.fence, synced: l.synced, time: l.lastTime, heads: true}
	l.mu.RLock()
	for sp, idx := range l.partitions {
		frame.entries = append(frame.entries, frameEntry{partition: sp, offset: idx.head()})
	}
	l.mu.RUnlock()
	b := appendFrameHeader(h.encode(), frame)
	if _, err := s.file.WriteAt(b, 0); err != nil {
		return err
	}
	if err := s.file.SyncData(); err != nil {
		return err
	}
	l.mu.Lock()
	l.segments[p.number] = s
	l.mu.Unlock()
	l.active, l.end = s, int64(len(b))
	l.advance(l.end)
	l.seq++
	l.synced = l.seq
	return nil
}

// publish makes durable frames visible and hands them to the subscribers.
func (l *Log) publish(frames []placed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range frames {
		at := f.at
		for i := range f.req.entries {
			e := &f.req.entries[i]
			idx := l.index(e.Partition)
			r := &e.Record
			idx.locations = append(idx.locations, location{
				segment: uint32(f.segment.header.number), position: uint32(at), length: uint32(len(r.Payload)), crc: f.header.entries[i].crc,
				rows: r.Rows, kind: r.Kind, schema: uint32(r.SchemaVersion), time: r.AppendTime, fence: r.Fence,
			})
			f.segment.highest[e.Partition] = r.Offset
			at += int64(len(r.Payload))
			for _, deliver := range idx.deliver {
				deliver(ingestlog.Delivered(r))
			}
		}
	}
}

// index returns the index of a partition, making it; l.mu is held for writing.
func (l *Log) index(sp id.StreamPartition) *partitionIndex {
	idx := l.partitions[sp]
	if idx == nil {
		idx = &partitionIndex{deliver: map[int]func(*ingestlog.Record){}}
		l.partitions[sp] = idx
	}
	return idx
}
