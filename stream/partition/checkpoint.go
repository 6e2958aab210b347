package partition

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/watermark"
)

// writeCheckpoint writes everything that changed since the last one in one
// atomic batch (L-2). It need not be durable: the log is, and an older
// checkpoint only means a longer replay.
func (w *Worker) writeCheckpoint() error {
	w.checkpoint = w.cfg.Now()
	if !w.changed {
		return nil
	}
	batch := w.cfg.Store.NewBatchSize(w.dedup.FreshBytes() + w.dedup.FreshBytes()/64 + 64<<10)
	err := w.fillCheckpoint(batch)
	if err != nil {
		batch.Discard()
		return fmt.Errorf("checkpoint: %w", err)
	}
	if err := batch.Commit(false); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	w.verdictMu.Lock()
	clear(w.verdicts)
	w.verdictMu.Unlock()
	w.side = nil
	w.sinceRows, w.changed = 0, false
	w.evict()
	w.publishStatus()
	return nil
}

func (w *Worker) fillCheckpoint(batch *kv.Batch) error {
	if err := w.writeDedup(batch); err != nil {
		return err
	}
	for o, v := range w.verdicts {
		if err := batch.Set(w.keys.Verdict(o), encodeVerdict(v)); err != nil {
			return err
		}
	}
	if err := w.writeSide(batch); err != nil {
		return err
	}
	for _, v := range w.views {
		if err := v.write(batch); err != nil {
			return err
		}
	}
	w.scratch = w.appendAdmit(w.scratch[:0])
	return batch.Set(w.keys.Admit(), w.scratch)
}

// writeDedup adds the newly seen ids and deletes the chunks whose ids have all expired.
func (w *Worker) writeDedup(batch *kv.Batch) error {
	err := w.dedup.TakeFresh(func(chunk []byte, latest eventtime.Time) error {
		w.scratch = binary.LittleEndian.AppendUint64(w.scratch[:0], uint64(latest))
		w.scratch = append(w.scratch, chunk...)
		if err := batch.Set(w.keys.Dedup(w.dedupNext), w.scratch); err != nil {
			return err
		}
		w.dedupKept = append(w.dedupKept, dedupChunk{w.dedupNext, int64(latest)})
		w.dedupNext++
		return nil
	})
	if err != nil {
		return err
	}
	kept := w.dedupKept[:0]
	for _, c := range w.dedupKept {
		if !w.tracker.Current().Passed(eventtime.Time(c.latest)) {
			kept = append(kept, c)
			continue
		}
		if err := batch.Delete(w.keys.Dedup(c.number)); err != nil {
			return err
		}
	}
	w.dedupKept = kept
	return nil
}

// write adds a view's changed chunks and its progress to a checkpoint.
func (v *view) write(batch *kv.Batch) error {
	for start, a := range v.arenas {
		var err error
		v.worker.scratch, err = a.TakeDirty(v.worker.scratch, func(n int, chunk []byte) error {
			return batch.Set(v.keys.Chunk(start, n), chunk)
		})
		if err != nil {
			return err
		}
	}
	v.worker.scratch = v.appendMeta(v.worker.scratch[:0])
	return batch.Set(v.keys.ViewMeta(), v.worker.scratch)
}

// evict drops arenas from memory right after a checkpoint, when all are clean:
// those of closed windows, and while memory is over budget the least recently used.
func (w *Worker) evict() {
	type candidate struct {
		v     *view
		start eventtime.Time
		use   uint64
		bytes int64
	}
	var open []candidate
	total := int64(0)
	for _, v := range w.views {
		v.last = nil
		for start, a := range v.arenas {
			if v.closed(a.Window) {
				v.evict(start)
				continue
			}
			n := a.MemoryBytes()
			total += n
			open = append(open, candidate{v, start, a.LastUse, n})
		}
	}
	if total <= w.cfg.MemoryBytes {
		return
	}
	slices.SortFunc(open, func(a, b candidate) int { return cmp.Compare(a.use, b.use) })
	for _, c := range open {
		if total <= w.cfg.MemoryBytes {
			return
		}
		c.v.evict(c.start)
		total -= c.bytes
	}
}

// watermark is the one by which the view judges lateness.
func (v *view) watermark() eventtime.Watermark {
	if v.tracker != nil {
		return v.tracker.Current()
	}
	return v.worker.tracker.Current()
}

const admitVersion = 1

// appendAdmit appends the admit state: version, applied, next dedup chunk,
// counters, tracker.
func (w *Worker) appendAdmit(dst []byte) []byte {
	le := binary.LittleEndian
	dst = append(dst, admitVersion)
	for _, x := range []uint64{
		uint64(w.applied), w.dedupNext, uint64(w.counters.Received), uint64(w.counters.Admitted),
		uint64(w.counters.Duplicates), uint64(w.counters.Rejected),
	} {
		dst = le.AppendUint64(dst, x)
	}
	return w.tracker.Append(dst)
}

func (w *Worker) trackerConfig() watermark.Config {
	s := w.cfg.Stream.Stream
	return watermark.Config{Delay: s.WatermarkDelay, IdleTimeoutMicros: s.Options.IdleTimeout.Microseconds()}
}

// restore reads the admit state of the last checkpoint.
func (w *Worker) restore() error {
	w.tracker = watermark.New(w.trackerConfig())
	w.applied = w.cfg.Log.Base(w.cfg.Partition)
	b, ok, err := w.cfg.Store.Get(w.keys.Admit())
	if err != nil || !ok {
		return err
	}
	if len(b) < 49 || b[0] != admitVersion {
		return errCorruptState
	}
	le := binary.LittleEndian
	w.applied, w.dedupNext = id.Offset(le.Uint64(b[1:])), le.Uint64(b[9:])
	w.counters = Counters{
		Received: int64(le.Uint64(b[17:])), Admitted: int64(le.Uint64(b[25:])),
		Duplicates: int64(le.Uint64(b[33:])), Rejected: int64(le.Uint64(b[41:])),
	}
	if w.tracker, err = watermark.Decode(w.trackerConfig(), b[49:]); err != nil {
		return err
	}
	if head := w.cfg.Log.Head(w.cfg.Partition); w.applied > head {
		return fmt.Errorf("state is at offset %d, the log ends at %d: %w", w.applied, head, errCorruptState)
	}
	return w.cfg.Store.Scan(w.keys.Dedup(0), w.keys.DedupEnd(), func(key, value []byte) error {
		number, err := w.keys.DedupNumber(key)
		if err != nil {
			return err
		}
		if len(value) < 8 {
			return errCorruptState
		}
		w.dedupKept = append(w.dedupKept, dedupChunk{number, int64(le.Uint64(value))})
		return w.dedup.Load(value[8:], w.tracker.Current())
	})
}

func encodeVerdict(v types.Bitmap) []byte {
	b := make([]byte, 0, 8*len(v))
	for _, word := range v {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}

func decodeVerdict(b []byte) (types.Bitmap, error) {
	if len(b)%8 != 0 {
		return nil, errCorruptState
	}
	var v types.Bitmap
	for ; len(b) > 0; b = b[8:] {
		v = append(v, binary.LittleEndian.Uint64(b))
	}
	return v, nil
}

func sortedWindows(m map[eventtime.Time]int64) []eventtime.Time { return slices.Sorted(maps.Keys(m)) }
