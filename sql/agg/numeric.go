package agg

import (
	"encoding/binary"

	"github.com/tallydb/tallydb/sql/types"
)

func appendNumeric(out *types.Vector, d types.Decimal) { out.AppendBytes(d.Append(nil)) }

// validBytes reports whether b is the stored form of a value of type t, as far
// as decoding it must not fail.
func validBytes(t types.Type, b []byte) bool {
	switch t.OID {
	case types.Numeric:
		return validDecimal(b)
	case types.Interval:
		return len(b) == intervalBytes
	case types.UUID:
		return len(b) == 16
	}
	return true
}

// validDecimal reports whether b is canonical: decoding and appending gives b.
func validDecimal(b []byte) bool {
	return len(b) > 0 && string(types.DecodeDecimal(b).Append(nil)) == string(b)
}

func (r *reader) decimal() types.Decimal {
	b := r.bytes()
	if r.bad || !validDecimal(b) {
		r.bad = true
		return types.Decimal{}
	}
	return types.DecodeDecimal(b)
}

func appendDecimal(dst []byte, d types.Decimal) []byte { return appendBytes(dst, d.Append(nil)) }

func sumNumericSpec() StateSpec {
	return spec{identity: "sum(numeric) v1", bytes: 48, make: func(Config) States { return &sumNumericStates{} }}
}

var sumNumericFinal = exactly("sum", types.Of(types.Numeric), func(states States, n int, out *types.Vector) error {
	s := states.(interface{ numerics() *sumNumericStates }).numerics()
	for g := range n {
		if s.n[g] == 0 && s.sum[g].Sign() == 0 {
			out.AppendNull()
		} else {
			appendNumeric(out, s.sum[g])
		}
	}
	return nil
})

var avgNumericFinal = exactly("avg", types.Of(types.Numeric), func(states States, n int, out *types.Vector) error {
	s := states.(interface{ numerics() *sumNumericStates }).numerics()
	for g := range n {
		if s.n[g] == 0 {
			out.AppendNull()
			continue
		}
		q, err := types.NumericAvg(s.sum[g], s.n[g])
		if err != nil {
			return err
		}
		appendNumeric(out, q)
	}
	return nil
})

// sumNumericStates: a count of values and their sum. Portable form: version,
// count, sum in its stored form.
type sumNumericStates struct {
	n   []int64
	sum []types.Decimal
}

// numerics lets states that hold these be read as these are.
func (s *sumNumericStates) numerics() *sumNumericStates { return s }

// Grow implements States.
func (s *sumNumericStates) Grow(n int) { s.n, s.sum = growTo(s.n, n), growTo(s.sum, n) }

// Update implements States.
func (s *sumNumericStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	for i, g := range groups {
		r := int(rows[i])
		if in.Nulls.Has(r) {
			continue
		}
		if err := s.add(g, 1, types.DecodeDecimal(in.Bytes(r))); err != nil {
			return rejected(i, err)
		}
	}
	return nil
}

func (s *sumNumericStates) add(g uint32, n int64, x types.Decimal) error {
	sum, err := types.NumericAdd(s.sum[g], x)
	if err != nil {
		return err
	}
	s.sum[g] = sum
	s.n[g] += n
	return nil
}

// MergeFrom implements States.
func (s *sumNumericStates) MergeFrom(dst uint32, other States, src uint32) error {
	o := other.(*sumNumericStates)
	return s.add(dst, o.n[src], o.sum[src])
}

// Append implements States.
func (s *sumNumericStates) Append(dst []byte, g uint32) []byte {
	dst = binary.AppendUvarint(append(dst, codecV1), uint64(s.n[g]))
	return appendDecimal(dst, s.sum[g])
}

// Merge implements States.
func (s *sumNumericStates) Merge(group uint32, state []byte) error {
	r := newReader("sum", state)
	n, sum := r.count(), r.decimal()
	if err := r.done(); err != nil {
		return err
	}
	return s.add(group, n, sum)
}

// MemoryBytes implements States.
func (s *sumNumericStates) MemoryBytes() int64 { return int64(cap(s.n)*8 + cap(s.sum)*32) }

