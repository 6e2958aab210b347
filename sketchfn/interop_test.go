package sketchfn_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/apache/datasketches-go/hll"
	"github.com/apache/datasketches-go/theta"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Sketches of Apache DataSketches are read, and what is written for them reads
// as it should there.

var dataSketches = types.TextDatum("datasketches")

func near(a, b, share float64) bool { return math.Abs(a-b) <= share*math.Abs(b)+1e-9 }

func TestHLLFromDataSketches(t *testing.T) {
	for _, target := range []hll.TgtHllType{hll.TgtHllTypeHll4, hll.TgtHllTypeHll6, hll.TgtHllTypeHll8} {
		for _, lgK := range []int{4, 8, 12, 18} {
			for _, n := range []int64{0, 1, 5, 20, 300, 3000, 200_000} {
				theirs, err := hll.NewHllSketch(lgK, target)
				must(t, err)
				for i := range n {
					must(t, theirs.UpdateInt64(i*7919))
				}
				want, err := theirs.GetCompositeEstimate()
				must(t, err)
				compact, err := theirs.ToCompactSlice()
				must(t, err)
				updatable, err := theirs.ToUpdatableSlice()
				must(t, err)
				sketch := mustScalar(t, "sketch_import", bytea(compact), dataSketches)
				what := fmt.Sprintf("type %d lgK %d n %d", target, lgK, n)
				if same := mustScalar(t, "sketch_import", bytea(updatable), dataSketches); !bytes.Equal(same.Bytes, sketch.Bytes) {
					t.Errorf("%s: the updatable form is another sketch", what)
				}
				got := float64(mustScalar(t, "hll_cardinality", sketch).Int)
				// Both estimators see the same registers; they differ where registers are few.
				if !near(got, want, 0.6/math.Sqrt(math.Exp2(float64(lgK)))+0.002) {
					t.Errorf("%s: %v, theirs %v", what, got, want)
				}
				back := mustScalar(t, "sketch_export", sketch, dataSketches)
				again, err := hll.NewHllSketchFromSlice(back.Bytes, true)
				must(t, err)
				e, err := again.GetCompositeEstimate()
				must(t, err)
				if !near(e, want, 0.001+0.6/math.Sqrt(math.Exp2(float64(lgK)))) {
					t.Errorf("%s: exported %v, was %v", what, e, want)
				}
			}
		}
	}
}

// Imported sketches merge as they do there, sparse with dense included.
func TestHLLFromDataSketchesMerges(t *testing.T) {
	u, err := hll.NewUnion(12)
	must(t, err)
	var parts []types.Datum
	for i, n := range []int64{6, 200, 5000, 90_000} {
		s, err := hll.NewHllSketch(12, hll.TgtHllTypeHll4)
		must(t, err)
		for x := range n {
			must(t, s.UpdateInt64(x+int64(i)*100))
		}
		must(t, u.UpdateSketch(s))
		b, err := s.ToCompactSlice()
		must(t, err)
		parts = append(parts, mustScalar(t, "sketch_import", bytea(b), dataSketches))
	}
	merged, err := u.GetResult(hll.TgtHllTypeHll8)
	must(t, err)
	b, err := merged.ToCompactSlice()
	must(t, err)
	want := mustScalar(t, "sketch_import", bytea(b), dataSketches)
	got := parts[0]
	for _, p := range parts[1:] {
		got = mustScalar(t, "hll_union", got, p)
	}
	if !bytes.Equal(got.Bytes, want.Bytes) {
		t.Error("the union is not theirs")
	}
	if _, err := scalar("hll_union", got, sketchOf(t, config.Seed, "hll_agg", ints(10, 0))); sqlerr.CodeOf(err) != sqlerr.IncompatibleState {
		t.Errorf("an imported sketch met one of ours: %v", err)
	}
}

func TestHLLToDataSketches(t *testing.T) {
	for _, p := range []float64{4, 7, 8, 12, 16} {
		var exported []hll.HllSketch
		for _, n := range []int{0, 1, 7, 8, 50, 700, 40_000} {
			sketch := sketchOf(t, config.Seed, "hll_agg", ints(n, 0), p)
			ours := float64(mustScalar(t, "hll_cardinality", sketch).Int)
			back, err := hll.NewHllSketchFromSlice(mustScalar(t, "sketch_export", sketch, dataSketches).Bytes, true)
			must(t, err)
			e, err := back.GetCompositeEstimate()
			must(t, err)
			if !near(e, ours, 0.6/math.Sqrt(math.Exp2(p))+0.01) {
				t.Errorf("p=%v n=%d: %v there, %v here", p, n, e, ours)
			}
			exported = append(exported, back)
		}
		// Values of the small ones are in the large one: the union is no larger.
		u, err := hll.NewUnion(int(p))
		must(t, err)
		for _, s := range exported {
			must(t, u.UpdateSketch(s))
		}
		merged, err := u.GetResult(hll.TgtHllTypeHll8)
		must(t, err)
		e, err := merged.GetCompositeEstimate()
		must(t, err)
		largest, err := exported[len(exported)-1].GetCompositeEstimate()
		must(t, err)
		if !near(e, largest, 1e-6) {
			t.Errorf("p=%v: the union of subsets is %v, the whole %v", p, e, largest)
		}
	}
}

