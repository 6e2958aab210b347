package theta

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/limits"
)

// Sample is a set of hashes of which all below Theta are kept.
type Sample struct {
	Theta  uint64   // in (0, 2^63-1]; the latter means that all are kept
	Hashes []uint64 // sorted, distinct, in (0, Theta)
}

// trim keeps the k smallest hashes and makes the next one theta.
func (s Sample) trim(k int) Sample {
	if len(s.Hashes) > k {
		s.Theta = s.Hashes[k]
		s.Hashes = s.Hashes[:k]
	}
	return s
}

// below returns the hashes below theta.
func (s Sample) below(theta uint64) []uint64 {
	i, _ := slices.BinarySearch(s.Hashes, theta)
	return s.Hashes[:i]
}

// Union returns the sample of the union, of at most k hashes.
func Union(a, b Sample, k int) Sample {
	out := Sample{Theta: min(a.Theta, b.Theta)}
	out.Hashes = append(slices.Clone(a.below(out.Theta)), b.below(out.Theta)...)
	slices.Sort(out.Hashes)
	out.Hashes = slices.Compact(out.Hashes)
	return out.trim(k)
}

// Intersect returns the sample of the intersection.
func Intersect(a, b Sample) Sample { return combine(a, b, true) }

// Difference returns the sample of what is in a and not in b.
func Difference(a, b Sample) Sample { return combine(a, b, false) }

// combine keeps the hashes of a that are in b, or that are not.
func combine(a, b Sample, in bool) Sample {
	out := Sample{Theta: min(a.Theta, b.Theta)}
	rest := b.below(out.Theta)
	for _, h := range a.below(out.Theta) {
		for len(rest) > 0 && rest[0] < h {
			rest = rest[1:]
		}
		if (len(rest) > 0 && rest[0] == h) == in {
			out.Hashes = append(out.Hashes, h)
		}
	}
	return out
}

// Estimate is what a sample says of the number of values in its set.
type Estimate struct {
	Value, Lo, Hi float64 // the limits hold at the confidence
	// Error is the larger relative distance of the limits from the value; 0 is
	// exact, NaN unknown.
	Error float64
}

// Estimate returns the number of values and its limits: each value is in the
// sample with probability theta. For the k smallest hashes, theta is the next
// one, which makes the estimate unbiased (Beyer, Haas, Reinwald, Sismanis,
// Gemulla: On synopses for distinct-value estimation under multiset operations,
// 2007), and P(hash k+1 ≤ theta) is the binomial tail that the limits invert.
func (s Sample) Estimate(confidence float64) Estimate {
	n := len(s.Hashes)
	if s.Theta == maxTheta {
		return Estimate{Value: float64(n), Lo: float64(n), Hi: float64(n)}
	}
	rate := float64(s.Theta) / (1 << 63)
	e := Estimate{Value: float64(n) / rate}
	e.Lo, e.Hi = limits.Thinned(n, rate, confidence)
	e.Hi = max(e.Hi, e.Value)
	e.Lo = min(e.Lo, e.Value)
	e.Error = math.NaN()
	if n > 0 {
		e.Error = max(e.Hi/e.Value-1, 1-e.Lo/e.Value)
	}
	return e
}

// The portable form, version 1, behind the version byte:
//
//	theta   8 bytes little-endian
//	hashes  uvarint number; the sorted hashes, 8 bytes little-endian each
func (s Sample) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, s.Theta)
	dst = binary.AppendUvarint(dst, uint64(len(s.Hashes)))
	for _, h := range s.Hashes {
		dst = binary.LittleEndian.AppendUint64(dst, h)
	}
	return dst
}
