// Package keyhash is the vocabulary of keyed hashing: one secret seed per
// tenant, one 64-bit hash per routing key, and finalisers that give each use of
// it independent bits.
//
// The hash is SipHash-1-3 (Aumasson, Bernstein: SipHash: a fast short-input
// PRF, 2012; the 1-3 variant is what Rust and Ruby use for their tables). It is
// keyed, so who does not know the seed cannot choose keys that collide.
package keyhash

import (
	"encoding/binary"
	"math/bits"
)

// Seed is a tenant's secret 128-bit key.
type Seed struct{ K0, K1 uint64 }

// ID identifies a seed without revealing it: state of different seeds never merges.
func (s Seed) ID() uint64 { return Sum64(s, []byte("tallydb seed id")) }

// Derive returns an independent seed for a purpose.
func (s Seed) Derive(purpose string) Seed {
	lo, hi := Sum128(s, []byte(purpose))
	return Seed{lo, hi}
}

// round is SipHash's permutation. It takes and returns its state by value, so
// that the state stays in registers.
func round(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}

// absorb hashes b up to finalisation; wide distinguishes the 128-bit variant.
func absorb(k Seed, b []byte, wide uint64) (v0, v1, v2, v3 uint64) {
	v0, v1 = k.K0^0x736f6d6570736575, k.K1^0x646f72616e646f6d^wide
	v2, v3 = k.K0^0x6c7967656e657261, k.K1^0x7465646279746573
	n := uint64(len(b))
	for len(b) >= 8 {
		m := binary.LittleEndian.Uint64(b)
		v3 ^= m
		v0, v1, v2, v3 = round(v0, v1, v2, v3)
		v0 ^= m
		b = b[8:]
	}
	m := n<<56 | tail(b)
	v3 ^= m
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	return v0 ^ m, v1, v2, v3
}

// tail returns up to seven bytes as a little-endian number, without a loop.
func tail(b []byte) uint64 {
	switch n := len(b); {
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<(8*(n-4))
	case n > 0:
		return uint64(b[0]) | uint64(b[n/2])<<(8*(n/2)) | uint64(b[n-1])<<(8*(n-1))
	}
	return 0
}

// finish runs the three rounds of finalisation.
func finish(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	return round(v0, v1, v2, v3)
}

// Sum64 returns the 64-bit hash of b.
func Sum64(k Seed, b []byte) uint64 {
	v0, v1, v2, v3 := absorb(k, b, 0)
	v0, v1, v2, v3 = finish(v0, v1, v2^0xff, v3)
	return v0 ^ v1 ^ v2 ^ v3
}

// Sum128 returns a 128-bit hash of b as two words.
func Sum128(k Seed, b []byte) (lo, hi uint64) {
	v0, v1, v2, v3 := absorb(k, b, 0xee)
	v0, v1, v2, v3 = finish(v0, v1, v2^0xee, v3)
	lo = v0 ^ v1 ^ v2 ^ v3
	v0, v1, v2, v3 = finish(v0, v1^0xdd, v2, v3)
	return lo, v0 ^ v1 ^ v2 ^ v3
}

// Sum64Int returns the hash of the eight little-endian bytes of x, without a buffer.
func Sum64Int(k Seed, x uint64) uint64 {
	v0, v1 := k.K0^0x736f6d6570736575, k.K1^0x646f72616e646f6d
	v2, v3 := k.K0^0x6c7967656e657261, k.K1^0x7465646279746573^x
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0, v3 = v0^x, v3^8<<56
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0, v1, v2, v3 = finish(v0^8<<56, v1, v2^0xff, v3)
	return v0 ^ v1 ^ v2 ^ v3
}

// FinaliseInts replaces words by the bits for one use of the hashes that Sum64Int has of
// them. In one loop without calls the processor begins with the next before it has the last.
func FinaliseInts(k Seed, use uint64, words []uint64) {
	k0, k1, k2, k3 := k.K0^0x736f6d6570736575, k.K1^0x646f72616e646f6d, k.K0^0x6c7967656e657261, k.K1^0x7465646279746573
	done := words[:sipInts([4]uint64{k0, k1, k2, k3}, words)]
	for i, hash := range done {
		done[i] = Finalise(hash, use)
	}
	words = words[len(done):]
	for i, x := range words {
		v0, v1, v2, v3 := round(k0, k1, k2, k3^x)
		v0, v1, v2, v3 = round(v0^x, v1, v2, v3^8<<56)
		v0, v1, v2, v3 = round(v0^8<<56, v1, v2^0xff, v3)
		v0, v1, v2, v3 = round(v0, v1, v2, v3)
		v0, v1, v2, v3 = round(v0, v1, v2, v3)
		words[i] = Finalise(v0^v1^v2^v3, use)
	}
}

// Sum128Pair returns the 128-bit hash of the sixteen little-endian bytes of a and b.
func Sum128Pair(k Seed, a, b uint64) (lo, hi uint64) {
	v0, v1 := k.K0^0x736f6d6570736575, k.K1^0x646f72616e646f6d^0xee
	v2, v3 := k.K0^0x6c7967656e657261, k.K1^0x7465646279746573^a
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0, v3 = v0^a, v3^b
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0, v3 = v0^b, v3^16<<56
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0, v1, v2, v3 = finish(v0^16<<56, v1, v2^0xee, v3)
	lo = v0 ^ v1 ^ v2 ^ v3
	v0, v1, v2, v3 = finish(v0, v1^0xdd, v2, v3)
	return lo, v0 ^ v1 ^ v2 ^ v3
}

// Finalise derives bits for one use from a hash; equal uses get equal bits, and
// different uses get bits that do not depend on each other. Sharing raw bits
// between routing and HyperLogLog biases estimates when a partition is withheld.
func Finalise(hash, use uint64) uint64 {
	// The finaliser of MurmurHash3 (Appleby, 2011), keyed by addition.
	h := hash + use*0x9e3779b97f4a7c15
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// Uses of a hash, each with bits of its own. The numbers are part of the state
// identity and never change.
const (
	UseRouting  uint64 = 1
	UseGroup    uint64 = 2
	UseDistinct uint64 = 3
	UseSample   uint64 = 4
	UseCounter  uint64 = 5  // places of counters and filters
	UseRow      uint64 = 64 // and the numbers from here on: rows of counters, of hashes made of hashes
)
