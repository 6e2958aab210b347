package sketchfn_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// itemStreams are distributions of values that repeat.
var itemStreams = map[string]func(r *rand.Rand) func() int64{
	"zipf 1.1": func(r *rand.Rand) func() int64 {
		z := rand.NewZipf(r, 1.1, 1, 9999)
		return func() int64 { return int64(z.Uint64()) }
	},
	"zipf 2": func(r *rand.Rand) func() int64 {
		z := rand.NewZipf(r, 2, 1, 9999)
		return func() int64 { return int64(z.Uint64()) }
	},
	"uniform":  func(r *rand.Rand) func() int64 { return func() int64 { return r.Int64N(3000) } },
	"counters": func(*rand.Rand) func() int64 { x := int64(0); return func() int64 { x++; return x % 2000 } },
	"two":      func(r *rand.Rand) func() int64 { return func() int64 { return r.Int64N(2) * r.Int64N(4000) } },
}

// boundsOf evaluates an estimate of the library with its limits.
func boundsOf(t *testing.T, name string, seed keyhash.Seed, confidence string, args ...types.Datum) (x, lo, hi float64) {
	t.Helper()
	library := registry().Scalars()
	in := make([]expr.Expr, len(args))
	for i, a := range args {
		in[i] = expr.NewConst(a)
	}
	e, err := expr.NewFunction(name, in, expr.WithLibrary(library))
	must(t, err)
	l, h, ok := library.Bounds(e)
	if !ok {
		t.Fatalf("%s has no bounds", name)
	}
	ec := &expr.Context{Seed: seed, Setting: func(string) (string, bool) { return confidence, true }}
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

// mergedSketch folds rows into parts, merges them in a random order, and returns
// the value.
func mergedSketch(t *testing.T, seed keyhash.Seed, r *rand.Rand, b agg.Bound, in []*types.Vector) types.Datum {
	t.Helper()
	const parts = 5
	s := b.State.New(agg.Config{Seed: seed})
	s.Grow(parts)
	groups, rows := make([]uint32, in[0].Len()), make([]int32, in[0].Len())
	for i := range rows {
		groups[i], rows[i] = uint32(r.IntN(parts)), int32(i)
	}
	must(t, s.Update(groups, rows, in))
	for n := parts; n > 1; n-- {
		dst, src := uint32(r.IntN(n-1)), uint32(n-1)
		if r.IntN(2) == 0 {
			must(t, s.MergeFrom(dst, s, src))
		} else {
			must(t, s.Merge(dst, s.Append(nil, src)))
		}
	}
	out := types.NewVector(types.Of(types.Sketch), 1)
	must(t, b.Final.Finalise(s, 1, 0.95, out, nil))
	return out.Datum(0)
}

func TestFrequencyBoundsHold(t *testing.T) {
	for name, stream := range itemStreams {
		hits, all := 0, 0
		for trial := range trials(20) {
			r := rand.New(rand.NewPCG(uint64(trial), 1))
			seed := keyhash.Seed{K0: uint64(trial), K1: 1}
			next, v, exact := stream(r), ints(0, 0), map[int64]int64{}
			for range 4000 {
				x := next()
				v.AppendInt(x)
				exact[x]++
			}
			b := mustBind(t, "freq_agg", types.Int8, 0.9, 0.02)
			for _, sketch := range []types.Datum{mergedSketch(t, seed, r, b, []*types.Vector{v}), sketchOf(t, seed, "freq_agg", v, 0.9, 0.02)} {
				for range 20 {
					value := v.Ints[r.IntN(v.Len())]
					if r.IntN(3) == 0 {
						value = r.Int64N(4000)
					}
					x, lo, hi := boundsOf(t, "freq", seed, "0.9", sketch, types.IntDatum(types.Int8, value))
					truth := float64(exact[value])
					if x < truth || hi != x {
						t.Fatalf("%s: %v occurrences are counted as %v", name, truth, x)
					}
					all++
					if lo <= truth {
						hits++
					}
				}
			}
		}
		checkCoverage(t, "count-min "+name, hits, all, 0.9)
	}
}

// Weights are added and taken away; sums and the second moment stay within limits.
func TestCountSketchBoundsHold(t *testing.T) {
	for name, stream := range itemStreams {
		sums, moments, all, bias := 0, 0, 0, 0.0
		for trial := range trials(40) {
			r := rand.New(rand.NewPCG(uint64(trial), 2))
			seed := keyhash.Seed{K0: uint64(trial), K1: 2}
			next, v, w, exact := stream(r), ints(0, 0), ints(0, 0), map[int64]int64{}
			for range 3000 {
				x, weight := next(), r.Int64N(9)-3
				v.AppendInt(x)
				w.AppendInt(weight)
				exact[x] += weight
			}
			b := contractCase{"count_sketch_agg", types.Int8, []float64{64, 5}, []types.OID{types.Int8}}.bind(t)
			sketch := mergedSketch(t, seed, r, b, []*types.Vector{v, w})
			f2 := 0.0
			for _, x := range exact {
				f2 += float64(x) * float64(x)
			}
			value := v.Ints[r.IntN(v.Len())]
			x, lo, hi := boundsOf(t, "count_sketch_sum", seed, "0.9", sketch, types.IntDatum(types.Int8, value))
			truth := float64(exact[value])
			bias += (x - truth) / math.Sqrt(f2/64)
			all++
			if lo <= truth && truth <= hi {
				sums++
			}
			if _, lo, hi := boundsOf(t, "count_sketch_f2", seed, "0.9", sketch); lo <= f2 && f2 <= hi {
				moments++
			}
		}
		checkCoverage(t, "count sketch "+name, sums, all, 0.9)
		checkCoverage(t, "second moment "+name, moments, all, 0.9)
		if bias /= float64(all); math.Abs(bias) > 4/math.Sqrt(float64(all)) {
			t.Errorf("%s: sums are biased by %.3f standard deviations", name, bias)
		}
	}
}

// What is added and taken away leaves a state of zeros, whatever the order.
func TestCountSketchIsLinear(t *testing.T) {
	b := contractCase{"count_sketch_agg", types.Int8, []float64{16, 3}, []types.OID{types.Int8}}.bind(t)
	s := states(b, 1)
	v, w := ints(200, 0), ints(200, -100)
	update(t, s, 0, v, w)
	for i := range w.Ints {
		w.Ints[i] = -w.Ints[i]
	}
	update(t, s, 0, v, w)
	out := types.NewVector(types.Of(types.Sketch), 1)
	must(t, b.Final.Finalise(s, 1, 0.95, out, nil))
	if f2 := mustScalar(t, "count_sketch_f2", out.Datum(0)).Float; f2 != 0 {
		t.Errorf("the second moment of nothing is %v", f2)
	}
}
