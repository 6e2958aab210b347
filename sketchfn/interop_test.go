package sketchfn_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/apache/datasketches-go/common"
	"github.com/apache/datasketches-go/count"
	"github.com/apache/datasketches-go/frequencies"
	"github.com/apache/datasketches-go/hll"
	"github.com/apache/datasketches-go/kll"
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

func TestKLLFromDataSketches(t *testing.T) {
	for _, k := range []uint16{8, 20, 200, 1000} {
		for _, n := range []int{0, 1, 2, 30, 199, 500, 40_000} {
			theirs, err := kll.NewKllItemsSketch[float64](k, 8, common.ItemSketchDoubleComparator(false), common.ItemSketchDoubleSerDe{})
			must(t, err)
			for i := range n {
				theirs.Update(float64(i * 7919 % max(n, 1)))
			}
			b, err := theirs.ToSlice()
			must(t, err)
			ours := mustScalar(t, "sketch_import", bytea(b), dataSketches)
			if n == 0 {
				if !mustScalar(t, "sketch_quantile", ours, types.FloatDatum(0.5)).Null {
					t.Error("an empty sketch has a median")
				}
				continue
			}
			for _, q := range []float64{0.05, 0.3, 0.5, 0.9} {
				want, err := theirs.GetQuantile(q, true)
				must(t, err)
				if got := mustScalar(t, "sketch_quantile", ours, types.FloatDatum(q)).Float; got != want {
					t.Errorf("k=%d n=%d: quantile %v is %v, theirs %v", k, n, q, got, want)
				}
				rank, err := theirs.GetRank(want, true)
				must(t, err)
				if got := mustScalar(t, "sketch_rank", ours, types.FloatDatum(want)).Float; !near(got, rank, 1e-12) && want < float64(n-1) {
					t.Errorf("k=%d n=%d: rank of %v is %v, theirs %v", k, n, want, got, rank)
				}
			}
			back, err := kll.NewKllItemsSketchFromSlice[float64](mustScalar(t, "sketch_export", ours, dataSketches).Bytes, common.ItemSketchDoubleComparator(false), common.ItemSketchDoubleSerDe{})
			must(t, err)
			checkKLLBack(t, back, ours, n)
		}
	}
}

// checkKLLBack compares an exported sketch with the one here, before and after
// updates there.
func checkKLLBack(t *testing.T, theirs *kll.ItemsSketch[float64], ours types.Datum, n int) {
	t.Helper()
	if int(theirs.GetN()) != n {
		t.Errorf("n=%d: %d there", n, theirs.GetN())
	}
	for _, q := range []float64{0, 0.2, 0.5, 0.9, 1} {
		want := mustScalar(t, "sketch_quantile", ours, types.FloatDatum(q)).Float
		got, err := theirs.GetQuantile(q, true)
		switch q { // quantiles there do not use the extremes
		case 0:
			got, err = theirs.GetMinItem()
		case 1:
			got, err = theirs.GetMaxItem()
		}
		if err != nil || got != want {
			t.Errorf("n=%d: quantile %v is %v there (%v), %v here", n, q, got, err, want)
		}
	}
	for i := range 3000 {
		theirs.Update(float64(i % max(n, 1)))
	}
	if int(theirs.GetN()) != n+3000 {
		t.Errorf("n=%d: after 3000 updates %d there", n, theirs.GetN())
	}
}

func TestKLLToDataSketches(t *testing.T) {
	for _, k := range []float64{8, 20, 65, 200} {
		for _, n := range []int{0, 1, 64, 65, 200, 1000, 50_000} {
			for _, v := range []*types.Vector{ints(n, -5), floats(ascending(n))} {
				ours := sketchOf(t, config.Seed, "kll_agg", v, k)
				theirs, err := kll.NewKllItemsSketchFromSlice[float64](mustScalar(t, "sketch_export", ours, dataSketches).Bytes, common.ItemSketchDoubleComparator(false), common.ItemSketchDoubleSerDe{})
				must(t, err)
				if n > 0 {
					checkKLLBack(t, theirs, ours, n)
				}
			}
		}
	}
}

func ascending(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i) / 3
	}
	return out
}

