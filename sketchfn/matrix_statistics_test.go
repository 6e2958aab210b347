package sketchfn_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// matrixShapes fill row i of n of a matrix.
var matrixShapes = map[string]func(r *rand.Rand, i, n int, row []float64){
	"isotropic": func(r *rand.Rand, _, _ int, row []float64) {
		for j := range row {
			row[j] = r.NormFloat64()
		}
	},
	"decaying": func(r *rand.Rand, _, _ int, row []float64) {
		for j := range row {
			row[j] = r.NormFloat64() / float64(j+1)
		}
	},
	"low rank and noise": func(r *rand.Rand, _, _ int, row []float64) {
		a, b := r.NormFloat64()*10, r.NormFloat64()*3
		for j := range row {
			row[j] = a*math.Sin(float64(j)) + b*math.Cos(float64(3*j)) + r.NormFloat64()/10
		}
	},
	"one number a row": func(r *rand.Rand, _, _ int, row []float64) { row[int(r.ExpFloat64()*3)%len(row)] = 1 },
	"drifting": func(_ *rand.Rand, i, n int, row []float64) { // the directions come one after the other
		row[i*len(row)/n] = float64(1 + i%7)
	},
}

// matrixOf returns a random matrix and its rows as a column.
func matrixOf(r *rand.Rand, shape func(*rand.Rand, int, int, []float64), n, d int) (*mat.Dense, *types.Vector) {
	a, v := mat.NewDense(n, d, nil), types.NewVector(types.Of(types.Float8Array), n)
	for i := range n {
		shape(r, i, n, a.RawRowView(i))
		items := make([]types.Datum, d)
		for j, x := range a.RawRowView(i) {
			items[j] = types.FloatDatum(x)
		}
		v.AppendDatum(types.NewArray(types.Of(types.Float8), items).Datum())
	}
	return a, v
}

// matrixValue reads a float8[] of two dimensions.
func matrixValue(t *testing.T, d types.Datum, n int) *mat.Dense {
	t.Helper()
	x, dims, err := types.AppendFloats(nil, d.Bytes)
	must(t, err)
	if dims != 2 || len(x) != n*n {
		t.Fatalf("%d numbers in %d dimensions", len(x), dims)
	}
	return mat.NewDense(n, n, x)
}

func sketchValue(t *testing.T, b agg.Bound, s agg.States) types.Datum {
	t.Helper()
	out := types.NewVector(types.Of(types.Sketch), 1)
	must(t, b.Final.Finalise(s, 1, 0.95, out, newBounds(b)))
	return out.Datum(0)
}

// spectrum returns the eigenvalues of AᵀA - B, the least and the largest.
func spectrum(a *mat.Dense, b mat.Matrix) (least, most float64) {
	_, d := a.Dims()
	var c mat.Dense
	c.Mul(a.T(), a)
	c.Sub(&c, b)
	sym := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			sym.SetSym(i, j, c.At(i, j))
		}
	}
	var eigen mat.EigenSym
	eigen.Factorize(sym, false)
	values := eigen.Values(nil)
	return values[0], values[d-1]
}

// TestFrequentDirectionsHold compares sketches, merged in random trees and not,
// with the singular values of the whole matrix: what is missed in any direction is
// within the bound that the sketch says, which is within the one of the paper.
func TestFrequentDirectionsHold(t *testing.T) {
	const n = 600
	for name, shape := range matrixShapes {
		for trial := range trials(1) {
			for _, d := range []int{3, 12, 40} {
				for _, l := range []int{4, 16} {
					r := rand.New(rand.NewPCG(uint64(trial), uint64(d*l)))
					a, v := matrixOf(r, shape, n, d)
					b := mustBind(t, "fd_agg", types.Float8Array, float64(l))
					whole := b.State.New(config)
					whole.Grow(1)
					update(t, whole, 0, v)
					for _, s := range []agg.States{whole, mergedRows(t, b, config, r, v)} {
						checkDirections(t, name, a, sketchValue(t, b, s), d, l)
					}
				}
			}
		}
	}
}

func checkDirections(t *testing.T, name string, a *mat.Dense, sketch types.Datum, d, l int) {
	t.Helper()
	said := jsonNumber(t, mustScalar(t, "sketch_info", sketch), "covariance_error")
	energy := jsonNumber(t, mustScalar(t, "sketch_info", sketch), "energy")
	slack := energy * 1e-9
	least, most := spectrum(a, matrixValue(t, mustScalar(t, "fd_covariance", sketch), d))
	if least < -slack || most > said+slack {
		t.Errorf("%s d=%d l=%d: from %g to %g is missed, said %g", name, d, l, least, most, said)
	}
	var svd mat.SVD
	svd.Factorize(a, mat.SVDNone)
	rest := 0.0
	for _, s := range svd.Values(nil) {
		rest += s * s
	}
	if diff := math.Abs(rest - energy); diff > slack {
		t.Errorf("%s: the energy is %g, not %g", name, rest, energy)
	}
	for k, s := range svd.Values(nil) {
		if k > l {
			break
		}
		if paper := rest / float64(l+1-k); said > paper+slack {
			t.Errorf("%s d=%d l=%d: said %g, the paper with k=%d gives %g", name, d, l, said, k, paper)
		}
		rest -= s * s
	}
	if d <= l && said > slack {
		t.Errorf("%s: %d numbers a row in %d directions have the error %g", name, d, l, said)
	}
	lo, hi, _ := evalBounds(t, &expr.Context{Seed: config.Seed}, "fd_covariance", sketch)
	var exact mat.Dense
	exact.Mul(a.T(), a)
	for i := range d {
		for j := range d {
			if x := exact.At(i, j); matrixValue(t, lo, d).At(i, j) > x+slack || matrixValue(t, hi, d).At(i, j) < x-slack {
				t.Fatalf("%s: number %d, %d is outside its limits", name, i, j)
			}
		}
	}
}

