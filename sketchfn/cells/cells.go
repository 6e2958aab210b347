package cells

import (
	"slices"
	"unsafe"

	"github.com/tallydb/tallydb/sketchfn/slab"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

// Algebra is what a family knows of one state T with its parameters.
type Algebra[T any] interface {
	// Add folds row i of the inputs, none of which is NULL, into c. hash is that
	// of the first input where the family hashes. An error leaves c as it was.
	Add(c *T, in []*types.Vector, row int, hash uint64) error
	// Merge folds src into dst and leaves src and its memory alone. Merging into
	// the zero T makes a copy. An error leaves dst as it was.
	Merge(dst, src *T) error
	// Append appends the portable form behind its version byte.
	Append(dst []byte, c *T) []byte
	// Read reads what Append wrote; what is no such state is r.Fail().
	Read(r *statecodec.Reader) T
	// Bytes returns the memory that c refers to, without c itself.
	Bytes(c *T) int64
}

// Bulk is an Algebra that also folds many rows at once: row rows[i] of the first
// input, which has no NULL, into c[groups[i]]; hashes are those of the rows. It does
// what Add does row by row, and returns the change of Bytes, and with an error the
// index of the row that failed.
type Bulk[T any] interface {
	Fold(c []T, groups []uint32, rows []int32, in *types.Vector, hashes []uint64) (bytes int64, failed int, err error)
}

// Scratch is an Algebra that keeps memory for its own use.
type Scratch interface{ ScratchBytes() int64 }

// Spec is the StateSpec of a family's states.
type Spec[T any] struct {
	Family  string // names it in errors about corrupt states
	ID      string // agg.StateSpec's identity
	Version byte   // of the portable form
	HashUse uint64 // of the hash of the first input, one of keyhash's; 0: it is not hashed
	Algebra func(cfg agg.Config) Algebra[T]
	// Group estimates the memory behind one state after n rows.
	Group func(n int64) int64
}

// Identity implements agg.StateSpec.
func (s Spec[T]) Identity() string { return s.ID }

// New implements agg.StateSpec.
func (s Spec[T]) New(cfg agg.Config) agg.States {
	out := &States[T]{algebra: s.Algebra(cfg), family: s.Family, version: s.Version, seedID: cfg.Seed.ID()}
	out.bulk, _ = out.algebra.(Bulk[T])
	if s.HashUse != 0 {
		out.hasher = valuehash.New(cfg.Seed, s.HashUse)
	}
	return out
}

// BytesPerGroup implements agg.StateSpec.
func (s Spec[T]) BytesPerGroup(n int64) int64 {
	var zero T
	size := int64(unsafe.Sizeof(zero))
	if n == 0 {
		return size
	}
	return size + s.Group(n)
}

// States is an array of states.
type States[T any] struct {
	algebra Algebra[T]
	bulk    Bulk[T] // nil: the algebra is not one
	family  string
	version byte
	seedID  uint64
	hasher  *valuehash.Hasher // nil: the family does not hash
	cells   []T
	bytes   int64 // behind the cells
}

// Cell returns the state of a group, to read it.
func (s *States[T]) Cell(g uint32) *T { return &s.cells[g] }

// Algebra returns the family's part of the states.
func (s *States[T]) Algebra() Algebra[T] { return s.algebra }

// Hash returns the hash that row i of a column of the first input's type has here;
// the family hashes.
func (s *States[T]) Hash(v *types.Vector, row int32) uint64 {
	return s.hasher.Hash(v, []int32{row})[0]
}

// SeedID names the seed of the hashes.
func (s *States[T]) SeedID() uint64 { return s.seedID }

// Grow implements agg.States.
func (s *States[T]) Grow(n int) { s.cells = slab.GrowTo(s.cells, n) }

// Update implements agg.States. Rows with a NULL among their inputs are skipped.
func (s *States[T]) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	var hashes []uint64
	if s.hasher != nil {
		hashes = s.hasher.Hash(inputs[0], rows)
	}
	if s.bulk != nil && len(inputs) == 1 && len(inputs[0].Nulls) == 0 {
		bytes, failed, err := s.bulk.Fold(s.cells, groups, rows, inputs[0], hashes)
		s.bytes += bytes
		if err != nil {
			return &agg.UpdateError{Index: failed, Err: err}
		}
		return nil
	}
	hash := uint64(0)
	for i, g := range groups {
		r := int(rows[i])
		if anyNull(inputs, r) {
			continue
		}
		if hashes != nil {
			hash = hashes[i]
		}
		c := &s.cells[g]
		before := s.algebra.Bytes(c)
		err := s.algebra.Add(c, inputs, r, hash)
		s.bytes += s.algebra.Bytes(c) - before
		if err != nil {
			return &agg.UpdateError{Index: i, Err: err}
		}
	}
	return nil
}

func anyNull(inputs []*types.Vector, row int) bool {
	for _, v := range inputs {
		if len(v.Nulls) > 0 && v.Nulls.Has(row) {
			return true
		}
	}
	return false
}

// MergeFrom implements agg.States.
func (s *States[T]) MergeFrom(dst uint32, other agg.States, src uint32) error {
	return s.merge(dst, &other.(*States[T]).cells[src])
}

func (s *States[T]) merge(group uint32, src *T) error {
	c := &s.cells[group]
	before := s.algebra.Bytes(c)
	err := s.algebra.Merge(c, src)
	s.bytes += s.algebra.Bytes(c) - before
	return err
}

// Append implements agg.States.
func (s *States[T]) Append(dst []byte, group uint32) []byte {
	return s.algebra.Append(append(dst, s.version), &s.cells[group])
}

// Merge implements agg.States.
func (s *States[T]) Merge(group uint32, state []byte) error {
	r := statecodec.NewReader(s.family, s.version, state)
	if r.Bad() {
		return r.Done()
	}
	c := s.algebra.Read(&r)
	if err := r.Done(); err != nil {
		return err
	}
	return s.merge(group, &c)
}

// MemoryBytes implements agg.States.
func (s *States[T]) MemoryBytes() int64 {
	var zero T
	n := int64(cap(s.cells))*int64(unsafe.Sizeof(zero)) + s.bytes
	if s.hasher != nil {
		n += s.hasher.MemoryBytes()
	}
	if a, ok := s.algebra.(Scratch); ok {
		n += a.ScratchBytes()
	}
	return n
}

// Make returns n zeros in memory whose capacity is what the runtime takes for it,
// so that Algebra.Bytes can count it.
func Make[E any](n int) []E { return slices.Grow([]E(nil), n)[:n] }
