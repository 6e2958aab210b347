package partition

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/stream/dedup"
	"github.com/tallydb/tallydb/stream/image"
	"github.com/tallydb/tallydb/stream/rows"
	"github.com/tallydb/tallydb/stream/state"
	"github.com/tallydb/tallydb/stream/watermark"
)

// Errors of calls to a worker.
var (
	// ErrOffline: an operator took the partition offline; it neither applies nor answers.
	ErrOffline = errors.New("partition is offline")
	// ErrStopped: the worker has ended.
	ErrStopped = errors.New("partition worker has stopped")
	// ErrUnknownView: the partition does not keep this view.
	ErrUnknownView = errors.New("partition does not keep this view")
)

// Config of a worker. The zero value of an optional field means its default.
type Config struct {
	Partition id.StreamPartition
	Stream    *catalog.Relation
	Log       ingestlog.Log
	Store     *kv.Store
	Pool      *rows.Pool
	Image     *image.Partition // of the retained log
	Logger    *slog.Logger     // optional: silent
	Now       func() time.Time // of checkpoint ages only; apply reads no clock

	CheckpointEvery time.Duration // default 5 s
	CheckpointRows  int64         // and after this many rows; default 1,000,000
	Memory          *Budget       // the node's; groups beyond a share are evicted at checkpoints; default 256 MiB
	// Checkpoints has room for as many as are written beside their workers at a
	// time, each of which holds a copy of what changed; default one.
	Checkpoints chan struct{}
	// Turns has room for as many workers of the node as apply records at a time. One
	// processor less than there are keeps connections and readers from waiting for
	// them, and the workers' state in the processors' caches; default one.
	Turns chan struct{}
}

// queueRecords bounds the records delivered but not yet applied. What does not
// fit is dropped here and read back from the log, so it limits memory, not input.
const queueRecords = 64

// replayRecords bounds what is read from the log between two looks at the calls.
const replayRecords = 8

// Worker owns one partition.
type Worker struct {
	cfg    Config
	keys   state.Keys
	queue  chan *ingestlog.Record
	calls  chan func()
	done   chan struct{}
	cancel func() // of the log's subscription

	offline atomic.Bool
	stalled atomic.Pointer[error] // unwritten, for others
	status  statusBoard

	// Owned by Run.
	decoder   decoder
	tracker   *watermark.Tracker
	dedup     *dedup.Table
	dedupNext uint64 // number of the next chunk of seen ids
	dedupKept []dedupChunk
	applied   id.Offset // of admission: the next record to apply
	counters  Counters
	views     []*view
	held      *ingestlog.Record // taken from the queue, ahead of what was applied
	sinceRows int64             // rows applied since the last checkpoint
	changed   bool              // anything applied since the last checkpoint
	side      []sideEntry
	sideBytes int64 // of side
	waiters   []*waiter
	clockUse  uint64
	scratch   []byte
	touched   uint64 // see dedup.Table.Touch
	admitted  admitted

	writing      *checkpoint // under way; nil if none
	unwritten    error       // why the one under way is kept to be written again; nil if it is being written
	waiting      bool        // nothing is applied before it is written
	written      chan error  // its end
	broken       error       // a checkpoint failed: there will be no other
	checkpointed time.Time   // when the last one began
	batchHint    int         // bytes that the next one may take

	verdictMu      sync.RWMutex
	verdicts       map[id.Offset]types.Bitmap // rows not admitted, since the last checkpoint
	sealedVerdicts map[id.Offset]types.Bitmap // those in the checkpoint under way
}

// dedupChunk is a stored chunk of seen ids and when it can go.
type dedupChunk struct {
	number uint64
	latest int64
}

// waiter is a call that runs once the partition has applied up to an offset, or
// when its caller gives up waiting.
type waiter struct {
	cut  id.Offset
	over bool
	run  func()
}

