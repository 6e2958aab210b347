package value

import (
	"fmt"

	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/slab"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// BindUnion binds an aggregate over sketch values of one family, or of any if
// family is empty. A nil final makes the union a sketch value again, NULL where
// there was none.
func (fs *Families) BindUnion(name, family string, final agg.Finaliser) func([]types.Type, []*types.Datum) (agg.Bound, error) {
	return func(args []types.Type, _ []*types.Datum) (agg.Bound, error) {
		if len(args) != 1 || args[0].OID != types.Sketch && args[0].OID != types.Unknown {
			return agg.Bound{}, param.NoFunction(name, args)
		}
		b := agg.Bound{Inputs: []int{0}, ArgTypes: []types.Type{types.Of(types.Sketch)}, State: unionSpec{fs, family}, Final: final}
		if final == nil {
			b.Final = unionFinal{fs, family}
		}
		return b, nil
	}
}

// unionSpec is the StateSpec of unions of sketch values, whose kind comes with
// the values.
type unionSpec struct {
	families *Families
	family   string
}

// Identity implements agg.StateSpec.
func (s unionSpec) Identity() string { return fmt.Sprintf("sketch_union(%s) v%d", s.family, codecV2) }

// New implements agg.StateSpec.
func (s unionSpec) New(cfg agg.Config) agg.States { return &Union{spec: s, cfg: cfg} }

// BytesPerGroup implements agg.StateSpec.
func (unionSpec) BytesPerGroup(n int64) int64 {
	const usual = 4 << 10
	if n == 0 {
		return 1
	}
	return 1 + usual
}

// Union is the States of unions: an array of states for each kind of value, and
// for each group which of them it is in. Portable form: version 1; then nothing,
// or a sketch value.
type Union struct {
	spec  unionSpec
	cfg   agg.Config
	kind  []uint8 // 0 for no value yet, else an index into kinds + 1
	kinds []unionKind
}

type unionKind struct {
	value  Value // without a state
	family *Family
	states agg.States
}

const unionV1 byte = 1

// maxKinds limits how many kinds of values one aggregate meets.
const maxKinds = 255

// Grow implements agg.States.
func (s *Union) Grow(n int) {
	s.kind = slab.GrowTo(s.kind, n)
	for _, k := range s.kinds {
		k.states.Grow(len(s.kind))
	}
}

// At returns the states that a group's union is in, nil before its first value.
func (s *Union) At(g uint32) agg.States {
	if s.kind[g] == 0 {
		return nil
	}
	return s.kinds[s.kind[g]-1].states
}

// Update implements agg.States.
func (s *Union) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	for i, g := range groups {
		if r := int(rows[i]); !in.Nulls.Has(r) {
			if err := s.mergeValue(g, in.Bytes(r)); err != nil {
				return &agg.UpdateError{Index: i, Err: err}
			}
		}
	}
	return nil
}

func (s *Union) mergeValue(g uint32, b []byte) error {
	v, err := parse(b)
	if err != nil {
		return err
	}
	if s.spec.family != "" && v.Kind.Family != s.spec.family {
		return wrongFamily("the union", s.spec.family, v.Kind.Family)
	}
	kind, err := s.number(v)
	if err != nil {
		return err
	}
	if err := s.admit(g, kind); err != nil {
		return err
	}
	if err := s.kinds[kind-1].states.Merge(g, v.State); err != nil {
		return err
	}
	s.kind[g] = kind
	return nil
}

// admit refuses to put values of two kinds into one group.
func (s *Union) admit(g uint32, kind uint8) error {
	if has := s.kind[g]; has != 0 && has != kind {
		return Compatible(s.kinds[has-1].value, s.kinds[kind-1].value)
	}
	return nil
}

// number returns the number of a kind of value, new ones included.
func (s *Union) number(v Value) (uint8, error) {
	for i, k := range s.kinds {
		if k.value.Kind == v.Kind && k.value.SeedID == v.SeedID {
			return uint8(i + 1), nil
		}
	}
	if len(s.kinds) == maxKinds {
		return 0, sqlerr.New(sqlerr.ProgramLimitExceeded, "more than %d kinds of sketches", maxKinds)
	}
	f, spec, err := s.spec.families.specOf(v.Kind)
	if err != nil {
		return 0, err
	}
	v.State = nil
	states := spec.New(s.cfg)
	states.Grow(len(s.kind))
	s.kinds = append(s.kinds, unionKind{v, f, states})
	return uint8(len(s.kinds)), nil
}

// MergeFrom implements agg.States.
func (s *Union) MergeFrom(dst uint32, other agg.States, src uint32) error {
	o := other.(*Union)
	if o.kind[src] == 0 {
		return nil
	}
	from := o.kinds[o.kind[src]-1]
	kind, err := s.number(from.value)
	if err != nil {
		return err
	}
	if err := s.admit(dst, kind); err != nil {
		return err
	}
	if err := s.kinds[kind-1].states.MergeFrom(dst, from.states, src); err != nil {
		return err
	}
	s.kind[dst] = kind
	return nil
}

// Append implements agg.States.
func (s *Union) Append(dst []byte, group uint32) []byte {
	return s.appendValue(append(dst, unionV1), group)
}

func (s *Union) appendValue(dst []byte, group uint32) []byte {
	if s.kind[group] == 0 {
		return dst
	}
	k := s.kinds[s.kind[group]-1]
	return k.states.Append(Append(dst, k.value), group)
}

// Merge implements agg.States.
func (s *Union) Merge(group uint32, state []byte) error {
	if len(state) == 0 || state[0] != unionV1 {
		return statecodec.Corrupt("sketch")
	}
	if len(state) == 1 {
		return nil
	}
	return s.mergeValue(group, state[1:])
}

// MemoryBytes implements agg.States.
func (s *Union) MemoryBytes() int64 {
	n := int64(cap(s.kind))
	for _, k := range s.kinds {
		n += k.states.MemoryBytes()
	}
	return n
}

// unionFinal makes a union a sketch value.
type unionFinal struct {
	families *Families
	family   string
}

// Type implements agg.Finaliser.
func (unionFinal) Type() types.Type { return types.Of(types.Sketch) }

// Approximate implements agg.Finaliser.
func (unionFinal) Approximate() bool { return true }

// Kind implements agg.Finaliser. A union of any family promises what the weakest does.
func (f unionFinal) Kind() agg.ErrorKind {
	if one := f.families.find(f.family); one != nil {
		return one.ErrorKind
	}
	return agg.Heuristic
}

// String implements agg.Finaliser.
func (unionFinal) String() string { return "sketch" }

// Finalise implements agg.Finaliser.
func (unionFinal) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*Union)
	var buf []byte
	for g := range uint32(n) {
		e := 0.0
		if buf = s.appendValue(buf[:0], g); len(buf) == 0 {
			out.AppendNull()
		} else {
			out.AppendBytes(buf)
			k := s.kinds[s.kind[g]-1]
			e = k.family.Error(k.states, g, confidence)
		}
		if bounds != nil {
			appendError(bounds, e)
		}
	}
	return nil
}
