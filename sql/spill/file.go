package spill

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/recordbatch"
	"github.com/tallydb/tallydb/storage/vfs"
)

// bufferBytes is what a file gathers before it writes.
const bufferBytes = 64 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// File is a temporary file: written first, then read as often as wanted.
type File struct {
	set    *Set
	name   string
	out    vfs.File // nil once it is written
	buffer []byte
	bytes  int64
	rows   int64
	gone   bool
}

// Bytes returns the size of the file.
func (f *File) Bytes() int64 { return f.bytes }

// Rows returns the number of rows in the file.
func (f *File) Rows() int64 { return f.rows }

// Write appends the rows of a batch.
func (f *File) Write(b *types.Batch) error {
	at := len(f.buffer)
	f.buffer = recordbatch.Encode(append(f.buffer, make([]byte, 8)...), b.Flat())
	frame := f.buffer[at:]
	binary.LittleEndian.PutUint32(frame, uint32(len(frame)-8))
	binary.LittleEndian.PutUint32(frame[4:], crc32.Checksum(frame[8:], castagnoli))
	if err := f.set.quota.take(int64(len(frame)), f.set.limit); err != nil {
		f.buffer = f.buffer[:at]
		return err
	}
	f.bytes += int64(len(frame))
	f.rows += int64(b.Rows)
	if len(f.buffer) < bufferBytes {
		return nil
	}
	return f.flush()
}

func (f *File) flush() error {
	_, err := f.out.Write(f.buffer)
	f.buffer = f.buffer[:0]
	if err != nil {
		return failed("write to", f.name, err)
	}
	return nil
}

// Flush makes what was written so far readable.
func (f *File) Flush() error {
	if len(f.buffer) == 0 {
		return nil
	}
	return f.flush()
}

// Finish ends the writing.
func (f *File) Finish() error {
	if f.out == nil {
		return nil
	}
	err := f.flush()
	closed := f.out.Close()
	f.out, f.buffer = nil, nil
	if err == nil && closed != nil {
		err = failed("close", f.name, closed)
	}
	return err
}

// Remove deletes the file; it does nothing if that was done.
func (f *File) Remove() error {
	if f.gone {
		return nil
	}
	f.gone = true
	delete(f.set.files, f)
	f.set.quota.used.Add(-f.bytes)
	var err error
	if f.out != nil {
		err = f.out.Close()
		f.out = nil
	}
	if e := f.set.dir.fs.Remove(f.name); e != nil {
		err = errors.Join(err, failed("remove", f.name, e))
	}
	return err
}

// Reader reads a file from its beginning. At the end of what was written it goes on when
// more was.
type Reader struct {
	file   *File
	in     vfs.File
	taken  int64 // bytes that were read from the file
	buffer []byte
	at     int // of what is unread in buffer
}

// Open returns a reader of the rows that were written. Flush or Finish is called before
// it reads them.
func (f *File) Open() (*Reader, error) {
	in, err := f.set.dir.fs.Open(f.name)
	if err != nil {
		return nil, failed("open", f.name, err)
	}
	return &Reader{file: f, in: in}, nil
}

// Next decodes the next batch that was written into b, whose columns have the types of
// it; ok is false at the end.
func (r *Reader) Next(b *types.Batch) (ok bool, err error) {
	if r.rest() == 0 && r.at == len(r.buffer) {
		return false, nil
	}
	head, err := r.take(8)
	if err != nil {
		return false, err
	}
	n, sum := int(binary.LittleEndian.Uint32(head)), binary.LittleEndian.Uint32(head[4:])
	payload, err := r.take(n)
	if err != nil {
		return false, err
	}
	if crc32.Checksum(payload, castagnoli) != sum {
		return false, r.corrupt()
	}
	if err := recordbatch.Decode(payload, b); err != nil {
		return false, errors.Join(r.corrupt(), err)
	}
	return true, nil
}

// rest is what can be read of the file: whole batches.
func (r *Reader) rest() int64 { return r.file.bytes - int64(len(r.file.buffer)) - r.taken }

func (r *Reader) corrupt() error {
	return sqlerr.New(sqlerr.DataCorrupted, "temporary file %q is damaged", r.file.name)
}

// take returns the next n bytes, which are valid until it is called again.
func (r *Reader) take(n int) ([]byte, error) {
	if have := len(r.buffer) - r.at; have < n {
		missing := int64(n - have)
		if missing > r.rest() {
			return nil, r.corrupt()
		}
		more := min(max(missing, bufferBytes), r.rest())
		kept := copy(r.buffer, r.buffer[r.at:])
		r.buffer, r.at = append(r.buffer[:kept], make([]byte, more)...), 0
		if _, err := io.ReadFull(r.in, r.buffer[kept:]); err != nil {
			return nil, failed("read", r.file.name, err)
		}
		r.taken += more
	}
	r.at += n
	return r.buffer[r.at-n : r.at], nil
}

// Close ends the reading.
func (r *Reader) Close() error { return r.in.Close() }
