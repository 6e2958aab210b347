package agg

import (
	"math"
	"testing"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// TestFloatSumOverflow: a sum of finite values that overflows is an error however
// it is merged; infinities among the values are not.
func TestFloatSumOverflow(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		values []float64
		want   float64 // 0: overflow
	}{
		{[]float64{1e308, 1e308}, 0},
		{[]float64{-1e308, -1e308, 1}, 0},
		{[]float64{inf, 1, 1e308, 1e308}, inf},
		{[]float64{1e308, 1e308, 1, inf}, inf},
		{[]float64{1e308, 1e308, -inf}, -inf},
		{[]float64{inf, 1, -inf}, math.NaN()},
		{[]float64{1e308, math.NaN(), 1e308}, math.NaN()},
		{[]float64{1e308, -1e308, 1e308}, 1e308},
	} {
		for cut := range len(c.values) + 1 {
			s, o := &sumFloatStates{}, &sumFloatStates{}
			for i, st := range []*sumFloatStates{s, o} {
				st.Grow(1)
				part := c.values[:cut]
				if i == 1 {
					part = c.values[cut:]
				}
				in := types.NewVector(types.Of(types.Float8), len(part))
				groups, rows := make([]uint32, len(part)), make([]int32, len(part))
				for r, x := range part {
					in.AppendFloat(x)
					rows[r] = int32(r)
				}
				if err := st.Update(groups, rows, []*types.Vector{in}); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Merge(0, o.Append(nil, 0)); err != nil {
				t.Fatal(err)
			}
			got := s.value(0)
			err := s.inRange(0, got)
			switch {
			case c.want == 0:
				if sqlerr.CodeOf(err) != sqlerr.NumericValueOutOfRange {
					t.Errorf("%v cut at %d: %v, %v", c.values, cut, got, err)
				}
			case err != nil || got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)):
				t.Errorf("%v cut at %d: %v, %v; want %v", c.values, cut, got, err, c.want)
			}
		}
	}
}
