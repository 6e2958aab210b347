package agg

import (
	"bytes"
	"cmp"
	"math"

	"github.com/tallydb/tallydb/sql/types"
)

// registerMinMax registers min and max.
func registerMinMax(r *Registry) {
	for _, name := range []string{"min", "max"} {
		d := exactDescriptor(name, name+"(x any ordered type) → same", "9 bytes a group, and the value for text-like types", HoldsValues)
		d.MergeAlgebra = Idempotent
		r.Register(&Function{Descriptor: d, Bind: func(args []types.Type, _ []*types.Datum) (Bound, error) {
			if len(args) != 1 || !ordered(args[0].OID) {
				return Bound{}, noFunction(name, args)
			}
			t := known(args[0])
			if t.OID == types.Varchar {
				t = types.Of(types.Text)
			}
			return Bound{
				Inputs: []int{0}, ArgTypes: []types.Type{t},
				State: minMaxSpec(name, t), Final: minMaxFinal(name, t),
			}, nil
		}})
	}
}

func ordered(o types.OID) bool {
	switch o {
	case types.Bool, types.JSON, types.UUID, types.Sketch, types.Record, types.Void, types.AclItem, types.Xid:
		return false
	}
	return true
}

func minMaxSpec(name string, t types.Type) StateSpec {
	sign := 1
	if name == "min" {
		sign = -1
	}
	s := spec{identity: name + "(" + t.String() + ") v1", bytes: 9}
	switch t.Kind() {
	case types.KindInt:
		s.make = func(Config) States { return &extremeInts{max: sign > 0} }
	case types.KindFloat:
		s.make = func(Config) States { return &extremeFloats{max: sign > 0} }
	default:
		s.bytes = 40
		s.make = func(Config) States { return &extremeBytes{typ: t, sign: sign, less: bytesOrder(t)} }
	}
	return s
}

// bytesOrder returns nil for types that order bytewise.
func bytesOrder(t types.Type) func(a, b []byte) int {
	switch t.OID {
	case types.Text, types.Varchar, types.Bpchar, types.Name, types.Bytea, types.UUID:
		return nil
	}
	return func(a, b []byte) int {
		return types.Compare(types.Datum{Type: t, Bytes: a}, types.Datum{Type: t, Bytes: b})
	}
}

func minMaxFinal(name string, t types.Type) Finaliser {
	return exactly(name, t, func(states States, n int, out *types.Vector) error {
		switch s := states.(type) {
		case *extremeInts:
			for g := range n {
				if s.set[g] {
					out.AppendInt(s.v[g])
				} else {
					out.AppendNull()
				}
			}
		case *extremeFloats:
			for g := range n {
				if s.set[g] {
					out.AppendFloat(s.v[g])
				} else {
					out.AppendNull()
				}
			}
		case *extremeBytes:
			for g := range n {
				if s.slots[g].set {
					out.AppendBytes(s.arena.get(s.slots[g].ref))
				} else {
					out.AppendNull()
				}
			}
		}
		return nil
	})
}

// extremeInts: whether a value was seen, and the extreme one. Portable form:
// version alone, or version and the value.
type extremeInts struct {
	max bool
	set []bool
	v   []int64
}

// Grow implements States.
func (s *extremeInts) Grow(n int) { s.set, s.v = growTo(s.set, n), growTo(s.v, n) }

// Update implements States.
func (s *extremeInts) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	set, v, xs := s.set, s.v, in.Ints
	hasNulls := len(in.Nulls) > 0
	rows = rows[:len(groups)]
	for i, g := range groups {
		r := int(rows[i])
		if hasNulls && in.Nulls.Has(r) {
			continue
		}
		if x := xs[r]; !set[g] || (x != v[g] && (x > v[g]) == s.max) {
			v[g], set[g] = x, true
		}
	}
	return nil
}

func (s *extremeInts) fold(g uint32, x int64) {
	if !s.set[g] || (x != s.v[g] && (x > s.v[g]) == s.max) {
		s.v[g], s.set[g] = x, true
	}
}

// MergeFrom implements States.
func (s *extremeInts) MergeFrom(dst uint32, other States, src uint32) error {
	if o := other.(*extremeInts); o.set[src] {
		s.fold(dst, o.v[src])
	}
	return nil
}

// Append implements States.
func (s *extremeInts) Append(dst []byte, group uint32) []byte {
	dst = append(dst, codecV1)
	if s.set[group] {
		dst = appendWord(dst, uint64(s.v[group]))
	}
	return dst
}

// Merge implements States.
func (s *extremeInts) Merge(group uint32, state []byte) error {
	r := newReader("min/max", state)
	if !r.bad && len(r.b) == 0 {
		return nil
	}
	x := int64(r.word())
	if err := r.done(); err != nil {
		return err
	}
	s.fold(group, x)
	return nil
}

