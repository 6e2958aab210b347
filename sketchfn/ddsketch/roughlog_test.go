package ddsketch

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The fast bins are the bins, also of the numbers next to their borders.
func TestFastBinsAreTheBins(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, alpha := range []float64{0.0005, 0.01, 0.25} {
		a := newAlgebra(alpha)
		check := func(x float64) {
			if x >= leastNormal && x <= math.MaxFloat64 && a.fastBin(x) != a.bin(x) {
				t.Fatalf("alpha %v: %v is in bin %d, said %d", alpha, x, a.bin(x), a.fastBin(x))
			}
		}
		for range 200_000 {
			x := math.Exp((r.Float64() - 0.5) * 1416)
			if diff := math.Abs(roughLog(x) - math.Log(x)); x >= leastNormal && diff > 1e-10 {
				t.Fatalf("the logarithm of %v is off by %g", x, diff)
			}
			check(x)
			edge := math.Exp(float64(a.bin(x)) * a.logGamma)
			for _, x := range []float64{edge, math.Nextafter(edge, 0), math.Nextafter(edge, math.Inf(1))} {
				check(x)
			}
		}
		for _, x := range []float64{leastNormal, 1, math.Nextafter(1, 0), 2, math.MaxFloat64} {
			check(x)
		}
	}
}
