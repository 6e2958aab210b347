package sketchfn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/apache/datasketches-go/hll"

	ownhll "github.com/tallydb/tallydb/sketchfn/hll"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// trials is the number of seeds of a statistical test; TALLY_STATISTICS=full asks
// for ten times as many.
func trials(n int) int {
	if os.Getenv("TALLY_STATISTICS") == "full" {
		return 10 * n
	}
	return n
}

// checkCoverage fails if hits of n is less than a share of confidence allows,
// three standard deviations of a binomial variable below.
func checkCoverage(t *testing.T, what string, hits, n int, confidence float64) {
	t.Helper()
	got := float64(hits) / float64(n)
	least := confidence - 3*math.Sqrt(confidence*(1-confidence)/float64(n))
	t.Logf("%-40s coverage %.4f of %.2f (%d trials)", what, got, confidence, n)
	if got < least {
		t.Errorf("%s: bounds hold in %.4f of %d trials, want at least %.4f", what, got, n, least)
	}
}

// distinctShapes make n distinct values.
var distinctShapes = map[string]func(trial, n int) *types.Vector{
	"counters": func(trial, n int) *types.Vector { return ints(n, trial*n) },
	"strided": func(trial, n int) *types.Vector {
		v := ints(n, trial*n)
		for i := range v.Ints {
			v.Ints[i] <<= 32
		}
		return v
	},
	"text": func(trial, n int) *types.Vector { return texts(n, trial*n) },
	"uuid": func(trial, n int) *types.Vector {
		v := types.NewVector(types.Of(types.UUID), n)
		for i := range n {
			v.AppendBytes([]byte{15: byte(i), 14: byte(i >> 8), 13: byte(i >> 16), 0: byte(trial)})
		}
		return v
	},
	"floats": func(trial, n int) *types.Vector {
		v := types.NewVector(types.Of(types.Float8), n)
		for i := range n {
			v.AppendFloat(float64(trial*n+i) / 1024)
		}
		return v
	},
}

func TestDistinctBoundsHold(t *testing.T) {
	const least = 3.0 / 16 // of 2^p: fewer values are counted
	for name, shape := range distinctShapes {
		for _, p := range []float64{4, 9, 12} {
			hits, all, worst := map[float64]int{}, 0, 0.0
			for _, n := range []int{3, 100, 900, 1500, 6000, 25000} {
				sum := 0.0
				runs := trials(60)
				if float64(n) <= least*math.Exp2(p) {
					continue
				}
				col := shape(0, n)
				b := mustBind(t, "approx_distinct", col.Type.OID, p)
				for trial := range runs {
					s := b.State.New(agg.Config{Seed: keyhash.Seed{K0: uint64(trial), K1: uint64(n)}})
					s.Grow(1)
					update(t, s, 0, col)
					for _, confidence := range []float64{0.8, 0.95} {
						out, bounds := types.NewVector(types.Of(types.Int8), 1), newBounds(b)
						must(t, b.Final.Finalise(s, 1, confidence, out, bounds))
						if bounds.Lo.Ints[0] <= int64(n) && int64(n) <= bounds.Hi.Ints[0] {
							hits[confidence]++
						}
						if confidence == 0.95 {
							e := float64(out.Ints[0])/float64(n) - 1
							sum += e * e
						}
					}
				}
				all += runs
				worst = max(worst, math.Sqrt(sum/float64(runs))/ownhll.RelativeError(uint(p)))
			}
			what := fmt.Sprintf("hll %s p=%v", name, p)
			checkCoverage(t, what, hits[0.8], all, 0.8)
			checkCoverage(t, what, hits[0.95], all, 0.95)
			// The rms of 60 normal errors is within 1 ± 3/sqrt(120) of the standard
			// error; that of 16 registers is no normal variable.
			if worst > 1.28 && p > 4 || worst > 1.6 {
				t.Errorf("%s: rms error is %.2f declared standard errors", what, worst)
			}
		}
	}
}

