package types

import (
	"math"
	"slices"
)

const tooManyBytes = "a column of a batch needs more than 4 GiB"

// Vector is a column of values of one type. Exactly the slices of the type's
// Kind are in use: Ints, Floats, or Offsets with Data.
//
// A Vector has no owner of its own: who receives one may read it, and may write
// it only where the function that passed it says so.
type Vector struct {
	Type    Type
	Nulls   Bitmap // a set bit is NULL
	Ints    []int64
	Floats  []float64
	Offsets []uint32 // len = rows + 1 once a row is there; value i is Data[Offsets[i]:Offsets[i+1]]
	Data    []byte

	// A vector of KindBytes may have a dictionary; it has neither Offsets nor Data
	// then. Only sql/types and sql/exec meet such vectors: expressions, and whoever
	// receives the rows of a statement, get flat ones.
	Dict  *Dict
	Codes []uint16 // of each row its value in Dict; 0, the empty value, where it is NULL
}

// NewVector returns an empty vector with room for n rows.
func NewVector(t Type, n int) *Vector {
	v := &Vector{Type: t}
	switch t.Kind() {
	case KindInt:
		v.Ints = make([]int64, 0, n)
	case KindFloat:
		v.Floats = make([]float64, 0, n)
	case KindBytes:
		v.Offsets = make([]uint32, 1, n+1)
	}
	return v
}

// Len returns the number of rows.
func (v *Vector) Len() int {
	switch v.Type.Kind() {
	case KindInt:
		return len(v.Ints)
	case KindFloat:
		return len(v.Floats)
	}
	if v.Dict != nil {
		return len(v.Codes)
	}
	return max(len(v.Offsets)-1, 0)
}

// Reset empties the vector and keeps its memory.
func (v *Vector) Reset() {
	clear(v.Nulls)
	v.Nulls = v.Nulls[:0]
	v.Ints, v.Floats, v.Data = v.Ints[:0], v.Floats[:0], v.Data[:0]
	if v.Type.Kind() == KindBytes {
		v.Offsets = append(v.Offsets[:0], 0)
	}
	v.Dict, v.Codes = nil, nil
}

// IsNull reports whether row i is NULL.
func (v *Vector) IsNull(i int) bool { return v.Nulls.Has(i) }

// Bytes returns row i of a KindBytes vector. It aliases Data.
func (v *Vector) Bytes(i int) []byte {
	if v.Dict != nil {
		i, v = int(v.Codes[i]), v.Dict.values
	}
	return v.Data[v.Offsets[i]:v.Offsets[i+1]:v.Offsets[i+1]]
}

// AppendInt appends a value to a KindInt vector.
func (v *Vector) AppendInt(x int64) { v.Ints = append(v.Ints, x) }

// AppendBool appends a boolean to a KindInt vector.
func (v *Vector) AppendBool(x bool) {
	if x {
		v.Ints = append(v.Ints, 1)
	} else {
		v.Ints = append(v.Ints, 0)
	}
}

// AppendFloat appends a value to a KindFloat vector.
func (v *Vector) AppendFloat(x float64) { v.Floats = append(v.Floats, x) }

// AppendBytes appends a copy of x to a KindBytes vector.
func (v *Vector) AppendBytes(x []byte) {
	if v.Dict != nil {
		v.flatten()
	}
	v.Data = append(v.Data, x...)
	v.endRow()
}

// AppendString appends x to a KindBytes vector.
func (v *Vector) AppendString(x string) {
	if v.Dict != nil {
		v.flatten()
	}
	v.Data = append(v.Data, x...)
	v.endRow()
}

func (v *Vector) endRow() {
	if len(v.Offsets) == 0 {
		v.Offsets = append(v.Offsets, 0)
	}
	if uint64(len(v.Data)) > math.MaxUint32 {
		panic(tooManyBytes) // wrapped offsets would be other rows' bytes
	}
	v.Offsets = append(v.Offsets, uint32(len(v.Data)))
}

// AppendNull appends a NULL.
func (v *Vector) AppendNull() {
	v.Nulls.Set(v.Len())
	switch v.Type.Kind() {
	case KindInt:
		v.Ints = append(v.Ints, 0)
	case KindFloat:
		v.Floats = append(v.Floats, 0)
	default:
		if v.Dict != nil {
			v.Codes = append(v.Codes, 0)
			return
		}
		v.endRow()
	}
}

// AppendFrom appends row i of src, which has the same Kind.
func (v *Vector) AppendFrom(src *Vector, i int) {
	if src.Nulls.Has(i) {
		v.AppendNull()
		return
	}
	switch v.Type.Kind() {
	case KindInt:
		v.Ints = append(v.Ints, src.Ints[i])
	case KindFloat:
		v.Floats = append(v.Floats, src.Floats[i])
	default:
		if v.Dict != nil && v.Dict == src.Dict {
			v.Codes = append(v.Codes, src.Codes[i])
			return
		}
		v.AppendBytes(src.Bytes(i))
	}
}

