// Package kv is the door to Pebble as a key-value store: ordered keys, atomic
// batches, snapshots. It knows nothing of what the keys mean.
//
// A Store is safe for concurrent use. It starts Pebble's own background
// goroutines, which Close ends.
package kv

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/background"
	"github.com/tallydb/tallydb/storage/vfs"
)

// Config of a store. The zero value of a field means its default.
type Config struct {
	FS            vfs.FS       // default: the operating system's
	Logger        *slog.Logger // default: silent
	CacheBytes    int64        // block cache; default 64 MiB
	MemTableBytes uint64       // default 32 MiB
}

// MinFree is the space below which Open refuses: Pebble writes when it opens, and
// on a full disk it retries without end.
const MinFree = 16 << 20

// Store is an ordered, durable map from bytes to bytes.
type Store struct {
	db     *pebble.DB
	dir    string
	guard  *guardFS
	broken chan struct{} // closed when the store failed
	once   sync.Once
	failed error // by broken
}

// Open opens or creates the store in dir.
func Open(dir string, cfg Config) (*Store, error) {
	if cfg.FS == nil || cfg.FS == vfs.OS() {
		if err := checkSpace(vfs.OS(), dir); err != nil {
			return nil, err
		}
	}
	s := &Store{dir: dir, broken: make(chan struct{})}
	s.guard = &guardFS{FS: orDefault(cfg.FS, vfs.OS()), fail: func(err error) { _ = s.fail(err) }} // whoever waits learns of it from the store
	cache := pebble.NewCache(orDefault(cfg.CacheBytes, 64<<20))
	defer cache.Unref()
	opts := &pebble.Options{
		Cache:                       cache,
		MemTableSize:                orDefault(cfg.MemTableBytes, 32<<20),
		MemTableStopWritesThreshold: 4,
		// What Pebble writes and deletes goes to the disk a little at a time, and not
		// in one piece between the syncs of the log.
		WALBytesPerSync:        1 << 20,
		TargetByteDeletionRate: 128 << 20,
		FormatMajorVersion:     pebble.FormatColumnarBlocks,
		Logger:                 logger{cfg.Logger},
		FS:                     s.guard,
		EventListener: &pebble.EventListener{ // each is called by a goroutine that ends with what begins
			FlushBegin:      func(pebble.FlushInfo) { background.Lower() },
			CompactionBegin: func(pebble.CompactionInfo) { background.Lower() },
		},
	}
	opts.CompactionConcurrencyRange = func() (int, int) { return 1, 1 }
	db, err := pebble.Open(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("open key-value store: %w", classify(err))
	}
	s.db = db
	s.guard.armed.Store(true)
	return s, nil
}

// checkSpace refuses a disk that is as good as full. A file system that cannot
// tell, or a directory that is not there yet, is not refused.
func checkSpace(fs vfs.FS, dir string) error {
	usage, err := fs.GetDiskUsage(dir)
	if err != nil {
		usage, err = fs.GetDiskUsage(fs.PathDir(dir))
	}
	if known := err == nil; !known || usage.AvailBytes >= MinFree {
		return nil
	}
	return sqlerr.New(sqlerr.DiskFull, "the disk of %s is full: %d KiB are free, %d MiB are needed to start", dir, usage.AvailBytes>>10, MinFree>>20)
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// classify maps Pebble's corruption to ours.
func classify(err error) error {
	if pebble.IsCorruptionError(err) {
		return fmt.Errorf("%w: %w", storage.ErrCorrupt, err)
	}
	return err
}

// Close flushes and closes the store. Snapshots and iterators must be closed
// before. A store that failed leaves its files to the end of the process: Pebble
// holds its locks for good then.
func (s *Store) Close() error {
	select {
	case <-s.broken:
		return nil
	default:
	}
	s.guard.armed.Store(false)
	return s.db.Close()
}

// Get returns a copy of the value of key; ok is false if there is none.
func (s *Store) Get(key []byte) (value []byte, ok bool, err error) {
	return get(s.db, key)
}

func get(r pebble.Reader, key []byte) ([]byte, bool, error) {
	v, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, classify(err)
	}
	out := append([]byte(nil), v...)
	return out, true, closer.Close()
}