func TestFrequentItemsWithDataSketches(t *testing.T) {
	theirs, err := frequencies.NewLongsSketchWithMaxMapSize(64)
	must(t, err)
	v := ints(0, 0)
	for i := range int64(20_000) {
		x := i * 7919 % 3001
		if i%2 == 0 {
			x = i / 2 % 5
		}
		must(t, theirs.Update(x))
		v.AppendInt(x)
	}
	ours := mustScalar(t, "sketch_import", bytea(theirs.ToSlice()), dataSketches)
	for x := range int64(40) {
		hi, err := theirs.GetUpperBound(x)
		must(t, err)
		if got := mustScalar(t, "frequent_count", ours, types.IntDatum(types.Int8, x)).Int; got != hi {
			t.Errorf("%d: at most %d, theirs %d", x, got, hi)
		}
	}
	made := sketchOf(t, config.Seed, "frequent_agg", v, 30)
	back, err := frequencies.NewLongsSketchFromSlice(mustScalar(t, "sketch_export", made, dataSketches).Bytes)
	must(t, err)
	for x := range int64(5) {
		lo, err := back.GetLowerBound(x)
		must(t, err)
		hi, err := back.GetUpperBound(x)
		must(t, err)
		truth := int64(0)
		for _, y := range v.Ints {
			if y == x {
				truth++
			}
		}
		if lo > truth || hi < truth || back.GetStreamLength() != 20_000 {
			t.Errorf("%d occurs %d times, there between %d and %d", x, truth, lo, hi)
		}
	}
}

func TestFrequentTextsWithDataSketches(t *testing.T) {
	newTheirs := func(b []byte) (*frequencies.ItemsSketch[string], error) {
		if b == nil {
			return frequencies.NewFrequencyItemsSketchWithMaxMapSize[string](64, common.ItemSketchStringHasher{}, common.ItemSketchStringSerDe{})
		}
		return frequencies.NewFrequencyItemsSketchFromSlice[string](b, common.ItemSketchStringHasher{}, common.ItemSketchStringSerDe{})
	}
	theirs, err := newTheirs(nil)
	must(t, err)
	v := texts(30, 0)
	for i := range 30 {
		must(t, theirs.UpdateMany(string(v.Bytes(i)), int64(i+1)))
	}
	b, err := theirs.ToSlice()
	must(t, err)
	ours := mustScalar(t, "sketch_import", bytea(b), dataSketches, types.TextDatum("text"))
	for i := range 30 {
		if got := mustScalar(t, "frequent_count", ours, types.TextDatum(string(v.Bytes(i)))).Int; got != int64(i+1) {
			t.Errorf("%s: %d, want %d", v.Bytes(i), got, i+1)
		}
	}
	back, err := newTheirs(mustScalar(t, "sketch_export", ours, dataSketches).Bytes)
	must(t, err)
	if got, err := back.GetEstimate(string(v.Bytes(29))); err != nil || got != 30 {
		t.Errorf("%d, %v", got, err)
	}
	if _, err := scalar("sketch_export", sketchOf(t, config.Seed, "frequent_agg", floats([]float64{1})), dataSketches); sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
		t.Errorf("floats were exported: %v", err)
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

// Compressed theta sketches are those that are not compressed.
func TestCompressedThetaOfDataSketches(t *testing.T) {
	for _, n := range []int64{2, 3, 8, 9, 100, 4000, 60_000} {
		s := dsTheta(t, 0, n)
		var b bytes.Buffer
		enc := theta.NewEncoder(&b, true)
		must(t, enc.Encode(s))
		if b.Bytes()[1] != 4 {
			t.Fatalf("%d values are not compressed", n)
		}
		plain, packed := encodeTheta(t, s), mustScalar(t, "sketch_import", bytea(b.Bytes()), dataSketches)
		if !bytes.Equal(mustScalar(t, "sketch_import", plain, dataSketches).Bytes, packed.Bytes) {
			t.Errorf("%d values: the compressed sketch is another one", n)
		}
		for _, bad := range [][]byte{b.Bytes()[:b.Len()-1], append(bytes.Clone(b.Bytes()), 0)} {
			if _, err := scalar("sketch_import", bytea(bad), dataSketches); sqlerr.CodeOf(err) != sqlerr.InvalidBinaryRepresentation {
				t.Errorf("%d values, another length: %v", n, err)
			}
		}
	}
}

// Count-Min of DataSketches: what they write is read, merged and written so that they
// read the same counters; ours keep their totals there.
func TestCountMinOfDataSketches(t *testing.T) {
	const seed = 9001
	decode := func(d types.Datum) *count.CountMinSketch {
		t.Helper()
		empty, err := count.NewCountMinSketch(1, 3, seed)
		must(t, err)
		s, err := empty.Deserialize(d.Bytes, seed)
		must(t, err)
		return s
	}
	var sketches []types.Datum
	both, err := count.NewCountMinSketch(5, 272, seed)
	must(t, err)
	for part := range uint64(3) {
		s, err := count.NewCountMinSketch(5, 272, seed)
		must(t, err)
		for i := range part * 3000 {
			must(t, s.UpdateUint64(i*i%1000, 1))
			must(t, both.UpdateUint64(i*i%1000, 1))
		}
		var b bytes.Buffer
		must(t, s.Serialize(&b))
		imported := mustScalar(t, "sketch_import", bytea(b.Bytes()), dataSketches)
		if got := mustScalar(t, "freq_total", imported).Int; got != s.GetTotalWeight() {
			t.Errorf("%d values, said %d", s.GetTotalWeight(), got)
		}
		if back := mustScalar(t, "sketch_export", imported, dataSketches).Bytes; !bytes.Equal(back, b.Bytes()) {
			t.Error("what was read is written in another way")
		}
		if _, err := scalar("freq", imported, types.IntDatum(types.Int8, 4)); sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
			t.Errorf("a value was looked up by another hash: %v", err)
		}
		if part > 0 {
			for _, bad := range [][]byte{b.Bytes()[:b.Len()-1], append(bytes.Clone(b.Bytes()), 0), b.Bytes()[:12]} {
				if _, err := scalar("sketch_import", bytea(bad), dataSketches); sqlerr.CodeOf(err) != sqlerr.InvalidBinaryRepresentation {
					t.Errorf("another length: %v", err)
				}
			}
		}
		sketches = append(sketches, imported)
	}
	merged := decode(mustScalar(t, "sketch_export", mustScalar(t, "freq_union", mustScalar(t, "freq_union", sketches[0], sketches[1]), sketches[2]), dataSketches))
	for i := range uint64(1000) {
		if merged.GetEstimateUint64(i) != both.GetEstimateUint64(i) {
			t.Fatalf("value %d: %d, they merge it to %d", i, merged.GetEstimateUint64(i), both.GetEstimateUint64(i))
		}
	}
	for _, n := range []int{0, 10, 5000} {
		ours := sketchOf(t, config.Seed, "freq_agg", ints(n, 0), 0.9, 0.05)
		theirs := decode(mustScalar(t, "sketch_export", ours, dataSketches))
		if theirs.GetTotalWeight() != int64(n) || n > 0 && int64(theirs.GetNumBuckets()) != int64(jsonNumber(t, mustScalar(t, "sketch_info", ours), "width")) {
			t.Errorf("%d values of ours are %d there", n, theirs.GetTotalWeight())
		}
	}
}

