package hll

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

var seed = keyhash.Seed{K0: 11, K1: 22}

func one(p uint) *States {
	s := newStates(p, seed)
	s.Grow(1)
	return s
}

func TestLowCardinalitiesAreExact(t *testing.T) {
	s := one(12)
	r := rand.New(rand.NewPCG(1, 1))
	for n := 1; n <= maxCoupons(12); n++ {
		s.addHash(0, r.Uint64())
		e := s.estimate(0, 0.95)
		if math.Round(e.Value) != float64(n) || e.Lo > float64(n) || e.Hi < float64(n) || e.Error == 0 {
			t.Fatalf("%d values: %+v", n, e)
		}
	}
}

// A 32-bit hash has no more to say beyond some 10^9 values; ranks and estimates
// of 64 bits go on. The registers of n values are drawn from their distribution.
func TestNoSaturationOf32Bits(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, n := range []float64{1e7, 4e9, 1e11, 1e13, 1e15} {
		s := one(14)
		s.densify(&s.slots[0])
		registers := s.dense.Block(0, s.slots[0].ref)
		m := float64(len(registers))
		for i := range registers {
			// P(register ≤ k) = (1 - 2^-k)^(n/m)
			registers[i] = uint8(min(math.Ceil(-math.Log2(-math.Expm1(math.Log(r.Float64())*m/n))), 64-14+1))
		}
		e := s.estimate(0, 0.999)
		if e.Lo > n || e.Hi < n {
			t.Errorf("%g values: %+v", n, e)
		}
	}
}

func TestTenMillionHashes(t *testing.T) {
	s := one(12)
	r := rand.New(rand.NewPCG(3, 3))
	const n = 10_000_000
	for range n {
		s.addHash(0, r.Uint64())
	}
	if e := s.estimate(0, 0.999); e.Lo > n || e.Hi < n {
		t.Errorf("%+v", e)
	}
}

func TestRanksOfExtremeHashes(t *testing.T) {
	for _, p := range []uint{MinPrecision, 12, MaxPrecision} {
		for _, h := range []uint64{0, 1, math.MaxUint64, 1 << 37, 1 << 38, 1<<38 - 1, 1 << 63} {
			i, rank := registerOf(h, p)
			j, same := registerOfCoupon(couponOf(h), p)
			if i != j || rank != same || rank < 1 || int(rank) > 64-int(p)+1 {
				t.Errorf("p=%d hash %x: register %d rank %d, by the coupon %d, %d", p, h, i, rank, j, same)
			}
		}
	}
}

func TestCouponsDetermineRegisters(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 100_000 {
		h := r.Uint64() >> r.IntN(64) << r.IntN(40)
		p := uint(MinPrecision + r.IntN(MaxPrecision-MinPrecision+1))
		i, rank := registerOf(h, p)
		if j, same := registerOfCoupon(couponOf(h), p); i != j || rank != same {
			t.Fatalf("p=%d hash %x", p, h)
		}
	}
}

func TestEqualValuesCountOnce(t *testing.T) {
	for _, c := range []struct {
		typ   types.OID
		texts []string
		want  int64
	}{
		{types.Float8, []string{"0", "-0", "NaN", "NaN", "1", "1.0"}, 3},
		{types.Numeric, []string{"1", "1.0", "1.00", "100", "1e2", "NaN", "0", "-0.0"}, 4},
		{types.Interval, []string{"1 month", "30 days", "24 hours", "1 day"}, 2},
		{types.Bpchar, []string{"a", "a ", "b"}, 2},
		{types.JSONB, []string{`{"a": 1}`, `{"a":1.0}`, `{"a":2}`}, 2},
		{types.Bool, []string{"t", "true", "f"}, 2},
		{types.Text, []string{"", "a", "A", "a "}, 4},
		{types.UUID, []string{"00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"}, 2},
		{types.TextArray, []string{"{a,b}", "{a, b}", "{ab}", "{}"}, 3},
	} {
		typ := types.Of(c.typ)
		b, err := bind("approx_distinct", []types.Type{typ}, nil, func(spec) agg.Finaliser { return countFinal{} })
		if err != nil {
			t.Fatal(err)
		}
		v := types.NewVector(b.ArgTypes[0], 8)
		for _, text := range c.texts {
			d, err := types.Parse(typ, []byte(text), nil)
			if err != nil {
				t.Fatal(err)
			}
			v.AppendDatum(d)
		}
		v.AppendNull()
		s := b.State.New(agg.Config{Seed: seed})
		s.Grow(1)
		rows := make([]int32, v.Len())
		for i := range rows {
			rows[i] = int32(i)
		}
		if err := s.Update(make([]uint32, len(rows)), rows, []*types.Vector{v}); err != nil {
			t.Fatal(err)
		}
		out := types.NewVector(types.Of(types.Int8), 1)
		if err := b.Final.Finalise(s, 1, 0.95, out, nil); err != nil {
			t.Fatal(err)
		}
		if out.Ints[0] != c.want {
			t.Errorf("%s %q: %d, want %d", typ, c.texts, out.Ints[0], c.want)
		}
	}
}

