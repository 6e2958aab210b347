package agg

import (
	"encoding/binary"
	"math"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Portable states begin with a version byte. Version 1 of every exact state is
// a sequence of varints, fixed 64-bit words and length-prefixed bytes, in the
// order in which the state's file lists them.
const codecV1 byte = 1

// corrupt reports bytes that are not a state of this spec.
func corrupt(what string) error {
	return sqlerr.New(sqlerr.DataCorrupted, "invalid %s state", what)
}

// reader takes a portable state apart. The first failure sticks.
type reader struct {
	what string
	b    []byte
	bad  bool
}

func newReader(what string, b []byte) *reader {
	r := &reader{what: what, b: b}
	if len(b) == 0 || b[0] != codecV1 {
		r.bad = true
		return r
	}
	r.b = b[1:]
	return r
}

func (r *reader) uvarint() uint64 {
	x, n := binary.Uvarint(r.b)
	if n <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return x
}

// count reads a number of rows.
func (r *reader) count() int64 {
	x := r.uvarint()
	if x > math.MaxInt64 {
		r.bad = true
		return 0
	}
	return int64(x)
}

func (r *reader) varint() int64 {
	x, n := binary.Varint(r.b)
	if n <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return x
}

func (r *reader) word() uint64 {
	if len(r.b) < 8 || r.bad {
		r.bad = true
		return 0
	}
	x := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return x
}

func (r *reader) float() float64 { return math.Float64frombits(r.word()) }

func (r *reader) bytes() []byte {
	n := r.uvarint()
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// done reports whether every byte was read and none was missing.
func (r *reader) done() error {
	if r.bad || len(r.b) != 0 {
		return corrupt(r.what)
	}
	return nil
}

func appendWord(dst []byte, x uint64) []byte { return binary.LittleEndian.AppendUint64(dst, x) }

func appendFloat(dst []byte, f float64) []byte { return appendWord(dst, math.Float64bits(f)) }

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// growTo returns s with at least n elements; new ones are zero.
func growTo[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		return s[:n]
	}
	out := make([]T, n, max(n, 2*cap(s)))
	copy(out, s)
	return out
}

// exactFinaliser holds what the finalisers of exact aggregates have in common.
type exactFinaliser struct {
	name string
	typ  types.Type
}

// Type implements Finaliser.
func (f exactFinaliser) Type() types.Type { return f.typ }

// Approximate implements Finaliser.
func (f exactFinaliser) Approximate() bool { return false }

// Kind implements Finaliser.
func (f exactFinaliser) Kind() ErrorKind { return Exact }

// String implements Finaliser.
func (f exactFinaliser) String() string { return f.name }

// finalFunc is a finaliser made of a function.
type finalFunc struct {
	exactFinaliser
	fn func(states States, n int, out *types.Vector) error
}

// Finalise implements Finaliser.
func (f finalFunc) Finalise(states States, n int, _ float64, out *types.Vector, _ *Bounds) error {
	return f.fn(states, n, out)
}

func exactly(name string, t types.Type, fn func(States, int, *types.Vector) error) Finaliser {
	return finalFunc{exactFinaliser{name, t}, fn}
}

// spec is a StateSpec made of values.
type spec struct {
	identity string
	bytes    int64
	make     func(cfg Config) States
}

// Identity implements StateSpec.
func (s spec) Identity() string { return s.identity }

// New implements StateSpec.
func (s spec) New(cfg Config) States { return s.make(cfg) }

// BytesPerGroup implements StateSpec.
func (s spec) BytesPerGroup(int64) int64 { return s.bytes }

// noFunction is PostgreSQL's error for a call that no overload fits.
func noFunction(name string, args []types.Type) error {
	text := ""
	for i, a := range args {
		if i > 0 {
			text += ", "
		}
		text += a.String()
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "function %s(%s) does not exist", name, text).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
}

// rejected reports the failure of the row at index i of an update.
func rejected(i int, err error) error { return &UpdateError{Index: i, Err: err} }
