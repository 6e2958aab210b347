package agg

import (
	"github.com/tallydb/tallydb/sql/types"
)

// bitwise says how the words of a group combine.
type bitwise struct {
	name    string
	aliases []string
	bool    bool
	fold    func(a, b int64) int64
}

var bitwises = []bitwise{
	{"bool_and", []string{"every"}, true, func(a, b int64) int64 { return a & b }},
	{"bool_or", nil, true, func(a, b int64) int64 { return a | b }},
	{"bit_and", nil, false, func(a, b int64) int64 { return a & b }},
	{"bit_or", nil, false, func(a, b int64) int64 { return a | b }},
	{"bit_xor", nil, false, func(a, b int64) int64 { return a ^ b }},
}

// registerBitwise registers bool_and, bool_or, bit_and, bit_or and bit_xor.
func registerBitwise(r *Registry) {
	for _, f := range bitwises {
		arg := "int type"
		if f.bool {
			arg = "bool"
		}
		d := exactDescriptor(f.name, f.name+"(x "+arg+") → same", "9 bytes a group", Aggregated)
		d.Aliases = f.aliases
		r.Register(&Function{Descriptor: d, Bind: func(args []types.Type, _ []*types.Datum) (Bound, error) {
			if len(args) != 1 {
				return Bound{}, noFunction(f.name, args)
			}
			t := types.Of(args[0].OID)
			switch {
			case f.bool && (t.OID == types.Bool || t.OID == types.Unknown):
				t = types.Of(types.Bool)
			case !f.bool && (t.OID == types.Int2 || t.OID == types.Int4 || t.OID == types.Int8):
			default:
				return Bound{}, noFunction(f.name, args)
			}
			return Bound{Inputs: []int{0}, ArgTypes: []types.Type{t}, State: bitwiseSpec(f), Final: bitwiseFinal(f.name, t)}, nil
		}})
	}
}

func bitwiseSpec(f bitwise) StateSpec {
	return spec{identity: f.name + " v1", bytes: 9, make: func(Config) States { return &bitwiseStates{fold: f.fold} }}
}

func bitwiseFinal(name string, t types.Type) Finaliser {
	return exactly(name, t, func(states States, n int, out *types.Vector) error {
		s := states.(*bitwiseStates)
		for g := range n {
			if s.set[g] {
				out.AppendInt(s.v[g])
			} else {
				out.AppendNull()
			}
		}
		return nil
	})
}

// bitwiseStates: whether a value was seen, and the combined word. Portable form:
// version alone, or version and the word.
type bitwiseStates struct {
	fold func(a, b int64) int64
	set  []bool
	v    []int64
}

// Grow implements States.
func (s *bitwiseStates) Grow(n int) { s.set, s.v = growTo(s.set, n), growTo(s.v, n) }

func (s *bitwiseStates) add(g uint32, x int64) {
	if s.set[g] {
		x = s.fold(s.v[g], x)
	}
	s.v[g], s.set[g] = x, true
}

// Update implements States.
func (s *bitwiseStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	for i, g := range groups {
		if r := int(rows[i]); !in.Nulls.Has(r) {
			s.add(g, in.Ints[r])
		}
	}
	return nil
}

// MergeFrom implements States.
func (s *bitwiseStates) MergeFrom(dst uint32, other States, src uint32) error {
	if o := other.(*bitwiseStates); o.set[src] {
		s.add(dst, o.v[src])
	}
	return nil
}

// Append implements States.
func (s *bitwiseStates) Append(dst []byte, g uint32) []byte {
	dst = append(dst, codecV1)
	if s.set[g] {
		dst = appendWord(dst, uint64(s.v[g]))
	}
	return dst
}

// Merge implements States.
func (s *bitwiseStates) Merge(group uint32, state []byte) error {
	r := newReader("bitwise", state)
	if !r.bad && len(r.b) == 0 {
		return nil
	}
	x := int64(r.word())
	if err := r.done(); err != nil {
		return err
	}
	s.add(group, x)
	return nil
}

// MemoryBytes implements States.
func (s *bitwiseStates) MemoryBytes() int64 { return int64(cap(s.set) + 8*cap(s.v)) }
