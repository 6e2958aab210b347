package sketchfn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tallydb/tallydb/sketchfn/hll"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Who sends data knows the algorithms and may choose the values. Here the attacker
// has a twin with a seed that is known (an unkeyed sketch is one), and searches for
// values that break it. Ours has a seed that is not known.
var (
	knownSeed  = keyhash.Seed{K0: 0, K1: 0}
	secretSeed = keyhash.Seed{K0: 0x1f83d9abfb41bd6b, K1: 0x5be0cd19137e2179}
)

func distinctWith(t *testing.T, seed keyhash.Seed, v *types.Vector, p float64) (x, lo, hi float64) {
	t.Helper()
	sketch := sketchOf(t, seed, "hll_agg", v, p)
	e, err := hll.EstimateValue(sketch.Bytes, 0.9999)
	must(t, err)
	return e.Value, e.Lo, e.Hi
}

// Values that all fall in few registers hide from HyperLogLog: a flood of distinct
// visitors looks like a handful.
func TestHiddenVisitorsAreCounted(t *testing.T) {
	const p, want = 10, 3000
	attack := ints(0, 0)
	for x := int64(0); attack.Len() < want; x++ {
		// A place among the first 1/64 of the registers, by the hash that is known.
		if h := keyhash.Finalise(keyhash.Sum64Int(knownSeed, uint64(x)), keyhash.UseDistinct); h>>58 == 0 {
			attack.AppendInt(x)
		}
	}
	if x, _, _ := distinctWith(t, knownSeed, attack, p); x > want/2 {
		t.Errorf("the attack does not work on the twin: %v of %d", x, want)
	}
	if x, lo, hi := distinctWith(t, secretSeed, attack, p); lo > want || hi < want {
		t.Errorf("%d values are counted as %v (%v to %v)", want, x, lo, hi)
	}
}

// A few values with very large ranks in all registers look like millions.
func TestInflatedVisitorsAreNotCounted(t *testing.T) {
	const p, perRegister, want = 6, 14, 64
	chosen := map[uint64]int64{}
	for x := int64(0); len(chosen) < want; x++ {
		h := keyhash.Finalise(keyhash.Sum64Int(knownSeed, uint64(x)), keyhash.UseDistinct)
		if h<<p>>(64-perRegister) == 0 { // a rank of more than perRegister
			if _, ok := chosen[h>>(64-p)]; !ok {
				chosen[h>>(64-p)] = x
			}
		}
	}
	attack := ints(0, 0)
	for _, x := range chosen {
		attack.AppendInt(x)
	}
	if x, _, _ := distinctWith(t, knownSeed, attack, p); x < 100_000 {
		t.Errorf("the attack does not work on the twin: %v of %d", x, want)
	}
	if x, lo, hi := distinctWith(t, secretSeed, attack, p); lo > want || hi < want {
		t.Errorf("%d values are counted as %v (%v to %v)", want, x, lo, hi)
	}
}

// Values that share the counters of a victim make it look frequent.
func TestVictimsOfCountMinAreNotFramed(t *testing.T) {
	const p, eps, victim, rows = 0.6, 0.05, 1, 20_000 // one row of 55 counters
	v := types.IntDatum(types.Int8, victim)
	count := func(seed keyhash.Seed, in *types.Vector) (x, lo, hi float64) {
		return boundsOf(t, "freq", seed, "0.9999", sketchOf(t, seed, "freq_agg", in, p, eps), v)
	}
	background := ints(1000, 100) // so that counters are in use
	attack := ints(0, 0)
	for x := int64(10_000); attack.Len() < 10; x++ {
		probe := background.Gather(span(0, background.Len()))
		without, _, _ := count(knownSeed, probe)
		for range 50 {
			probe.AppendInt(x)
		}
		if with, _, _ := count(knownSeed, probe); with >= without+50 {
			attack.AppendInt(x)
		}
	}
	framed := background.Gather(span(0, background.Len()))
	for i := range rows {
		framed.AppendInt(attack.Ints[i%attack.Len()])
	}
	if x, _, _ := count(knownSeed, framed); x < rows {
		t.Errorf("the attack does not work on the twin: %v", x)
	}
	// The secret seed spreads them over all counters: no more than the declared error.
	sum := 0.0
	for trial := range 20 {
		seed := keyhash.Seed{K0: secretSeed.K0 + uint64(trial), K1: secretSeed.K1}
		x, lo, _ := count(seed, framed)
		if lo > 0 {
			t.Errorf("%v occurrences of a value that never came are certain", lo)
		}
		sum += x
	}
	if mean := sum / 20; mean > 0.15*rows {
		t.Errorf("the victim is framed with %v of %d", mean, rows)
	}
}

