// Package vfs is the door to Pebble's file systems: the real one, one in memory,
// one in memory that crashes, and one that fails on demand. The log and the
// key-value store take an FS so that the same code runs on all of them.
package vfs

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// FS is a file system.
type FS = vfs.FS

// File is an open file of an FS.
type File = vfs.File

// CategoryLog labels the writes of the partition log in disk statistics.
const CategoryLog = vfs.DiskWriteCategory("tally-log")

// CategoryTemporary labels the writes of temporary files of statements.
const CategoryTemporary = vfs.DiskWriteCategory("tally-temporary")

// OS returns the operating system's file system.
func OS() FS { return vfs.Default }

// Memory returns an empty file system in memory.
func Memory() FS { return vfs.NewMem() }

// Crashable is a file system in memory that can show what a power cut would leave.
type Crashable struct{ *vfs.MemFS }

// NewCrashable returns an empty crashable file system.
func NewCrashable() Crashable { return Crashable{vfs.NewCrashableMem()} }

// Crash returns the file system after a power cut at this moment: everything
// synced, and each block or directory entry not yet synced with the given
// probability in percent.
func (c Crashable) Crash(unsyncedPercent int, rng *rand.Rand) Crashable {
	return Crashable{c.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsyncedPercent, RNG: rng})}
}

// Injected reports whether err comes from a file system that fails on demand.
func Injected(err error) bool { return err != nil && strings.Contains(err.Error(), "injected error") }

// MkdirDurable makes dir and every missing directory above it, and makes their
// names durable, so that a power cut cannot take what is later synced inside.
func MkdirDurable(fs FS, dir string) error {
	if err := fs.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for {
		parent := fs.PathDir(dir)
		if parent == dir {
			return nil
		}
		if err := SyncDir(fs, parent); err != nil {
			return err
		}
		if parent == "." || parent == "/" {
			return nil
		}
		dir = parent
	}
}

// SyncDir makes the names in dir durable.
func SyncDir(fs FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// FailNth returns fs with its n-th write or sync from now on, counted from 0,
// failing with an error that Injected recognises.
func FailNth(fs FS, n int32) FS {
	return errorfs.Wrap(fs, errorfs.ErrInjected.If(errorfs.And(errorfs.Writes, errorfs.OnIndex(n))))
}

// FailFrom returns fs in which the n-th write or sync under a directory from now
// on, counted from 0, and every one after it fails with an error that Injected
// recognises, as on a disk that is gone.
func FailFrom(fs FS, dir string, n int64) FS {
	var seen atomic.Int64
	return FailWhen(fs, dir, func() bool { return seen.Add(1) > n })
}

// FailWhen returns fs in which each write or sync under a directory fails if
// failing says so.
func FailWhen(fs FS, dir string, failing func() bool) FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && strings.HasPrefix(op.Path, dir) && failing() {
			return errorfs.ErrInjected
		}
		return nil
	}))
}

// FullFrom returns fs in which the disk is full, ENOSPC, from the n-th time on, counted
// from 0, that a file under a directory is to be made or written to. Files can still be
// removed.
func FullFrom(fs FS, dir string, n int64) FS {
	var seen atomic.Int64
	takes := []errorfs.OpKind{errorfs.OpCreate, errorfs.OpFileWrite, errorfs.OpFileWriteAt, errorfs.OpFilePreallocate}
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if slices.Contains(takes, op.Kind) && strings.HasPrefix(op.Path, dir) && seen.Add(1) > n {
			return syscall.ENOSPC
		}
		return nil
	}))
}

// Watch returns fs with before called ahead of every write and sync, on the
// goroutine that does it.
func Watch(fs FS, before func()) FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			before()
		}
		return nil
	}))
}

// Disk is a file system on a disk whose free space a test sets.
type Disk struct {
	FS
	free atomic.Uint64
}

// NewDisk returns fs on a disk with this many bytes free. It tells how many are free;
// writing takes none of them.
func NewDisk(fs FS, free uint64) *Disk {
	d := &Disk{FS: fs}
	d.SetFree(free)
	return d
}

// SetFree makes this many bytes free.
func (d *Disk) SetFree(bytes uint64) { d.free.Store(bytes) }

// GetDiskUsage implements FS.
func (d *Disk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: d.free.Load(), TotalBytes: 1 << 40}, nil
}

// Unwrap implements FS.
func (d *Disk) Unwrap() FS { return d.FS }
