package kv

import (
	"path"
	"runtime"
	"strings"
	"sync/atomic"

	pebblevfs "github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tallydb/tallydb/storage/vfs"
)

// guardFS keeps from Pebble that a write of its log failed. Pebble panics on one
// with its locks held or, while it changes logs, with a lock released that a
// deferred call releases again, which ends the process whoever recovers. Here the
// failure is reported, and the goroutine that met it stops for good.
type guardFS struct {
	vfs.FS
	fail  func(error)
	armed atomic.Bool // the store is open: until then errors go to Pebble
}

// isLog reports whether a file is a log: of changes, or of the store's versions,
// which Pebble writes with its lock released too.
func isLog(name string) bool {
	return path.Ext(name) == ".log" || strings.HasPrefix(path.Base(name), "MANIFEST-")
}

// stop ends the goroutine's part in the store if err is one.
func (g *guardFS) stop(err error) error {
	if err == nil || !g.armed.Load() {
		return err
	}
	g.fail(err)
	select {}
}

// Unwrap implements vfs.FS.
func (g *guardFS) Unwrap() vfs.FS { return g.FS }

// Create implements vfs.FS.
func (g *guardFS) Create(name string, category pebblevfs.DiskWriteCategory) (vfs.File, error) {
	f, err := g.FS.Create(name, category)
	switch {
	case isLog(name):
		return g.guarded(f, err)
	case err != nil:
		return nil, err
	}
	return politeFile{f}, nil
}

// politeFile is a table that a flush or a compaction writes. These can wait, and
// events and readers cannot: it lets them go first at each write.
type politeFile struct{ vfs.File }

// Write implements vfs.File.
func (f politeFile) Write(p []byte) (int, error) {
	runtime.Gosched()
	return f.File.Write(p)
}

// ReuseForWrite implements vfs.FS.
func (g *guardFS) ReuseForWrite(old, name string, category pebblevfs.DiskWriteCategory) (vfs.File, error) {
	f, err := g.FS.ReuseForWrite(old, name, category)
	if !isLog(name) {
		return f, err
	}
	return g.guarded(f, err)
}

// OpenDir implements vfs.FS: a new log is not there before its directory is synced.
func (g *guardFS) OpenDir(name string) (vfs.File, error) {
	f, err := g.FS.OpenDir(name)
	if err != nil {
		return f, err
	}
	return &guardFile{f, g}, nil
}

func (g *guardFS) guarded(f vfs.File, err error) (vfs.File, error) {
	if g.stop(err) != nil {
		return nil, err
	}
	return &guardFile{f, g}, nil
}

// guardFile is a log, or a directory of logs.
type guardFile struct {
	vfs.File
	g *guardFS
}

// Write implements vfs.File.
func (f *guardFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.g.stop(err)
}

// WriteAt implements vfs.File.
func (f *guardFile) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(p, at)
	return n, f.g.stop(err)
}

// Sync implements vfs.File.
func (f *guardFile) Sync() error { return f.g.stop(f.File.Sync()) }

// SyncTo implements vfs.File.
func (f *guardFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.g.stop(err)
}

// SyncData implements vfs.File.
func (f *guardFile) SyncData() error { return f.g.stop(f.File.SyncData()) }

// Close implements vfs.File.
func (f *guardFile) Close() error { return f.g.stop(f.File.Close()) }
