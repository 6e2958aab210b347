package sketchfn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// weightShapes make the weight of row i of n.
var weightShapes = map[string]func(r *rand.Rand, i, n int) float64{
	"equal":             func(*rand.Rand, int, int) float64 { return 3 },
	"log-normal":        func(r *rand.Rand, _, _ int) float64 { return math.Exp(2 * r.NormFloat64()) },
	"few giants":        func(_ *rand.Rand, i, _ int) float64 { return 1 + 1e6*float64(max(0, 5-i)) },
	"growing":           func(_ *rand.Rand, i, _ int) float64 { return float64(i + 1) },
	"giants at the end": func(_ *rand.Rand, i, n int) float64 { return 1 + 1e4*float64(max(0, i-n+9)) },
}

// Sums of any subset of a sample are unbiased, within their limits as often as
// promised, and with less variance than priority sampling is promised; the sum of
// all is exact. Samples are merged in random trees.
func TestVarOptSumsHold(t *testing.T) {
	const n, k, confidence = 2000, 50, 0.9
	for name, shape := range weightShapes {
		r := rand.New(rand.NewPCG(1, 1))
		values, weights := ints(n, 0), types.NewVector(types.Of(types.Float8), n)
		total, small, tenth := 0.0, 0.0, 0.0
		for i := range n {
			values.Ints[i] = int64(i % 10)
			w := shape(r, i, n)
			weights.AppendFloat(w)
			total += w
			if i%10 == 3 {
				tenth += w
			}
			if i%10 < 4 {
				small += w
			}
		}
		b := contractCase{"varopt_agg", types.Int8, []float64{k}, []types.OID{types.Float8}}.bind(t)
		hits, all, sum, squares := 0, trials(150), 0.0, 0.0
		for trial := range all {
			seed := keyhash.Seed{K0: uint64(trial), K1: 9}
			sketch := sketchValue(t, b, mergedRows(t, b, agg.Config{Seed: seed}, rand.New(rand.NewPCG(uint64(trial), 2)), values, weights))
			if x, lo, hi := boundsOf(t, "varopt_sum", seed, "0.9", sketch); math.Abs(x/total-1) > 1e-9 || lo != x || hi != x {
				t.Fatalf("%s: the total is %v, said %v (%v to %v)", name, total, x, lo, hi)
			}
			x, lo, hi := boundsOf(t, "varopt_sum", seed, "0.9", sketch, types.IntDatum(types.Int8, 3))
			if lo <= tenth*(1+1e-9) && tenth <= hi*(1+1e-9) {
				hits++
			}
			sum += x
			range4, _, _ := boundsOf(t, "varopt_sum", seed, "0.9", sketch, types.IntDatum(types.Int8, 0), types.IntDatum(types.Int8, 3))
			squares += square(range4 - small)
		}
		checkCoverage(t, "varopt "+name, hits, all, confidence)
		promised := total / math.Sqrt(k-1)
		if bias := sum/float64(all) - tenth; math.Abs(bias) > 4*promised/math.Sqrt(float64(all)) {
			t.Errorf("%s: the sum of a tenth is off by %.4g of %.4g on average", name, bias, tenth)
		}
		if rms := math.Sqrt(squares / float64(all)); rms > promised {
			t.Errorf("%s: rms error %.4g, at most %.4g of %.4g promised", name, rms, promised, total)
		}
	}
}

// Cosines are within their limits as often as promised, whatever the angle, and
// vectors of a sum are the sum of vectors.
func TestCosineBoundsHold(t *testing.T) {
	const bits, confidence = 128, 0.9
	for name, shape := range map[string]func(r *rand.Rand, i int) (a, b int64){
		"independent": func(r *rand.Rand, _ int) (int64, int64) { return r.Int64N(9), r.Int64N(9) },
		"near":        func(r *rand.Rand, _ int) (int64, int64) { x := r.Int64N(100); return x, x + r.Int64N(9) },
		"opposite":    func(r *rand.Rand, _ int) (int64, int64) { x := r.Int64N(100); return x, r.Int64N(30) - x },
		"orthogonal":  func(_ *rand.Rand, i int) (int64, int64) { return int64(1 - i%2), int64(i % 2) },
		"one value":   func(_ *rand.Rand, i int) (int64, int64) { return int64(max(0, 1-i)), 1 },
	} {
		hits, all := 0, trials(200)
		for trial := range all {
			r := rand.New(rand.NewPCG(uint64(trial), 3))
			n := 2 + r.IntN(40)
			x, v, w := ints(n, 0), ints(n, 0), ints(n, 0)
			dot, aa, bb := 0.0, 0.0, 0.0
			for i := range n {
				v.Ints[i], w.Ints[i] = shape(r, i)
				a, b := float64(v.Ints[i]), float64(w.Ints[i])
				dot, aa, bb = dot+a*b, aa+a*a, bb+b*b
			}
			if aa == 0 || bb == 0 {
				hits++
				continue
			}
			seed := agg.Config{Seed: keyhash.Seed{K0: uint64(trial), K1: 4}}
			b := contractCase{"simhash_agg", types.Int8, []float64{bits}, []types.OID{types.Int8}}.bind(t)
			left := sketchValue(t, b, mergedRows(t, b, seed, r, x, v))
			right := sketchValue(t, b, mergedRows(t, b, seed, r, x, w))
			for i := range v.Ints {
				v.Ints[i] *= -3
			}
			behind := sketchValue(t, b, mergedRows(t, b, seed, r, x, v))
			if c := mustScalar(t, "cosine", left, behind); c.Float != -1 {
				t.Errorf("%s: the cosine of a vector and its opposite is %v", name, c.Float)
			}
			if _, lo, hi := boundsOf(t, "cosine", seed.Seed, "0.9", left, right); lo <= dot/math.Sqrt(aa*bb)+1e-12 && dot/math.Sqrt(aa*bb) <= hi+1e-12 {
				hits++
			}
		}
		checkCoverage(t, "cosine "+name, hits, all, confidence)
	}
}

