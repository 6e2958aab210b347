package sketchfn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// forQuantiles calls check with a quantile of each of several distributions,
// merged in random trees and not, and its limits.
func forQuantiles(t *testing.T, prefix string, parameter, confidence float64, seeds int, check func(shape string, sorted []float64, q, x float64, bounds *agg.Bounds)) {
	t.Helper()
	const n = 10_000
	for name, shape := range valueShapes {
		for trial := range trials(seeds) {
			r := rand.New(rand.NewPCG(uint64(trial), 3))
			values := make([]float64, n)
			for i := range values {
				values[i] = shape(r, i, n)
				if trial%3 == 1 {
					values[i] -= shape(r, i, n) / 2 // of both signs
				}
			}
			sorted := slices.Clone(values)
			slices.Sort(sorted)
			config := agg.Config{Seed: keyhash.Seed{K0: uint64(trial), K1: 7}}
			b := mustBind(t, prefix+"_quantile", types.Float8, 0.5, parameter)
			whole := b.State.New(config)
			whole.Grow(1)
			update(t, whole, 0, floats(values))
			for _, s := range []agg.States{whole, mergedTree(t, b, config, r, values)} {
				for _, q := range quantiles {
					b := mustBind(t, prefix+"_quantile", types.Float8, q, parameter)
					out, bounds := types.NewVector(types.Of(types.Float8), 1), newBounds(b)
					must(t, b.Final.Finalise(s, 1, confidence, out, bounds))
					check(name, sorted, q, out.Floats[0], bounds)
				}
			}
		}
	}
}

func truth(sorted []float64, q float64) float64 {
	return sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]
}

func TestDDBoundsAlwaysHold(t *testing.T) {
	for _, alpha := range []float64{0.005, 0.05} {
		forQuantiles(t, "dd", alpha, 0.95, 6, func(shape string, sorted []float64, q, x float64, bounds *agg.Bounds) {
			want := truth(sorted, q)
			if math.Abs(x-want) > alpha*math.Abs(want)*(1+1e-9) || !(bounds.Lo.Floats[0] <= want && want <= bounds.Hi.Floats[0]) {
				t.Errorf("%s: quantile %v is %v, said %v", shape, q, want, x)
			}
		})
	}
}

// Beyond maxBins what is nearest to zero has no limits, and the rest keeps its own.
func TestDDBinsThatAreCountedTogether(t *testing.T) {
	values := make([]float64, 4000)
	for i := range values {
		values[i] = math.Exp(float64(i-2000) / 10)
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	s := mergedTree(t, mustBind(t, "dd_quantile", types.Float8, 0.5), config, rand.New(rand.NewPCG(2, 2)), values)
	slices.Sort(values)
	for _, q := range []float64{0.01, 0.95, 1} {
		b := mustBind(t, "dd_quantile", types.Float8, q)
		out, bounds := types.NewVector(types.Of(types.Float8), 1), newBounds(b)
		must(t, b.Final.Finalise(s, 1, 0.95, out, bounds))
		if q < 0.5 {
			if !bounds.Lo.IsNull(0) || !bounds.Error.IsNull(0) {
				t.Errorf("quantile %v has the limits %v", q, bounds.Lo.Floats)
			}
			continue
		}
		if want := truth(values, q); math.Abs(out.Floats[0]-want) > 0.0101*want {
			t.Errorf("quantile %v is %v, want %v", q, out.Floats[0], want)
		}
	}
}

func TestGKBoundsAlwaysHold(t *testing.T) {
	for _, epsilon := range []float64{0.002, 0.05} {
		forQuantiles(t, "gk", epsilon, 0.95, 4, func(shape string, sorted []float64, q, x float64, bounds *agg.Bounds) {
			want := truth(sorted, q)
			if e := rankError(sorted, q, x); e > epsilon+1/float64(len(sorted)) || !(bounds.Lo.Floats[0] <= want && want <= bounds.Hi.Floats[0]) {
				t.Errorf("%s: quantile %v is %v, said %v within %v and %v, off by %v", shape, q, want, x, bounds.Lo.Floats[0], bounds.Hi.Floats[0], e)
			}
		})
	}
}

// A summary stays small after merges, which the theory does not promise.
func TestGKStaysSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	values := make([]float64, 200_000)
	for i := range values {
		values[i] = r.NormFloat64()
	}
	b := mustBind(t, "gk_agg", types.Float8, 0.01)
	if n := len(mergedTree(t, b, config, r, values).Append(nil, 0)); n > 12_000 {
		t.Errorf("%d bytes", n)
	}
}