// States of two seeds never meet: not as partials of views, not as values.
func TestSeedsDoNotMix(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range sketchAggregates {
		v := column(t, r, types.Of(c.typ), 100, 50)
		a, b := sketchOf(t, knownSeed, c.name, v, c.params...), sketchOf(t, secretSeed, c.name, v, c.params...)
		_, err := scalar("sketch_merge", a, b)
		hashed := c.name != "kll_agg" && c.name != "frequent_agg" && c.name != "dd_agg" && c.name != "gk_agg" && c.name != "req_agg" && c.name != "tdigest_agg"
		if hashed && sqlerr.CodeOf(err) != sqlerr.IncompatibleState {
			t.Errorf("%s: %v", c.name, err)
		}
		if !hashed && err != nil {
			t.Errorf("%s does not hash, and is refused: %v", c.name, err)
		}
	}
}

// The public scandals of approximate counting, each with a test of its name.

func TestScandal32BitHashesSaturate(t *testing.T) {
	// A 32-bit hash of 2^32 values or more counts no further; see
	// hll.TestNoSaturationOf32Bits for registers. Here: the coupons have more bits.
	v := ints(60_000, 0)
	for i := range v.Ints {
		v.Ints[i] = int64(i) << 33 // whose low 32 bits are equal
	}
	if x, lo, hi := distinctWith(t, secretSeed, v, 12); lo > 60_000 || hi < 60_000 {
		t.Errorf("%v", x)
	}
}

func TestScandalInputTypes(t *testing.T) {
	for name, shape := range distinctShapes {
		v := shape(1, 20_000)
		b := mustBind(t, "approx_distinct", v.Type.OID)
		s := b.State.New(agg.Config{Seed: secretSeed})
		s.Grow(1)
		update(t, s, 0, v)
		out, bounds := types.NewVector(types.Of(types.Int8), 1), newBounds(b)
		must(t, b.Final.Finalise(s, 1, 0.9999, out, bounds))
		if bounds.Lo.Ints[0] > 20_000 || bounds.Hi.Ints[0] < 20_000 {
			t.Errorf("%s: %d", name, out.Ints[0])
		}
	}
}

func TestScandalLowCardinality(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 10, 100} {
		if x, _, _ := distinctWith(t, secretSeed, ints(n, 0), 12); math.Round(x) != float64(n) {
			t.Errorf("%d values are counted as %v", n, x)
		}
	}
}

func TestScandalMergeDependsOnOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, c := range sketchAggregates {
		var parts []types.Datum
		for range 6 {
			parts = append(parts, sketchOf(t, config.Seed, c.name, column(t, r, types.Of(c.typ), 400, 900), c.params...))
		}
		counts := map[string]bool{}
		for range 10 {
			r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			m := parts[0]
			for _, p := range parts[1:] {
				m = mustScalar(t, "sketch_merge", m, p)
			}
			counts[string(m.Bytes)] = true
		}
		algebra := registry().Lookup(c.name).MergeAlgebra
		if exact := algebra == agg.Idempotent || algebra == agg.CommutativeMonoid; exact && len(counts) > 1 {
			t.Errorf("%s claims a %s and gives %d results for orders of a merge", c.name, algebra, len(counts))
		}
	}
}

func TestScandalUnlabelledApproximation(t *testing.T) {
	r := registry()
	for _, c := range contractCases {
		b := c.bind(t)
		kind := b.Final.Kind()
		if b.Final.Approximate() == (kind == agg.Exact) {
			t.Errorf("%s is approximate: %t, and its errors are %s", c.name, b.Final.Approximate(), kind)
		}
		if text := fmt.Sprint(r.Lookup(c.name).Guarantee); text == "" {
			t.Errorf("%s promises nothing", c.name)
		}
	}
}
