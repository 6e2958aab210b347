package segmentlog

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/storage/vfs"
)

// Config of a log. The zero value of a field means its default.
type Config struct {
	FS             vfs.FS           // default: the operating system's
	SegmentBytes   int64            // default 64 MiB
	MaxQueuedBytes int              // appends beyond this wait; default 64 MiB
	Fence          id.FencingToken  // of this owner; must not be below one that wrote before
	Now            func() time.Time // default time.Now
	// Observe, if set, is told of every group commit: how long it took and what it held.
	Observe func(took time.Duration, appends, bytes int)
	// OnStall, if set, is told when appends begin to fail for lack of a new segment,
	// and with nil when they go on. It must not block.
	OnStall func(err error)
}

// Log is the segment log of a node.
type Log struct {
	fs           vfs.FS
	dir          string
	segmentBytes int64
	maxQueued    int
	fence        id.FencingToken
	now          func() time.Time
	observe      func(time.Duration, int, int)
	onStall      func(error)

	queueMu     sync.Mutex
	queueCond   *sync.Cond // signalled when the queue or failed changes
	queue       []*appendRequest
	queuedBytes int
	failed      error // sticky: why no append is taken any more
	stalled     error // why the last appends failed, though the next may not

	trimMu sync.Mutex // orders the removal of segments

	mu         sync.RWMutex
	partitions map[id.StreamPartition]*partitionIndex
	segments   map[uint64]*segment
	nextSub    int

	// Of the committer only.
	active   *segment
	end      int64  // where the next frame goes in the active segment
	seq      uint64 // of the next frame
	synced   uint64 // every frame below is durable
	lastTime int64
	buffer   []byte

	ready    chan prepared
	used     atomic.Int64  // of the active segment
	rolls    atomic.Int64  // segments that the committer asked for
	advanced chan struct{} // used or rolls changed
	stop     chan struct{}
	done     sync.WaitGroup
}

var _ ingestlog.Log = (*Log)(nil)

// appendRequest is one Append that waits for its group commit.
type appendRequest struct {
	entries []ingestlog.Entry
	bytes   int
	done    chan error
}

// Open opens or creates the log in dir, which it recovers up to the last frame
// that could have been acknowledged. Errors wrap storage.ErrCorrupt if
// acknowledged records are damaged, storage.ErrFenced if a newer owner wrote.
func Open(dir string, cfg Config) (*Log, error) {
	l := &Log{
		fs: cfg.FS, dir: dir, segmentBytes: cfg.SegmentBytes, maxQueued: cfg.MaxQueuedBytes,
		fence: cfg.Fence, now: cfg.Now, observe: cfg.Observe, onStall: cfg.OnStall,
		partitions: map[id.StreamPartition]*partitionIndex{},
		segments:   map[uint64]*segment{},
		ready:      make(chan prepared),
		advanced:   make(chan struct{}, 1),
		stop:       make(chan struct{}),
	}
	if l.fs == nil {
		l.fs = vfs.OS()
	}
	if l.segmentBytes == 0 {
		l.segmentBytes = 64 << 20
	}
	if l.maxQueued == 0 {
		l.maxQueued = 64 << 20
	}
	if l.now == nil {
		l.now = time.Now //nolint:forbidigo // the edge at which the clock comes in
	}
	if l.observe == nil {
		l.observe = func(time.Duration, int, int) {}
	}
	if l.onStall == nil {
		l.onStall = func(error) {}
	}
	l.queueCond = sync.NewCond(&l.queueMu)
	if err := vfs.MkdirDurable(l.fs, dir); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	last, err := l.recover()
	if err != nil {
		l.closeSegments()
		return nil, fmt.Errorf("open log %s: %w", dir, err)
	}
	l.done.Add(2)
	go func() { defer l.done.Done(); l.prepareLoop(last + 1) }()
	if err := l.roll(); err != nil {
		close(l.stop)
		l.done.Done()
		l.done.Wait()
		l.closeSegments()
		return nil, fmt.Errorf("open log %s: %w", dir, err)
	}
	go func() { defer l.done.Done(); l.run() }()
	return l, nil
}

// Append implements ingestlog.Log.
func (l *Log) Append(_ context.Context, entries []ingestlog.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if len(entries) > maxEntries {
		return fmt.Errorf("append of %d records exceeds %d", len(entries), maxEntries)
	}
	req := &appendRequest{entries: entries, done: make(chan error, 1)}
	for i := range entries {
		req.bytes += len(entries[i].Record.Payload)
		if a := entries[i].Record.Attached; a != nil {
			a.Retain()
		}
	}
	if err := l.enqueue(req); err != nil {
		for i := range entries {
			if a := entries[i].Record.Attached; a != nil {
				a.Release()
			}
		}
		return err
	}
	// Not cut short when ctx ends: the payloads belong to the committer until it is
	// through with them, and what became durable is not to be called cancelled.
	return <-req.done
}

func (l *Log) enqueue(req *appendRequest) error {
	l.queueMu.Lock()
	defer l.queueMu.Unlock()
	for l.failed == nil && l.queuedBytes > 0 && l.queuedBytes+req.bytes > l.maxQueued {
		l.queueCond.Wait()
	}
	if l.failed != nil {
		return l.failed
	}
	l.queue = append(l.queue, req)
	l.queuedBytes += req.bytes
	l.queueCond.Broadcast()
	return nil
}

// fail stops the log for good.
func (l *Log) fail(err error) {
	l.queueMu.Lock()
	defer l.queueMu.Unlock()
	if l.failed == nil {
		l.failed = err
	}
	for _, req := range l.queue {
		req.finish(l.failed)
	}
	l.queue, l.queuedBytes = nil, 0
	l.queueCond.Broadcast()
}

// Failed returns why the log takes no more appends, or nil.
func (l *Log) Failed() error {
	l.queueMu.Lock()
	defer l.queueMu.Unlock()
	return l.failed
}

// Close implements ingestlog.Log.
func (l *Log) Close() error {
	l.fail(storage.ErrClosed)
	close(l.stop)
	l.done.Wait()
	l.closeSegments()
	return nil
}

func (l *Log) closeSegments() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.segments {
		s.release()
	}
	l.segments = map[uint64]*segment{}
}
