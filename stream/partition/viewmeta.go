package partition

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/watermark"
)

const viewMetaVersion = 1

// appendMeta appends the view's progress: version, applied, counters, degraded
// windows, open windows with their numbers of groups, the join, and the tracker
// while it reads the retained log.
func (v *view) appendMeta(dst []byte) []byte {
	le := binary.LittleEndian
	dst = append(dst, viewMetaVersion)
	dst = le.AppendUint64(dst, uint64(v.applied))
	dst = le.AppendUint64(dst, uint64(v.counters.Folded))
	dst = le.AppendUint64(dst, uint64(v.counters.Late))
	dst = le.AppendUint64(dst, uint64(v.counters.Errors))
	dst = le.AppendUint32(dst, uint32(len(v.degraded)))
	for _, start := range sortedWindows(v.degraded) {
		dst = le.AppendUint64(dst, uint64(start))
		dst = le.AppendUint64(dst, uint64(v.degraded[start]))
	}
	open := v.openWindows()
	dst = le.AppendUint32(dst, uint32(len(open)))
	for _, w := range open {
		dst = le.AppendUint64(dst, uint64(w.window.Start))
		dst = le.AppendUint64(dst, uint64(w.window.End))
		dst = le.AppendUint64(dst, uint64(w.groups))
	}
	dst = le.AppendUint64(dst, uint64(v.join))
	dst = le.AppendUint32(dst, uint32(len(v.joinTracker)))
	dst = append(dst, v.joinTracker...)
	if v.tracker != nil {
		dst = v.tracker.Append(dst)
	}
	return dst
}

// restore reads the view's progress; known is false if it has none.
func (v *view) restore() (known bool, err error) {
	b, known, err := v.worker.cfg.Store.Get(v.keys.ViewMeta())
	if err != nil || !known {
		return false, err
	}
	if err := v.decodeMeta(b); err != nil {
		return false, fmt.Errorf("view %s: %w", v.rel.Name, err)
	}
	return true, nil
}

func (v *view) decodeMeta(b []byte) error {
	if len(b) == 0 || b[0] != viewMetaVersion {
		return errCorruptState
	}
	r := metaReader{rest: b[1:]}
	v.applied = id.Offset(r.uint64())
	v.counters = ViewCounters{int64(r.uint64()), int64(r.uint64()), int64(r.uint64())}
	for range r.count(16) {
		start := eventtime.Time(r.uint64())
		v.degraded[start] = int64(r.uint64())
	}
	for range r.count(24) {
		w := eventtime.Window{Start: eventtime.Time(r.uint64()), End: eventtime.Time(r.uint64())}
		v.stored[w.Start] = storedWindow{w, int64(r.uint64())}
	}
	v.join = id.Offset(r.uint64())
	v.joinTracker = r.bytes(r.count(1))
	if r.short {
		return errCorruptState
	}
	if len(r.rest) == 0 {
		return nil
	}
	var err error
	v.tracker, err = watermark.Decode(v.worker.trackerConfig(), r.rest)
	return err
}

// metaReader reads numbers; short says that there were too few bytes.
type metaReader struct {
	rest  []byte
	short bool
}

func (r *metaReader) uint64() uint64 {
	if len(r.rest) < 8 {
		r.rest, r.short = nil, true
		return 0
	}
	x := binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return x
}

// count reads how many entries of this size follow.
func (r *metaReader) count(size int) int {
	if len(r.rest) < 4 {
		r.rest, r.short = nil, true
		return 0
	}
	n := int(binary.LittleEndian.Uint32(r.rest))
	r.rest = r.rest[4:]
	if n > len(r.rest)/size {
		r.rest, r.short = nil, true
		return 0
	}
	return n
}

func (r *metaReader) bytes(n int) []byte {
	b := slices.Clone(r.rest[:n])
	r.rest = r.rest[n:]
	return b
}