// Scan calls fn for each pair in [from, to) in key order until fn returns an
// error, which it returns. The slices are valid during the call only.
func (s *Store) Scan(from, to []byte, fn func(key, value []byte) error) error {
	return scan(s.db, from, to, fn)
}

func scan(r pebble.Reader, from, to []byte, fn func(key, value []byte) error) error {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return classify(err)
	}
	return each(it, fn)
}

// each calls fn with what an iterator has, and closes it.
func each(it *pebble.Iterator, fn func(key, value []byte) error) (err error) {
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return classify(err)
		}
		if err := fn(it.Key(), v); err != nil {
			return err
		}
	}
	return classify(it.Error())
}

// Snapshot is the store as it was at one moment. Close it.
type Snapshot struct {
	s *pebble.Snapshot
}

// Snapshot returns the store as it is now.
func (s *Store) Snapshot() *Snapshot { return &Snapshot{s.db.NewSnapshot()} }

// Close releases the snapshot.
func (s *Snapshot) Close() error { return s.s.Close() }

// Get is Store.Get at the snapshot's moment.
func (s *Snapshot) Get(key []byte) (value []byte, ok bool, err error) { return get(s.s, key) }

// Scan is Store.Scan at the snapshot's moment.
func (s *Snapshot) Scan(from, to []byte, fn func(key, value []byte) error) error {
	return scan(s.s, from, to, fn)
}

// View is what there is to read at one moment. Close it.
type View interface {
	// Scan is Store.Scan at the view's moment.
	Scan(from, to []byte, fn func(key, value []byte) error) error
	Close() error
}

// View returns the store as it is now.
func (s *Store) View() (View, error) { return s.Snapshot(), nil }

// View returns the store with the changes of an indexed batch, as both are now: later
// changes are not seen. Close it before the batch is committed or discarded. While it is
// open the store keeps its files and memory.
func (b *Batch) View() (View, error) {
	it, err := b.b.NewIter(nil)
	if err != nil {
		return nil, classify(err)
	}
	return &batchView{it}, nil
}

// batchView is the moment of an iterator, which its clones share.
type batchView struct{ it *pebble.Iterator }

// Scan implements View.
func (v *batchView) Scan(from, to []byte, fn func(key, value []byte) error) error {
	it, err := v.it.Clone(pebble.CloneOptions{IterOptions: &pebble.IterOptions{LowerBound: from, UpperBound: to}})
	if err != nil {
		return classify(err)
	}
	return each(it, fn)
}

// Close implements View.
func (v *batchView) Close() error { return v.it.Close() }

// Batch is a set of changes that take effect together or not at all.
type Batch struct {
	s         *Store
	b         *pebble.Batch
	committed bool
}

// NewBatchSize returns an empty batch with room for this many bytes.
func (s *Store) NewBatchSize(bytes int) *Batch { return &Batch{s: s, b: s.db.NewBatchWithSize(bytes)} }

// NewBatch returns an empty batch.
func (s *Store) NewBatch() *Batch { return &Batch{s: s, b: s.db.NewBatch()} }

// NewIndexedBatch returns an empty batch that can be read: Get and Scan see the
// store with the batch's changes in it.
func (s *Store) NewIndexedBatch() *Batch { return &Batch{s: s, b: s.db.NewIndexedBatch()} }

// Get is Store.Get through the changes of an indexed batch.
func (b *Batch) Get(key []byte) (value []byte, ok bool, err error) { return get(b.b, key) }

// Scan is Store.Scan through the changes of an indexed batch. fn must not change
// the batch.
func (b *Batch) Scan(from, to []byte, fn func(key, value []byte) error) error {
	return scan(b.b, from, to, fn)
}

// Empty reports whether the batch changes nothing.
func (b *Batch) Empty() bool { return b.b.Empty() }

// Set sets key to value.
func (b *Batch) Set(key, value []byte) error { return b.b.Set(key, value, nil) }

// Delete removes key.
func (b *Batch) Delete(key []byte) error { return b.b.Delete(key, nil) }

// DeleteRange removes every key in [from, to).
func (b *Batch) DeleteRange(from, to []byte) error { return b.b.DeleteRange(from, to, nil) }

// Bytes returns the size of the batch so far.
func (b *Batch) Bytes() int { return b.b.Len() }

