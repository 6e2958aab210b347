package bench

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/datasketches-go/common"
	"github.com/apache/datasketches-go/frequencies"
	ds "github.com/apache/datasketches-go/hll"
	"github.com/apache/datasketches-go/kll"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

// trials is how many sets of values errors are measured on.
const trials = 100

// chance is how much larger than another a root mean square of so many errors may be by
// chance: three standard deviations of the quotient of two.
const chance = 1.3

// rms is the root of the mean of squares.
type rms struct {
	sum float64
	n   int
}

func (r *rms) add(x float64) { r.sum, r.n = r.sum+x*x, r.n+1 }

func (r *rms) value() float64 { return math.Sqrt(r.sum / float64(r.n)) }

// estimate returns what one of our aggregates makes of a column, its declared error, and the
// bytes of the state.
func estimate(t *testing.T, name string, v *types.Vector, params ...float64) (x, declared float64, bytes int) {
	t.Helper()
	o := newOurs(t, name, v.Type.OID, params...)
	o.in[0] = v
	s := o.states(1)
	o.fold(t, s, 0)
	out := types.NewVector(o.bound.Final.Type(), 1)
	bounds := &agg.Bounds{Lo: types.NewVector(out.Type, 1), Hi: types.NewVector(out.Type, 1), Error: types.NewVector(types.Of(types.Float8), 1)}
	if err := o.bound.Final.Finalise(s, 1, 0.95, out, bounds); err != nil {
		t.Fatal(err)
	}
	switch out.Type.Kind() {
	case types.KindInt:
		x = float64(out.Ints[0])
	case types.KindFloat:
		x = out.Floats[0]
	}
	return x, bounds.Error.Floats[0], len(s.Append(nil, 0))
}

// TestErrors compares errors in one run, so that speed is not compared at another
// accuracy. Where one state is smaller and less accurate than the other, errors are compared
// as if both were as large: theirs of the square root of the bytes less.
func TestErrors(t *testing.T) {
	var ourHLL, ourKLL, theirHLL, theirKLL rms
	var hllBytes, kllBytes int
	v := types.NewVector(types.Of(types.Int8), rows)
	v.Ints = make([]int64, rows)
	for trial := range trials {
		h := must(ds.NewHllSketch(12, ds.TgtHllTypeHll8))
		for i := range v.Ints {
			v.Ints[i] = int64(trial*rows+i) * 7919
			if err := h.UpdateInt64(v.Ints[i]); err != nil {
				t.Fatal(err)
			}
		}
		n, _, size := estimate(t, "approx_distinct", v)
		hllBytes = max(hllBytes, size)
		ourHLL.add(n/rows - 1)
		theirHLL.add(must(h.GetCompositeEstimate())/rows - 1)

		column := types.NewVector(types.Of(types.Float8), rows)
		q := must(kll.NewKllItemsSketch[float64](200, 8, common.ItemSketchDoubleComparator(false), common.ItemSketchDoubleSerDe{}))
		for _, i := range rand.New(rand.NewPCG(uint64(trial), 1)).Perm(rows) { // the quantile q of these is q
			x := (float64(i) + 0.5) / rows
			column.Floats = append(column.Floats, x)
			q.Update(x)
		}
		for _, at := range []float64{0.1, 0.5, 0.9} {
			x, _, size := estimate(t, "approx_quantile", column, at)
			kllBytes = max(kllBytes, size)
			ourKLL.add(x - at)
			theirKLL.add(must(q.GetQuantile(at, true)) - at)
		}
	}
	compare(t, "distinct count, p = 12", accuracy{ourHLL.value(), hllBytes}, accuracy{theirHLL.value(), len(must(newDSHLL().ToCompactSlice()))}, chance)
	compare(t, "rank of a quantile, k = 200", accuracy{ourKLL.value(), kllBytes}, accuracy{theirKLL.value(), len(must(newDSKLL().ToSlice()))}, chance)

	// The error of a sample is a function of its size.
	v.Ints = integers
	_, _, size := estimate(t, "theta_agg", v)
	ofSample := func(bytes int) accuracy { return accuracy{1 / math.Sqrt(float64((bytes-16)/8-1)), bytes} }
	compare(t, "theta, k = 4096", ofSample(size), ofSample(16+8*int(newDSTheta().NumRetained())), 1.001)

	for name, x := range map[string][]int64{"distinct": integers, "zipf": zipf} {
		v.Ints = x
		_, declared, _ := estimate(t, "frequent_agg", v, 292)
		ours, theirs := accuracy{declared, 0}, accuracy{}
		s := must(frequencies.NewLongsSketchWithMaxMapSize(1024))
		for i, x := range x { // tables fill, and are emptied: their largest states are compared
			if err := s.Update(x); err != nil {
				t.Fatal(err)
			}
			if n := i + 1; n%1000 == 0 {
				part := types.NewVector(v.Type, n)
				part.Ints = v.Ints[:n]
				_, _, size := estimate(t, "frequent_agg", part, 292)
				ours.bytes, theirs.bytes = max(ours.bytes, size), max(theirs.bytes, len(s.ToSlice()))
			}
		}
		theirs.error = float64(s.GetMaximumError()) / rows
		compare(t, "counts of frequent items, "+name, ours, theirs, 1)
	}
}

// accuracy is the error that a state of so many bytes has.
type accuracy struct {
	error float64
	bytes int
}

// of is the error that a state of fewer bytes would have, by the law of estimates of
// samples. (That of counts and of ranks falls faster.)
func (a accuracy) of(bytes int) float64 { return a.error * math.Sqrt(float64(a.bytes)/float64(bytes)) }

// compare reports two accuracies; ours may be as much larger as is said.
func compare(t *testing.T, what string, ours, theirs accuracy, larger float64) {
	t.Helper()
	t.Logf("%-35s TallyDB %.4f %% of %d bytes, datasketches-go %.4f %% of %d, which is %.4f %% of as many", what,
		100*ours.error, ours.bytes, 100*theirs.error, theirs.bytes, 100*theirs.of(ours.bytes))
	if ours.error > larger*theirs.of(ours.bytes) || ours.bytes > theirs.bytes {
		t.Errorf("%s: the error is larger", what)
	}
}

// zipf is values of which a few are frequent.
var zipf = func() []int64 {
	out := make([]int64, rows)
	for i := range out {
		out[i] = int64(math.Exp(12 * (float64(uint64(i)*0x9e3779b97f4a7c15>>11) + 0.5) / (1 << 53)))
	}
	return out
}()