func momentsNumericSpec() StateSpec {
	return spec{identity: "moments(numeric) v1", bytes: 96, make: func(Config) States { return &momentsNumeric{} }}
}

func momentsNumericFinal(m moment) Finaliser {
	return exactly(m.name, types.Of(types.Numeric), func(states States, n int, out *types.Vector) error {
		s := states.(interface{ moments() *momentsNumeric }).moments()
		for g := range n {
			if err := m.appendTo(out, s.n[g], s.sum[g], s.sq[g]); err != nil {
				return err
			}
		}
		return nil
	})
}

// appendTo computes the statistic as PostgreSQL does: (n*sumsq - sum^2) over
// n*(n-1) or n^2.
func (m moment) appendTo(out *types.Vector, n int64, sum, squares types.Decimal) error {
	if n <= 0 || m.sample && n == 1 {
		out.AppendNull()
		return nil
	}
	if !sum.Finite() || !squares.Finite() {
		appendNumeric(out, types.DecimalNaN)
		return nil
	}
	rows := types.DecimalFromInt(n)
	a, err := types.NumericMul(rows, squares)
	if err != nil {
		return err
	}
	b, err := types.NumericMul(sum, sum)
	if err != nil {
		return err
	}
	if a, err = types.NumericSub(a, b); err != nil {
		return err
	}
	if a.Sign() <= 0 {
		appendNumeric(out, types.DecimalFromInt(0))
		return nil
	}
	k := n
	if m.sample {
		k--
	}
	den, err := types.NumericMul(rows, types.DecimalFromInt(k))
	if err != nil {
		return err
	}
	v, err := types.NumericDiv(a, den)
	if err != nil {
		return err
	}
	if !m.variance {
		scale := v.Scale()
		if v, err = types.NumericSqrt(v); err != nil {
			return err
		}
		v = v.Round(max(scale, 0))
	}
	appendNumeric(out, v)
	return nil
}

// momentsNumeric: the sum state, and the sum of squares. Portable form: that of
// the sum state, then the squares.
type momentsNumeric struct {
	sumNumericStates
	sq []types.Decimal
}

// moments lets states that hold these be read as these are.
func (s *momentsNumeric) moments() *momentsNumeric { return s }

// Grow implements States.
func (s *momentsNumeric) Grow(n int) {
	s.sumNumericStates.Grow(n)
	s.sq = growTo(s.sq, n)
}

// Update implements States.
func (s *momentsNumeric) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	for i, g := range groups {
		r := int(rows[i])
		if in.Nulls.Has(r) {
			continue
		}
		x := types.DecodeDecimal(in.Bytes(r))
		square, err := types.NumericMul(x, x)
		if err == nil {
			err = s.fold(g, 1, x, square)
		}
		if err != nil {
			return rejected(i, err)
		}
	}
	return nil
}

func (s *momentsNumeric) fold(g uint32, n int64, x, square types.Decimal) error {
	sq, err := types.NumericAdd(s.sq[g], square)
	if err != nil {
		return err
	}
	if err := s.add(g, n, x); err != nil {
		return err
	}
	s.sq[g] = sq
	return nil
}

// MergeFrom implements States.
func (s *momentsNumeric) MergeFrom(dst uint32, other States, src uint32) error {
	o := other.(*momentsNumeric)
	return s.fold(dst, o.n[src], o.sum[src], o.sq[src])
}

// Append implements States.
func (s *momentsNumeric) Append(dst []byte, g uint32) []byte {
	return appendDecimal(s.sumNumericStates.Append(dst, g), s.sq[g])
}

// Merge implements States.
func (s *momentsNumeric) Merge(group uint32, state []byte) error {
	r := newReader("variance", state)
	n, sum, sq := r.count(), r.decimal(), r.decimal()
	if err := r.done(); err != nil {
		return err
	}
	return s.fold(group, n, sum, sq)
}

// MemoryBytes implements States.
func (s *momentsNumeric) MemoryBytes() int64 {
	return s.sumNumericStates.MemoryBytes() + int64(cap(s.sq)*32)
}