type listedPair struct {
	A, B       int64
	Similarity float64
	Exact      bool
}

// TestSimilarPairsAreThoseOfAllPairs compares the pairs that are found with the
// similarity of all: exact ones are, others are near, and few are missing.
func TestSimilarPairsAreThoseOfAllPairs(t *testing.T) {
	for _, c := range []struct {
		name                 string
		sets, elements       int
		k                    float64
		threshold, tolerance float64
	}{{"small sets", 60, 40, 128, 0.4, 0}, {"large sets", 30, 400, 128, 0.5, 0.25}} {
		found, all := 0, 0
		for trial := range trials(15) {
			r := rand.New(rand.NewPCG(uint64(trial), 5))
			sets := make([]map[int64]bool, c.sets)
			name, element := ints(0, 0), ints(0, 0)
			for i := range sets {
				sets[i] = map[int64]bool{}
				base := int64(i/3) * 1000 // threes that share much
				for range c.elements {
					x := base + r.Int64N(int64(c.elements)*5/8)
					sets[i][x] = true
					name.AppendInt(int64(i))
					element.AppendInt(x)
				}
			}
			seed := agg.Config{Seed: keyhash.Seed{K0: uint64(trial), K1: 6}}
			b := contractCase{"similar_pairs", types.Int8, []float64{c.threshold, c.k}, []types.OID{types.Int8}}.bind(t)
			s := mergedRows(t, b, seed, r, element, name)
			out := types.NewVector(types.Of(types.JSONB), 1)
			must(t, b.Final.Finalise(s, 1, 0.95, out, newBounds(b)))
			var list []listedPair
			jsonValue(t, out.Datum(0), &list)
			said := map[string]listedPair{}
			for _, p := range list {
				said[fmt.Sprint(p.A, p.B)] = p
			}
			for a := range sets {
				for b := a + 1; b < len(sets); b++ {
					want := jaccardOfMaps(sets[a], sets[b])
					p, listed := said[fmt.Sprint(a, b)]
					if want >= c.threshold+c.tolerance/2 {
						all++
						if listed {
							found++
						}
					}
					if listed && (p.Exact && p.Similarity != want || math.Abs(p.Similarity-want) > c.tolerance) {
						t.Errorf("%s: the similarity of %d and %d is %v, said %v (exact: %v)", c.name, a, b, want, p.Similarity, p.Exact)
					}
				}
			}
		}
		if all == 0 {
			t.Fatalf("%s: no pair is similar", c.name)
		}
		checkCoverage(t, "pairs of "+c.name, found, all, 0.99)
	}
}

func jaccardOfMaps(a, b map[int64]bool) float64 {
	both := 0
	for x := range a {
		if b[x] {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// Buckets are compared with a map of the latest rows.
func TestBucketsAreThoseOfTheLatestRows(t *testing.T) {
	for trial := range uint64(20) {
		r := rand.New(rand.NewPCG(trial, 7))
		n := 3000
		x, bucket, at := ints(n, 0), types.NewVector(types.Of(types.Int4), n), ints(n, 0)
		type row struct{ at, bucket int64 }
		latest := map[int64]row{}
		for i := range n {
			x.Ints[i], at.Ints[i] = r.Int64N(300), r.Int64N(50)
			b := r.Int64N(6) - 2
			bucket.AppendInt(b)
			if old, ok := latest[x.Ints[i]]; !ok || at.Ints[i] > old.at || at.Ints[i] == old.at && b > old.bucket {
				latest[x.Ints[i]] = row{at.Ints[i], b}
			}
		}
		want := map[int64]int64{}
		for _, l := range latest {
			want[l.bucket]++
		}
		b := contractCase{"bucket_agg", types.Int8, nil, []types.OID{types.Int4, types.Int8}}.bind(t)
		sketch := sketchValue(t, b, mergedRows(t, b, config, r, x, bucket, at))
		ec := &expr.Context{Seed: config.Seed}
		for id := int64(-3); id < 5; id++ {
			got, err := evalScalar(ec, "bucket_cardinality", sketch, types.IntDatum(types.Int4, id))
			must(t, err)
			if got.Int != want[id] {
				t.Errorf("bucket %d has %d values, said %d", id, want[id], got.Int)
			}
		}
	}
}