// AppendAll appends every row of src, which has the same Kind.
func (v *Vector) AppendAll(src *Vector) {
	n, base := src.Len(), v.Len()
	if v.Type.Kind() == KindBytes && (v.Dict != nil || src.Dict != nil) {
		if v.adopt(src) {
			v.Codes = append(v.Codes, src.Codes...)
		} else {
			src = src.Flat()
		}
	}
	for i := range src.Nulls {
		if src.Nulls[i] == 0 {
			continue
		}
		for j := i << 6; j < min(n, (i+1)<<6); j++ {
			if src.Nulls.Has(j) {
				v.Nulls.Set(base + j)
			}
		}
	}
	v.Ints = append(v.Ints, src.Ints...)
	v.Floats = append(v.Floats, src.Floats...)
	if v.Type.Kind() == KindBytes && n > 0 && src.Dict == nil {
		if len(v.Offsets) == 0 {
			v.Offsets = append(v.Offsets, 0)
		}
		shift := uint32(len(v.Data)) - src.Offsets[0]
		v.Data = append(v.Data, src.Data[src.Offsets[0]:src.Offsets[n]]...)
		if uint64(len(v.Data)) > math.MaxUint32 {
			panic(tooManyBytes)
		}
		for _, o := range src.Offsets[1 : n+1] {
			v.Offsets = append(v.Offsets, o+shift)
		}
	}
}

// Gather returns a new vector of the rows of v that sel names, in its order.
func (v *Vector) Gather(sel []int32) *Vector {
	if v.Dict != nil {
		return v.gatherCodes(sel)
	}
	out := NewVector(v.Type, len(sel))
	if v.Type.Kind() == KindBytes {
		out.Data = make([]byte, 0, v.bytesOf(sel))
	}
	v.GatherInto(out, sel)
	return out
}

// bytesOf is the length of the values that sel names.
func (v *Vector) bytesOf(sel []int32) int {
	n := 0
	for _, i := range sel {
		n += int(v.Offsets[i+1] - v.Offsets[i])
	}
	return n
}

func (v *Vector) gatherCodes(sel []int32) *Vector {
	out := &Vector{Type: v.Type, Dict: v.Dict, Codes: make([]uint16, len(sel))}
	for k, i := range sel {
		out.Codes[k] = v.Codes[i]
	}
	out.gatherNulls(v, sel, 0)
	return out
}

// gatherNulls appends the NULLs of the rows that sel names; base is the rows before.
func (v *Vector) gatherNulls(src *Vector, sel []int32, base int) {
	if len(src.Nulls) == 0 {
		return
	}
	for k, i := range sel {
		if src.Nulls.Has(int(i)) {
			v.Nulls.Set(base + k)
		}
	}
}

// GatherInto appends the rows of v that sel names to out, which has the same Kind.
func (v *Vector) GatherInto(out *Vector, sel []int32) {
	out.gatherNulls(v, sel, out.Len())
	switch v.Type.Kind() {
	case KindInt:
		n := len(out.Ints)
		out.Ints = slices.Grow(out.Ints, len(sel))[:n+len(sel)]
		to, from := out.Ints[n:], v.Ints
		for k, i := range sel {
			to[k] = from[i]
		}
	case KindFloat:
		n := len(out.Floats)
		out.Floats = slices.Grow(out.Floats, len(sel))[:n+len(sel)]
		to, from := out.Floats[n:], v.Floats
		for k, i := range sel {
			to[k] = from[i]
		}
	default:
		for _, i := range sel {
			out.AppendBytes(v.Bytes(int(i)))
		}
	}
}

// AppendDatum appends d, whose type has the same Kind.
func (v *Vector) AppendDatum(d Datum) {
	if d.Null {
		v.AppendNull()
		return
	}
	switch v.Type.Kind() {
	case KindInt:
		v.Ints = append(v.Ints, d.Int)
	case KindFloat:
		v.Floats = append(v.Floats, d.Float)
	default:
		v.AppendBytes(d.Bytes)
	}
}

// Datum returns row i. Bytes alias the vector.
func (v *Vector) Datum(i int) Datum {
	d := Datum{Type: v.Type}
	switch {
	case v.Nulls.Has(i):
		d.Null = true
	case v.Type.Kind() == KindInt:
		d.Int = v.Ints[i]
	case v.Type.Kind() == KindFloat:
		d.Float = v.Floats[i]
	default:
		d.Bytes = v.Bytes(i)
	}
	return d
}

// Repeat returns a vector of n rows that all hold d.
func Repeat(d Datum, n int) *Vector {
	v := NewVector(d.Type, n)
	for range n {
		v.AppendDatum(d)
	}
	return v
}

// Truncate keeps the first n rows.
func (v *Vector) Truncate(n int) {
	for i := n; i < v.Len() && i>>6 < len(v.Nulls); i++ {
		v.Nulls.Clear(i)
	}
	switch v.Type.Kind() {
	case KindInt:
		v.Ints = v.Ints[:n]
	case KindFloat:
		v.Floats = v.Floats[:n]
	default:
		if v.Dict != nil {
			v.Codes = v.Codes[:n]
		} else if len(v.Offsets) > 0 {
			v.Offsets = v.Offsets[:n+1]
			v.Data = v.Data[:v.Offsets[n]]
		}
	}
}

// MemoryBytes returns the bytes that the vector's slices hold. A dictionary is
// shared, and not among them.
func (v *Vector) MemoryBytes() int {
	return 2*cap(v.Codes) + 8*(cap(v.Nulls)+cap(v.Ints)+cap(v.Floats)) + 4*cap(v.Offsets) + cap(v.Data)
}
