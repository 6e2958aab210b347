package segmentlog

import (
	"fmt"
	"syscall"

	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/vfs"
)

// prepared is a zero-filled file that is ready to become the next segment.
type prepared struct {
	number uint64
	file   vfs.File
	err    error
}

// prepareSegment creates the file of a segment and makes its name durable.
func (l *Log) prepareSegment(number uint64, nth int64) prepared {
	name := l.fs.PathJoin(l.dir, segmentName(number))
	if err := l.checkSpace(); err != nil {
		return prepared{number: number, err: fmt.Errorf("prepare segment %s: %w", name, err)}
	}
	f, err := l.fs.OpenReadWrite(name, vfs.CategoryLog)
	if err != nil {
		return prepared{number: number, err: fmt.Errorf("create segment: %w", err)}
	}
	err = l.zeroFill(f, nth)
	if err == nil {
		err = vfs.SyncDir(l.fs, l.dir)
	}
	if err != nil {
		_ = f.Close()
		_ = l.fs.Remove(name) // so that it takes no space; the next attempt makes it again
		return prepared{number: number, err: fmt.Errorf("prepare segment %s: %w", name, err)}
	}
	return prepared{number: number, file: f}
}

// Reserve is the space that a new segment leaves on the disk, for the key-value store:
// it writes less, and does not come back from a full disk by itself.
const Reserve = 64 << 20

// checkSpace refuses to make a segment that would fill the disk. A file system that
// cannot tell is not asked.
func (l *Log) checkSpace() error {
	usage, err := l.fs.GetDiskUsage(l.dir)
	if known := err == nil; !known || usage.AvailBytes >= uint64(l.segmentBytes)+Reserve {
		return nil
	}
	return fmt.Errorf("%d MiB are free, %d MiB are needed: %w", usage.AvailBytes>>20, (l.segmentBytes+Reserve)>>20, syscall.ENOSPC)
}

// syncFill is how much of a new segment is written between two syncs: a sync of
// the active segment waits for what the file system has to write of the new one.
const syncFill = 4 << 20

// zeroFill fills a segment with zeros, so that later writes inside it change no
// metadata and their syncs cost one write. It goes along with the active segment,
// of which half is used when the new one is full: all at once it would take the
// disk and a processor from the appends of that moment. It hurries once the
// committer asks for the nth segment of this run, which this one is.
func (l *Log) zeroFill(f vfs.File, nth int64) error {
	for at := int64(0); at < l.segmentBytes; {
		for l.used.Load() < at/2 && l.rolls.Load() < nth {
			select {
			case <-l.advanced:
			case <-l.stop:
				return storage.ErrClosed
			}
		}
		n := min(l.segmentBytes-at, int64(len(zeros)))
		if _, err := f.WriteAt(zeros[:n], at); err != nil {
			return err
		}
		if at += n; at%syncFill == 0 {
			if err := f.SyncData(); err != nil {
				return err
			}
		}
	}
	return f.Sync()
}

// advance says how far the active segment is used.
func (l *Log) advance(used int64) {
	l.used.Store(used)
	l.goOn()
}

// goOn makes zeroFill look again.
func (l *Log) goOn() {
	select {
	case l.advanced <- struct{}{}:
	default: // one is enough
	}
}

// prepareLoop keeps one segment ahead of the committer. An attempt that failed is
// told to the committer when it asks; then the next one is made.
func (l *Log) prepareLoop(first uint64) {
	defer close(l.ready)
	number := first
	for {
		p := l.prepareSegment(number, int64(number-first)+1)
		select {
		case l.ready <- p:
		case <-l.stop:
			if p.file != nil {
				_ = p.file.Close()
				_ = l.fs.Remove(l.fs.PathJoin(l.dir, segmentName(number)))
			}
			return
		}
		if p.err == nil {
			number++
		}
	}
}