func TestPrecisionsDoNotMix(t *testing.T) {
	a, b := one(12), one(11)
	b.addHash(0, 5)
	if err := a.Merge(0, b.Append(nil, 0)); err == nil {
		t.Error("a state of p=11 was merged into one of p=12")
	}
}

func TestErrorGivesPrecision(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want uint
	}{{0.3, 5}, {0.305, 5}, {0.30575, 4}, {0.02, 12}, {0.01625, 12}, {0.0162, 13}, {0.0021, 18}, {7, 7}} {
		d := types.FloatDatum(c.x)
		p, err := precisionOf("f", []types.Type{d.Type, d.Type}, []*types.Datum{nil, &d})
		if err != nil || p != c.want || c.x < 1 && RelativeError(p) > c.x {
			t.Errorf("%v: p=%d, %v", c.x, p, err)
		}
	}
}

func TestSwar(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	a, b, want := make([]uint8, 64), make([]uint8, 64), make([]uint8, 64)
	for range 1000 {
		for i := range a {
			a[i], b[i] = uint8(r.IntN(128)), uint8(r.IntN(128))
			want[i] = max(a[i], b[i])
		}
		maxBytes(a, b)
		if !bytes.Equal(a, want) {
			t.Fatal("maxBytes")
		}
		escapes := 0
		nibbles := make([]byte, 32)
		for i := range nibbles {
			nibbles[i] = byte(r.IntN(256))
			want[2*i], want[2*i+1] = nibbles[i]&15+7, nibbles[i]>>4+7
			for _, x := range want[2*i : 2*i+2] {
				if x == 22 {
					escapes++
				}
			}
		}
		if got := spread(a, nibbles, 7); got != escapes || !bytes.Equal(a, want) {
			t.Fatal("spread")
		}
	}
}

func TestUnionOfSketchValues(t *testing.T) {
	r := agg.NewRegistry()
	Register(r, &value.Families{})
	typ := types.Of(types.Int8)
	bound, err := r.Lookup("hll_agg").Bind([]types.Type{typ}, []*types.Datum{nil})
	if err != nil {
		t.Fatal(err)
	}
	s := bound.State.New(agg.Config{Seed: seed})
	s.Grow(3)
	v, groups, rows := types.NewVector(typ, 3000), []uint32(nil), []int32(nil)
	for i := range 3000 {
		v.AppendInt(int64(i))
		groups, rows = append(groups, uint32(i%3)), append(rows, int32(i))
	}
	if err := s.Update(groups, rows, []*types.Vector{v}); err != nil {
		t.Fatal(err)
	}
	sketches := types.NewVector(types.Of(types.Sketch), 3)
	if err := bound.Final.Finalise(s, 3, 0.95, sketches, nil); err != nil {
		t.Fatal(err)
	}
	sketches.AppendNull()
	union, err := r.Lookup("hll_union").Bind([]types.Type{sketches.Type}, []*types.Datum{nil})
	if err != nil {
		t.Fatal(err)
	}
	us := union.State.New(agg.Config{Seed: seed})
	us.Grow(2)
	if err := us.Update([]uint32{0, 0, 0, 0, 0}, []int32{0, 1, 2, 3, 0}, []*types.Vector{sketches}); err != nil {
		t.Fatal(err)
	}
	if err := us.MergeFrom(1, us, 0); err != nil {
		t.Fatal(err)
	}
	if err := us.Merge(1, us.Append(nil, 0)); err != nil {
		t.Fatal(err)
	}
	out := types.NewVector(types.Of(types.Sketch), 2)
	if err := union.Final.Finalise(us, 2, 0.95, out, nil); err != nil {
		t.Fatal(err)
	}
	e, err := EstimateValue(out.Bytes(1), 0.99)
	if err != nil || e.Lo > 3000 || e.Hi < 3000 || !bytes.Equal(out.Bytes(0), out.Bytes(1)) {
		t.Errorf("%+v, %v", e, err)
	}
	alien := bound.State.New(agg.Config{Seed: keyhash.Seed{K0: 9}})
	alien.Grow(1)
	if err := bound.Final.Finalise(alien, 1, 0.95, sketches, nil); err != nil {
		t.Fatal(err)
	}
	err = us.Update([]uint32{0}, []int32{4}, []*types.Vector{sketches})
	if sqlerr.CodeOf(err) != sqlerr.IncompatibleState {
		t.Errorf("a sketch of another seed: %v", err)
	}
}
