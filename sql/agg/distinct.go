package agg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
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
	if s := b.Shadow; s != nil {
		b.Shadow = &Shadow{distinctSpec{inner: s.State, types: argTypes}, distinctFinal{Finaliser: s.Final, inner: s.State}}
	}
	return b, nil
}

// maxCodeBits limits the bits that remember which codes of a dictionary were seen.
const maxCodeBits = 1 << 26

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
	return &distinctStates{spec: s, cfg: cfg, seed: maphash.MakeSeed()}
}

// distinctStates keeps for each group the set of its encoded inputs, all in one hash
// table. Portable form: version, number of values, the encoded values sorted.
type distinctStates struct {
	spec  distinctSpec
	cfg   Config
	seed  maphash.Seed
	slots []uint32 // of values, from 1; a power of two, at most half of them taken
	heads []uint32 // of each group the value that came last, from 1
	// Of each value: the hash, the one of its group that came before, and where its
	// bytes end in data.
	values []distinctValue
	data   []byte
	key    []byte
	dict   *types.Dict
	codes  []types.Bitmap // of each group those codes of dict that are in the set
}

type distinctValue struct {
	hash, before, group uint32
	end                 int
}

// DictStates are States whose only input may have a dictionary.
type DictStates interface {
	States
	TakesDict()
}

// TakesDict implements DictStates.
func (s *distinctStates) TakesDict() {}

// Grow implements States.
func (s *distinctStates) Grow(n int) { s.heads = growTo(s.heads, n) }

// Update implements States. NULLs are values: the inner aggregate knows what
// they mean to it.
func (s *distinctStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	if len(inputs) == 1 && inputs[0].Dict != nil && len(s.heads)*inputs[0].Dict.Len() <= maxCodeBits {
		return s.updateCodes(groups, rows, inputs[0])
	}
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

// updateCodes is Update where the input has a dictionary; it adds a value only where its code is new to the group.
func (s *distinctStates) updateCodes(groups []uint32, rows []int32, in *types.Vector) error {
	if s.dict != in.Dict {
		s.dict, s.codes = in.Dict, nil
	}
	if len(s.codes) < len(s.heads) {
		s.codes = append(s.codes, make([]types.Bitmap, len(s.heads)-len(s.codes))...)
	}
	for i, g := range groups {
		r := int(rows[i])
		code := int(in.Codes[r])
		if in.Nulls.Has(r) {
			code = in.Dict.Len()
		}
		if s.codes[g].Has(code) {
			continue
		}
		s.key = types.AppendKey(s.key[:0], in, r)
		if err := s.add(g, s.key); err != nil {
			return rejected(i, err)
		}
		s.codes[g].Set(code)
	}
	return nil
}

// bytes returns an encoded value.
func (s *distinctStates) bytes(v uint32) []byte {
	from := 0
	if v > 0 {
		from = s.values[v-1].end
	}
	return s.data[from:s.values[v].end]
}

func (s *distinctStates) hash(g uint32, key []byte) uint32 {
	return uint32(maphash.Bytes(s.seed, key)) ^ g*0x9e3779b1
}

func (s *distinctStates) add(g uint32, key []byte) error {
	if 2*(len(s.values)+1) > len(s.slots) {
		s.grow()
	}
	hash := s.hash(g, key)
	mask := uint32(len(s.slots) - 1)
	i := hash & mask
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		if v := s.values[s.slots[i]-1]; v.hash == hash && v.group == g && string(s.bytes(s.slots[i]-1)) == string(key) {
			return nil
		}
	}
	if int64(len(s.data)+len(key))+40*int64(len(s.values)+1) > MaxDistinctBytes {
		return sqlerr.New(sqlerr.OutOfMemory, "the distinct values of an aggregate need more than %d MiB", MaxDistinctBytes>>20).
			WithHint("Use approx_distinct, which needs a few kilobytes for each group.")
	}
	s.data = append(s.data, key...)
	s.values = append(s.values, distinctValue{hash, s.heads[g], g, len(s.data)})
	s.heads[g] = uint32(len(s.values))
	s.slots[i] = uint32(len(s.values))
	return nil
}

// grow doubles the slots.
func (s *distinctStates) grow() {
	s.slots = make([]uint32, max(64, 2*len(s.slots)))
	mask := uint32(len(s.slots) - 1)
	for n, v := range s.values {
		i := v.hash & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = uint32(n + 1)
	}
}

// each calls fn with the encoded values of a group.
func (s *distinctStates) each(g uint32, fn func([]byte) error) error {
	for v := s.heads[g]; v != 0; v = s.values[v-1].before {
		if err := fn(s.bytes(v - 1)); err != nil {
			return err
		}
	}
	return nil
}

// sorted returns the encoded values of a group, sorted.
func (s *distinctStates) sorted(g uint32) [][]byte {
	var out [][]byte
	for v := s.heads[g]; v != 0; v = s.values[v-1].before {
		out = append(out, s.bytes(v-1))
	}
	slices.SortFunc(out, bytes.Compare)
	return out
}

// MergeFrom implements States.
func (s *distinctStates) MergeFrom(dst uint32, other States, src uint32) error {
	return other.(*distinctStates).each(src, func(v []byte) error { return s.add(dst, v) })
}

// Append implements States.
func (s *distinctStates) Append(dst []byte, group uint32) []byte {
	values := s.sorted(group)
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
func (s *distinctStates) MemoryBytes() int64 {
	n := int64(cap(s.data) + 24*cap(s.values) + 4*cap(s.slots) + 4*cap(s.heads) + 24*cap(s.codes))
	if s.dict != nil {
		n += int64(len(s.codes) * s.dict.Len() / 8)
	}
	return n
}

// count counts the values of each group that are not NULL.
func (s *distinctStates) count(c *countStates, n int) error {
	null := types.AppendDatumKey(nil, types.NullOf(s.spec.types[0]))
	for g := range n {
		err := s.each(uint32(g), func(v []byte) error {
			if !bytes.Equal(v, null) {
				c.n[g]++
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

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
	if c, ok := inner.(*countStates); ok {
		return errors.Join(s.count(c, n), f.Finaliser.Finalise(inner, n, confidence, out, bounds))
	}
	for g := range n {
		values := s.sorted(uint32(g))
		in := make([]*types.Vector, len(s.spec.types))
		for i, t := range s.spec.types {
			in[i] = types.NewVector(t, len(values))
		}
		groups, rows := make([]uint32, len(values)), make([]int32, len(values))
		for i, v := range values {
			if err := s.decode(v, in); err != nil {
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
