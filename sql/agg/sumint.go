package agg

import (
	"encoding/binary"
	"math/bits"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// sumIntSpec is the state that sum and avg of int2, int4 and int8 share.
func sumIntSpec() StateSpec {
	return spec{identity: "sum(int) v1", bytes: 24, make: func(Config) States { return &sumIntStates{} }}
}

// sumInt8Final is sum(int2) and sum(int4): an int8, or 22003 where it does not fit.
var sumInt8Final = exactly("sum", types.Of(types.Int8), func(states States, n int, out *types.Vector) error {
	s := sumsOf(states)
	for g := range n {
		switch {
		case s.empty(g):
			out.AppendNull()
		case s.hi[g] != int64(s.lo[g])>>63:
			return sqlerr.New(sqlerr.NumericValueOutOfRange, "bigint out of range")
		default:
			out.AppendInt(int64(s.lo[g]))
		}
	}
	return nil
})

// sumIntNumericFinal is sum(int8), a numeric.
var sumIntNumericFinal = exactly("sum", types.Of(types.Numeric), func(states States, n int, out *types.Vector) error {
	s := sumsOf(states)
	var buf []byte
	for g := range n {
		if s.empty(g) {
			out.AppendNull()
			continue
		}
		buf = types.NumericFromInt128(s.hi[g], s.lo[g]).Append(buf[:0])
		out.AppendBytes(buf)
	}
	return nil
})

// avgIntFinal is avg(int*), a numeric.
var avgIntFinal = exactly("avg", types.Of(types.Numeric), func(states States, n int, out *types.Vector) error {
	s := sumsOf(states)
	for g := range n {
		if s.n[g] == 0 {
			out.AppendNull()
			continue
		}
		q, err := types.NumericAvg(types.NumericFromInt128(s.hi[g], s.lo[g]), s.n[g])
		if err != nil {
			return err
		}
		appendNumeric(out, q)
	}
	return nil
})

// sumIntStates: a count of values and a 128-bit sum, low and high word. Sums of
// fewer than 2^63 values cannot overflow. Portable form: version, count, low
// word as a varint, high word as a varint.
type sumIntStates struct {
	n  []int64
	lo []uint64
	hi []int64
}

// sums lets states that hold these be read as these are.
func (s *sumIntStates) sums() *sumIntStates { return s }

func sumsOf(s States) *sumIntStates { return s.(interface{ sums() *sumIntStates }).sums() }

// empty reports whether there is nothing to sum. Weights may add up to nothing while
// what they weigh does not.
func (s *sumIntStates) empty(g int) bool { return s.n[g] == 0 && s.lo[g] == 0 && s.hi[g] == 0 }

// Grow implements States.
func (s *sumIntStates) Grow(n int) {
	s.n, s.lo, s.hi = growTo(s.n, n), growTo(s.lo, n), growTo(s.hi, n)
}

// Update implements States.
func (s *sumIntStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	n, lo, hi, xs := s.n, s.lo, s.hi, in.Ints
	nulls := in.Nulls
	hasNulls := len(nulls) > 0
	rows = rows[:len(groups)]
	for i, g := range groups {
		r := int(rows[i])
		if hasNulls && nulls.Has(r) {
			continue
		}
		x := xs[r]
		l, c := bits.Add64(lo[g], uint64(x), 0)
		lo[g] = l
		hi[g] += x>>63 + int64(c)
		n[g]++
	}
	return nil
}

func (s *sumIntStates) add(g uint32, n int64, lo uint64, hi int64) {
	l, c := bits.Add64(s.lo[g], lo, 0)
	s.lo[g] = l
	s.hi[g] += hi + int64(c)
	s.n[g] += n
}

// MergeFrom implements States.
func (s *sumIntStates) MergeFrom(dst uint32, other States, src uint32) error {
	o := other.(*sumIntStates)
	s.add(dst, o.n[src], o.lo[src], o.hi[src])
	return nil
}

// Append implements States.
func (s *sumIntStates) Append(dst []byte, group uint32) []byte {
	dst = binary.AppendUvarint(append(dst, codecV1), uint64(s.n[group]))
	dst = binary.AppendVarint(dst, int64(s.lo[group]))
	return binary.AppendVarint(dst, s.hi[group])
}

// Merge implements States.
func (s *sumIntStates) Merge(group uint32, state []byte) error {
	r := newReader("sum", state)
	n, lo, hi := r.count(), r.varint(), r.varint()
	if err := r.done(); err != nil {
		return err
	}
	s.add(group, n, uint64(lo), hi)
	return nil
}

// MemoryBytes implements States.
func (s *sumIntStates) MemoryBytes() int64 { return int64(cap(s.n)+cap(s.lo)+cap(s.hi)) * 8 }
