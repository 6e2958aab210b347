package agg

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// MaxDistinctBytes limits the memory of one array of distinct states; beyond it
// an update fails with 53200 (L-11).
const MaxDistinctBytes = 256 << 20

// Distinct wraps a bound call so that equal inputs count once: count(DISTINCT x)
// and its kin. The state keeps every distinct value, so it is exact and grows
// with them.
func Distinct(b Bound) (Bound, error) {
	if len(b.Inputs) == 0 {
		return Bound{}, sqlerr.New(sqlerr.SyntaxError, "DISTINCT specified, but the aggregate has no arguments")
	}
	inner, final := b.State, b.Final
	argTypes := slices.Clone(b.ArgTypes)
	b.State = distinctSpec{inner: inner, types: argTypes}
	b.Final = distinctFinal{Finaliser: final, inner: inner}
	return b, nil
}

type distinctSpec struct {
	inner StateSpec
	types []types.Type
}

// Identity implements StateSpec.
func (s distinctSpec) Identity() string { return "distinct(" + s.inner.Identity() + ") v1" }

// BytesPerGroup implements StateSpec.
func (s distinctSpec) BytesPerGroup(n int64) int64 { return s.inner.BytesPerGroup(n) + 48*n }

// New implements StateSpec.
func (s distinctSpec) New(cfg Config) States {
	return &distinctStates{spec: s, cfg: cfg}
}

// distinctStates keeps for each group the set of its encoded inputs. Portable
// form: version, number of values, the encoded values sorted.
type distinctStates struct {
	spec  distinctSpec
	cfg   Config
	seen  []map[string]struct{} // nil until the group has a value
	bytes int64
	key   []byte
}

// Grow implements States.
func (s *distinctStates) Grow(n int) { s.seen = growTo(s.seen, n) }

// Update implements States. NULLs are values: the inner aggregate knows what
// they mean to it.
func (s *distinctStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	for i, g := range groups {
		s.key = s.key[:0]
		for _, in := range inputs {
			s.key = types.AppendKey(s.key, in, int(rows[i]))
		}
		if err := s.add(g, s.key); err != nil {
			return rejected(i, err)
		}
	}
	return nil
}

func (s *distinctStates) add(g uint32, key []byte) error {
	if _, ok := s.seen[g][string(key)]; ok {
		return nil
	}
	if s.bytes += int64(len(key)) + 40; s.bytes > MaxDistinctBytes {
		return sqlerr.New(sqlerr.OutOfMemory, "the distinct values of an aggregate need more than %d MiB", MaxDistinctBytes>>20).
			WithHint("Use approx_distinct, which needs a few kilobytes for each group.")
	}
	if s.seen[g] == nil {
		s.seen[g] = map[string]struct{}{}
	}
	s.seen[g][string(key)] = struct{}{}
	return nil
}

// values returns the encoded values of a group, sorted.
func (s *distinctStates) values(g uint32) []string { return slices.Sorted(maps.Keys(s.seen[g])) }

// MergeFrom implements States.
func (s *distinctStates) MergeFrom(dst uint32, other States, src uint32) error {
	for v := range other.(*distinctStates).seen[src] {
		if err := s.add(dst, []byte(v)); err != nil {
			return err
		}
	}
	return nil
}

// Append implements States.
func (s *distinctStates) Append(dst []byte, group uint32) []byte {
	values := s.values(group)
	dst = binary.AppendUvarint(append(dst, codecV1), uint64(len(values)))
	for _, v := range values {
		dst = append(binary.AppendUvarint(dst, uint64(len(v))), v...)
	}
	return dst
}

// Merge implements States.
func (s *distinctStates) Merge(group uint32, state []byte) error {
	r := newReader("distinct", state)
	var values [][]byte
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		v := r.bytes()
		if !r.bad && s.decode(v, nil) != nil {
			return corrupt("distinct")
		}
		values = append(values, v)
	}
	if err := r.done(); err != nil {
		return err
	}
	for _, v := range values {
		if err := s.add(group, v); err != nil {
			return err
		}
	}
	return nil
}

// decode appends the inputs that v encodes to in, or only checks them.
func (s *distinctStates) decode(v []byte, in []*types.Vector) error {
	for i, t := range s.spec.types {
		to := types.NewVector(t, 1)
		if in != nil {
			to = in[i]
		}
		var err error
		if v, err = types.ReadKey(v, to); err != nil {
			return err
		}
		if in == nil && t.Kind() == types.KindBytes && !to.Nulls.Has(0) && !validBytes(t, to.Bytes(0)) {
			return corrupt("distinct")
		}
	}
	if len(v) != 0 {
		return corrupt("distinct")
	}
	return nil
}

// MemoryBytes implements States.
func (s *distinctStates) MemoryBytes() int64 { return s.bytes + int64(cap(s.seen))*8 }

// distinctFinal feeds the distinct values to the inner aggregate, in sorted order.
type distinctFinal struct {
	Finaliser
	inner StateSpec
}

// Finalise implements Finaliser.
func (f distinctFinal) Finalise(states States, n int, confidence float64, out *types.Vector, bounds *Bounds) error {
	s := states.(*distinctStates)
	inner := f.inner.New(s.cfg)
	inner.Grow(n)
	for g := range n {
		values := s.values(uint32(g))
		in := make([]*types.Vector, len(s.spec.types))
		for i, t := range s.spec.types {
			in[i] = types.NewVector(t, len(values))
		}
		groups, rows := make([]uint32, len(values)), make([]int32, len(values))
		for i, v := range values {
			if err := s.decode([]byte(v), in); err != nil {
				return err
			}
			groups[i], rows[i] = uint32(g), int32(i)
		}
		if err := inner.Update(groups, rows, in); err != nil {
			return err
		}
	}
	return f.Finaliser.Finalise(inner, n, confidence, out, bounds)
}

// String implements Finaliser.
func (f distinctFinal) String() string { return f.Finaliser.String() + " distinct" }