func TestDistinctIsNoWorseThanDataSketches(t *testing.T) {
	b := mustBind(t, "approx_distinct", types.Int8)
	var ours, theirs float64
	runs := trials(120)
	for trial := range runs {
		n := 2000 + 217*(trial%120)
		col := ints(n, trial*1_000_000)
		s := states(b, 1)
		update(t, s, 0, col)
		out := types.NewVector(types.Of(types.Int8), 1)
		must(t, b.Final.Finalise(s, 1, 0.95, out, nil))
		u, err := hll.NewUnion(12) // a union estimates from the registers alone, as every merged sketch must
		must(t, err)
		for _, half := range [][]int64{col.Ints[:n/2], col.Ints[n/2:]} {
			o, err := hll.NewHllSketch(12, hll.TgtHllTypeHll8)
			must(t, err)
			for _, x := range half {
				must(t, o.UpdateInt64(x))
			}
			must(t, u.UpdateSketch(o))
		}
		merged, err := u.GetResult(hll.TgtHllTypeHll8) // the union's own estimate is stale before (v0.1.0)
		must(t, err)
		estimate, err := merged.GetCompositeEstimate()
		must(t, err)
		a, c := float64(out.Ints[0])/float64(n)-1, estimate/float64(n)-1
		ours, theirs = ours+a*a, theirs+c*c
	}
	ours, theirs = math.Sqrt(ours/float64(runs)), math.Sqrt(theirs/float64(runs))
	t.Logf("rms error %.4f, of DataSketches %.4f", ours, theirs)
	if ours > 1.3*theirs {
		t.Errorf("rms error %.4f, of DataSketches %.4f", ours, theirs)
	}
}

// valueShapes make n values to take quantiles of.
var valueShapes = map[string]func(r *rand.Rand, i, n int) float64{
	"uniform":   func(r *rand.Rand, _, _ int) float64 { return r.Float64() },
	"lognormal": func(r *rand.Rand, _, _ int) float64 { return math.Exp(2 * r.NormFloat64()) },
	"ascending": func(_ *rand.Rand, i, _ int) float64 { return float64(i) },
	"sawtooth":  func(_ *rand.Rand, i, n int) float64 { return float64(i * 7919 % n) },
	"few": func(r *rand.Rand, _, _ int) float64 {
		return math.Floor(r.ExpFloat64() * 10)
	},
}

var quantiles = []float64{0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1}

// quantileTrial checks the bounds of quantiles of sorted values and returns the
// number of them that hold, and the sum of squares of rank errors.
func quantileTrial(t *testing.T, s agg.States, k float64, sorted []float64, confidence float64) (hits int, squares float64) {
	t.Helper()
	n := float64(len(sorted))
	for _, q := range quantiles {
		b := mustBind(t, "approx_quantile", types.Float8, q, k)
		out, bounds := types.NewVector(types.Of(types.Float8), 1), newBounds(b)
		must(t, b.Final.Finalise(s, 1, confidence, out, bounds))
		truth := sorted[max(int(math.Ceil(q*n))-1, 0)]
		x := out.Floats[0]
		if bounds.Lo.Floats[0] <= truth && truth <= bounds.Hi.Floats[0] {
			hits++
		}
		if bounds.Lo.Floats[0] > x || x > bounds.Hi.Floats[0] {
			t.Errorf("quantile %v: %v is not within its bounds", q, x)
		}
		squares += square(rankError(sorted, q, x))
	}
	return hits, squares
}

func square(x float64) float64 { return x * x }

// rankError is the distance of q from the ranks that x has.
func rankError(sorted []float64, q, x float64) float64 {
	n := float64(len(sorted))
	lo, _ := slices.BinarySearch(sorted, x)
	hi, _ := slices.BinarySearch(sorted, math.Nextafter(x, math.Inf(1)))
	return max(0, float64(lo)/n-q, q-float64(hi)/n)
}

func floats(values []float64) *types.Vector {
	v := types.NewVector(types.Of(types.Float8), len(values))
	v.Floats = append(v.Floats, values...)
	return v
}

func TestQuantileBoundsHold(t *testing.T) {
	const n = 20_000
	for name, shape := range valueShapes {
		for _, k := range []float64{20, 200} {
			b := mustBind(t, "approx_quantile", types.Float8, 0.5, k)
			var all [2]int
			var hits [2][2]int
			var ours, theirs float64
			for trial := range trials(24) {
				r := rand.New(rand.NewPCG(uint64(trial), uint64(k)))
				values := make([]float64, n)
				for i := range values {
					values[i] = shape(r, i, n)
				}
				sorted := slices.Clone(values)
				slices.Sort(sorted)
				config := agg.Config{Seed: keyhash.Seed{K0: uint64(trial), K1: 5}}
				whole := b.State.New(config)
				whole.Grow(1)
				update(t, whole, 0, floats(values))
				for i, s := range []agg.States{whole, mergedTree(t, b, config, r, values)} {
					for j, confidence := range []float64{0.8, 0.99} {
						h, squares := quantileTrial(t, s, k, sorted, confidence)
						hits[i][j] += h
						if i == 0 && j == 0 {
							ours += squares
						}
					}
					all[i] += len(quantiles)
				}
				if k == 200 {
					o := oracleKLL()
					for _, x := range values {
						o.Update(x)
					}
					for _, q := range quantiles {
						x, err := o.GetQuantile(q, true)
						must(t, err)
						theirs += square(rankError(sorted, q, x))
					}
				}
			}
			for i, what := range []string{"one sketch", "merged"} {
				what = fmt.Sprintf("kll %s k=%v %s", name, k, what)
				checkCoverage(t, what, hits[i][0], all[i], 0.8)
				checkCoverage(t, what, hits[i][1], all[i], 0.99)
			}
			if k == 200 {
				ours, theirs = math.Sqrt(ours/float64(all[0])), math.Sqrt(theirs/float64(all[0]))
				t.Logf("kll %s: rms rank error %.5f, of DataSketches %.5f", name, ours, theirs)
				if ours > 1.3*theirs+1e-4 {
					t.Errorf("kll %s: rms rank error %.5f, of DataSketches %.5f", name, ours, theirs)
				}
			}
		}
	}
}