func TestREQBoundsHold(t *testing.T) {
	for _, k := range []float64{8, 32} {
		hits, all, tail, tails := map[string]int{}, map[string]int{}, 0.0, 0
		forQuantiles(t, "req", k, 0.9, 12, func(shape string, sorted []float64, q, x float64, bounds *agg.Bounds) {
			want := truth(sorted, q)
			all[shape]++
			if bounds.Lo.Floats[0] <= want && want <= bounds.Hi.Floats[0] {
				hits[shape]++
			}
			if q == 0.99 || q == 0.999 {
				tail += square(rankError(sorted, q, x) / (1 - q))
				tails++
			}
		})
		for shape := range all {
			checkCoverage(t, "req "+shape, hits[shape], all[shape], 0.9)
		}
		// The error of the tail is relative to the tail.
		declared := math.Sqrt(0.0512/3) / k
		if rms := math.Sqrt(tail / float64(tails)); rms > 1.3*declared {
			t.Errorf("k=%v: rms relative error of the tail %.4f, declared %.4f", k, rms, declared)
		}
	}
}

// The heuristic has no limits, and is near the truth on kind data.
func TestTDigestIsAHeuristic(t *testing.T) {
	forQuantiles(t, "tdigest", 100, 0.95, 2, func(shape string, sorted []float64, q, x float64, bounds *agg.Bounds) {
		if !bounds.Lo.IsNull(0) || !bounds.Hi.IsNull(0) || !bounds.Error.IsNull(0) {
			t.Errorf("%s: limits without a reason", shape)
		}
		if e := rankError(sorted, q, x); e > 0.02 && shape != "few" {
			t.Errorf("%s: quantile %v is off by %v ranks", shape, q, e)
		}
	})
	if mustBind(t, "tdigest_quantile", types.Float8, 0.5).Final.Kind() != agg.Heuristic {
		t.Error("the t-digest is not marked")
	}
}

// All families agree with exact ranks of what they keep in full.
func TestRanksOfFewValues(t *testing.T) {
	for _, name := range []string{"kll_agg", "dd_agg", "gk_agg", "req_agg", "tdigest_agg"} {
		s := sketchOf(t, config.Seed, name, floats([]float64{5, 1, 3, -2}))
		for x, want := range map[float64]float64{-3: 0, 1: 0.5, 4: 0.75, 5: 1, 100: 1} {
			got, lo, hi := boundsOf(t, "sketch_rank", config.Seed, "0.95", s, types.FloatDatum(x))
			if name != "tdigest_agg" && (lo > want || want > hi) || math.Abs(got-want) > 0.26 {
				t.Errorf("%s: rank of %v is %v (%v to %v), want %v", name, x, got, lo, hi, want)
			}
		}
		if got := mustScalar(t, "sketch_quantile", s, types.FloatDatum(1)).Float; math.Abs(got-5) > 0.06 {
			t.Errorf("%s: the largest is %v", name, got)
		}
	}
	for _, name := range []string{"hll_agg", "theta_agg"} {
		if _, err := scalar("sketch_quantile", sketchOf(t, config.Seed, name, ints(5, 0)), types.FloatDatum(0.5)); err == nil {
			t.Errorf("%s has quantiles", name)
		}
	}
}
