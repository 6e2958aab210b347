package spill

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage/vfs"
)

// prefix begins the names of temporary files.
const prefix = "statement-"

// Dir is the folder of the temporary files of a server. It is safe for concurrent use.
type Dir struct {
	fs   vfs.FS
	path string
	next atomic.Uint64
}

// Open makes the folder if it is not there, and removes the files in it that an
// earlier process left.
func Open(fs vfs.FS, path string) (*Dir, error) {
	if err := fs.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("create the folder of temporary files: %w", err)
	}
	names, err := fs.List(path)
	if err != nil {
		return nil, fmt.Errorf("list temporary files: %w", err)
	}
	for _, n := range names {
		if strings.HasPrefix(n, prefix) {
			if err := fs.Remove(fs.PathJoin(path, n)); err != nil {
				return nil, fmt.Errorf("remove a temporary file: %w", err)
			}
		}
	}
	return &Dir{fs: fs, path: path}, nil
}

// Unlimited is the limit of a Quota that has none.
const Unlimited = -1

// Quota limits the bytes of temporary files that a session has at one time. It is safe
// for concurrent use.
type Quota struct {
	used atomic.Int64
}

// take counts n bytes; it fails with 53400 above limit.
func (q *Quota) take(n, limit int64) error {
	if used := q.used.Add(n); limit >= 0 && used > limit {
		q.used.Add(-n)
		return sqlerr.New(sqlerr.ConfigurationLimitExceeded, "temporary file size exceeds temp_file_limit (%dkB)", limit>>10)
	}
	return nil
}

// Used returns the bytes of the temporary files that are there now.
func (q *Quota) Used() int64 { return q.used.Load() }

// Set is the temporary files of one statement.
type Set struct {
	dir   *Dir
	quota *Quota
	limit int64 // bytes; Unlimited
	files map[*File]struct{}
}

// NewSet returns a set without files. The bytes of its files count against quota, which
// must not exceed limit bytes.
func (d *Dir) NewSet(quota *Quota, limit int64) *Set {
	return &Set{dir: d, quota: quota, limit: limit, files: map[*File]struct{}{}}
}

// Close removes the files that are still there.
func (s *Set) Close() error {
	var errs []error
	for f := range s.files {
		errs = append(errs, f.Remove())
	}
	return errors.Join(errs...)
}

// Create starts a file.
func (s *Set) Create() (*File, error) {
	name := s.dir.fs.PathJoin(s.dir.path, prefix+strconv.FormatUint(s.dir.next.Add(1), 10))
	out, err := s.dir.fs.Create(name, vfs.CategoryTemporary)
	if err != nil {
		return nil, failed("create", name, err)
	}
	f := &File{set: s, name: name, out: out}
	s.files[f] = struct{}{}
	return f, nil
}

// failed makes an error of the file system one of PostgreSQL's.
func failed(what, name string, err error) error {
	code := sqlerr.IOError
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		code = sqlerr.DiskFull
	}
	if errors.Is(err, fs.ErrNotExist) {
		return sqlerr.New(code, "could not %s temporary file %q: it is gone", what, name)
	}
	return sqlerr.New(code, "could not %s temporary file %q: %v", what, name, err)
}
