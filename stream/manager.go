package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/image"
	"github.com/tallydb/tallydb/stream/ingest"
	"github.com/tallydb/tallydb/stream/partition"
	"github.com/tallydb/tallydb/stream/rows"
	"github.com/tallydb/tallydb/stream/state"
)

// Config of a manager. The zero value of an optional field means its default.
type Config struct {
	Tenant  id.Tenant
	Log     ingestlog.Log
	Store   *kv.Store
	Logger  *slog.Logger // optional
	Now     func() time.Time
	Compile func(view *catalog.Relation) (partition.Compiled, error)

	CheckpointEvery time.Duration // optional, see partition.Config
	CheckpointRows  int64
	Memory          *partition.Budget // of all partitions of the node together; default 1 GiB
	Images          *image.Cache      // of all streams of the node together; default 256 MiB
	TickEvery       time.Duration     // default 250 ms
	MaxLagRows      int64             // backpressure: a partition further behind holds appends; default 65,536
	ScribbleRows    bool              // for tests, see rows.Pool

	// Checkpoints and Turns are the node's, see partition.Config; optional.
	Checkpoints, Turns chan struct{}
}

// Manager owns the streams of a node: their partition workers, and the ticks
// that let time pass in their logs.
type Manager struct {
	cfg   Config
	group *errgroup.Group
	ctx   context.Context
	stop  context.CancelFunc

	// history is held for reading while a view begins at the base of a log, and
	// for writing while logs are trimmed.
	history sync.RWMutex

	mu      sync.RWMutex
	streams map[id.Relation]*liveStream
}

// liveStream is a stream with its workers.
type liveStream struct {
	relation *catalog.Relation
	ingest   *ingest.Stream
	pool     *rows.Pool
	image    *image.Stream
	workers  []*partition.Worker // by index of the open epoch's partitions
	stop     context.CancelFunc
	done     sync.WaitGroup
}

// ErrUnknownStream says that a stream was dropped, or lives elsewhere.
var ErrUnknownStream = errors.New("stream is not on this node")

