package ddsketch

import "math"

const (
	leastNormal  = 0x1p-1022
	tableBits    = 7
	mantissaBits = 52
)

// tangents holds, for each part of [1, 2), the logarithm of its middle and the
// inverse of that.
var tangents = func() (out [1 << tableBits]struct{ log, inverse float64 }) {
	for i := range out {
		middle := 1 + (float64(i)+0.5)/float64(len(out))
		out[i].log, out[i].inverse = math.Log(middle), 1/middle
	}
	return out
}()

// roughLog returns the natural logarithm of a normal positive number, off by less
// than 1e-10: by three terms of the series around the middle of a part.
func roughLog(x float64) float64 {
	b := math.Float64bits(x)
	exponent := float64(int64(b>>mantissaBits) - 1023)
	mantissa := math.Float64frombits(b&(1<<mantissaBits-1) | 1023<<mantissaBits)
	t := &tangents[b>>(mantissaBits-tableBits)&(1<<tableBits-1)]
	r := mantissa*t.inverse - 1
	return exponent*math.Ln2 + t.log + r*(1-r*(0.5-r*(1.0/3)))
}
