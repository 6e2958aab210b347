package segmentlog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/storage/vfs"
)

// Partitions implements ingestlog.Log.
func (l *Log) Partitions() []id.StreamPartition {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.Collect(maps.Keys(l.partitions))
}

// Head implements ingestlog.Log.
func (l *Log) Head(sp id.StreamPartition) id.Offset {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if idx := l.partitions[sp]; idx != nil {
		return idx.head()
	}
	return 0
}

// Base implements ingestlog.Log.
func (l *Log) Base(sp id.StreamPartition) id.Offset {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if idx := l.partitions[sp]; idx != nil {
		return idx.base
	}
	return 0
}

// AppendedAt implements ingestlog.Log.
func (l *Log) AppendedAt(sp id.StreamPartition, at id.Offset) int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	idx := l.partitions[sp]
	if idx == nil || at < idx.base || at >= idx.head() {
		return 0
	}
	return idx.locations[at-idx.base].time
}

// Rows implements ingestlog.Log.
func (l *Log) Rows(sp id.StreamPartition, from, to id.Offset) int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	idx := l.partitions[sp]
	if idx == nil {
		return 0
	}
	var n int64
	for o := max(from, idx.base); o < min(to, idx.head()); o++ {
		n += int64(idx.locations[o-idx.base].rows)
	}
	return n
}

// Subscribe implements ingestlog.Log.
func (l *Log) Subscribe(sp id.StreamPartition, deliver func(*ingestlog.Record)) (id.Offset, func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	idx := l.index(sp)
	n := l.nextSub
	l.nextSub++
	idx.deliver[n] = deliver
	cancel := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(idx.deliver, n)
	}
	return idx.head(), cancel
}

// Read implements ingestlog.Log.
func (l *Log) Read(ctx context.Context, sp id.StreamPartition, from, to id.Offset, fn func(*ingestlog.Record) error) error {
	const chunk = 64
	locations := make([]location, 0, chunk)
	var payload []byte
	for from < to {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		var segments []*segment
		var err error
		locations, segments, err = l.locate(sp, from, min(to, from+chunk), locations[:0])
		if err != nil || len(locations) == 0 {
			return err
		}
		for i, loc := range locations {
			payload, err = readPayload(segments[i], loc, payload)
			if err == nil {
				err = fn(&ingestlog.Record{
					Kind: loc.kind, SchemaVersion: uint64(loc.schema), Rows: loc.rows, Payload: payload,
					Offset: from + id.Offset(i), AppendTime: loc.time, Fence: loc.fence,
				})
			} else {
				err = fmt.Errorf("partition %d, offset %d: %w", sp.Partition, from+id.Offset(i), err)
			}
			if err != nil {
				break
			}
		}
		for _, s := range segments {
			s.release()
		}
		if err != nil {
			return err
		}
		from += id.Offset(len(locations))
	}
	return nil
}

// locate appends the places of records [from, to) and acquires their segments.
func (l *Log) locate(sp id.StreamPartition, from, to id.Offset, out []location) ([]location, []*segment, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	idx := l.partitions[sp]
	if idx == nil {
		return out, nil, nil
	}
	if from < idx.base {
		return nil, nil, storage.ErrTrimmed
	}
	var segments []*segment
	for o := from; o < min(to, idx.head()); o++ {
		loc := idx.locations[o-idx.base]
		s := l.segments[uint64(loc.segment)]
		if s == nil || !s.acquire() {
			for _, s := range segments {
				s.release()
			}
			return nil, nil, storage.ErrTrimmed
		}
		out, segments = append(out, loc), append(segments, s)
	}
	return out, segments, nil
}

func readPayload(s *segment, loc location, buf []byte) ([]byte, error) {
	if cap(buf) < int(loc.length) {
		buf = make([]byte, loc.length)
	}
	buf = buf[:loc.length]
	n, err := readFull(s.file, buf, int64(loc.position))
	if err != nil {
		return buf, fmt.Errorf("read %s: %w", s.name, err)
	}
	if n < len(buf) || checksum(buf) != loc.crc {
		return buf, fmt.Errorf("%s at %d: checksum: %w", s.name, loc.position, storage.ErrCorrupt)
	}
	return buf, nil
}

// Trim implements ingestlog.Log: whole segments go, oldest first, when no
// partition needs a record in them.
// Each is gone for good before the next goes, so that a crash leaves no gap.
func (l *Log) Trim(sp id.StreamPartition, to id.Offset) error {
	l.trimMu.Lock()
	defer l.trimMu.Unlock()
	l.mu.Lock()
	idx := l.index(sp)
	idx.trimTo = max(idx.trimTo, min(to, idx.head()))
	var gone []*segment
	for {
		s := l.oldest()
		if s == nil || s == l.active || !l.disposable(s) {
			break
		}
		for p, last := range s.highest {
			l.partitions[p].dropBelow(last + 1)
		}
		delete(l.segments, s.header.number)
		gone = append(gone, s)
	}
	l.mu.Unlock()
	var errs []error
	for _, s := range gone {
		if len(errs) == 0 {
			if err := l.removeSegment(s.name); err != nil {
				errs = append(errs, err) // the rest goes when the log is opened and trimmed again
			}
		}
		s.release()
	}
	return errors.Join(errs...)
}

func (l *Log) removeSegment(name string) error {
	if err := l.fs.Remove(l.fs.PathJoin(l.dir, name)); err != nil {
		return fmt.Errorf("remove segment: %w", err)
	}
	return vfs.SyncDir(l.fs, l.dir)
}

func (l *Log) oldest() *segment {
	var first *segment
	for n, s := range l.segments {
		if first == nil || n < first.header.number {
			first = s
		}
	}
	return first
}

// disposable reports whether every record of s is below its partition's trim
// point; l.mu is held.
func (l *Log) disposable(s *segment) bool {
	for p, last := range s.highest {
		if l.partitions[p].trimTo <= last {
			return false
		}
	}
	return true
}