// Python writes weights as floats, and reads what comes back; fractions are no counts.
func TestCountMinOfPython(t *testing.T) {
	head := []byte{2, 1, 18, 0, 0, 0, 0, 0, 4, 0, 0, 0, 2, 0xcc, 0x93, 0}
	made := func(weights ...float64) []byte {
		out := bytes.Clone(head)
		for _, x := range weights {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(x))
		}
		return out
	}
	b := made(3, 1, 0, 0, 2, 3, 0, 0, 0)
	s := mustScalar(t, "sketch_import", bytea(b), dataSketches)
	if n := mustScalar(t, "freq_total", s).Int; n != 3 {
		t.Errorf("3 values are %d", n)
	}
	if back := mustScalar(t, "sketch_export", s, dataSketches).Bytes; !bytes.Equal(back, b) {
		t.Error("what was read is written in another way")
	}
	for _, bad := range [][]byte{made(3, 1, 0, 0, 2, 3, 0.5, 0, 0), made(3, 4, 0, 0, 2, 3, 0, 0, 0), made(3, -1, 0, 0, 2, 3, 0, 0, 0), made(math.NaN(), 0, 0, 0, 0, 0, 0, 0, 0)} {
		if _, err := scalar("sketch_import", bytea(bad), dataSketches); sqlerr.CodeOf(err) != sqlerr.InvalidBinaryRepresentation {
			t.Errorf("no counts: %v", err)
		}
	}
}
