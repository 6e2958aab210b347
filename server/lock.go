package server

import (
	"fmt"
	"io"

	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/vfs"
)

// dirLock keeps a data directory to one process.
type dirLock struct{ lock io.Closer }

// lockDir takes the directory, or says that another process has it.
func lockDir(fs vfs.FS, dir string) (dirLock, error) {
	l, err := fs.Lock(fs.PathJoin(dir, "LOCK"))
	if err != nil {
		return dirLock{}, fmt.Errorf("data directory %s is in use by another process: %w: %w", dir, storage.ErrFenced, err)
	}
	return dirLock{l}, nil
}

func (l dirLock) release() error {
	if l.lock == nil {
		return nil
	}
	return l.lock.Close()
}
