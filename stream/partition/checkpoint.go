package partition

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/background"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/recordbatch"
	"github.com/tallydb/tallydb/stream/dedup"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/state"
	"github.com/tallydb/tallydb/stream/watermark"
)

// checkpoint is everything that changed since the one before it, as it was between
// two records (L-2), detached from what the worker goes on to change.
type checkpoint struct {
	began     time.Time
	admit     []byte
	verdicts  map[id.Offset]types.Bitmap
	side      []sideEntry
	seen      *dedup.Fresh
	watermark eventtime.Watermark // by which seen ids expire
	first     uint64              // number of the first chunk of seen ids
	expired   []uint64
	views     []viewCheckpoint
	hint      int // bytes that the batch may take

	stored   []dedupChunk // set by write
	mu       sync.Mutex   // held while it is committed
	readable bool         // under mu: the store has it
}

// viewCheckpoint is a view's part of a checkpoint.
type viewCheckpoint struct {
	rel     id.Relation
	keys    state.Keys
	meta    []byte
	changes *state.Changes
}

// beginCheckpoint lets a checkpoint be written beside the worker, which goes on,
// unless one is under way in this partition or in as many others as may be.
func (w *Worker) beginCheckpoint() error {
	if w.writing != nil && w.unwritten == nil || w.broken != nil {
		return w.broken
	}
	if w.writing == nil && !w.changed {
		w.checkpointed = w.cfg.Now() // it is as good as new
		return nil
	}
	select {
	case w.cfg.Checkpoints <- struct{}{}:
	default:
		return nil
	}
	c := w.writing
	if w.unwritten = nil; c == nil {
		var err error
		if c, err = w.seal(); err != nil {
			<-w.cfg.Checkpoints
			return err
		}
	}
	go func() {
		background.Lower()
		err := c.write(w)
		<-w.cfg.Checkpoints
		w.written <- err
	}()
	return nil
}

// writeCheckpoint writes a checkpoint and waits for it; one that is under way
// comes first.
func (w *Worker) writeCheckpoint() error {
	if err := errors.Join(w.broken, w.awaitCheckpoint()); err != nil {
		return err
	}
	if !w.changed {
		w.checkpointed = w.cfg.Now()
		return nil
	}
	w.cfg.Checkpoints <- struct{}{}
	c, err := w.seal()
	if err == nil {
		err = c.write(w)
	}
	<-w.cfg.Checkpoints
	return w.endCheckpoint(err)
}

// awaitCheckpoint waits for the checkpoint that is under way, if one is. One that
// could not be written is tried again.
func (w *Worker) awaitCheckpoint() error {
	switch {
	case w.writing == nil:
		return nil
	case w.unwritten != nil:
		w.cfg.Checkpoints <- struct{}{}
		err := w.writing.write(w)
		<-w.cfg.Checkpoints
		return w.endCheckpoint(err)
	}
	return w.endCheckpoint(<-w.written)
}

// lastCheckpoint is the one before an ordinary end. The log has what a full disk
// does not let it write.
func (w *Worker) lastCheckpoint() error {
	return unlessStalled(w.writeCheckpoint())
}

// keepUnwritten keeps the checkpoint under way, for which the disk has no space, to be
// written before any other (L-2). Readers see it as one that is being written.
func (w *Worker) keepUnwritten(err error) error {
	if w.stalled.Swap(&err) == nil {
		w.cfg.Logger.Error("a checkpoint waits for space on the disk", slog.String("stream", w.cfg.Stream.Name),
			slog.Int("partition", int(w.cfg.Partition.Partition)), slog.String("error", err.Error()))
	}
	w.unwritten = err
	return err
}

// Stalled returns why the partition's checkpoint is not written for the time being, or nil.
func (w *Worker) Stalled() error {
	if err := w.stalled.Load(); err != nil {
		return *err
	}
	return nil
}

