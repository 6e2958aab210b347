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

// estimateBounds returns what theta_estimate says of a sketch, and its limits.
func estimateBounds(t *testing.T, name string, sketch types.Datum, confidence string) (x, lo, hi float64) {
	t.Helper()
	library := registry().Scalars()
	e, err := expr.NewFunction(name, []expr.Expr{expr.NewConst(sketch)}, expr.WithLibrary(library))
	must(t, err)
	l, h, ok := library.Bounds(e)
	if !ok {
		t.Fatalf("%s has no bounds", name)
	}
	ec := &expr.Context{Setting: func(string) (string, bool) { return confidence, true }}
	var out [3]float64
	for i, e := range []expr.Expr{e, l, h} {
		d, err := expr.EvalConst(ec, e)
		must(t, err)
		if out[i] = d.Float; d.Type.Kind() == types.KindInt {
			out[i] = float64(d.Int)
		}
	}
	return out[0], out[1], out[2]
}

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
					e, lo, hi := estimateBounds(t, "theta_estimate", mustScalar(t, op, x, y), "0.9")
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
			x, lo, hi := estimateBounds(t, "theta_estimate", out.Datum(0), "0.95")
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
