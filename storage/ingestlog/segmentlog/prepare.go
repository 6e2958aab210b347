package segmentlog

import (
	"fmt"

	"github.com/tallydb/tallydb/storage/vfs"
)

// prepared is a zero-filled file that is ready to become the next segment.
type prepared struct {
	number uint64
	file   vfs.File
	err    error
}

// prepareSegment creates the file of a segment and makes its name durable.
func (l *Log) prepareSegment(number uint64) prepared {
	name := l.fs.PathJoin(l.dir, segmentName(number))
	f, err := l.fs.OpenReadWrite(name, vfs.CategoryLog)
	if err != nil {
		return prepared{number: number, err: fmt.Errorf("create segment: %w", err)}
	}
	err = zeroFill(f, l.segmentBytes)
	if err == nil {
		err = vfs.SyncDir(l.fs, l.dir)
	}
	if err != nil {
		_ = f.Close()
		return prepared{number: number, err: fmt.Errorf("prepare segment %s: %w", name, err)}
	}
	return prepared{number: number, file: f}
}

// prepareLoop keeps one segment ahead of the committer.
func (l *Log) prepareLoop(first uint64) {
	defer close(l.ready)
	for number := first; ; number++ {
		p := l.prepareSegment(number)
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
