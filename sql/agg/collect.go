package agg

import (
	"encoding/binary"
	"unsafe"

	"github.com/tallydb/tallydb/sql/types"
)

// registerCollect registers string_agg and array_agg, whose values depend on the
// order of the rows. Queries fold them in the order of their ORDER BY.
func registerCollect(r *Registry) {
	d := exactDescriptor("string_agg", "string_agg(x text, delimiter text) → text", "the values", HoldsValues)
	d.MergeAlgebra = OrderedMonoid
	r.Register(&Function{Descriptor: d, Bind: func(args []types.Type, _ []*types.Datum) (Bound, error) {
		if len(args) != 2 {
			return Bound{}, noFunction("string_agg", args)
		}
		t := types.Of(types.Text)
		if args[0].OID == types.Bytea {
			t = types.Of(types.Bytea)
		} else if known(args[0]).OID.Kind() != types.KindBytes || args[0].OID.Category() != 'S' && args[0].OID != types.Unknown {
			return Bound{}, noFunction("string_agg", args)
		}
		in := []types.Type{t, t}
		return Bound{Inputs: []int{0, 1}, ArgTypes: in, State: collectSpec(in), Final: stringAggFinal(t)}, nil
	}})
	d = exactDescriptor("array_agg", "array_agg(x any) → array", "the values", HoldsValues)
	d.MergeAlgebra = OrderedMonoid
	r.Register(&Function{Descriptor: d, Bind: func(args []types.Type, _ []*types.Datum) (Bound, error) {
		if len(args) != 1 || known(args[0]).OID.ArrayOf() == 0 {
			return Bound{}, noFunction("array_agg", args)
		}
		in := []types.Type{known(args[0])}
		return Bound{Inputs: []int{0}, ArgTypes: in, State: collectSpec(in), Final: arrayAggFinal(in[0])}, nil
	}})
}

func collectSpec(in []types.Type) StateSpec {
	id := "collect("
	for i, t := range in {
		if i > 0 {
			id += ", "
		}
		id += t.String()
	}
	return spec{identity: id + ") v1", bytes: 256, make: func(Config) States { return &collectStates{types: in} }}
}

func stringAggFinal(t types.Type) Finaliser {
	return exactly("string_agg", t, func(states States, n int, out *types.Vector) error {
		s := states.(*collectStates)
		var buf []byte
		for g := range n {
			buf = buf[:0]
			seen := false
			cols := s.groups[g]
			for i := range lenOf(cols) {
				if cols[0].Nulls.Has(i) {
					continue
				}
				if seen {
					buf = append(buf, cols[1].Bytes(i)...)
				}
				buf, seen = append(buf, cols[0].Bytes(i)...), true
			}
			if seen {
				out.AppendBytes(buf)
			} else {
				out.AppendNull()
			}
		}
		return nil
	})
}

func arrayAggFinal(elem types.Type) Finaliser {
	return exactly("array_agg", types.Of(elem.OID.ArrayOf()), func(states States, n int, out *types.Vector) error {
		s := states.(*collectStates)
		var buf []byte
		for g := range n {
			if lenOf(s.groups[g]) == 0 {
				out.AppendNull()
				continue
			}
			buf = types.AppendArrayOf(buf[:0], s.groups[g][0])
			out.AppendBytes(buf)
		}
		return nil
	})
}

func lenOf(cols []*types.Vector) int {
	if len(cols) == 0 {
		return 0
	}
	return cols[0].Len()
}

// collectStates: the input columns of each group, in the order of the rows.
// Portable form: version, number of rows, the key encoding of each row.
type collectStates struct {
	types  []types.Type
	groups [][]*types.Vector
	bytes  int64
}

// vectorBytes is a vector's own size, and its place in a group's list.
const vectorBytes = int64(unsafe.Sizeof(types.Vector{})) + 8

// Grow implements States.
func (s *collectStates) Grow(n int) { s.groups = growTo(s.groups, n) }

func (s *collectStates) columns(g uint32) []*types.Vector {
	if s.groups[g] == nil {
		for _, t := range s.types {
			v := types.NewVector(t, 4)
			s.groups[g] = append(s.groups[g], v)
			s.bytes += int64(v.MemoryBytes()) + vectorBytes
		}
	}
	return s.groups[g]
}

// Update implements States.
func (s *collectStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	for i, g := range groups {
		for c, to := range s.columns(g) {
			before := to.MemoryBytes()
			to.AppendFrom(inputs[c], int(rows[i]))
			s.bytes += int64(to.MemoryBytes() - before)
		}
	}
	return nil
}

// MergeFrom implements States.
func (s *collectStates) MergeFrom(dst uint32, other States, src uint32) error {
	o := other.(*collectStates)
	for c, from := range o.groups[src] {
		s.appendAll(s.columns(dst)[c], from)
	}
	return nil
}

// Append implements States.
func (s *collectStates) Append(dst []byte, g uint32) []byte {
	cols := s.groups[g]
	n := lenOf(cols)
	dst = binary.AppendUvarint(append(dst, codecV1), uint64(n))
	for i := range n {
		for _, c := range cols {
			dst = appendDatum(dst, c.Datum(i))
		}
	}
	return dst
}

// appendDatum appends 0 for NULL, else 1 and the value as it is stored.
func appendDatum(dst []byte, d types.Datum) []byte {
	if d.Null {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	switch d.Type.Kind() {
	case types.KindInt:
		return appendWord(dst, uint64(d.Int))
	case types.KindFloat:
		return appendFloat(dst, d.Float)
	}
	return appendBytes(dst, d.Bytes)
}

func (r *reader) datum(t types.Type) types.Datum {
	switch r.uvarint() {
	case 0:
		return types.NullOf(t)
	case 1:
	default:
		r.bad = true
	}
	d := types.Datum{Type: t}
	switch t.Kind() {
	case types.KindInt:
		d.Int = int64(r.word())
	case types.KindFloat:
		d.Float = r.float()
	default:
		d.Bytes = r.bytes()
		r.bad = r.bad || !validBytes(t, d.Bytes)
	}
	return d
}

// Merge implements States.
func (s *collectStates) Merge(group uint32, state []byte) error {
	r := newReader("collect", state)
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.bad = true
	}
	cols := make([]*types.Vector, len(s.types))
	for c, t := range s.types {
		cols[c] = types.NewVector(t, 0)
	}
	for i := uint64(0); i < n && !r.bad; i++ {
		for c, t := range s.types {
			cols[c].AppendDatum(r.datum(t))
		}
	}
	if err := r.done(); err != nil {
		return err
	}
	for c, to := range s.columns(group) {
		s.appendAll(to, cols[c])
	}
	return nil
}

func (s *collectStates) appendAll(to, from *types.Vector) {
	before := to.MemoryBytes()
	to.AppendAll(from)
	s.bytes += int64(to.MemoryBytes() - before)
}

// MemoryBytes implements States.
func (s *collectStates) MemoryBytes() int64 { return s.bytes + int64(cap(s.groups))*24 }
