package sketchfn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tallydb/tallydb/sketchfn/theta"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// Unions, intersections and differences of sets that overlap by half are within
// their limits as often as promised, and unbiased.
func TestSetOperationBoundsHold(t *testing.T) {
	for name, shape := range distinctShapes {
		hits, all := map[string]int{}, 0
		bias := map[string]float64{}
		for _, n := range []int{20, 300, 4000} {
			a, both := shape(0, n), shape(0, n+n/2)
			for trial := range trials(70) {
				seed := keyhash.Seed{K0: uint64(trial), K1: uint64(n)}
				x := sketchOf(t, seed, "theta_agg", a, 128)
				y := sketchOf(t, seed, "theta_agg", both.Gather(span(n/2, n+n/2)), 128)
				all++
				for op, truth := range map[string]int{"theta_union": n + n/2, "theta_intersect": n - n/2, "theta_diff": n / 2} {
					e, lo, hi := boundsOf(t, "theta_estimate", seed, "0.9", mustScalar(t, op, x, y))
					if lo <= float64(truth) && float64(truth) <= hi {
						hits[op]++
					}
					bias[op] += e/float64(truth) - 1
				}
			}
		}
		for op := range hits {
			checkCoverage(t, name+" "+op, hits[op], all, 0.9)
			if b := bias[op] / float64(all); math.Abs(b) > 4*0.2/math.Sqrt(float64(all)) {
				t.Errorf("%s %s: bias %.4f", name, op, b)
			}
		}
	}
}

func span(from, to int) []int32 {
	out := make([]int32, to-from)
	for i := range out {
		out[i] = int32(from + i)
	}
	return out
}

// Hashes of n values are uniform, so the limits can be checked far beyond what
// is worth hashing.
func TestThetaErrorIsWhatIsDeclared(t *testing.T) {
	for _, k := range []float64{64, 1024} {
		col := ints(20_000, 0)
		b := mustBind(t, "theta_agg", types.Int8, k)
		hits, all, squares := 0, trials(60), 0.0
		for trial := range all {
			s := b.State.New(agg.Config{Seed: keyhash.Seed{K0: uint64(trial), K1: 3}})
			s.Grow(1)
			update(t, s, 0, col)
			out := types.NewVector(types.Of(types.Sketch), 1)
			must(t, b.Final.Finalise(s, 1, 0.95, out, nil))
			x, lo, hi := boundsOf(t, "theta_estimate", keyhash.Seed{}, "0.95", out.Datum(0))
			if lo <= 20_000 && 20_000 <= hi {
				hits++
			}
			squares += square(x/20_000 - 1)
		}
		checkCoverage(t, fmt.Sprintf("theta k=%v", k), hits, all, 0.95)
		rms, declared := math.Sqrt(squares/float64(all)), 1/math.Sqrt(k-1)
		if rms > 1.3*declared || rms < 0.7*declared {
			t.Errorf("k=%v: rms error %.4f, declared %.4f", k, rms, declared)
		}
	}
}

func TestSetAlgebraOfSamples(t *testing.T) {
	a := theta.Sample{Theta: 100, Hashes: []uint64{3, 10, 50, 90}}
	b := theta.Sample{Theta: 60, Hashes: []uint64{10, 40, 50}}
	for name, c := range map[string]struct {
		got  theta.Sample
		want []uint64
	}{
		"union": {theta.Union(a, b, 10), []uint64{3, 10, 40, 50}}, "trimmed union": {theta.Union(a, b, 2), []uint64{3, 10}},
		"intersection": {theta.Intersect(a, b), []uint64{10, 50}}, "difference": {theta.Difference(a, b), []uint64{3}},
	} {
		if fmt.Sprint(c.got.Hashes) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v", name, c.got)
		}
	}
	if theta.Union(a, b, 2).Theta != 40 || theta.Intersect(a, b).Theta != 60 {
		t.Error("theta")
	}
}

