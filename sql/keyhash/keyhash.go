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

type state struct{ v0, v1, v2, v3 uint64 }

func (s *state) round() {
	s.v0 += s.v1
	s.v1 = bits.RotateLeft64(s.v1, 13) ^ s.v0
	s.v0 = bits.RotateLeft64(s.v0, 32)
	s.v2 += s.v3
	s.v3 = bits.RotateLeft64(s.v3, 16) ^ s.v2
	s.v0 += s.v3
	s.v3 = bits.RotateLeft64(s.v3, 21) ^ s.v0
	s.v2 += s.v1
	s.v1 = bits.RotateLeft64(s.v1, 17) ^ s.v2
	s.v2 = bits.RotateLeft64(s.v2, 32)
}

func absorb(k Seed, b []byte, wide uint64) state {
	s := state{
		k.K0 ^ 0x736f6d6570736575, k.K1 ^ 0x646f72616e646f6d ^ wide,
		k.K0 ^ 0x6c7967656e657261, k.K1 ^ 0x7465646279746573,
	}
	n := uint64(len(b))
	for len(b) >= 8 {
		m := binary.LittleEndian.Uint64(b)
		s.v3 ^= m
		s.round()
		s.v0 ^= m
		b = b[8:]
	}
	m := n << 56
	for i, c := range b {
		m |= uint64(c) << (8 * i)
	}
	s.v3 ^= m
	s.round()
	s.v0 ^= m
	return s
}

// Sum64 returns the 64-bit hash of b.
func Sum64(k Seed, b []byte) uint64 {
	s := absorb(k, b, 0)
	s.v2 ^= 0xff
	s.round()
	s.round()
	s.round()
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3
}

// Sum128 returns a 128-bit hash of b as two words.
func Sum128(k Seed, b []byte) (lo, hi uint64) {
	s := absorb(k, b, 0xee)
	s.v2 ^= 0xee
	s.round()
	s.round()
	s.round()
	lo = s.v0 ^ s.v1 ^ s.v2 ^ s.v3
	s.v1 ^= 0xdd
	s.round()
	s.round()
	s.round()
	return lo, s.v0 ^ s.v1 ^ s.v2 ^ s.v3
}

// Sum64Int returns the hash of the eight little-endian bytes of x, without a buffer.
func Sum64Int(k Seed, x uint64) uint64 {
	s := state{
		k.K0 ^ 0x736f6d6570736575, k.K1 ^ 0x646f72616e646f6d,
		k.K0 ^ 0x6c7967656e657261, k.K1 ^ 0x7465646279746573,
	}
	s.v3 ^= x
	s.round()
	s.v0 ^= x
	s.v3 ^= 8 << 56
	s.round()
	s.v0 ^= 8 << 56
	s.v2 ^= 0xff
	s.round()
	s.round()
	s.round()
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3
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
)