// Open restores a partition from its last checkpoint. Run then replays the log
// from there.
func Open(cfg Config) (*Worker, error) {
	if cfg.CheckpointEvery == 0 {
		cfg.CheckpointEvery = 5 * time.Second
	}
	if cfg.CheckpointRows == 0 {
		cfg.CheckpointRows = 1_000_000
	}
	if cfg.Memory == nil {
		cfg.Memory = NewBudget(256 << 20)
	}
	if cfg.Checkpoints == nil {
		cfg.Checkpoints = make(chan struct{}, 1)
	}
	if cfg.Turns == nil {
		cfg.Turns = make(chan struct{}, 1)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Worker{
		cfg:      cfg,
		keys:     state.KeysOf(cfg.Partition.Tenant, cfg.Stream.ID, cfg.Partition.Partition),
		queue:    make(chan *ingestlog.Record, queueRecords),
		calls:    make(chan func()),
		done:     make(chan struct{}),
		decoder:  newDecoder(cfg.Stream.Stream, cfg.Pool),
		dedup:    dedup.New(),
		verdicts: map[id.Offset]types.Bitmap{},
		written:  make(chan error, 1),
	}
	w.offline.Store(cfg.Stream.Stream.IsOffline(cfg.Partition.Partition))
	if err := w.restore(); err != nil {
		return nil, fmt.Errorf("restore partition %d of %s: %w", cfg.Partition.Partition, cfg.Stream.Name, err)
	}
	w.checkpointed = cfg.Now()
	cfg.Memory.join()
	_, w.cancel = cfg.Log.Subscribe(cfg.Partition, w.deliver)
	w.publishStatus()
	return w, nil
}

// deliver runs on the log's goroutine.
func (w *Worker) deliver(rec *ingestlog.Record) {
	select {
	case w.queue <- rec:
	default:
		release(rec) // the worker will find it in the log
	}
}

func release(rec *ingestlog.Record) {
	if rec != nil && rec.Attached != nil {
		rec.Attached.Release()
	}
}

// Run applies records and answers calls until ctx ends, then checkpoints. It
// returns nil at an ordinary end.
func (w *Worker) Run(ctx context.Context) error {
	defer w.stop()
	ticker := time.NewTicker(w.firstCheckpoint())
	defer ticker.Stop()
	for {
		w.serveCalls()
		var turn chan<- struct{} // to be taken only if there is something to apply
		var idle <-chan *ingestlog.Record
		switch {
		case w.offline.Load() || w.waiting:
		case w.pending():
			turn = w.cfg.Turns
		default:
			idle = w.queue
		}
		var err error
		select {
		case turn <- struct{}{}:
			err = w.takeTurn(ctx)
		case rec := <-idle:
			w.held = rec
		case call := <-w.calls:
			call()
		case <-ticker.C:
			err = unlessStalled(w.checkpointByTime(ticker))
		case err = <-w.written:
			err = unlessStalled(w.endCheckpoint(err))
		case <-ctx.Done():
			return w.lastCheckpoint()
		}
		if err == nil {
			err = w.checkpointIfDue()
		}
		if errors.Is(err, storage.ErrStalled) { // it cannot go on before the checkpoint is written
			w.waiting, err = w.unwritten != nil, nil
		}
		if err != nil {
			return fmt.Errorf("partition %d of %s: %w", w.cfg.Partition.Partition, w.cfg.Stream.Name, err)
		}
	}
}

// unlessStalled is err, unless it says that a checkpoint waits for space: Stalled tells
// that, the worker goes on beside it, and the ticker tries again.
func unlessStalled(err error) error {
	if errors.Is(err, storage.ErrStalled) {
		return nil
	}
	return err
}

// serveCalls runs the calls that came and those whose cut is applied: they come
// before what is yet to be applied.
func (w *Worker) serveCalls() {
	for more := true; more; {
		select {
		case call := <-w.calls:
			call()
		default:
			more = false
		}
	}
	w.serveWaiters()
}

// pending reports whether there is something to apply.
func (w *Worker) pending() bool {
	if w.held != nil || len(w.queue) > 0 || w.applied < w.cfg.Log.Head(w.cfg.Partition) {
		return true
	}
	return slices.ContainsFunc(w.views, func(v *view) bool { return v.applied < w.applied })
}

// firstCheckpoint spreads the partitions' checkpoints over their interval, so
// that they do not all stall at one moment.
func (w *Worker) firstCheckpoint() time.Duration {
	n := time.Duration(max(len(w.cfg.Stream.Stream.Partitions()), 1))
	at := time.Duration(w.cfg.Partition.Partition)%n + 1
	return max(w.cfg.CheckpointEvery*at/n, 1)
}

func (w *Worker) stop() {
	if w.unwritten == nil {
		_ = w.awaitCheckpoint() // what ended the worker is what is told
	}
	w.Abandon()
	close(w.done)
	release(w.held)
	for {
		select {
		case rec := <-w.queue:
			release(rec)
		default:
			return
		}
	}
}

// Abandon gives back what Open took, where Run is not called.
func (w *Worker) Abandon() {
	w.cancel()
	w.cfg.Memory.leave()
}

// A turn ends after this many records or rows.
const (
	turnRecords = 8
	turnRows    = 1024
)

// takeTurn applies what is there, but not much of it at a time.
func (w *Worker) takeTurn(ctx context.Context) error {
	defer func() { <-w.cfg.Turns }()
	enough := w.sinceRows + turnRows
	for range turnRecords {
		if err := w.applyNext(ctx); err != nil {
			if ctx.Err() != nil {
				return nil // what it interrupted is applied again
			}
			return err
		}
		if w.sinceRows >= enough || !w.pending() {
			break
		}
	}
	return nil
}

// applyNext applies a record, or some of what has to be read back from the log.
func (w *Worker) applyNext(ctx context.Context) error {
	// The head is read first: what is below it and not in the queue was dropped.
	head := w.cfg.Log.Head(w.cfg.Partition)
	if w.held == nil {
		select {
		case w.held = <-w.queue:
		default:
		}
	}
	if w.held != nil && w.held.Offset <= w.applied {
		rec := w.held
		w.held = nil
		defer release(rec)
		if rec.Offset < w.applied {
			return nil // applied already, from the log
		}
		return w.apply(rec)
	}
	if w.applied < head {
		to := min(head, w.applied+replayRecords)
		if w.held != nil {
			to = min(to, w.held.Offset)
		}
		return w.cfg.Log.Read(ctx, w.cfg.Partition, w.applied, to, w.apply)
	}
	if w.held != nil {
		return nil // published after the head was read
	}
	return w.backfill(ctx)
}

// call runs fn on the worker's goroutine between two records.
func (w *Worker) call(ctx context.Context, fn func()) error {
	finished := make(chan struct{})
	select {
	case w.calls <- func() { fn(); close(finished) }:
		<-finished
		return nil
	case <-w.done:
		return ErrStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// callAt runs fn on the worker's goroutine once admission and every live view
// have applied the log up to cut, or as soon as stop is closed.
func (w *Worker) callAt(ctx context.Context, cut id.Offset, stop <-chan struct{}, fn func()) error {
	finished := make(chan struct{})
	wt := &waiter{cut: cut, run: func() { fn(); close(finished) }}
	if err := w.call(ctx, func() { w.waiters = append(w.waiters, wt) }); err != nil {
		return err
	}
	select {
	case <-finished:
		return nil
	case <-w.done:
		return w.ran(finished)
	case <-stop:
	case <-ctx.Done():
	}
	// fn still runs, so that what it opens is closed by the caller.
	select {
	case w.calls <- func() { wt.over = true }:
	case <-finished:
		return nil
	case <-w.done:
	}
	return w.ran(finished)
}

// ran waits for a call, or for the worker's end, and says whether it was made.
// A worker makes no calls after its end, so a call that was made shows then.
func (w *Worker) ran(finished <-chan struct{}) error {
	select {
	case <-finished:
		return nil
	case <-w.done:
	}
	select {
	case <-finished:
		return nil
	default:
		return ErrStopped
	}
}

// serveWaiters runs the calls whose cut is applied or whose wait is over.
func (w *Worker) serveWaiters() {
	kept := w.waiters[:0]
	for _, wt := range w.waiters {
		if wt.over || w.applied >= wt.cut || w.offline.Load() {
			wt.run()
		} else {
			kept = append(kept, wt)
		}
	}
	clear(w.waiters[len(kept):])
	w.waiters = kept
}

// Done is closed when the worker has ended.
func (w *Worker) Done() <-chan struct{} { return w.done }

// SetOffline stops or resumes applying and answering. Appends go on, and the
// partition holds the stream's watermark meanwhile.
func (w *Worker) SetOffline(ctx context.Context, offline bool) error {
	return w.call(ctx, func() { w.offline.Store(offline); w.publishStatus() })
}

// Offline reports whether the partition is offline.
func (w *Worker) Offline() bool { return w.offline.Load() }

// Checkpoint writes a checkpoint now and makes it durable. It returns the offset
// up to which admission and every view need the log no more.
func (w *Worker) Checkpoint(ctx context.Context) (id.Offset, error) {
	var err error
	var covered id.Offset
	e := w.call(ctx, func() {
		err = w.writeCheckpoint()
		covered = w.applied
		for _, v := range w.views {
			covered = min(covered, v.applied)
		}
	})
	if err = errors.Join(e, err); err != nil {
		return 0, err
	}
	return covered, w.cfg.Store.Flush()
}

// Verdict returns the rows of a record that were not admitted. The record is
// below the admitted offset.
func (w *Worker) Verdict(o id.Offset) (types.Bitmap, error) {
	w.verdictMu.RLock()
	v, ok := w.verdicts[o]
	if !ok {
		v, ok = w.sealedVerdicts[o]
	}
	w.verdictMu.RUnlock()
	if ok {
		return v, nil
	}
	// A verdict leaves memory only after it is in the store.
	b, ok, err := w.cfg.Store.Get(w.keys.Verdict(o))
	if err != nil || !ok {
		return nil, err
	}
	return decodeVerdict(b)
}

var errCorruptState = fmt.Errorf("partition state: %w", storage.ErrCorrupt)
