package hll

import "math"

// Estimate is what a state says about the number of distinct values.
type Estimate struct {
	Value  float64
	Lo, Hi float64 // limits at the confidence
	Error  float64 // half the relative width of the limits: z times the relative standard error; 0 only for no value
}

// sparseError is the relative standard error of a count of coupons: of n values
// n²/2^27 share an index with another one, on average.
var sparseError = math.Pow(2, -(sparseBits+1)/2.0)

// RelativeError is the relative standard error of dense states of precision p:
// 1.04/sqrt(2^p) (Flajolet et al., 2007; Ertl, 2017, shows that it holds for all
// cardinalities). The estimator does without a correction for few registers, so
// there it is larger; these constants are measured.
func RelativeError(p uint) float64 {
	beta := 1.04
	switch p {
	case 4:
		beta = 1.223
	case 5:
		beta = 1.129
	case 6:
		beta = 1.080
	case 7:
		beta = 1.063
	case 8:
		beta = 1.045
	}
	return beta / math.Sqrt(float64(uint64(1)<<p))
}

// deviations returns the number of standard deviations that a normal variable
// stays within at this confidence.
func deviations(confidence float64) float64 {
	return math.Sqrt2 * math.Erfinv(min(max(confidence, 0), 1-1e-12))
}

// estimate returns the estimate of a group.
func (s *States) estimate(g uint32, confidence float64) Estimate {
	slot := s.slots[g]
	if slot.class == denseClass {
		return estimateRegisters(s.dense.Block(0, slot.ref), s.p, confidence)
	}
	return estimateCoupons(int(slot.n), confidence)
}

// estimateCoupons counts linearly over the 2^26 indexes (Whang, Vander-Zanden,
// Taylor, 1990). There are never fewer values than indexes; how many more is
// Poisson.
func estimateCoupons(n int, confidence float64) Estimate {
	if n == 0 {
		return Estimate{}
	}
	const m = 1 << sparseBits
	value := -m * math.Log1p(-float64(n)/m)
	shared := value * value / (2 * m)
	hi, p := float64(n), math.Exp(-shared)
	for below := p; below < min(confidence, 1-1e-12) && hi < float64(n)+64; below += p {
		hi++
		p *= shared / (hi - float64(n))
	}
	return Estimate{Value: value, Lo: float64(n), Hi: max(hi, math.Round(value)), Error: deviations(confidence) * sparseError}
}

// estimateRegisters is the improved raw estimator. The estimate is the inverse
// of a sum over registers that is nearly normal around the inverse of the true
// number, so the true number is nearly normal around the estimate; what skew few
// registers leave is on the upper side, which exp covers.
func estimateRegisters(registers []uint8, p uint, confidence float64) Estimate {
	var a, b [66]int32 // two histograms, so that equal neighbours do not wait for each other
	for i := 0; i+1 < len(registers); i += 2 {
		a[registers[i]&63]++
		b[registers[i+1]&63]++
	}
	for i := range a {
		a[i] += b[i]
	}
	m := float64(len(registers))
	q := 64 - int(p)
	z := m * tau(1-float64(a[q+1])/m)
	for k := q; k >= 1; k-- {
		z = 0.5 * (z + float64(a[k]))
	}
	z += m * sigma(float64(a[0])/m)
	value := m * m / (2 * math.Ln2) / z
	least := float64(maxCoupons(p) + 1) // fewer would be coupons
	half := deviations(confidence) * RelativeError(p)
	e := Estimate{Value: max(value, least), Error: half}
	e.Lo = max(value*(1-half), least)
	e.Hi = max(value*math.Exp(half), e.Value)
	return e
}

// sigma is x + Σ x^(2^k) 2^(k-1), for registers that saw nothing (Ertl, 2017, algorithm 6).
func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for {
		x *= x
		last := z
		z += x * y
		y += y
		if z == last {
			return z
		}
	}
}

// tau is the same for registers that are full (Ertl, 2017, algorithm 6).
func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		last := z
		y *= 0.5
		z -= (1 - x) * (1 - x) * y
		if z == last {
			return z / 3
		}
	}
}
