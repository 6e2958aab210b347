package sketchfn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// gridPoint is a number of values and the number of seeds that it is tried with.
type gridPoint struct{ n, seeds int }

// grid is the numbers of values from 1 on, each with up to 1,000 seeds as long as
// that is no more than a budget of values; TALLY_STATISTICS=full goes to ten million
// values, and to a budget that is fifty times as large, or TALLY_GRID_VALUES.
func grid(t *testing.T) []gridPoint {
	t.Helper()
	most, budget, seeds := 100_000, 100_000, 100
	if os.Getenv("TALLY_STATISTICS") == "full" {
		most, budget, seeds = 10_000_000, 5_000_000, 1000
	}
	if values := os.Getenv("TALLY_GRID_VALUES"); values != "" {
		var err error
		budget, err = strconv.Atoi(values)
		must(t, err)
	}
	var out []gridPoint
	for n := 1; n <= most; n *= 10 {
		out = append(out, gridPoint{n, min(seeds, max(budget/n, 2))})
	}
	return out
}

// gridLine is one kind of sketch over one distribution of values.
type gridLine struct {
	bound   agg.Bound
	column  func(n int) *types.Vector
	prepare func(v *types.Vector)
	// check says how many of how many limits at 0.95 hold, and how far the estimate is off.
	check func(t *testing.T, s agg.States, seed keyhash.Seed, v *types.Vector) (hits, of int, deviation float64)
}

// onGrid runs a line at each size as a test of its own.
//
// Each of some 175 lines misses three standard deviations by chance in one of several
// hundred runs, so one that does is judged by other seeds, four times as many: chance
// makes both miss in one of a thousand runs of all lines.
func onGrid(t *testing.T, l gridLine) {
	t.Helper()
	for _, p := range grid(t) {
		t.Run(strconv.Itoa(p.n), func(t *testing.T) {
			v := l.column(p.n)
			if l.prepare != nil {
				l.prepare(v)
			}
			if !l.run(t, v, 0, p.seeds) && !l.run(t, v, p.seeds, 4*p.seeds) {
				t.Errorf("bounds hold too rarely with two sets of seeds")
			}
		})
	}
}

// run folds a column with each of n seeds, whole or in two parts that are merged, and
// reports whether limits at 0.95 hold as often as they have to.
func (l gridLine) run(t *testing.T, v *types.Vector, first, n int) bool {
	t.Helper()
	rows := v.Len()
	sum := 0.0
	all, held := 0, 0
	for trial := first; trial < first+n; trial++ {
		seed := keyhash.Seed{K0: uint64(trial), K1: uint64(rows)}
		s := l.bound.State.New(agg.Config{Seed: seed})
		s.Grow(2)
		if trial%2 == 0 || rows < 2 {
			updateRange(t, s, 0, v, 0, rows)
		} else {
			updateRange(t, s, 0, v, 0, rows/3)
			updateRange(t, s, 1, v, rows/3, rows)
			must(t, s.MergeFrom(0, s, 1))
		}
		h, of, deviation := l.check(t, s, seed, v)
		held, all, sum = held+h, all+of, sum+deviation
		if limit := 3*l.bound.State.BytesPerGroup(int64(rows)) + 1<<17; s.MemoryBytes() > limit {
			t.Errorf("%d bytes for %d values, %d estimated", s.MemoryBytes(), rows, l.bound.State.BytesPerGroup(int64(rows)))
		}
	}
	least := 0.95 - 3*math.Sqrt(0.95*0.05/float64(all))
	t.Logf("%5d seeds from %d: coverage %.4f of at least %.4f, bias %+.5f", n, first, float64(held)/float64(all), least, sum/float64(n))
	return float64(held)/float64(all) >= least
}

// updateRange folds rows in batches, as partitions do.
func updateRange(t *testing.T, s agg.States, g uint32, v *types.Vector, from, to int) {
	t.Helper()
	groups, rows := make([]uint32, benchRows), make([]int32, benchRows)
	for at := from; at < to; at += benchRows {
		n := min(benchRows, to-at)
		for i := range n {
			groups[i], rows[i] = g, int32(at+i)
		}
		must(t, s.Update(groups[:n], rows[:n], []*types.Vector{v}))
	}
}

// TestGridOfDistinctHolds: distinct counts of all sizes.
func TestGridOfDistinctHolds(t *testing.T) {
	for _, name := range []string{"approx_distinct", "theta_agg"} {
		for shapeName, shape := range distinctShapes {
			column := func(n int) *types.Vector { return shape(0, n) }
			b := mustBind(t, name, column(1).Type.OID)
			check := func(t *testing.T, s agg.States, seed keyhash.Seed, v *types.Vector) (int, int, float64) {
				x, lo, hi := 0.0, 0.0, 0.0
				if name == "approx_distinct" {
					out, bounds := types.NewVector(types.Of(types.Int8), 2), newBounds(b)
					must(t, b.Final.Finalise(s, 2, 0.95, out, bounds))
					x, lo, hi = float64(out.Ints[0]), float64(bounds.Lo.Ints[0]), float64(bounds.Hi.Ints[0])
				} else {
					x, lo, hi = boundsOf(t, "theta_estimate", seed, "0.95", sketchValue2(t, b, s))
				}
				n := float64(v.Len())
				if lo <= n && n <= hi {
					return 1, 1, x/n - 1
				}
				return 0, 1, x/n - 1
			}
			t.Run(name+" "+shapeName, func(t *testing.T) { onGrid(t, gridLine{bound: b, column: column, check: check}) })
		}
	}
}