// Filters answer yes for what is in them, and for others as often as they say; the
// number of values is within its limits.
func TestBloomFiltersKeepTheirPromises(t *testing.T) {
	for name, shape := range distinctShapes {
		hits, all, yes, asked, said := 0, 0, 0, 0, 0.0
		for _, n := range []int{50, 1000, 2000} {
			for trial := range trials(20) {
				seed := keyhash.Seed{K0: uint64(trial), K1: uint64(n)}
				values := shape(0, n+200)
				sketch := sketchOf(t, seed, "bloom_agg", values.Gather(span(0, n)), 0.05, 1000)
				ec := &expr.Context{Seed: seed}
				contains := func(i int) bool {
					d, err := evalScalar(ec, "bloom_contains", sketch, values.Datum(i))
					must(t, err)
					return d.Int == 1
				}
				for i := range 50 {
					if !contains(i * n / 50) {
						t.Fatalf("%s: a value of the set is not found", name)
					}
				}
				for i := n; i < n+200; i++ {
					if contains(i) {
						yes++
					}
				}
				asked += 200
				info := mustScalar(t, "sketch_info", sketch)
				rate, err := evalScalar(ec, "jsonb_extract_path_text", info, types.TextDatum("false_positives"))
				must(t, err)
				x, err := types.Parse(types.Of(types.Float8), rate.Bytes, nil)
				must(t, err)
				said += 200 * x.Float
				_, lo, hi := boundsOf(t, "bloom_cardinality", seed, "0.95", sketch)
				if all++; lo <= float64(n) && float64(n) <= hi {
					hits++
				}
			}
		}
		checkCoverage(t, "bloom cardinality "+name, hits, all, 0.95)
		if math.Abs(float64(yes)-said) > 5*math.Sqrt(said)+10 {
			t.Errorf("%s: %d of %d strangers are let in, %.0f were announced", name, yes, asked, said)
		}
	}
}

func TestBloomSetOperations(t *testing.T) {
	for _, n := range []int{10, 5000} {
		a := sketchOf(t, config.Seed, "bloom_agg", ints(n, 0), 0.001, 10_000)
		b := sketchOf(t, config.Seed, "bloom_agg", ints(n, n/2), 0.001, 10_000)
		both := mustScalar(t, "bloom_intersection", a, b)
		either := mustScalar(t, "bloom_union", a, b)
		for _, c := range []struct {
			sketch types.Datum
			x      int
			want   bool
		}{{both, n / 2, true}, {both, n - 1, true}, {either, 0, true}, {either, n + n/2 - 1, true}, {both, 0, false}, {both, n + 1, false}, {either, 3 * n, false}} {
			got := mustScalar(t, "bloom_contains", c.sketch, types.IntDatum(types.Int8, int64(c.x))).Int == 1
			if got != c.want {
				t.Errorf("n=%d: %d is in the set: %v", n, c.x, got)
			}
		}
	}
}

// Similarities against the exact ones of all pairs of sets.
func TestJaccardBoundsHold(t *testing.T) {
	for name, shape := range distinctShapes {
		hits, all, bias := 0, 0, 0.0
		for trial := range trials(30) {
			seed := keyhash.Seed{K0: uint64(trial), K1: 8}
			values := shape(0, 500)
			a := sketchOf(t, seed, "minhash_agg", values.Gather(span(0, 200)), 64)
			for _, from := range []int{0, 20, 100, 190, 300} {
				b := sketchOf(t, seed, "minhash_agg", values.Gather(span(from, from+200)), 64)
				common := float64(max(0, 200-from))
				truth := common / (400 - common)
				x, lo, hi := boundsOf(t, "jaccard", seed, "0.9", a, b)
				if all++; lo <= truth && truth <= hi {
					hits++
				}
				bias += x - truth
				if near := mustScalar(t, "lsh_candidates", a, b, types.IntDatum(types.Int4, 4)).Int == 1; from == 0 && !near || from == 300 && near {
					t.Errorf("%s: similarity %.2f, candidates %v", name, truth, near)
				}
			}
		}
		checkCoverage(t, "jaccard "+name, hits, all, 0.9)
		if bias /= float64(all); math.Abs(bias) > 4*0.06/math.Sqrt(float64(all)) {
			t.Errorf("%s: bias %.4f", name, bias)
		}
	}
}