// MemoryBytes implements States.
func (s *extremeInts) MemoryBytes() int64 { return int64(cap(s.set) + 8*cap(s.v)) }

// extremeFloats is extremeInts for floats; NaN is above infinity, as in PostgreSQL.
type extremeFloats struct {
	max bool
	set []bool
	v   []float64
}

// Grow implements States.
func (s *extremeFloats) Grow(n int) { s.set, s.v = growTo(s.set, n), growTo(s.v, n) }

// Update implements States.
func (s *extremeFloats) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	hasNulls := len(in.Nulls) > 0
	rows = rows[:len(groups)]
	for i, g := range groups {
		r := int(rows[i])
		if hasNulls && in.Nulls.Has(r) {
			continue
		}
		s.fold(g, in.Floats[r])
	}
	return nil
}

func (s *extremeFloats) fold(g uint32, x float64) {
	if !s.set[g] {
		s.v[g], s.set[g] = x, true
		return
	}
	c := compareFloats(x, s.v[g])
	if c > 0 && s.max || c < 0 && !s.max {
		s.v[g] = x
	}
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return cmp.Compare(b2i(math.IsNaN(a)), b2i(math.IsNaN(b)))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// MergeFrom implements States.
func (s *extremeFloats) MergeFrom(dst uint32, other States, src uint32) error {
	if o := other.(*extremeFloats); o.set[src] {
		s.fold(dst, o.v[src])
	}
	return nil
}

// Append implements States.
func (s *extremeFloats) Append(dst []byte, group uint32) []byte {
	dst = append(dst, codecV1)
	if s.set[group] {
		x := s.v[group]
		if x == 0 {
			x = 0 // -0 and 0 are equal, so their states are
		}
		dst = appendFloat(dst, x)
	}
	return dst
}

// Merge implements States.
func (s *extremeFloats) Merge(group uint32, state []byte) error {
	r := newReader("min/max", state)
	if !r.bad && len(r.b) == 0 {
		return nil
	}
	x := r.float()
	if err := r.done(); err != nil {
		return err
	}
	s.fold(group, x)
	return nil
}

// MemoryBytes implements States.
func (s *extremeFloats) MemoryBytes() int64 { return int64(cap(s.set) + 8*cap(s.v)) }

// extremeBytes: whether a value was seen, and where it is in the arena.
// Portable form: version alone, or version and the value's bytes.
type extremeBytes struct {
	typ   types.Type
	sign  int
	less  func(a, b []byte) int // nil: bytewise
	slots []byteSlot
	arena arena
}

type byteSlot struct {
	ref arenaRef
	set bool
}

// Grow implements States.
func (s *extremeBytes) Grow(n int) { s.slots = growTo(s.slots, n) }

// Update implements States.
func (s *extremeBytes) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	for i, g := range groups {
		if r := int(rows[i]); !in.Nulls.Has(r) {
			s.fold(g, in.Bytes(r))
		}
	}
	s.arena.compactIfWasteful(func(move func(*arenaRef)) {
		for i := range s.slots {
			move(&s.slots[i].ref)
		}
	})
	return nil
}

func (s *extremeBytes) fold(g uint32, x []byte) {
	slot := &s.slots[g]
	if slot.set {
		old := s.arena.get(slot.ref)
		c := 0
		if s.less == nil {
			c = bytes.Compare(x, old)
		} else {
			c = s.less(x, old)
		}
		// Of values that are equal but not alike (numeric 1 and 1.0) the one with
		// the smaller bytes stays, so that the order of folding does not matter.
		if c == 0 && s.less != nil {
			c = -s.sign * bytes.Compare(x, old)
		}
		if c*s.sign <= 0 {
			return
		}
	}
	slot.ref, slot.set = s.arena.replace(slot.ref, x), true
}

// MergeFrom implements States.
func (s *extremeBytes) MergeFrom(dst uint32, other States, src uint32) error {
	if o := other.(*extremeBytes); o.slots[src].set {
		s.fold(dst, o.arena.get(o.slots[src].ref))
	}
	return nil
}

// Append implements States.
func (s *extremeBytes) Append(dst []byte, group uint32) []byte {
	dst = append(dst, codecV1)
	if slot := s.slots[group]; slot.set {
		dst = appendBytes(dst, s.arena.get(slot.ref))
	}
	return dst
}

// Merge implements States.
func (s *extremeBytes) Merge(group uint32, state []byte) error {
	r := newReader("min/max", state)
	if !r.bad && len(r.b) == 0 {
		return nil
	}
	x := r.bytes()
	if err := r.done(); err != nil {
		return err
	}
	if !validBytes(s.typ, x) {
		return corrupt("min/max")
	}
	s.fold(group, x)
	return nil
}

// MemoryBytes implements States.
func (s *extremeBytes) MemoryBytes() int64 {
	return int64(cap(s.slots))*16 + int64(cap(s.arena.data))
}