// endCheckpoint takes note that the checkpoint under way was written.
func (w *Worker) endCheckpoint(err error) error {
	c := w.writing
	if c != nil && errors.Is(err, storage.ErrStalled) {
		return w.keepUnwritten(err)
	}
	w.writing = nil
	if err != nil {
		return w.fail(err)
	}
	if w.unwritten, w.waiting = nil, false; w.stalled.Swap(nil) != nil {
		w.cfg.Logger.Info("the checkpoint was written", slog.String("stream", w.cfg.Stream.Name), slog.Int("partition", int(w.cfg.Partition.Partition)))
	}
	w.checkpointed, w.batchHint = c.began, c.hint
	w.dedupKept = append(w.dedupKept, c.stored...)
	w.dedup.Recycle(c.seen)
	w.verdictMu.Lock()
	w.sealedVerdicts = nil
	w.verdictMu.Unlock()
	if !w.evict() { // what is over the budget changed meanwhile
		if err := w.writeCheckpoint(); err != nil {
			return err
		}
	}
	w.publishStatus()
	return nil
}

// fail ends the worker at its next look, whoever waited for the checkpoint: what
// was detached for it is gone, and one that came after it would lack it (L-2).
func (w *Worker) fail(err error) error {
	w.broken = fmt.Errorf("checkpoint: %w", err)
	return w.broken
}

// seal detaches what changed, for the checkpoint that is under way from then on.
func (w *Worker) seal() (*checkpoint, error) {
	c := &checkpoint{began: w.cfg.Now(), side: w.side, seen: w.dedup.TakeFresh(), watermark: w.tracker.Current(), first: w.dedupNext, hint: w.batchHint}
	w.dedupNext += uint64(c.seen.Chunks())
	kept := w.dedupKept[:0]
	for _, k := range w.dedupKept {
		if w.tracker.Current().Passed(eventtime.Time(k.latest)) {
			c.expired = append(c.expired, k.number)
		} else {
			kept = append(kept, k)
		}
	}
	w.dedupKept = kept
	for _, v := range w.views {
		vc := viewCheckpoint{rel: v.rel.ID, keys: v.keys, meta: v.appendMeta(nil), changes: state.NewChanges(func() *state.Groups { return v.program.NewGroups(nil) })}
		for _, a := range v.arenas {
			if err := vc.changes.Take(a, v.closed(a.Window)); err != nil {
				return nil, w.fail(err)
			}
		}
		c.views = append(c.views, vc)
	}
	c.admit = w.appendAdmit(nil)
	w.side, w.sideBytes = nil, 0
	w.sinceRows, w.changed = 0, false
	w.verdictMu.Lock()
	c.verdicts, w.sealedVerdicts, w.verdicts = w.verdicts, w.verdicts, map[id.Offset]types.Bitmap{}
	w.verdictMu.Unlock()
	w.writing = c
	return c, nil
}

// write writes the checkpoint in one atomic batch. It need not be durable: the log
// is, and an older checkpoint only means a longer replay. It runs beside the
// worker and touches nothing of it but what never changes.
func (c *checkpoint) write(w *Worker) error {
	batch := w.cfg.Store.NewBatchSize(c.hint)
	c.stored = nil // of an attempt before this
	if err := c.fill(w, batch); err != nil {
		batch.Discard()
		return err
	}
	c.hint = batch.Bytes() + batch.Bytes()/8
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := batch.Commit(false); err != nil {
		return err
	}
	c.readable = true
	return nil
}

