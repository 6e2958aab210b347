package sketchfn_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// Each row is sampled as often as any other, and twice never.
func TestSamplesAreUniform(t *testing.T) {
	const n, k = 200, 20
	counts := make([]int, n)
	runs := trials(600)
	for trial := range runs {
		b := contractCase{"sample_agg", types.Int8, []float64{k}, []types.OID{types.Int8}}.bind(t)
		s := b.State.New(agg.Config{Seed: keyhash.Seed{K0: uint64(trial), K1: 4}})
		s.Grow(2)
		v := ints(n, 0)
		update(t, s, 0, v, v)
		update(t, s, 1, v, v)
		must(t, s.MergeFrom(0, s, 1))
		out := types.NewVector(types.Of(types.Int8Array), 1)
		must(t, b.Final.Finalise(s, 1, 0.95, out, nil))
		a, err := types.ArrayDatum(out.Datum(0))
		must(t, err)
		if len(a.Items) != k {
			t.Fatalf("%d rows sampled", len(a.Items))
		}
		seen := map[int64]bool{}
		for _, d := range a.Items {
			if seen[d.Int] {
				t.Fatalf("row %d is sampled twice", d.Int)
			}
			seen[d.Int] = true
			counts[d.Int]++
		}
	}
	want := float64(runs) * k / n
	chi := 0.0
	for _, c := range counts {
		chi += square(float64(c)-want) / want
	}
	if limit := n + 5*math.Sqrt(2*n); chi > limit {
		t.Errorf("chi-square %.1f of %d rows", chi, n)
	}
}

type sampled struct {
	Value            int64
	Weight, Estimate float64
}

// Sums of the estimates of any subset are unbiased, with the error that theory
// gives the total.
func TestPrioritySamplesAreUnbiased(t *testing.T) {
	const n, k = 3000, 64
	r := rand.New(rand.NewPCG(9, 9))
	v, w := ints(n, 0), types.NewVector(types.Of(types.Float8), n)
	total, part := 0.0, 0.0
	for i := range n {
		x := math.Exp(3 * r.NormFloat64())
		w.AppendFloat(x)
		total += x
		if i%3 == 0 {
			part += x
		}
	}
	runs := trials(300)
	sum, third, squares := 0.0, 0.0, 0.0
	for trial := range runs {
		b := contractCase{"priority_sample", types.Int8, []float64{k}, []types.OID{types.Float8, types.Int8}}.bind(t)
		s := b.State.New(agg.Config{Seed: keyhash.Seed{K0: uint64(trial), K1: 5}})
		s.Grow(1)
		update(t, s, 0, v, w, v)
		out := types.NewVector(types.Of(types.JSONB), 1)
		must(t, b.Final.Finalise(s, 1, 0.95, out, nil))
		var list []sampled
		must(t, json.Unmarshal(out.Bytes(0), &list))
		if len(list) != k {
			t.Fatalf("%d rows sampled", len(list))
		}
		all := 0.0
		for _, x := range list {
			all += x.Estimate
			if x.Value%3 == 0 {
				third += x.Estimate
			}
		}
		sum += all
		squares += square(all/total - 1)
	}
	declared := 1 / math.Sqrt(k-1)
	if e := sum/float64(runs)/total - 1; math.Abs(e) > 4*declared/math.Sqrt(float64(runs)) {
		t.Errorf("the total is off by %.4f on average", e)
	}
	if e := third/float64(runs)/part - 1; math.Abs(e) > 4*2*declared/math.Sqrt(float64(runs)) {
		t.Errorf("the sum of a third is off by %.4f on average", e)
	}
	if rms := math.Sqrt(squares / float64(runs)); rms > declared*1.2 {
		t.Errorf("rms error %.4f, at most %.4f declared", rms, declared)
	}
}