// Commit makes the changes visible and, if durable, waits until they survive a
// power cut. Changes that are not durable survive in the order of their commits.
// The batch must not be used again. It fails with 53100, and storage.ErrStalled, where
// the disk has no space for it; the store takes changes again when it has.
func (b *Batch) Commit(durable bool) error {
	b.committed = true
	if err := b.s.room(b.b.Len()); err != nil {
		_ = b.b.Close() // Pebble has not seen it
		return err
	}
	if err := b.s.apply(b.b, durable); err != nil {
		return err
	}
	return b.b.Close()
}

// room refuses a commit that could fill the disk: Pebble would not come back from it.
// A file system that cannot tell is not asked.
func (s *Store) room(bytes int) error {
	usage, err := s.guard.GetDiskUsage(s.dir)
	need := uint64(MinFree + 3*bytes) // the log, the table that it becomes, and a compaction of that
	if known := err == nil; !known || usage.AvailBytes >= need {
		return nil
	}
	return sqlerr.New(sqlerr.DiskFull, "could not write %d KiB to the key-value store, %d MiB are free and %d MiB are needed: %w",
		bytes>>10, usage.AvailBytes>>20, need>>20, fmt.Errorf("%w: %w", storage.ErrStalled, syscall.ENOSPC)).WithHint("Free space on the disk.")
}

// Discard drops the changes. After Commit it does nothing: Pebble may still hold
// a batch whose commit failed.
func (b *Batch) Discard() {
	if !b.committed {
		_ = b.b.Close()
	}
}

// apply commits a batch, on a goroutine of its own: when a write of the log
// fails, Pebble does not come back, and the caller has to.
func (s *Store) apply(b *pebble.Batch, durable bool) error {
	if err := s.Failed(); err != nil {
		return err
	}
	opt := pebble.NoSync
	if durable {
		opt = pebble.Sync
	}
	var err error
	var defect any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { defect = recover() }()
		err = s.db.Apply(b, opt)
	}()
	select {
	case <-s.broken:
		return s.failed
	case <-done:
	}
	if defect != nil {
		return s.panicked(defect)
	}
	if err != nil {
		return fmt.Errorf("commit: %w", classify(err))
	}
	return nil
}

// Flush makes everything committed so far durable.
func (s *Store) Flush() error {
	b := s.db.NewBatch()
	if err := b.LogData(nil, nil); err != nil {
		return err
	}
	if err := s.apply(b, true); err != nil {
		return err
	}
	return b.Close()
}

// DiskBytes returns the space that the store takes.
func (s *Store) DiskBytes() uint64 { return s.db.Metrics().DiskSpaceUsage() }

// PrefixEnd returns the first key after every key that starts with prefix, or
// nil if there is none.
func PrefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		end[i]++
		if end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// fatal is what Pebble could not go on from.
type fatal struct{ message string }

func (f fatal) Error() string { return f.message }

// panicked makes a commit that Pebble could not go on from an I/O error of its
// caller, and the store's failure: Pebble panics with its own message, or with the
// error of a write to its log. On Pebble's own goroutines the panic ends the
// process; either way what is durable stays as it is. A defect goes on as a panic.
func (s *Store) panicked(with any) error {
	cause, ok := with.(error)
	if _, defect := with.(runtime.Error); defect || !ok {
		panic(with)
	}
	return s.fail(cause)
}

// fail makes an error the store's failure, unless it has one, and returns the
// failure.
func (s *Store) fail(cause error) error {
	s.once.Do(func() {
		s.failed = sqlerr.New(sqlerr.OfIO(cause), "key-value store: %w", cause)
		close(s.broken)
	})
	return s.Failed()
}

// Failed returns why the store takes no more changes, or nil.
func (s *Store) Failed() error {
	select {
	case <-s.broken:
		return s.failed
	default:
		return nil
	}
}

// logger sends Pebble's messages to slog. Pebble calls Fatalf when it cannot go
// on; it expects not to return.
type logger struct{ l *slog.Logger }

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	if l.l != nil {
		l.l.Error("key-value store", slog.String("message", fmt.Sprintf(format, args...)))
	}
}

func (l logger) Fatalf(format string, args ...any) {
	panic(fatal{fmt.Sprintf(format, args...)})
}
