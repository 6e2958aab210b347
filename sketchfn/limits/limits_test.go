package limits

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestThinnedCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const n, trials = 400, 4000
	for _, p := range []float64{0.002, 0.02, 0.3, 0.9} {
		hits := 0
		for range trials {
			kept := 0
			for range n {
				if r.Float64() < p {
					kept++
				}
			}
			if lo, hi := Thinned(kept, p, 0.9); lo <= n && n <= hi {
				hits++
			}
		}
		if got := float64(hits) / trials; got < 0.9-3*math.Sqrt(0.09/trials) {
			t.Errorf("p=%v: the limits hold in %v", p, got)
		}
	}
}

// Where the two methods meet, they agree to a fraction of their width.
func TestMethodsAgree(t *testing.T) {
	for _, p := range []float64{1e-9, 0.01, 0.5} {
		lo, hi := Thinned(exactBelow-1, p, 0.95)
		l2, h2 := Thinned(exactBelow, p, 0.95)
		step := 1 / p
		if math.Abs(l2-lo-step) > 0.06*(hi-lo) || math.Abs(h2-hi-step) > 0.06*(hi-lo) {
			t.Errorf("p=%v: [%v, %v] and [%v, %v]", p, lo, hi, l2, h2)
		}
	}
}

func TestExtremes(t *testing.T) {
	if lo, hi := Thinned(7, 1, 0.95); lo != 7 || hi != 7 {
		t.Error("what is counted in full is exact")
	}
	lo, hi := Thinned(0, 0.5, 0.95)
	if lo != 0 || math.Abs(math.Pow(0.5, hi)-0.025) > 1e-6 {
		t.Errorf("none of n was kept: %v, %v", lo, hi)
	}
	if math.Abs(Deviations(0.95)-1.959964) > 1e-5 || math.IsInf(Deviations(1), 0) {
		t.Error("deviations")
	}
}

func TestMedianRate(t *testing.T) {
	if p := MedianRate(1, 0.95); math.Abs(p-0.05) > 1e-9 {
		t.Errorf("%v", p)
	}
	p := MedianRate(3, 0.9) // two of three fail with 3p²-2p³
	if got := 3*p*p - 2*p*p*p; math.Abs(got-0.1) > 1e-9 {
		t.Errorf("%v", got)
	}
}

func TestProportionCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	const n, trials = 64, 3000
	for _, p := range []float64{0.01, 0.3, 0.95} {
		hits := 0
		for range trials {
			x := 0
			for range n {
				if r.Float64() < p {
					x++
				}
			}
			if lo, hi := Proportion(x, n, 0.9); lo <= p && p <= hi {
				hits++
			}
		}
		if got := float64(hits) / trials; got < 0.9-3*math.Sqrt(0.09/trials) {
			t.Errorf("p=%v: the limits hold in %v", p, got)
		}
	}
}