// Open restores every stream of a snapshot and starts its workers.
func Open(cfg Config, snapshot *catalog.Snapshot) (*Manager, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Memory == nil {
		cfg.Memory = partition.NewBudget(1 << 30)
	}
	if cfg.Images == nil {
		cfg.Images = image.NewCache(256 << 20)
	}
	if cfg.TickEvery == 0 {
		cfg.TickEvery = 250 * time.Millisecond
	}
	if cfg.Checkpoints == nil {
		cfg.Checkpoints = make(chan struct{}, 1)
	}
	if cfg.Turns == nil {
		cfg.Turns = make(chan struct{}, 1)
	}
	if cfg.MaxLagRows == 0 {
		cfg.MaxLagRows = 1 << 16
	}
	m := &Manager{cfg: cfg, streams: map[id.Relation]*liveStream{}}
	ctx, cancel := context.WithCancel(context.Background())
	m.stop = cancel
	m.group, m.ctx = errgroup.WithContext(ctx)
	if err := m.sweep(snapshot); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	for _, r := range snapshot.Relations() {
		if r.Stream == nil {
			continue
		}
		if err := m.open(r, snapshot.ViewsOf(r.ID)); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	m.group.Go(m.tickLoop)
	return m, nil
}

// open restores a stream and starts its workers.
func (m *Manager) open(r *catalog.Relation, views []*catalog.Relation) error {
	s := &liveStream{relation: r, pool: rows.NewPool(r.RowSchema()), image: m.cfg.Images.NewStream(r.RowSchema())}
	s.pool.Scribble = m.cfg.ScribbleRows
	s.ingest = &ingest.Stream{Tenant: m.cfg.Tenant, Relation: r, Log: m.cfg.Log, Pool: s.pool, Admit: s.admit(m.cfg.Log, m.cfg.MaxLagRows)}
	compiled := make([]partition.Compiled, len(views))
	for i, v := range views {
		var err error
		if compiled[i], err = m.cfg.Compile(v); err != nil {
			return fmt.Errorf("compile view %s: %w", v.Name, err)
		}
	}
	for _, p := range r.Stream.Partitions() {
		w, err := partition.Open(partition.Config{
			Partition: id.StreamPartition{Tenant: m.cfg.Tenant, Stream: r.ID, Partition: p}, Stream: r,
			Log: m.cfg.Log, Store: m.cfg.Store, Pool: s.pool, Image: s.image.NewPartition(), Logger: m.cfg.Logger, Now: m.cfg.Now,
			CheckpointEvery: m.cfg.CheckpointEvery, CheckpointRows: m.cfg.CheckpointRows,
			Memory: m.cfg.Memory, Checkpoints: m.cfg.Checkpoints, Turns: m.cfg.Turns,
		})
		if err != nil {
			s.abandon()
			return err
		}
		s.workers = append(s.workers, w)
		for i, v := range views {
			if err := w.OpenView(v, compiled[i]); err != nil {
				s.abandon()
				return err
			}
		}
	}
	ctx, cancel := context.WithCancel(m.ctx)
	s.stop = cancel
	for _, w := range s.workers {
		s.done.Add(1)
		m.group.Go(func() error { defer s.done.Done(); return w.Run(ctx) })
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.streams[r.ID] = s
	return nil
}

// abandon gives back what the partitions of a stream that does not open took.
func (s *liveStream) abandon() {
	for _, w := range s.workers {
		w.Abandon()
	}
	s.image.Close()
}

// admit returns the backpressure of a stream: appends wait while a partition that
// is not offline has more than this number of rows to apply. A partition whose
// worker has ended will not catch up: then they fail.
func (s *liveStream) admit(log ingestlog.Log, maxLag int64) func(context.Context) error {
	return func(ctx context.Context) error {
		poll := time.NewTicker(time.Millisecond)
		defer poll.Stop()
		for {
			var behind *partition.Worker
			for i, w := range s.workers {
				sp := id.StreamPartition{Tenant: s.ingest.Tenant, Stream: s.relation.ID, Partition: s.relation.Stream.Partitions()[i]}
				if !w.Offline() && log.Rows(sp, w.Applied(), log.Head(sp)) > maxLag {
					behind = w
					break
				}
			}
			if behind == nil {
				return nil
			}
			select {
			case <-behind.Done():
				return sqlerr.New(sqlerr.IOError, "stream %q takes no more rows: %w", s.relation.Name, partition.ErrStopped)
			case <-poll.C:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if err := behind.Stalled(); err != nil { // it does not catch up before it can write
				return err
			}
		}
	}
}

// Stalled returns why checkpoints are not written for the time being, or nil.
func (m *Manager) Stalled() error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, s := range m.streams {
		for _, w := range s.workers {
			if err := w.Stalled(); err != nil {
				return fmt.Errorf("stream %s: %w", s.relation.Name, err)
			}
		}
	}
	return nil
}

// Wait returns the first error that ended a worker, or nil after Close.
func (m *Manager) Wait() error { return m.group.Wait() }

// Close checkpoints, ends all workers and gives their memory back.
func (m *Manager) Close() error {
	m.stop()
	err := m.group.Wait()
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, s := range m.streams {
		s.image.Close()
	}
	return err
}

// CreateStream starts a new stream.
func (m *Manager) CreateStream(r *catalog.Relation) error { return m.open(r, nil) }

// DropStream ends a stream's workers and deletes its state and its log.
func (m *Manager) DropStream(rel id.Relation) error {
	m.mu.Lock()
	s := m.streams[rel]
	delete(m.streams, rel)
	m.mu.Unlock()
	if s == nil {
		return nil
	}
	s.ingest.Drop()
	s.stop()
	s.done.Wait()
	s.image.Close()
	for _, sp := range s.partitions(m.cfg.Tenant) {
		if err := m.cfg.Log.Trim(sp, m.cfg.Log.Head(sp)); err != nil {
			return err
		}
	}
	return m.deleteState(rel)
}

func (m *Manager) deleteState(rel id.Relation) error {
	prefix := state.RelationPrefix(m.cfg.Tenant, rel)
	b := m.cfg.Store.NewBatch()
	if err := b.DeleteRange(prefix, kv.PrefixEnd(prefix)); err != nil {
		return err
	}
	return b.Commit(false)
}

func (s *liveStream) partitions(t id.Tenant) []id.StreamPartition {
	var out []id.StreamPartition
	for _, p := range s.relation.Stream.Partitions() {
		out = append(out, id.StreamPartition{Tenant: t, Stream: s.relation.ID, Partition: p})
	}
	return out
}

func (m *Manager) stream(rel id.Relation) (*liveStream, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	s := m.streams[rel]
	if s == nil {
		return nil, ErrUnknownStream
	}
	return s, nil
}

// Ingest returns where rows go into a stream.
func (m *Manager) Ingest(rel id.Relation) (*ingest.Stream, error) {
	s, err := m.stream(rel)
	if err != nil {
		return nil, err
	}
	return s.ingest, nil
}

// Worker returns the worker of a partition, which this node owns.
func (m *Manager) Worker(rel id.Relation, p id.Partition) (*partition.Worker, error) {
	s, err := m.stream(rel)
	if err != nil {
		return nil, err
	}
	i := slices.Index(s.relation.Stream.Partitions(), p)
	if i < 0 {
		return nil, fmt.Errorf("partition %d: %w", p, ErrUnknownStream)
	}
	return s.workers[i], nil
}

// Log returns the node's log.
func (m *Manager) Log() ingestlog.Log { return m.cfg.Log }

// Tenant returns the tenant whose streams these are.
func (m *Manager) Tenant() id.Tenant { return m.cfg.Tenant }

// Pool returns the pool of a stream's batches.
func (m *Manager) Pool(rel id.Relation) (*rows.Pool, error) {
	s, err := m.stream(rel)
	if err != nil {
		return nil, err
	}
	return s.pool, nil
}

// HoldHistory keeps logs from being trimmed until release is called: from before
// Birth is asked until the partitions keep the view.
func (m *Manager) HoldHistory() (release func()) {
	m.history.RLock()
	return m.history.RUnlock
}

// LockHistory begins to trim logs, unless a view that is being created holds them.
func (m *Manager) LockHistory() (release func(), ok bool) {
	return m.history.Unlock, m.history.TryLock()
}

// Birth returns the first offset that a view created now reads: the base of the
// retained log of each partition.
func (m *Manager) Birth(stream *catalog.Relation) map[id.Partition]id.Offset {
	birth := map[id.Partition]id.Offset{}
	for _, p := range stream.Stream.Partitions() {
		birth[p] = m.cfg.Log.Base(id.StreamPartition{Tenant: m.cfg.Tenant, Stream: stream.ID, Partition: p})
	}
	return birth
}

// MissedUntil bounds the event times of the events that were trimmed from a
// stream's log: they were appended before the oldest record that is kept, and
// admitted at most max_future_skew ahead of that. nil if nothing was trimmed.
func (m *Manager) MissedUntil(stream *catalog.Relation) *eventtime.Time {
	var bound *eventtime.Time
	for _, p := range stream.Stream.Partitions() {
		sp := id.StreamPartition{Tenant: m.cfg.Tenant, Stream: stream.ID, Partition: p}
		base := m.cfg.Log.Base(sp)
		if base == 0 {
			continue
		}
		at := m.cfg.Log.AppendedAt(sp, base)
		if at == 0 { // the log is empty: all that ever was is gone
			at = m.cfg.Now().UnixMicro()
		}
		until := eventtime.Max
		if skew := stream.Stream.Options.MaxFutureSkew; skew > 0 {
			until = eventtime.FromUnixMicro(at).Add(eventtime.Duration(skew.Microseconds()))
		}
		if bound == nil || until > *bound {
			bound = &until
		}
	}
	return bound
}

// CreateView makes every partition of the view's stream keep it, and waits until
// it has read the retained log. progress is told now and then, in records.
func (m *Manager) CreateView(ctx context.Context, v *catalog.Relation, c partition.Compiled, progress func(done, total int64)) error {
	s, err := m.stream(v.ContinuousView.Stream)
	if err != nil {
		return err
	}
	for _, w := range s.workers {
		if err := w.AddView(ctx, v, c); err != nil {
			return err
		}
	}
	return s.awaitView(ctx, v.ID, progress)
}

func (s *liveStream) awaitView(ctx context.Context, view id.Relation, progress func(done, total int64)) error {
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		var done, total int64
		for _, w := range s.workers {
			if w.Offline() {
				continue // it catches up when it is back
			}
			applied, head, err := w.Progress(ctx, view)
			if err != nil {
				return err
			}
			done, total = done+int64(min(applied, head)), total+int64(head)
		}
		if done >= total {
			return nil
		}
		progress(done, total)
		select {
		case <-poll.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// DropView makes the partitions forget a view and deletes its state.
func (m *Manager) DropView(ctx context.Context, v *catalog.Relation) error {
	s, err := m.stream(v.ContinuousView.Stream)
	if err != nil {
		return err
	}
	for _, w := range s.workers {
		if err := w.DropView(ctx, v.ID); err != nil {
			return err
		}
	}
	return m.deleteState(v.ID)
}

// SetOffline takes a partition offline or brings it back.
func (m *Manager) SetOffline(ctx context.Context, rel id.Relation, p id.Partition, offline bool) error {
	w, err := m.Worker(rel, p)
	if err != nil {
		return err
	}
	return w.SetOffline(ctx, offline)
}
