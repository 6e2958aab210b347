package keyhash

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// reference is SipHash-1-3 as the paper writes it, byte by byte.
func reference(k Seed, b []byte, wide bool) (lo, hi uint64) {
	v := [4]uint64{k.K0 ^ 0x736f6d6570736575, k.K1 ^ 0x646f72616e646f6d, k.K0 ^ 0x6c7967656e657261, k.K1 ^ 0x7465646279746573}
	if wide {
		v[1] ^= 0xee
	}
	sip := func() {
		v[0] += v[1]
		v[1] = bits.RotateLeft64(v[1], 13) ^ v[0]
		v[0] = bits.RotateLeft64(v[0], 32)
		v[2] += v[3]
		v[3] = bits.RotateLeft64(v[3], 16) ^ v[2]
		v[0] += v[3]
		v[3] = bits.RotateLeft64(v[3], 21) ^ v[0]
		v[2] += v[1]
		v[1] = bits.RotateLeft64(v[1], 17) ^ v[2]
		v[2] = bits.RotateLeft64(v[2], 32)
	}
	padded := append(append([]byte{}, b...), make([]byte, 7-len(b)%8)...)
	padded = append(padded, byte(len(b)))
	for ; len(padded) > 0; padded = padded[8:] {
		m := binary.LittleEndian.Uint64(padded)
		v[3] ^= m
		sip()
		v[0] ^= m
	}
	if wide {
		v[2] ^= 0xee
	} else {
		v[2] ^= 0xff
	}
	for range 3 {
		sip()
	}
	lo = v[0] ^ v[1] ^ v[2] ^ v[3]
	v[1] ^= 0xdd
	for range 3 {
		sip()
	}
	return lo, v[0] ^ v[1] ^ v[2] ^ v[3]
}

func TestAgreesWithTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := Seed{rapid.Uint64().Draw(t, "k0"), rapid.Uint64().Draw(t, "k1")}
		b := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "b")
		if want, _ := reference(k, b, false); Sum64(k, b) != want {
			t.Fatalf("Sum64(%x)", b)
		}
		lo, hi := Sum128(k, b)
		if wantLo, wantHi := reference(k, b, true); lo != wantLo || hi != wantHi {
			t.Fatalf("Sum128(%x)", b)
		}
		x, y := rapid.Uint64().Draw(t, "x"), rapid.Uint64().Draw(t, "y")
		bytes := binary.LittleEndian.AppendUint64(nil, x)
		if Sum64Int(k, x) != Sum64(k, bytes) {
			t.Fatalf("Sum64Int(%x)", x)
		}
		words := rapid.SliceOfN(rapid.Uint64(), 0, 40).Draw(t, "words") // many at a time, and the rest
		in := slices.Clone(words)
		FinaliseInts(k, UseDistinct, words)
		for i, word := range in {
			if words[i] != Finalise(Sum64Int(k, word), UseDistinct) {
				t.Fatalf("FinaliseInts(%x), number %d", in, i)
			}
		}
		lo, hi = Sum128Pair(k, x, y)
		if wantLo, wantHi := Sum128(k, binary.LittleEndian.AppendUint64(bytes, y)); lo != wantLo || hi != wantHi {
			t.Fatalf("Sum128Pair(%x, %x)", x, y)
		}
	})
}

// TestFormatIsStable: hashes are part of stored state; these must never change.
func TestFormatIsStable(t *testing.T) {
	k := Seed{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	if got := Sum64(k, []byte("tally")); got != goldenTally {
		t.Errorf("Sum64(tally) = %#x, was %#x", got, uint64(goldenTally))
	}
	if got := Finalise(1, UseGroup); got != goldenFinalise {
		t.Errorf("Finalise(1, UseGroup) = %#x, was %#x", got, uint64(goldenFinalise))
	}
}

func BenchmarkSum64Int(b *testing.B) {
	k := Seed{1, 2}
	var x uint64
	for b.Loop() {
		x = Sum64Int(k, x)
	}
}

func BenchmarkFinaliseInts(b *testing.B) {
	words := make([]uint64, 1024)
	for b.Loop() {
		FinaliseInts(Seed{1, 2}, UseDistinct, words)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(words)), "ns/value")
}

func BenchmarkSum64Text12(b *testing.B) {
	k, text := Seed{1, 2}, []byte("user-0001234")
	for b.Loop() {
		Sum64(k, text)
	}
}

const (
	goldenTally    = 0x16da064e08a35204
	goldenFinalise = 0xe85028e6b31f8e7a
)
