package hll

import (
	"encoding/binary"

	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/slab"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// registerUnion registers the aggregates over sketch values.
func registerUnion(r *agg.Registry) {
	bindUnion := func(name string, final agg.Finaliser) func([]types.Type, []*types.Datum) (agg.Bound, error) {
		return func(args []types.Type, _ []*types.Datum) (agg.Bound, error) {
			if len(args) != 1 || args[0].OID != types.Sketch {
				return agg.Bound{}, param.NoFunction(name, args)
			}
			return agg.Bound{Inputs: []int{0}, ArgTypes: []types.Type{types.Of(types.Sketch)}, State: unionSpec{}, Final: final}, nil
		}
	}
	d := descriptor("hll_union", "hll_union(s sketch) → sketch")
	d.Aliases, d.Parameters = []string{"hll_union_agg"}, nil
	r.Register(&agg.Function{Descriptor: d, Bind: bindUnion(d.Name, unionFinal{})})
	d = descriptor("hll_union_count", "hll_union_count(s sketch) → int8")
	d.Parameters = nil
	r.Register(&agg.Function{Descriptor: d, Bind: bindUnion(d.Name, countFinal{})})
}

// unionSpec is the StateSpec of unions of sketch values, whose type and
// precision come with the values.
type unionSpec struct{}

// Identity implements agg.StateSpec.
func (unionSpec) Identity() string { return "hll_union siphash13 v1" }

// New implements agg.StateSpec.
func (unionSpec) New(cfg agg.Config) agg.States { return &unionStates{cfg: cfg, seedID: cfg.Seed.ID()} }

// BytesPerGroup implements agg.StateSpec.
func (unionSpec) BytesPerGroup(n int64) int64 {
	if n == 0 {
		return 1
	}
	return 9 + 1<<DefaultPrecision
}

// unionStates keeps one array of states for each kind of value, and for each
// group which of them it is in. Portable form: version; then nothing, or a
// sketch value.
type unionStates struct {
	cfg    agg.Config
	seedID uint64
	kind   []uint8 // 0 for no value yet, else an index into kinds + 1
	kinds  []unionKind
}

type unionKind struct {
	spec   spec
	states *States
}

// maxKinds limits how many kinds of values one aggregate meets.
const maxKinds = 255

// Grow implements agg.States.
func (s *unionStates) Grow(n int) {
	s.kind = slab.GrowTo(s.kind, n)
	for _, k := range s.kinds {
		k.states.Grow(len(s.kind))
	}
}

// Update implements agg.States.
func (s *unionStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
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

func (s *unionStates) mergeValue(g uint32, value []byte) error {
	seedID, spec, state, err := readValue(value)
	if err != nil {
		return err
	}
	if seedID != s.seedID {
		return sqlerr.New(sqlerr.IncompatibleState, "the sketch was made with another seed")
	}
	kind, states, err := s.statesOf(spec)
	if err != nil {
		return err
	}
	if err := s.admit(g, kind); err != nil {
		return err
	}
	if err := states.Merge(g, state); err != nil {
		return err
	}
	s.kind[g] = kind
	return nil
}

// admit refuses to put values of two kinds into one group.
func (s *unionStates) admit(g uint32, kind uint8) error {
	if has := s.kind[g]; has != 0 && has != kind {
		return sqlerr.New(sqlerr.IncompatibleState, "sketches of different kinds do not merge").
			WithDetail("One is %s, the other %s.", s.kinds[has-1].spec.Identity(), s.kinds[kind-1].spec.Identity())
	}
	return nil
}

// statesOf returns the states of a kind of value, and its number.
func (s *unionStates) statesOf(want spec) (uint8, *States, error) {
	for i, k := range s.kinds {
		if k.spec == want {
			return uint8(i + 1), k.states, nil
		}
	}
	if len(s.kinds) == maxKinds {
		return 0, nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "more than %d kinds of sketches", maxKinds)
	}
	states := newStates(want.p, s.cfg.Seed)
	states.Grow(len(s.kind))
	s.kinds = append(s.kinds, unionKind{want, states})
	return uint8(len(s.kinds)), states, nil
}

// MergeFrom implements agg.States.
func (s *unionStates) MergeFrom(dst uint32, other agg.States, src uint32) error {
	o := other.(*unionStates)
	if o.kind[src] == 0 {
		return nil
	}
	from := o.kinds[o.kind[src]-1]
	kind, states, err := s.statesOf(from.spec)
	if err != nil {
		return err
	}
	if err := s.admit(dst, kind); err != nil {
		return err
	}
	s.kind[dst] = kind
	return states.MergeFrom(dst, from.states, src)
}

// Append implements agg.States.
func (s *unionStates) Append(dst []byte, group uint32) []byte {
	dst = append(dst, codecV1)
	return s.appendValue(dst, group)
}

func (s *unionStates) appendValue(dst []byte, group uint32) []byte {
	if s.kind[group] == 0 {
		return dst
	}
	k := s.kinds[s.kind[group]-1]
	return appendValue(dst, k.spec.typ, s.seedID, k.states, group)
}

// Merge implements agg.States.
func (s *unionStates) Merge(group uint32, state []byte) error {
	if len(state) == 0 || state[0] != codecV1 {
		return statecodec.Corrupt("hll")
	}
	if len(state) == 1 {
		return nil
	}
	if id := state[1:]; len(id) >= 9 && id[0] == valueV1 && binary.LittleEndian.Uint64(id[1:]) != s.seedID {
		return statecodec.Corrupt("hll")
	}
	return s.mergeValue(group, state[1:])
}

// MemoryBytes implements agg.States.
func (s *unionStates) MemoryBytes() int64 {
	n := int64(cap(s.kind))
	for _, k := range s.kinds {
		n += k.states.MemoryBytes()
	}
	return n
}

func (s *unionStates) estimate(g uint32, confidence float64) Estimate {
	if s.kind[g] == 0 {
		return Estimate{}
	}
	return s.kinds[s.kind[g]-1].states.estimate(g, confidence)
}

// unionFinal makes a union a sketch value, NULL where there was none.
type unionFinal struct{ sketchFinal }

// Finalise implements agg.Finaliser.
func (unionFinal) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*unionStates)
	var buf []byte
	for g := range n {
		if buf = s.appendValue(buf[:0], uint32(g)); len(buf) == 0 {
			out.AppendNull()
		} else {
			out.AppendBytes(buf)
		}
		if bounds != nil {
			bounds.Lo.AppendNull()
			bounds.Hi.AppendNull()
			bounds.Error.AppendFloat(s.estimate(uint32(g), confidence).Error)
		}
	}
	return nil
}
