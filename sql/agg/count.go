package agg

import (
	"encoding/binary"

	"github.com/tallydb/tallydb/sql/types"
)

// registerCount registers count(*), count(x).
func registerCount(r *Registry) {
	r.Register(&Function{
		Descriptor: subtracts(exactDescriptor("count", "count(*) → int8; count(x any) → int8", "8 bytes a group", Aggregated), Turnstile),
		Bind: func(args []types.Type, _ []*types.Datum) (Bound, error) {
			b := Bound{State: countSpec(len(args) > 0), Final: countFinal}
			switch len(args) {
			case 0:
			case 1:
				b.Inputs, b.ArgTypes = []int{0}, []types.Type{known(args[0])}
			default:
				return Bound{}, noFunction("count", args)
			}
			return b, nil
		},
		Weighted: bindWeightedCount,
	})
}

func countSpec(ofValues bool) StateSpec {
	id := "count(*) v1"
	if ofValues {
		id = "count v1"
	}
	return spec{identity: id, bytes: 8, make: func(Config) States { return &countStates{} }}
}

var countFinal = exactly("count", types.Of(types.Int8), func(s States, n int, out *types.Vector) error {
	out.Ints = append(out.Ints, s.(*countStates).n[:n]...)
	return nil
})

// countStates: rows, or non-null values. Portable form: version, count.
type countStates struct{ n []int64 }

// TakesDict implements DictStates.
func (s *countStates) TakesDict() {}

// Grow implements States.
func (s *countStates) Grow(n int) { s.n = growTo(s.n, n) }

// Update implements States.
func (s *countStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	n := s.n
	if len(inputs) == 0 || len(inputs[0].Nulls) == 0 {
		for _, g := range groups {
			n[g]++
		}
		return nil
	}
	nulls := inputs[0].Nulls
	for i, g := range groups {
		if !nulls.Has(int(rows[i])) {
			n[g]++
		}
	}
	return nil
}

// MergeFrom implements States.
func (s *countStates) MergeFrom(dst uint32, other States, src uint32) error {
	s.n[dst] += other.(*countStates).n[src]
	return nil
}

// Append implements States.
func (s *countStates) Append(dst []byte, group uint32) []byte {
	return binary.AppendUvarint(append(dst, codecV1), uint64(s.n[group]))
}

// Merge implements States.
func (s *countStates) Merge(group uint32, state []byte) error {
	r := newReader("count", state)
	n := r.count()
	if err := r.done(); err != nil {
		return err
	}
	s.n[group] += n
	return nil
}

// MemoryBytes implements States.
func (s *countStates) MemoryBytes() int64 { return int64(cap(s.n)) * 8 }

// CountRows is the bound form of count(*).
func CountRows() Bound { return Bound{State: countSpec(false), Final: countFinal} }