// The share of values below a point is within its limits, near the extremes too.
func TestRankBoundsHold(t *testing.T) {
	const n = 20_000
	for name, shape := range valueShapes {
		hits, all := 0, 0
		for trial := range trials(12) {
			r := rand.New(rand.NewPCG(uint64(trial), 9))
			values := make([]float64, n)
			for i := range values {
				values[i] = shape(r, i, n)
			}
			sorted := slices.Clone(values)
			slices.Sort(sorted)
			config := agg.Config{Seed: keyhash.Seed{K0: uint64(trial), K1: 6}}
			s := mergedTree(t, mustBind(t, "kll_agg", types.Float8, 50), config, r, values)
			for _, q := range quantiles {
				point := sorted[min(int(q*n), n-1)]
				below, _ := slices.BinarySearch(sorted, math.Nextafter(point, math.Inf(1)))
				truth := float64(below) / n
				b := mustBind(t, "approx_rank", types.Float8, point, 50)
				out, bounds := types.NewVector(types.Of(types.Float8), 1), newBounds(b)
				must(t, b.Final.Finalise(s, 1, 0.9, out, bounds))
				all++
				if bounds.Lo.Floats[0] <= truth && truth <= bounds.Hi.Floats[0] {
					hits++
				}
			}
		}
		checkCoverage(t, "kll rank "+name, hits, all, 0.9)
	}
}

// mergedTree folds values into parts of random sizes and merges them in a random order.
func mergedTree(t *testing.T, b agg.Bound, config agg.Config, r *rand.Rand, values []float64) agg.States {
	t.Helper()
	return mergedRows(t, b, config, r, floats(values))
}

// mergedRows splits the rows of the inputs into parts of random sizes, and merges
// them in a random tree, each in one of both forms.
func mergedRows(t *testing.T, b agg.Bound, config agg.Config, r *rand.Rand, in ...*types.Vector) agg.States {
	t.Helper()
	s := b.State.New(config)
	const parts = 40
	s.Grow(parts)
	at, rows := 0, in[0].Len()
	for g := range uint32(parts) {
		n := r.IntN(2*(rows-at)/(parts-int(g)) + 1)
		if g == parts-1 || n > rows-at {
			n = rows - at
		}
		update(t, s, g, gather(in, span(at, at+n))...)
		at += n
	}
	for n := parts; n > 1; n-- {
		dst, src := uint32(r.IntN(n-1)), uint32(n-1)
		if r.IntN(2) == 0 {
			must(t, s.MergeFrom(dst, s, src))
		} else {
			must(t, s.Merge(dst, s.Append(nil, src)))
		}
	}
	return s
}

func TestQuantilesOfFewValuesAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for n := 1; n <= 200; n++ {
		values := make([]float64, n)
		for i := range values {
			values[i] = math.Floor(r.NormFloat64() * 50)
		}
		s := states(mustBind(t, "approx_quantile", types.Float8, 0.5), 1)
		update(t, s, 0, floats(values))
		slices.Sort(values)
		for _, q := range quantiles {
			b := mustBind(t, "approx_quantile", types.Float8, q)
			out, bounds := types.NewVector(types.Of(types.Float8), 1), newBounds(b)
			must(t, b.Final.Finalise(s, 1, 0.95, out, bounds))
			want := values[max(int(math.Ceil(q*float64(n)))-1, 0)]
			if out.Floats[0] != want || bounds.Lo.Floats[0] != want || bounds.Hi.Floats[0] != want || bounds.Error.Floats[0] != 0 {
				t.Fatalf("n=%d q=%v: %v, want %v", n, q, out.Floats[0], want)
			}
		}
	}
}
