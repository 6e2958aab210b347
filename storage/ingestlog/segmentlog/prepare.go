package segmentlog

import (
	"errors"
	"fmt"

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
		if errors.Is(err, storage.ErrClosed) {
			_ = l.fs.Remove(name)
		}
		return prepared{number: number, err: fmt.Errorf("prepare segment %s: %w", name, err)}
	}
	return prepared{number: number, file: f}
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

// prepareLoop keeps one segment ahead of the committer.
func (l *Log) prepareLoop(first uint64) {
	defer close(l.ready)
	for number := first; ; number++ {
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
		if p.err != nil {
			return
		}
	}
}
