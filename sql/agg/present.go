package agg

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// BindPresent binds count(DISTINCT x) of rows with weights: it counts the values whose
// weights do not add up to nothing. args end with the weight.
func BindPresent(args []types.Type, _ []*types.Datum, _ bool) (Bound, error) {
	if len(args) != 2 {
		return Bound{}, noFunction("count", args[:max(len(args)-1, 0)])
	}
	t := known(args[0])
	return Bound{
		Inputs: []int{0, 1}, ArgTypes: []types.Type{t, args[1]}, Final: presentFinal,
		State: presentSpec{"weighted distinct(" + t.String() + ") v1"},
	}, nil
}

type presentSpec struct{ identity string }

// Identity implements StateSpec.
func (s presentSpec) Identity() string { return s.identity }

// BytesPerGroup implements StateSpec.
func (presentSpec) BytesPerGroup(n int64) int64 { return bytesOfPresent * n }

// New implements StateSpec.
func (presentSpec) New(Config) States { return &presentStates{} }

var presentFinal = exactly("count distinct", types.Of(types.Int8), func(states States, n int, out *types.Vector) error {
	for _, values := range states.(*presentStates).values[:n] {
		count := int64(0)
		for _, w := range values {
			if *w != 0 {
				count++
			}
		}
		out.AppendInt(count)
	}
	return nil
})

// bytesOfPresent is an entry of the map, its weight and a short key.
const bytesOfPresent = 64

// presentStates: the weight of each value. Portable form: version, number of values
// whose weight is not 0; then in order each encoded value and its weight as a varint.
type presentStates struct {
	values []map[string]*int64
	bytes  int64
	key    []byte
}

// Grow implements States.
func (s *presentStates) Grow(n int) { s.values = growTo(s.values, n) }

// Update implements States.
func (s *presentStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in, weights := inputs[0], inputs[1]
	for i, g := range groups {
		r := int(rows[i])
		if in.Nulls.Has(r) || weights.Nulls.Has(r) {
			continue
		}
		s.key = types.AppendKey(s.key[:0], in, r)
		if err := s.add(g, s.key, weights.Ints[r]); err != nil {
			return rejected(i, err)
		}
	}
	return nil
}

func (s *presentStates) add(g uint32, key []byte, w int64) error {
	at := s.values[g][string(key)]
	if at == nil {
		size := bytesOfPresent + int64(len(key))
		if s.bytes+size > MaxDistinctBytes {
			return sqlerr.New(sqlerr.OutOfMemory, "the distinct values of an aggregate need more than %d MiB", MaxDistinctBytes>>20)
		}
		if s.values[g] == nil {
			s.values[g] = map[string]*int64{}
		}
		at = new(int64)
		s.values[g][string(key)] = at
		s.bytes += size
	}
	sum, ok := addInt(*at, w)
	if !ok {
		return weightsOverflow()
	}
	*at = sum
	return nil
}

// MergeFrom implements States.
func (s *presentStates) MergeFrom(dst uint32, other States, src uint32) error {
	for key, w := range other.(*presentStates).values[src] {
		if err := s.add(dst, []byte(key), *w); err != nil {
			return err
		}
	}
	return nil
}

// Append implements States.
func (s *presentStates) Append(dst []byte, g uint32) []byte {
	dst = append(dst, codecV1)
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(s.values[g])), func(key string) bool { return *s.values[g][key] == 0 })
	dst = binary.AppendUvarint(dst, uint64(len(keys)))
	for _, key := range keys {
		dst = binary.AppendVarint(appendBytes(dst, []byte(key)), *s.values[g][key])
	}
	return dst
}

// Merge implements States.
func (s *presentStates) Merge(g uint32, state []byte) error {
	type entry struct {
		key    []byte
		weight int64
	}
	r := newReader("distinct", state)
	var entries []entry
	for range r.uvarint() {
		e := entry{r.bytes(), r.varint()}
		if n := len(entries); r.bad || e.weight == 0 || n > 0 && string(entries[n-1].key) >= string(e.key) {
			return corrupt("distinct")
		}
		entries = append(entries, e)
	}
	if err := r.done(); err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.add(g, e.key, e.weight); err != nil {
			return err
		}
	}
	return nil
}

// MemoryBytes implements States.
func (s *presentStates) MemoryBytes() int64 { return s.bytes + 8*int64(cap(s.values)) }
