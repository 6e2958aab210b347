package types

import "math"

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
	default:
		return max(len(v.Offsets)-1, 0)
	}
}

// Reset empties the vector and keeps its memory.
func (v *Vector) Reset() {
	clear(v.Nulls)
	v.Nulls = v.Nulls[:0]
	v.Ints, v.Floats, v.Data = v.Ints[:0], v.Floats[:0], v.Data[:0]
	if v.Type.Kind() == KindBytes {
		v.Offsets = append(v.Offsets[:0], 0)
	}
}

// IsNull reports whether row i is NULL.
func (v *Vector) IsNull(i int) bool { return v.Nulls.Has(i) }

// Bytes returns row i of a KindBytes vector. It aliases Data.
func (v *Vector) Bytes(i int) []byte { return v.Data[v.Offsets[i]:v.Offsets[i+1]:v.Offsets[i+1]] }

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
	v.Data = append(v.Data, x...)
	v.endRow()
}

// AppendString appends x to a KindBytes vector.
func (v *Vector) AppendString(x string) {
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
		v.AppendBytes(src.Bytes(i))
	}
}

// AppendAll appends every row of src, which has the same Kind.
func (v *Vector) AppendAll(src *Vector) {
	n, base := src.Len(), v.Len()
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
	if v.Type.Kind() == KindBytes && n > 0 {
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
	out := NewVector(v.Type, len(sel))
	v.GatherInto(out, sel)
	return out
}

// GatherInto appends the rows of v that sel names to out, which has the same Kind.
func (v *Vector) GatherInto(out *Vector, sel []int32) {
	if len(v.Nulls) > 0 {
		for _, i := range sel {
			out.AppendFrom(v, int(i))
		}
		return
	}
	switch v.Type.Kind() {
	case KindInt:
		for _, i := range sel {
			out.Ints = append(out.Ints, v.Ints[i])
		}
	case KindFloat:
		for _, i := range sel {
			out.Floats = append(out.Floats, v.Floats[i])
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
		if len(v.Offsets) > 0 {
			v.Offsets = v.Offsets[:n+1]
			v.Data = v.Data[:v.Offsets[n]]
		}
	}
}

// MemoryBytes returns the bytes that the vector's slices hold.
func (v *Vector) MemoryBytes() int {
	return 8*(cap(v.Nulls)+cap(v.Ints)+cap(v.Floats)) + 4*cap(v.Offsets) + cap(v.Data)
}
