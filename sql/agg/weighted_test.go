package agg_test

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// TestModelsAreWhatIsBound: an aggregate says that it takes deletes exactly where it has
// a form that subtracts.
func TestModelsAreWhatIsBound(t *testing.T) {
	r := registry()
	for _, name := range r.Names() {
		if f := r.Lookup(name); f.Takes(agg.StrictTurnstile) != (f.Weighted != nil || f.Weight > 0) {
			t.Errorf("%s: model %s", name, f.StreamModel)
		}
	}
}

// TestWhatIsTakenAwayLeavesNoTrace: rows that come again with the opposite weights leave
// the value of no rows, and those of integers and numerics the state too.
func TestWhatIsTakenAwayLeavesNoTrace(t *testing.T) {
	for _, c := range calls {
		if !c.weighted {
			continue
		}
		rapid.Check(t, func(t *rapid.T) {
			b := c.bind(t)
			n := rapid.IntRange(0, 20).Draw(t, "n")
			cols := c.columns(t, b, 2*n)
			weights := cols[len(cols)-1]
			for i := range cols[:len(cols)-1] {
				v := types.NewVector(cols[i].Type, 2*n)
				for range 2 {
					for row := range n {
						v.AppendDatum(cols[i].Datum(row))
					}
				}
				cols[i] = v
			}
			for row := range n {
				weights.Ints[n+row] = -weights.Ints[row]
			}
			none, all := fold(t, b, cols, 0, 0), fold(t, b, cols, 0, 2*n)
			if got, want := value(t, b, all), value(t, b, none); !same(got, want, c.float) {
				t.Fatalf("%s: %+v is left, want %+v", c.name, got, want)
			}
			hasScale := b.ArgTypes[0].OID == types.Numeric // which stays
			if !c.float && !hasScale && !bytes.Equal(all.Append(nil, 0), none.Append(nil, 0)) {
				t.Fatalf("%s: the state is not that of no rows", c.name)
			}
		})
	}
}

// TestWeightsOutOfRangeAreRefused: neither weights nor sums wrap around, in updates and
// in merges, and what cannot be taken away is not taken in.
func TestWeightsOutOfRangeAreRefused(t *testing.T) {
	ints := func(x ...int64) *types.Vector {
		v := types.NewVector(types.Of(types.Int8), len(x))
		v.Ints = append(v.Ints, x...)
		return v
	}
	floats := types.NewVector(types.Of(types.Float8), 2)
	floats.Floats = append(floats.Floats, 1, math.Inf(1))
	const most = math.MaxInt64
	for what, in := range map[string][]*types.Vector{
		"count": {ints(most, 1)},
		"sum":   {ints(most, -most, most), ints(most, -most, most)}, // two such products fit
		"avg":   {floats, ints(1, -1)},
	} {
		c := call{name: what, weighted: true}
		for _, v := range in[:len(in)-1] {
			c.args = append(c.args, v.Type.OID)
		}
		b := c.bind(t)
		s := b.State.New(agg.Config{})
		s.Grow(2)
		refused := func(how string, err error) {
			if sqlerr.CodeOf(err) != sqlerr.NumericValueOutOfRange {
				t.Errorf("%s, %s: got %v", what, how, err)
			}
		}
		for i := range in[0].Len() - 1 {
			if err := s.Update([]uint32{0}, []int32{int32(i)}, in); err != nil {
				t.Fatal(err)
			}
		}
		before := s.Append(nil, 0)
		refused("folded", s.Update([]uint32{0}, []int32{int32(in[0].Len() - 1)}, in))
		if what != "avg" {
			if err := s.Merge(1, before); err != nil {
				t.Fatal(err)
			}
			refused("merged", s.MergeFrom(1, s, 0))
			refused("read", s.Merge(1, before))
		}
		if !bytes.Equal(before, s.Append(nil, 0)) {
			t.Errorf("%s: what was refused changed the state", what)
		}
	}
}
