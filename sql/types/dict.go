package types

import (
	"bytes"
	"math"
	"slices"
	"sync"
)

// MaxDictRows is the most values that a dictionary has: their numbers fit 16 bits.
const MaxDictRows = math.MaxUint16

// Dict is the distinct values of a column of KindBytes. It is immutable and safe for
// concurrent use. Two vectors with the same Dict are equal in a row exactly if their
// codes are; nothing follows from different Dicts, unless one extends the other.
type Dict struct {
	values *Vector     // flat, without NULLs; the first is empty, for rows that are NULL
	of     *dictFamily // those that a builder gives
	once   sync.Once
	ranks  []uint16
}

// dictFamily is what dictionaries of one builder have in common.
type dictFamily struct{ _ byte }

// NewDict returns a dictionary of distinct values of a type that orders bytewise, the
// first of which is empty. It keeps the vector.
func NewDict(values *Vector) *Dict {
	if n := values.Len(); n == 0 || n > MaxDictRows || len(values.Bytes(0)) > 0 || values.Dict != nil || len(values.Nulls) > 0 {
		panic("a dictionary of too many values, or of such that are not plain")
	}
	return &Dict{values: values}
}

// Extends reports whether the codes of o are those of the same values in d.
func (d *Dict) Extends(o *Dict) bool {
	return d == o || d.of != nil && d.of == o.of && d.Len() >= o.Len()
}

// Len returns the number of values.
func (d *Dict) Len() int { return d.values.Len() }

// Values returns the values, by code.
func (d *Dict) Values() *Vector { return d.values }

// Ranks returns the place of each code in the bytewise order of the values.
func (d *Dict) Ranks() []uint16 {
	d.once.Do(func() {
		order := make([]uint16, d.Len())
		for i := range order {
			order[i] = uint16(i)
		}
		slices.SortFunc(order, func(a, b uint16) int { return bytes.Compare(d.values.Bytes(int(a)), d.values.Bytes(int(b))) })
		d.ranks = make([]uint16, len(order))
		for rank, code := range order {
			d.ranks[code] = uint16(rank)
		}
	})
	return d.ranks
}

// MemoryBytes returns the bytes held.
func (d *Dict) MemoryBytes() int { return d.values.MemoryBytes() + 2*d.values.Len() }

// DictType reports whether columns of a type may have dictionaries: those whose
// equality and order are those of their bytes.
func DictType(t Type) bool {
	switch t.OID {
	case Text, Varchar, Name:
		return true
	}
	return false
}

// Flat returns the vector without a dictionary: v itself where it has none.
func (v *Vector) Flat() *Vector {
	if v.Dict == nil {
		return v
	}
	out := &Vector{Type: v.Type, Nulls: v.Nulls, Offsets: make([]uint32, 1, len(v.Codes)+1)}
	total := 0
	values := v.Dict.values
	for _, c := range v.Codes {
		total += int(values.Offsets[c+1] - values.Offsets[c])
		if uint64(total) > math.MaxUint32 {
			panic(tooManyBytes)
		}
		out.Offsets = append(out.Offsets, uint32(total))
	}
	out.Data = make([]byte, 0, total)
	for _, c := range v.Codes {
		out.Data = append(out.Data, values.Data[values.Offsets[c]:values.Offsets[c+1]]...)
	}
	return out
}

// flatten makes v flat, so that other values than those of its dictionary fit.
func (v *Vector) flatten() {
	if v.Dict != nil {
		f := v.Flat()
		nulls := v.Nulls
		*v = *f
		v.Nulls = nulls
	}
}

// adopt makes an empty vector one with the dictionary of src; it reports whether the
// two have the same one then, and codes can be copied.
func (v *Vector) adopt(src *Vector) bool {
	if src.Dict == nil {
		v.flatten()
		return false
	}
	if v.Dict == src.Dict {
		return true
	}
	if v.Len() > 0 {
		v.flatten()
		return false
	}
	v.Dict, v.Offsets, v.Data = src.Dict, nil, nil
	return true
}

// Flat returns the batch without dictionaries: b itself where it has none.
func (b *Batch) Flat() *Batch {
	if b == nil || !slices.ContainsFunc(b.Cols, func(v *Vector) bool { return v.Dict != nil }) {
		return b
	}
	out := &Batch{Rows: b.Rows, Cols: make([]*Vector, len(b.Cols))}
	for i, v := range b.Cols {
		out.Cols[i] = v.Flat()
	}
	return out
}

// Slice returns rows [from, to) of v. Fixed-width values and codes are not copied.
func (v *Vector) Slice(from, to int) *Vector {
	out := &Vector{Type: v.Type, Nulls: v.Nulls.slice(from, to), Dict: v.Dict}
	switch {
	case v.Type.Kind() == KindInt:
		out.Ints = v.Ints[from:to:to]
	case v.Type.Kind() == KindFloat:
		out.Floats = v.Floats[from:to:to]
	case v.Dict != nil:
		out.Codes = v.Codes[from:to:to]
	default:
		base := v.Offsets[from]
		out.Offsets = make([]uint32, to-from+1)
		for i, o := range v.Offsets[from : to+1] {
			out.Offsets[i] = o - base
		}
		out.Data = v.Data[base:v.Offsets[to]:v.Offsets[to]]
	}
	return out
}

// Slice returns rows [from, to) of a batch, sharing its memory.
func (b *Batch) Slice(from, to int) *Batch {
	if from == 0 && to == b.Rows {
		return b
	}
	out := &Batch{Rows: to - from, Cols: make([]*Vector, len(b.Cols))}
	for i, v := range b.Cols {
		out.Cols[i] = v.Slice(from, to)
	}
	return out
}

// slice returns the rows [from, to) of the set, numbered from 0.
func (b Bitmap) slice(from, to int) Bitmap {
	if from>>6 >= len(b) {
		return nil
	}
	var out Bitmap
	if from&63 == 0 {
		out = slices.Clone(b[from>>6 : min(len(b), (to+63)>>6)])
	} else {
		shift := from & 63
		for w := from >> 6; w < len(b) && w<<6 < to; w++ {
			word := b[w] >> shift
			if w+1 < len(b) {
				word |= b[w+1] << (64 - shift)
			}
			out = append(out, word)
		}
	}
	if n := to - from; len(out) > n>>6 {
		out = out[:min(len(out), (n+63)>>6)]
		if n&63 != 0 && len(out) == n>>6+1 {
			out[n>>6] &= 1<<(n&63) - 1
		}
	}
	if !out.Any() {
		return nil
	}
	return out
}