func (c *checkpoint) fill(w *Worker, batch *kv.Batch) error {
	var scratch []byte
	for i := range c.seen.Chunks() {
		number := c.first + uint64(i)
		chunk, latest, ok := c.seen.AppendChunk(append(scratch[:0], make([]byte, 8)...), i, c.watermark)
		scratch = chunk
		if !ok {
			continue
		}
		binary.LittleEndian.PutUint64(chunk, uint64(latest))
		if err := batch.Set(w.keys.Dedup(number), chunk); err != nil {
			return err
		}
		c.stored = append(c.stored, dedupChunk{number, int64(latest)})
	}
	for _, number := range c.expired {
		if err := batch.Delete(w.keys.Dedup(number)); err != nil {
			return err
		}
	}
	for o, v := range c.verdicts {
		if err := batch.Set(w.keys.Verdict(o), encodeVerdict(v)); err != nil {
			return err
		}
	}
	for i := range c.side {
		e := &c.side[i]
		scratch = recordbatch.Encode(scratch[:0], e.batch)
		if err := batch.Set(w.keysOfSide(e.view).Side(e.kind, e.offset), scratch); err != nil {
			return err
		}
	}
	for _, v := range c.views {
		var err error
		scratch, err = v.changes.Encode(scratch, func(start eventtime.Time, n int, chunk []byte) error {
			return batch.Set(v.keys.Chunk(start, n), chunk)
		})
		if err != nil {
			return err
		}
		if err := batch.Set(v.keys.ViewMeta(), v.meta); err != nil {
			return err
		}
	}
	return batch.Set(w.keys.Admit(), c.admit)
}

// recentSide returns what was set aside and is not in the store. A snapshot that is
// taken before the returned function is called has none of it.
func (w *Worker) recentSide() (entries []sideEntry, release func()) {
	c := w.writing
	if c == nil {
		return w.side, func() {}
	}
	c.mu.Lock() // it is not committed meanwhile
	if c.readable {
		return w.side, c.mu.Unlock
	}
	return slices.Concat(c.side, w.side), c.mu.Unlock
}

// lagCheckpoints is how many checkpoints' worth of rows a worker applies beside one
// that is being written, before it waits.
const lagCheckpoints = 4

// checkpointByTime begins a checkpoint when the ticker says so, or tries again soon
// if others are under way.
func (w *Worker) checkpointByTime(ticker *time.Ticker) error {
	err := w.beginCheckpoint()
	if w.changed && w.writing == nil && err == nil {
		ticker.Reset(w.cfg.CheckpointEvery/20 + 1)
	} else {
		ticker.Reset(w.cfg.CheckpointEvery)
	}
	return err
}

// sideBytes is how many bytes of rows set aside make a checkpoint due.
const sideBytes = 4 << 20

// checkpointIfDue begins a checkpoint after enough rows.
func (w *Worker) checkpointIfDue() error {
	switch {
	case w.broken != nil:
		return w.broken
	case w.waiting:
		return nil
	case w.sinceRows >= lagCheckpoints*w.cfg.CheckpointRows || w.sideBytes >= lagCheckpoints*sideBytes:
		return w.writeCheckpoint()
	case w.sinceRows >= w.cfg.CheckpointRows || w.sideBytes >= sideBytes:
		if w.unwritten == nil { // else the ticker does
			return w.beginCheckpoint()
		}
	}
	return nil
}

// evict drops arenas that did not change since the last checkpoint from memory:
// those of closed windows, and while memory is over budget the least recently used.
// It reports whether memory is within the budget.
func (w *Worker) evict() bool {
	type candidate struct {
		v     *view
		start eventtime.Time
		use   uint64
		bytes int64
	}
	var open []candidate
	share := w.cfg.Memory.Share()
	total := int64(0)
	for _, v := range w.views {
		v.last = nil
		for start, a := range v.arenas {
			if v.closed(a.Window) && !a.Dirty() {
				v.evict(start)
				continue
			}
			n := a.MemoryBytes()
			total += n
			if !a.Dirty() {
				open = append(open, candidate{v, start, a.LastUse, n})
			}
		}
	}
	slices.SortFunc(open, func(a, b candidate) int { return cmp.Compare(a.use, b.use) })
	for _, c := range open {
		if total <= share {
			break
		}
		c.v.evict(c.start)
		total -= c.bytes
	}
	return total <= share
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