// TestGridOfQuantilesHolds: medians and 99th percentiles of all sizes; the deviation
// is that of the rank of the median.
func TestGridOfQuantilesHolds(t *testing.T) {
	for shapeName, shape := range valueShapes {
		var sorted []float64
		median, tail := mustBind(t, "approx_quantile", types.Float8, 0.5), mustBind(t, "approx_quantile", types.Float8, 0.99)
		column := func(n int) *types.Vector {
			r := rand.New(rand.NewPCG(uint64(n), 6))
			values := make([]float64, n)
			for i := range values {
				values[i] = shape(r, i, n)
			}
			return floats(values)
		}
		prepare := func(v *types.Vector) {
			sorted = slices.Clone(v.Floats)
			slices.Sort(sorted)
		}
		check := func(t *testing.T, s agg.States, _ keyhash.Seed, _ *types.Vector) (int, int, float64) {
			hits, deviation := 0, 0.0
			for q, b := range map[float64]agg.Bound{0.5: median, 0.99: tail} {
				out, bounds := types.NewVector(types.Of(types.Float8), 2), newBounds(b)
				must(t, b.Final.Finalise(s, 2, 0.95, out, bounds))
				want := truth(sorted, q)
				if bounds.Lo.Floats[0] <= want && want <= bounds.Hi.Floats[0] {
					hits++
				}
				if q == 0.5 {
					deviation = rankError(sorted, q, out.Floats[0])
				}
			}
			return hits, 2, deviation
		}
		t.Run(shapeName, func(t *testing.T) { onGrid(t, gridLine{median, column, prepare, check}) })
	}
}

// TestGridOfFrequenciesHolds: Count-Min and frequent items of all sizes, of the most
// frequent value of a distribution with a long tail, and of one that is rare.
func TestGridOfFrequenciesHolds(t *testing.T) {
	for shapeName, value := range map[string]func(r *rand.Rand, i int) int64{
		"zipf":     func(r *rand.Rand, _ int) int64 { return int64(math.Exp(r.Float64() * 12)) },
		"uniform":  func(r *rand.Rand, _ int) int64 { return 1 + r.Int64N(100_000) },
		"distinct": func(_ *rand.Rand, i int) int64 { return int64(i + 1) },
		"two":      func(r *rand.Rand, _ int) int64 { return 1 + r.Int64N(2) },
		"geometric": func(r *rand.Rand, _ int) int64 {
			return 1 + int64(r.ExpFloat64()*20)
		},
	} {
		for name, lookup := range map[string]string{"freq_agg": "freq", "frequent_agg": "frequent_count"} {
			b := mustBind(t, name, types.Int8)
			counts := map[int64]int64{}
			column := func(n int) *types.Vector {
				r := rand.New(rand.NewPCG(uint64(n), 7))
				v := ints(n, 0)
				for i := range v.Ints {
					v.Ints[i] = value(r, i)
				}
				return v
			}
			prepare := func(v *types.Vector) {
				clear(counts)
				for _, x := range v.Ints {
					if x == 1 || x == 77 {
						counts[x]++
					}
				}
			}
			check := func(t *testing.T, s agg.States, seed keyhash.Seed, v *types.Vector) (int, int, float64) {
				sketch, hits, deviation := sketchValue2(t, b, s), 0, 0.0
				for _, key := range []int64{1, 77} {
					x, lo, hi := boundsOf(t, lookup, seed, "0.95", sketch, types.IntDatum(types.Int8, key))
					if want := float64(counts[key]); lo <= want && want <= hi {
						hits++
					}
					deviation += (x - float64(counts[key])) / float64(v.Len()) / 2
				}
				return hits, 2, deviation
			}
			t.Run(name+" "+shapeName, func(t *testing.T) { onGrid(t, gridLine{b, column, prepare, check}) })
		}
	}
}

// sketchValue2 is sketchValue of the first of two groups.
func sketchValue2(t *testing.T, b agg.Bound, s agg.States) types.Datum {
	t.Helper()
	out := types.NewVector(types.Of(types.Sketch), 2)
	if err := b.Final.Finalise(s, 2, 0.95, out, newBounds(b)); err != nil {
		t.Fatal(fmt.Errorf("finalise: %w", err))
	}
	return out.Datum(0)
}