// The top directions of a sketch are those of the singular value decomposition
// where one stands out.
func TestTopDirectionIsThatOfTheSVD(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	const d = 30
	a, v := matrixOf(r, matrixShapes["low rank and noise"], 2000, d)
	b := mustBind(t, "fd_agg", types.Float8Array, 8)
	s := b.State.New(config)
	s.Grow(1)
	update(t, s, 0, v)
	var svd mat.SVD
	svd.Factorize(a, mat.SVDThinV)
	var axes mat.Dense
	svd.VTo(&axes)
	var got []struct {
		Energy    float64
		EnergyHi  float64 `json:"energy_hi"`
		Direction []float64
	}
	jsonValue(t, mustScalar(t, "fd_top_directions", sketchValue(t, b, s), types.IntDatum(types.Int4, 2)), &got)
	if len(got) != 2 {
		t.Fatalf("%d directions", len(got))
	}
	for k, g := range got {
		cosine := 0.0
		for j, x := range g.Direction {
			cosine += x * axes.At(j, k)
		}
		if true2 := square(svd.Values(nil)[k]); math.Abs(cosine) < 0.9999 || g.Energy > true2*1.000001 || g.EnergyHi < true2 {
			t.Errorf("direction %d: cosine %g, energy %g to %g, is %g", k, cosine, g.Energy, g.EnergyHi, true2)
		}
	}
}

// Projections are unbiased, and within their error as often as they say.
func TestProjectionErrorIsWhatIsDeclared(t *testing.T) {
	const n, d, l, confidence = 150, 6, 32, 0.9
	for name, shape := range matrixShapes {
		a, v := matrixOf(rand.New(rand.NewPCG(5, 5)), shape, n, d)
		ids := ints(n, 0)
		var exact, sum mat.Dense
		exact.Mul(a.T(), a)
		sum.CloneFrom(mat.NewDense(d, d, nil))
		energy := mat.Trace(&exact)
		hits, all, squares := 0, trials(150), 0.0
		for trial := range all {
			r := rand.New(rand.NewPCG(uint64(trial), 6))
			seed := agg.Config{Seed: keyhash.Seed{K0: uint64(trial), K1: 8}}
			b := contractCase{"projection_agg", types.Float8Array, []float64{l}, []types.OID{types.Int8}}.bind(t)
			sketch := sketchValue(t, b, mergedRows(t, b, seed, r, ids, v))
			ec := &expr.Context{Seed: seed.Seed, Setting: func(string) (string, bool) { return "0.9", true }}
			lo, hi, x := evalBounds(t, ec, "projection_covariance", sketch)
			got := matrixValue(t, x, d)
			sum.Add(&sum, got)
			var diff mat.Dense
			diff.Sub(got, &exact)
			squares += square(mat.Norm(&diff, 2))
			if inside(&exact, matrixValue(t, lo, d), matrixValue(t, hi, d)) && mat.Norm(&diff, 2) <= energy*math.Sqrt(2/(l*(1-confidence))) {
				hits++
			}
		}
		checkCoverage(t, "projection "+name, hits, all, confidence)
		declared := energy * math.Sqrt(2/float64(l))
		if rms := math.Sqrt(squares / float64(all)); rms > declared {
			t.Errorf("%s: rms error %g, at most %g declared", name, rms, declared)
		}
		sum.Scale(1/float64(all), &sum)
		sum.Sub(&sum, &exact)
		if bias := mat.Norm(&sum, 2); bias > 4*declared/math.Sqrt(float64(all)) {
			t.Errorf("%s: off by %g on average", name, bias)
		}
	}
}

func inside(x, lo, hi *mat.Dense) bool {
	d, _ := x.Dims()
	for i := range d {
		for j := range d {
			if x.At(i, j) < lo.At(i, j) || x.At(i, j) > hi.At(i, j) {
				return false
			}
		}
	}
	return true
}

// What is no row of the matrix is refused, and leaves the state as it was.
func TestRowsThatDoNotFitAreRefused(t *testing.T) {
	for _, c := range []contractCase{{"fd_agg", types.Float8Array, nil, nil}, {"projection_agg", types.Float8Array, nil, []types.OID{types.Float8Array}}} {
		b := c.bind(t)
		s := states(b, 1)
		in := func(text string) []*types.Vector {
			d, err := types.Parse(types.Of(types.Float8Array), []byte(text), nil)
			must(t, err)
			v := types.NewVector(d.Type, 1)
			v.AppendDatum(d)
			return []*types.Vector{v, v}[:len(b.ArgTypes)]
		}
		update(t, s, 0, in("{1,2,3}")...)
		before := string(s.Append(nil, 0))
		for text, code := range map[string]sqlerr.Code{
			"{}": sqlerr.InvalidParameterValue, "{{1,2,3}}": sqlerr.InvalidParameterValue, "{1,2}": sqlerr.InvalidParameterValue,
			"{1,NULL,3}": sqlerr.NullValueNotAllowed, "{1,NaN,3}": sqlerr.NumericValueOutOfRange, "{1,Infinity,0}": sqlerr.NumericValueOutOfRange,
			"{1e200,0,0}": sqlerr.NumericValueOutOfRange,
		} {
			if err := s.Update([]uint32{0}, []int32{0}, in(text)); sqlerr.CodeOf(err) != code {
				t.Errorf("%s of %s: %v", c.name, text, err)
			}
			if string(s.Append(nil, 0)) != before {
				t.Errorf("%s of %s left a trace", c.name, text)
			}
		}
	}
}
