package decay

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

const hour = 3600 * 1e6

// bound binds decayed_sum with a half-life of an hour.
func bound(t *testing.T) agg.Bound {
	t.Helper()
	r := agg.NewRegistry()
	Register(r)
	half := types.Span{Micros: int64(hour)}.Datum()
	b, err := r.Lookup("decayed_sum").Bind([]types.Type{types.Of(types.Float8), types.Of(types.Timestamptz), half.Type}, []*types.Datum{nil, nil, &half})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rows are random times within a day, and values.
func rows(r *rand.Rand, n int) []*types.Vector {
	at, x := types.NewVector(types.Of(types.Timestamptz), n), types.NewVector(types.Of(types.Float8), n)
	for range n {
		at.AppendInt(r.Int64N(24 * int64(hour)))
		x.AppendFloat(r.Float64() * 100)
	}
	return []*types.Vector{at, x}
}

func update(t *testing.T, s agg.States, g uint32, in []*types.Vector) {
	t.Helper()
	groups, numbers := make([]uint32, in[0].Len()), make([]int32, in[0].Len())
	for i := range numbers {
		groups[i], numbers[i] = g, int32(i)
	}
	if err := s.Update(groups, numbers, in); err != nil {
		t.Fatal(err)
	}
}

func TestSumIsThatOfTheLatestTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		b := bound(t)
		in := rows(r, 1+r.IntN(500))
		latest := int64(0)
		for _, at := range in[0].Ints {
			latest = max(latest, at)
		}
		want := 0.0
		for i, at := range in[0].Ints {
			want += in[1].Floats[i] * math.Exp2(float64(at-latest)/hour)
		}
		s := b.State.New(agg.Config{})
		s.Grow(4)
		update(t, s, 0, in)
		// The same rows in parts, merged one way and the other.
		for i := range in[0].Ints {
			if err := s.Update([]uint32{uint32(1 + i%2)}, []int32{int32(i)}, in); err != nil {
				t.Fatal(err)
			}
		}
		for _, g := range []uint32{1, 2} {
			if err := s.Merge(3, s.Append(nil, g)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.MergeFrom(2, s, 1); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(s.Append(nil, 2), s.Append(nil, 3)) {
			t.Fatal("the order of a merge shows")
		}
		out := types.NewVector(types.Of(types.Float8), 4)
		if err := b.Final.Finalise(s, 4, 0.95, out, nil); err != nil {
			t.Fatal(err)
		}
		for _, g := range []int{0, 3} {
			if math.Abs(out.Floats[g]-want) > 1e-9*want {
				t.Fatalf("group %d: %v, want %v", g, out.Floats[g], want)
			}
		}
	}
}

func TestStatesAreCanonical(t *testing.T) {
	s := bound(t).State.New(agg.Config{})
	s.Grow(2)
	update(t, s, 0, rows(rand.New(rand.NewPCG(2, 2)), 10))
	state := s.Append(nil, 0)
	if err := s.Merge(1, state); err != nil || !bytes.Equal(s.Append(nil, 1), state) {
		t.Errorf("%v", err)
	}
	for n := range state {
		if s.Merge(1, state[:n]) == nil {
			t.Errorf("%d of %d bytes were taken for a state", n, len(state))
		}
	}
}
