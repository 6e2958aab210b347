package segmentlog

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage/vfs"
)

// segment is one file of the series. Its file stays open until the last user
// releases it, also after it was removed from the directory.
type segment struct {
	header  segmentHeader
	name    string
	file    vfs.File
	refs    atomic.Int32
	highest map[id.StreamPartition]id.Offset // last offset of each partition with records here
}

func newSegment(h segmentHeader, name string, file vfs.File) *segment {
	s := &segment{header: h, name: name, file: file, highest: map[id.StreamPartition]id.Offset{}}
	s.refs.Store(1)
	return s
}

// acquire keeps the file open; false if it is closed already.
func (s *segment) acquire() bool {
	for {
		n := s.refs.Load()
		if n == 0 {
			return false
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (s *segment) release() {
	if s.refs.Add(-1) == 0 {
		_ = s.file.Close() // only read from by now; nothing can be lost
	}
}

func segmentName(number uint64) string { return fmt.Sprintf("%012d.seg", number) }

// segmentNumber parses a segment's file name.
func segmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(path.Base(name), ".seg")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}

var zeros = make([]byte, 1<<20)

// readFull reads len(b) bytes at an offset; fewer only at the end of the file.
func readFull(f io.ReaderAt, b []byte, at int64) (int, error) {
	n, err := f.ReadAt(b, at)
	if err == io.EOF {
		err = nil
	}
	return n, err
}
