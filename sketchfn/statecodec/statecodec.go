package statecodec

import (
	"encoding/binary"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Corrupt reports bytes that are not a state of the family, as XX001.
func Corrupt(family string) error {
	return sqlerr.New(sqlerr.DataCorrupted, "invalid %s state", family)
}

// Reader reads a portable state. The first failure sticks; what is read after it
// is zero.
type Reader struct {
	family  string
	version byte
	b       []byte
	bad     bool
}

// NewReader returns a reader of a state of this family, behind its version byte, which
// is from 1 to the newest.
func NewReader(family string, newest byte, state []byte) Reader {
	if len(state) == 0 || state[0] == 0 || state[0] > newest {
		return Reader{family: family, bad: true}
	}
	return Reader{family: family, version: state[0], b: state[1:]}
}

// Version returns the version byte.
func (r *Reader) Version() byte { return r.version }

// Bad reports whether something failed.
func (r *Reader) Bad() bool { return r.bad }

// Fail makes the state corrupt.
func (r *Reader) Fail() { r.bad, r.b = true, nil }

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	x := r.b[0]
	r.b = r.b[1:]
	return x
}

// Uvarint reads a varint of at most limit.
func (r *Reader) Uvarint(limit uint64) uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 && uint64(r.b[0]) <= limit {
		x := r.b[0]
		r.b = r.b[1:]
		return uint64(x)
	}
	x, n := binary.Uvarint(r.b)
	if n <= 0 || x > limit || n > 1 && r.b[n-1] == 0 {
		r.Fail()
		return 0
	}
	r.b = r.b[n:]
	return x
}

// Word reads eight bytes.
func (r *Reader) Word() uint64 {
	if len(r.b) < 8 {
		r.Fail()
		return 0
	}
	x := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return x
}

// Bytes reads n bytes. They alias the state.
func (r *Reader) Bytes(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.Fail()
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// Rest returns the bytes that were not read.
func (r *Reader) Rest() []byte { return r.b }

// Done reports whether every byte was read and none was missing.
func (r *Reader) Done() error {
	if r.bad || len(r.b) != 0 {
		return Corrupt(r.family)
	}
	return nil
}
