package kv

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pebblevfs "github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage/vfs"
)

// TestFailedWriteIsTheStoresFailure: whichever write of the log fails, commits end
// in 58030, those that wait beside it too, reads go on, and Close returns.
func TestFailedWriteIsTheStoresFailure(t *testing.T) {
	for n := range int64(10) {
		for _, durable := range []bool{true, false} {
			var armed atomic.Bool
			var seen atomic.Int64
			fs := vfs.FailWhen(vfs.Memory(), "kv/", func() bool { return armed.Load() && seen.Add(1) > n })
			s, err := Open("kv", Config{FS: fs, MemTableBytes: 64 << 10})
			if err != nil {
				t.Fatal(err)
			}
			if err := set(s, "there", 1, true); err != nil {
				t.Fatal(err)
			}
			armed.Store(true)
			var wg sync.WaitGroup
			for k := range 4 {
				wg.Go(func() {
					var failed error
					for i := range 300 {
						err := set(s, fmt.Sprintf("%d/%d", k, i), 4<<10, durable)
						if failed != nil && err == nil {
							t.Errorf("write %d fails: a commit succeeded after %v", n, failed)
						}
						if err != nil && sqlerr.CodeOf(err) != sqlerr.IOError {
							t.Errorf("write %d fails: %v, want SQLSTATE 58030", n, err)
						}
						failed = err
					}
					if failed == nil {
						t.Errorf("write %d fails: no commit failed", n)
					}
				})
			}
			within(t, "commits end", wg.Wait)
			if !vfs.Injected(s.Failed()) {
				t.Errorf("write %d fails: the store's failure is %v", n, s.Failed())
			}
			if err := s.Flush(); sqlerr.CodeOf(err) != sqlerr.IOError {
				t.Errorf("write %d fails: flush: %v", n, err)
			}
			if _, ok, err := s.Get([]byte("there")); !ok || err != nil {
				t.Errorf("write %d fails: read: %v %v", n, ok, err)
			}
			within(t, "the store closes", func() { _ = s.Close() })
		}
	}
}

func set(s *Store, key string, bytes int, durable bool) error {
	b := s.NewBatch()
	if err := b.Set([]byte(key), make([]byte, bytes)); err != nil {
		return err
	}
	return b.Commit(durable)
}

func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { do(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s: not within 30 s", what)
	}
}

// sized is a file system with some space left.
type sized struct {
	vfs.FS
	free uint64
	err  error
}

func (f sized) GetDiskUsage(string) (pebblevfs.DiskUsage, error) {
	return pebblevfs.DiskUsage{AvailBytes: f.free}, f.err
}

func TestFullDiskIsRefused(t *testing.T) {
	for _, c := range []struct {
		fs   sized
		full bool
	}{
		{sized{free: MinFree}, false},
		{sized{free: MinFree - 1}, true},
		{sized{free: 0}, true},
		{sized{err: errors.ErrUnsupported}, false},
	} {
		c.fs.FS = vfs.Memory()
		err := checkSpace(c.fs, "data/kv")
		if full := sqlerr.CodeOf(err) == sqlerr.DiskFull; full != c.full || full != (err != nil) {
			t.Errorf("%d bytes free: %v", c.fs.free, err)
		}
		if err != nil && !strings.Contains(err.Error(), "full") {
			t.Errorf("the error does not say so: %v", err)
		}
	}
}
