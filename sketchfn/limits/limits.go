package limits

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Deviations returns the number of standard deviations that a normal variable
// stays within at a confidence in [0, 1).
func Deviations(confidence float64) float64 {
	return math.Sqrt2 * math.Erfinv(min(max(confidence, 0), 1-1e-12))
}

// exactBelow is the count from which the normal approximation is as good.
const exactBelow = 200

// Thinned returns limits of a number of values n of which kept were kept, each
// with probability p in (0, 1], independently: those of Clopper and Pearson (The
// use of confidence or fiducial limits, 1934) for small counts, those of Wilson
// (Probable inference, 1927) above.
func Thinned(kept int, p, confidence float64) (lo, hi float64) {
	if p >= 1 {
		return float64(kept), float64(kept)
	}
	c := float64(kept)
	if kept >= exactBelow {
		z := Deviations(confidence)
		a, b := 2*c+z*z*(1-p), z*math.Sqrt(1-p)*math.Sqrt(4*c+z*z*(1-p))
		return max((a-b)/(2*p), c), (a + b) / (2 * p)
	}
	tail := (1 - min(max(confidence, 0), 1-1e-12)) / 2
	if kept > 0 {
		// P(at least kept | n) rises with n.
		lo = search(c, c/p, func(n float64) bool { return n <= c-1 || mathext.RegIncBeta(c, n-c+1, p) < tail })
	}
	// P(at most kept | n) falls with n.
	hi = search(c, (c+5)/p, func(n float64) bool { return n <= c || 1-mathext.RegIncBeta(c+1, n-c, p) > tail })
	return lo, hi
}

// search returns the n from which on below is false. It is true up to there;
// guess is of its order of magnitude.
func search(least, guess float64, below func(float64) bool) float64 {
	hi := max(guess, least+1)
	for below(hi) && hi < math.MaxFloat64/4 {
		hi *= 2
	}
	lo := least
	for range 60 {
		mid := lo + (hi-lo)/2
		if below(mid) {
			lo = mid
		} else {
			hi = mid
		}
		if hi-lo < 1e-9*hi {
			break
		}
	}
	return hi
}

// MedianRate returns the largest probability of failure of each of n independent
// estimates, n odd, at which their median holds with the confidence: more than
// half of them have to fail for the median to fail.
func MedianRate(n int, confidence float64) float64 {
	fail := 1 - min(max(confidence, 0), 1-1e-12)
	m := float64(n/2 + 1)
	lo, hi := 0.0, 1.0
	for range 60 {
		mid := (lo + hi) / 2
		if mathext.RegIncBeta(m, float64(n)-m+1, mid) <= fail {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// Proportion returns limits of a probability of which hits of n trials succeeded:
// those of Clopper and Pearson.
func Proportion(hits, n int, confidence float64) (lo, hi float64) {
	tail := (1 - min(max(confidence, 0), 1-1e-12)) / 2
	x, m := float64(hits), float64(n)
	hi = 1
	if hits > 0 {
		lo = mathext.InvRegIncBeta(x, m-x+1, tail)
	}
	if hits < n {
		hi = mathext.InvRegIncBeta(x+1, m-x, 1-tail)
	}
	return lo, hi
}