func dsTheta(t *testing.T, from, n int64) *theta.CompactSketch {
	t.Helper()
	s, err := theta.NewQuickSelectUpdateSketch()
	must(t, err)
	for i := range n {
		_ = s.UpdateInt64(from + i) // ErrUpdateIgnored where the hash is above theta
	}
	return s.Compact(true)
}

func encodeTheta(t *testing.T, s *theta.CompactSketch) types.Datum {
	t.Helper()
	var b bytes.Buffer
	enc := theta.NewEncoder(&b, false)
	must(t, enc.Encode(s))
	return bytea(b.Bytes())
}

func TestThetaFromDataSketches(t *testing.T) {
	for _, n := range []int64{0, 1, 2, 4000, 9000, 100_000} {
		a, b := dsTheta(t, 0, n), dsTheta(t, n/2, n)
		x := mustScalar(t, "sketch_import", encodeTheta(t, a), dataSketches)
		y := mustScalar(t, "sketch_import", encodeTheta(t, b), dataSketches)
		if got := mustScalar(t, "theta_estimate", x).Float; !near(got, a.Estimate(), 0.05) {
			t.Errorf("n=%d: %v, theirs %v", n, got, a.Estimate())
		}
		i := theta.NewIntersection()
		must(t, i.Update(a))
		must(t, i.Update(b))
		both, err := i.Result(true)
		must(t, err)
		if got := mustScalar(t, "theta_estimate", mustScalar(t, "theta_intersect", x, y)).Float; !near(got, both.Estimate(), 0.1) {
			t.Errorf("n=%d: intersection %v, theirs %v", n, got, both.Estimate())
		}
		diff, err := theta.ANotB(a, b, theta.DefaultSeed, true)
		must(t, err)
		if got := mustScalar(t, "theta_estimate", mustScalar(t, "theta_diff", x, y)).Float; !near(got, diff.Estimate(), 0.1) {
			t.Errorf("n=%d: difference %v, theirs %v", n, got, diff.Estimate())
		}
		if n <= 4000 && n != 1 { // all hashes are kept; theirs does not flag a single one, as Java does
			if back := mustScalar(t, "sketch_export", x, dataSketches); !bytes.Equal(back.Bytes, encodeTheta(t, a).Bytes) {
				t.Errorf("n=%d: the bytes that come back differ", n)
			}
		}
	}
}

func TestThetaToDataSketches(t *testing.T) {
	for _, n := range []int{0, 1, 2, 4000, 100_000} {
		ours := sketchOf(t, config.Seed, "theta_agg", ints(n, 0))
		theirs, err := theta.Decode(mustScalar(t, "sketch_export", ours, dataSketches).Bytes, theta.DefaultSeed)
		must(t, err)
		if want := mustScalar(t, "theta_estimate", ours).Float; !near(theirs.Estimate(), want, 1e-6) {
			t.Errorf("n=%d: %v there, %v here", n, theirs.Estimate(), want)
		}
	}
}

func TestForeignBytesAreRefused(t *testing.T) {
	for _, b := range [][]byte{nil, {1, 2, 3}, make([]byte, 8), {2, 1, 7, 12, 0, 0, 200, 0}, {10, 1, 7, 12, 0, 0, 0, 2}, {3, 1, 7, 12, 5, 8, 0, 1, 255, 255, 255, 255}, {3, 3, 3, 0, 0, 8, 0xcc, 0x93}, {3, 3, 3, 0, 0, 8, 1, 1}, {2, 1, 99, 0, 0, 0, 0, 0}} {
		_, err := scalar("sketch_import", bytea(b), dataSketches)
		if c := sqlerr.CodeOf(err); c != sqlerr.InvalidBinaryRepresentation && c != sqlerr.FeatureNotSupported && c != sqlerr.IncompatibleState {
			t.Errorf("%v: %v", b, err)
		}
	}
	if _, err := scalar("sketch_import", bytea(make([]byte, 8)), types.TextDatum("postgres")); sqlerr.CodeOf(err) != sqlerr.InvalidParameterValue {
		t.Errorf("an unknown format: %v", err)
	}
}
