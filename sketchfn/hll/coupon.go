package hll

import "math/bits"

// sparseBits is the number of bits of the index of a coupon.
const sparseBits = 26

// maxRank is the largest rank of a coupon: all bits behind the index are zero.
const maxRank = 64 - sparseBits + 1

// MinPrecision and MaxPrecision limit p; 2^p registers.
const (
	MinPrecision     = 4
	MaxPrecision     = 18
	DefaultPrecision = 12
)

// couponOf returns the coupon of a hash: index<<6 | rank. It is never 0.
func couponOf(h uint64) uint32 {
	return uint32(h>>(64-sparseBits))<<6 | uint32(bits.LeadingZeros64(h<<sparseBits|1<<(sparseBits-1))+1)
}

// registerOf returns the register of a hash at precision p, and its rank.
func registerOf(h uint64, p uint) (index uint32, rank uint8) {
	// Shifts are by less than 64, which the compiler is told, so that it does not test it.
	return uint32(h >> ((64 - p) & 63)), uint8(bits.LeadingZeros64(h<<(p&63)|1<<((p-1)&63))) + 1
}

// registerOfCoupon returns the same of the hash that the coupon was made of.
func registerOfCoupon(c uint32, p uint) (index uint32, rank uint8) {
	rest := c >> 6 & (1<<(sparseBits-p) - 1)
	if rest != 0 {
		return c >> (32 - p), uint8(bits.LeadingZeros32(rest)-(32-int(sparseBits-p))) + 1
	}
	return c >> (32 - p), uint8(sparseBits-p) + uint8(c&63)
}

// registerOfCoupon returns the register that a coupon of these states goes to.
// The rank of a foreign coupon comes from bits of their own, whatever the precision.
func (s *States) registerOfCoupon(c uint32) (index uint32, rank uint8) {
	if s.foreign {
		return c >> (32 - s.p), uint8(min(c&63, uint32(64-s.p+1)))
	}
	return registerOfCoupon(c, s.p)
}

// maxRank is the largest rank of a coupon of these states.
func (s *States) maxRank() uint64 {
	if s.foreign {
		return 63
	}
	return maxRank
}

// maxCoupons is the number of coupons that a group keeps before it turns dense:
// as many as a table of 2^p bytes takes at a load of 3/4.
func maxCoupons(p uint) int { return 3 << p / 16 }
