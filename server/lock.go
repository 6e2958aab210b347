package server

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"

	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/vfs"
)

// dirLock keeps a data directory to one process.
type dirLock struct{ lock io.Closer }

// lockDir takes the directory, or says that another process has it.
func lockDir(fs vfs.FS, dir string) (dirLock, error) {
	l, err := fs.Lock(fs.PathJoin(dir, "LOCK"))
	if errors.Is(err, iofs.ErrPermission) || errors.Is(err, iofs.ErrNotExist) {
		return dirLock{}, fmt.Errorf("lock data directory %s: %w", dir, err)
	}
	if err != nil {
		return dirLock{}, &inUseError{dir, err}
	}
	return dirLock{l}, nil
}

// inUseError: another process has the directory.
type inUseError struct {
	dir   string
	cause error
}

func (e *inUseError) Error() string {
	return fmt.Sprintf("data directory %s is in use by another process", e.dir)
}

func (e *inUseError) Unwrap() []error { return []error{storage.ErrFenced, e.cause} }

func (l dirLock) release() error {
	if l.lock == nil {
		return nil
	}
	return l.lock.Close()
}
