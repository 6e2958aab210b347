package agg

import (
	"encoding/binary"
	"math"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// sumFloatSpec is the state that sum and avg of float4 and float8 share.
func sumFloatSpec() StateSpec {
	return spec{identity: "sum(float) v1", bytes: 24, make: func(Config) States { return &sumFloatStates{} }}
}

func sumFloatFinal(t types.OID) Finaliser {
	return exactly("sum", types.Of(t), func(states States, n int, out *types.Vector) error {
		s := states.(interface{ floats() *sumFloatStates }).floats()
		for g := range n {
			if s.n[g] == 0 {
				out.AppendNull()
				continue
			}
			x := s.value(g)
			if t == types.Float4 {
				x = float64(float32(x))
			}
			if err := s.inRange(g, x); err != nil {
				return err
			}
			out.AppendFloat(x)
		}
		return nil
	})
}

var avgFloatFinal = exactly("avg", types.Of(types.Float8), func(states States, n int, out *types.Vector) error {
	s := states.(interface{ floats() *sumFloatStates }).floats()
	for g := range n {
		if s.n[g] == 0 {
			out.AppendNull()
			continue
		}
		x := s.value(g)
		if err := s.inRange(g, x); err != nil {
			return err
		}
		out.AppendFloat(x / float64(s.n[g]))
	}
	return nil
})

// inRange refuses a result that is infinite although no value was, as PostgreSQL
// does.
func (s *sumFloatStates) inRange(g int, x float64) error {
	if math.IsInf(x, 0) && !math.IsNaN(s.comp[g]) {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow")
	}
	return nil
}

// sumFloatStates: count, sum and its compensation (Neumaier: Rundungsfehler-
// analyse einiger Verfahren zur Summation endlicher Summen, 1974), so that sums
// over different merge trees agree to rounding. The compensation is NaN where an
// infinity or NaN was added, and infinite where a sum of finite values overflowed.
// Portable form: version, count, sum, compensation.
type sumFloatStates struct {
	n         []int64
	sum, comp []float64
}

// floats lets states that hold these be read as these are.
func (s *sumFloatStates) floats() *sumFloatStates { return s }

// Grow implements States.
func (s *sumFloatStates) Grow(n int) {
	s.n, s.sum, s.comp = growTo(s.n, n), growTo(s.sum, n), growTo(s.comp, n)
}

// Update implements States.
func (s *sumFloatStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	n, sum, comp, xs := s.n, s.sum, s.comp, in.Floats
	hasNulls := len(in.Nulls) > 0
	rows = rows[:len(groups)]
	for i, g := range groups {
		r := int(rows[i])
		if hasNulls && in.Nulls.Has(r) {
			continue
		}
		x, a := xs[r], sum[g]
		t := a + x
		n[g]++
		if t-t != 0 { // not finite
			beyond := 0.0
			if x-x != 0 {
				beyond = math.NaN()
			}
			s.addBeyond(g, x, beyond)
			continue
		}
		if math.Abs(a) >= math.Abs(x) {
			comp[g] += (a - t) + x
		} else {
			comp[g] += (x - t) + a
		}
		sum[g] = t
	}
	return nil
}

func (s *sumFloatStates) add(g uint32, n int64, sum, comp float64) {
	a := s.sum[g]
	t := a + sum
	s.n[g] += n
	if t-t != 0 || math.IsNaN(comp) {
		s.addBeyond(g, sum, comp)
		return
	}
	if math.Abs(a) >= math.Abs(sum) {
		s.comp[g] += (a - t) + sum
	} else {
		s.comp[g] += (sum - t) + a
	}
	s.sum[g] = t
	s.comp[g] += comp
}

// addBeyond adds where the sum is not finite. Infinities and NaN among the values
// decide the sum, whatever overflowed; an overflow is not undone.
func (s *sumFloatStates) addBeyond(g uint32, sum, comp float64) {
	a, b := math.IsNaN(s.comp[g]), math.IsNaN(comp)
	switch {
	case a && b:
		s.sum[g] += sum
	case a || math.IsInf(s.comp[g], 0) && !b: // as it is
	case b || math.IsInf(comp, 0):
		s.sum[g], s.comp[g] = sum, comp
	default:
		t := s.sum[g] + sum
		s.sum[g], s.comp[g] = t, -t
	}
}

// value returns the compensated sum. Where an infinity or NaN was added the
// compensation means nothing.
func (s *sumFloatStates) value(g int) float64 {
	if x := s.sum[g] + s.comp[g]; !math.IsNaN(x) {
		return x
	}
	return s.sum[g]
}

// MergeFrom implements States.
func (s *sumFloatStates) MergeFrom(dst uint32, other States, src uint32) error {
	if o := other.(*sumFloatStates); o.n[src] > 0 {
		s.add(dst, o.n[src], o.sum[src], o.comp[src])
	}
	return nil
}

// Append implements States.
func (s *sumFloatStates) Append(dst []byte, group uint32) []byte {
	dst = binary.AppendUvarint(append(dst, codecV1), uint64(s.n[group]))
	dst = appendFloat(dst, s.sum[group])
	return appendFloat(dst, s.comp[group])
}

// Merge implements States.
func (s *sumFloatStates) Merge(group uint32, state []byte) error {
	r := newReader("sum", state)
	n, sum, comp := r.count(), r.float(), r.float()
	if err := r.done(); err != nil {
		return err
	}
	if n > 0 {
		s.add(group, n, sum, comp)
	}
	return nil
}

// MemoryBytes implements States.
func (s *sumFloatStates) MemoryBytes() int64 { return int64(cap(s.n)+cap(s.sum)+cap(s.comp)) * 8 }
