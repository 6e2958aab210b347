package agg

import (
	"encoding/binary"
	"math"

	"github.com/tallydb/tallydb/sql/types"
)

// sumFloatSpec is the state that sum and avg of float4 and float8 share.
func sumFloatSpec() StateSpec {
	return spec{identity: "sum(float) v1", bytes: 24, make: func(Config) States { return &sumFloatStates{} }}
}

func sumFloatFinal(t types.OID) Finaliser {
	return exactly("sum", types.Of(t), func(states States, n int, out *types.Vector) error {
		s := states.(*sumFloatStates)
		for g := range n {
			if s.n[g] == 0 {
				out.AppendNull()
				continue
			}
			x := s.value(g)
			if t == types.Float4 {
				x = float64(float32(x))
			}
			out.AppendFloat(x)
		}
		return nil
	})
}

var avgFloatFinal = exactly("avg", types.Of(types.Float8), func(states States, n int, out *types.Vector) error {
	s := states.(*sumFloatStates)
	for g := range n {
		if s.n[g] == 0 {
			out.AppendNull()
			continue
		}
		out.AppendFloat(s.value(g) / float64(s.n[g]))
	}
	return nil
})

// sumFloatStates: count, sum and its compensation (Neumaier: Rundungsfehler-
// analyse einiger Verfahren zur Summation endlicher Summen, 1974), so that sums
// over different merge trees agree to rounding. Portable form: version, count,
// sum, compensation.
type sumFloatStates struct {
	n         []int64
	sum, comp []float64
}

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
		if math.Abs(a) >= math.Abs(x) {
			comp[g] += (a - t) + x
		} else {
			comp[g] += (x - t) + a
		}
		sum[g] = t
		n[g]++
	}
	return nil
}

func (s *sumFloatStates) add(g uint32, n int64, sum, comp float64) {
	a := s.sum[g]
	t := a + sum
	if math.Abs(a) >= math.Abs(sum) {
		s.comp[g] += (a - t) + sum
	} else {
		s.comp[g] += (sum - t) + a
	}
	s.sum[g] = t
	s.comp[g] += comp
	s.n[g] += n
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
