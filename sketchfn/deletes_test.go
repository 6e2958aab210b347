package sketchfn_test

import (
	"math/rand/v2"
	"testing"

	"github.com/tallydb/tallydb/sketchfn/countsketch"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

// weightedFrequency binds approx_frequency of rows with weights.
func weightedFrequency(t *testing.T, value int64, strict bool, params ...float64) agg.Bound {
	t.Helper()
	v := types.IntDatum(types.Int8, value)
	args, consts := []types.Type{types.Of(types.Int8), v.Type}, []*types.Datum{nil, &v}
	for _, p := range params {
		d := types.FloatDatum(p)
		args, consts = append(args, d.Type), append(consts, &d)
	}
	b, err := registry().Lookup("approx_frequency").Weighted(append(args, types.Of(types.Int8)), append(consts, nil), strict)
	must(t, err)
	return b
}

// TestFrequenciesWithDeletesHold: counts of what is left after deletes are within their
// bounds, which are as narrow as was asked for, however much was deleted.
func TestFrequenciesWithDeletesHold(t *testing.T) {
	const rows, values = 20_000, 2000
	hits, all := 0, 0
	for trial := range trials(30) {
		r := rand.New(rand.NewPCG(uint64(trial), 21))
		column, weights := ints(2*rows, 0), ints(2*rows, 0)
		counts := map[int64]int64{}
		squares := 0.0
		for i := range rows {
			x := int64(float64(values) * r.Float64() * r.Float64() * r.Float64())
			column.Ints[i], weights.Ints[i] = x, 1
			column.Ints[rows+i], weights.Ints[rows+i] = x, -1
			if i%10 == 0 { // stays
				weights.Ints[rows+i] = 0
				counts[x]++
			}
		}
		for _, n := range counts {
			squares += float64(n * n)
		}
		for value := range int64(20) {
			b := weightedFrequency(t, value, true, 0.95, 0.1)
			s := states(b, 1)
			update(t, s, 0, column, weights)
			out, bounds := types.NewVector(types.Of(types.Int8), 1), newBounds(b)
			must(t, b.Final.Finalise(s, 1, 0.95, out, bounds))
			lo, hi := bounds.Lo.Ints[0], bounds.Hi.Ints[0]
			all++
			if lo <= counts[value] && counts[value] <= hi {
				hits++
			}
			if share := bounds.Error.Floats[0]; share > 0.1 {
				t.Errorf("the error is %v of the root of %v, 0.1 was asked for", share, squares)
			}
			if out.Ints[0] < 0 || lo < 0 {
				t.Errorf("less than nothing: %d, at least %d", out.Ints[0], lo)
			}
		}
	}
	checkCoverage(t, "approx_frequency with deletes", hits, all, 0.95)
}

// TestFrequencyWithDeletesIsTheSmallestSketch: a smaller error takes a larger sketch,
// and one that no sketch has is refused.
func TestFrequencyWithDeletesIsTheSmallestSketch(t *testing.T) {
	coarse, fine := weightedFrequency(t, 1, false), weightedFrequency(t, 1, false, 0.995, 0.02)
	if c, f := coarse.State.BytesPerGroup(1000), fine.State.BytesPerGroup(1000); c > 64<<10 || f < 10*c {
		t.Errorf("%d bytes for the default, %d for a fifth of the error", c, f)
	}
	if _, ok := coarse.Final.(countsketch.Frequency); !ok {
		t.Errorf("%T", coarse.Final)
	}
	eps, p := types.FloatDatum(0.0001), types.FloatDatum(0.995)
	_, err := registry().Lookup("freq_agg").Weighted([]types.Type{types.Of(types.Text), p.Type, eps.Type, types.Of(types.Int8)}, []*types.Datum{nil, &p, &eps, nil}, true)
	if err == nil {
		t.Error("an error of 0.0001 of the second moment was not refused")
	}
}
