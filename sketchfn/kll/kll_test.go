package kll

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

var config = agg.Config{Seed: keyhash.Seed{K0: 11, K1: 22}}

func one(k int, typ types.OID, groups int) *States {
	s := spec{typ: types.Of(typ), k: k}.New(config).(*States)
	s.Grow(groups)
	return s
}

// check fails if a group's state breaks an invariant.
func check(t *testing.T, s *States, g uint32, n uint64) {
	t.Helper()
	block, m := s.read(g)
	if m.weight() != n {
		t.Fatalf("the weight is %d of %d", m.weight(), n)
	}
	if m.levels < 2 {
		return
	}
	if m.retained() > s.total[m.levels] || int(m.bounds[m.levels]) != len(block) {
		t.Fatalf("%d values retained on %d levels, in a block of %d", m.retained(), m.levels, len(block))
	}
	for h := range int(m.levels) {
		level := m.level(block, h)
		if h > 0 && !slices.IsSorted(level) {
			t.Fatalf("level %d is not sorted", h)
		}
		for _, key := range level {
			if key < m.min || key > m.max {
				t.Fatalf("level %d has a value beyond the extremes", h)
			}
		}
	}
}

func TestKeysOrderAsValues(t *testing.T) {
	sorted := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 1, math.MaxFloat64, math.Inf(1), math.NaN()}
	for i, f := range sorted {
		if key := floatKey(f); i > 0 && key <= floatKey(sorted[i-1]) || !isFloatKey(key) || types.CompareFloat(keyFloat(key), f) != 0 {
			t.Errorf("%v", f)
		}
	}
	if floatKey(math.Copysign(0, -1)) != floatKey(0) || isFloatKey(^floatKey(0)) || isFloatKey(^uint64(1)) {
		t.Error("zeros or NaNs have several keys")
	}
	for _, x := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		if keyInt(intKey(x)) != x || x < math.MaxInt64 && intKey(x) >= intKey(x+1) {
			t.Errorf("%d", x)
		}
	}
}

func TestInvariantsUnderRandomOperations(t *testing.T) {
	for _, k := range []int{8, 9, 64, 200, 500} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(k), 1))
			const groups = 6
			s := one(k, types.Int8, groups)
			var n [groups]uint64
			for range 400 {
				g, src := uint32(r.IntN(groups)), uint32(r.IntN(groups))
				switch r.IntN(4) {
				case 0:
					if err := s.MergeFrom(g, s, src); err != nil {
						t.Fatal(err)
					}
					n[g] += n[src]
				case 1:
					if err := s.Merge(g, s.Append(nil, src)); err != nil {
						t.Fatal(err)
					}
					n[g] += n[src]
				default:
					for range r.IntN(300) {
						s.add(g, intKey(r.Int64N(1000)))
						n[g]++
					}
				}
				check(t, s, g, n[g])
				if n[g] > 1<<40 {
					s, n = one(k, types.Int8, groups), [groups]uint64{}
				}
			}
		})
	}
}

func TestDoublingReachesTheLimitInOrder(t *testing.T) {
	s := one(8, types.Float8, 1)
	for i := range 1000 {
		s.add(0, floatKey(float64(i)))
	}
	n := uint64(1000)
	for {
		err := s.MergeFrom(0, s, 0)
		if err != nil {
			var e *sqlerr.Error
			if !errors.As(err, &e) || e.Code != sqlerr.ProgramLimitExceeded || n < maxWeight/2 {
				t.Fatalf("%d values: %v", n, err)
			}
			break
		}
		n *= 2
		check(t, s, 0, n)
	}
	if e := s.quantile(0, 0.5, 0.99); keyFloat(e.value) < 100 || keyFloat(e.value) > 900 {
		t.Errorf("the median of %d values is %v", n, keyFloat(e.value))
	}
}

func TestCoinsAreFair(t *testing.T) {
	s := newShape(200, "identity", config.Seed)
	heads := 0
	const n = 20_000
	for i := range uint64(n) {
		heads += s.coin(int(i%7), i, i*i, i<<20)
	}
	if math.Abs(float64(heads)-n/2) > 4*math.Sqrt(n)/2 {
		t.Errorf("%d heads of %d", heads, n)
	}
	if other := newShape(200, "identity", keyhash.Seed{K0: 1}); other.coinSeed == s.coinSeed {
		t.Error("seeds toss the same coins")
	}
}

func TestExtremesAreExact(t *testing.T) {
	s := one(8, types.Float8, 1)
	for i := range 100_000 {
		s.add(0, floatKey(float64(i*7919%100_000)))
	}
	s.add(0, floatKey(math.NaN()))
	if e := s.quantile(0, 0, 0.95); keyFloat(e.value) != 0 {
		t.Errorf("the smallest is %v", keyFloat(e.value))
	}
	if e := s.quantile(0, 1, 0.95); !math.IsNaN(keyFloat(e.value)) {
		t.Errorf("the largest is %v", keyFloat(e.value))
	}
}

func TestTimesAndIntegersKeepTheirDigits(t *testing.T) {
	for _, c := range []struct{ in, out types.OID }{{types.Timestamptz, types.Timestamptz}, {types.Date, types.Date}, {types.Int4, types.Float8}, {types.Numeric, types.Float8}} {
		q := types.FloatDatum(0.5)
		r := agg.NewRegistry()
		Register(r, &value.Families{})
		b, err := r.Lookup("approx_quantile").Bind([]types.Type{types.Of(c.in), q.Type}, []*types.Datum{nil, &q})
		if err != nil || b.Final.Type() != types.Of(c.out) || b.Final.String() != "quantile 0.5" {
			t.Errorf("%d: %v, %v", c.in, b.Final, err)
		}
	}
	s := one(200, types.Timestamptz, 1)
	const micros = 9_007_199_254_740_993 // no float64
	v := types.NewVector(types.Of(types.Timestamptz), 1)
	v.AppendInt(micros)
	if err := s.Update([]uint32{0}, []int32{0}, []*types.Vector{v}); err != nil {
		t.Fatal(err)
	}
	out := types.NewVector(v.Type, 1)
	if err := (final{q: 0.5, in: v.Type, out: v.Type}).Finalise(s, 1, 0.95, out, nil); err != nil || out.Ints[0] != micros {
		t.Errorf("%d, %v", out.Ints[0], err)
	}
}

func TestRankErrorFollowsConfidence(t *testing.T) {
	if e := RankError(200, 0.99); math.Abs(e-0.0133) > 0.0001 {
		t.Errorf("%v", e)
	}
	if !(RankError(200, 0.8) < RankError(200, 0.95) && RankError(200, 0.95) < RankError(100, 0.95)) || RankError(8, 1) > 1 {
		t.Error("the error does not follow k and confidence")
	}
}
