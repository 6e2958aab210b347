package statecodec

import (
	"encoding/binary"
	"math/bits"
)

// AppendSorted appends words in ascending order, whose number the reader knows: how
// many bytes the largest difference of neighbours takes, one byte; the first word, 8
// bytes little-endian; the differences, in so many bytes each. Of no words it appends
// nothing.
func AppendSorted(dst []byte, words []uint64) []byte {
	if len(words) == 0 {
		return dst
	}
	all, last := uint64(0), words[0]
	for _, x := range words[1:] {
		all |= x - last
		last = x
	}
	width := (bits.Len64(all) + 7) / 8
	dst = binary.LittleEndian.AppendUint64(append(dst, byte(width)), words[0])
	last = words[0]
	for _, x := range words[1:] {
		dst = binary.LittleEndian.AppendUint64(dst, x-last)
		dst = dst[:len(dst)-8+width]
		last = x
	}
	return dst
}

// Sorted reads what AppendSorted wrote of n words into dst, which it returns. It takes
// no other form of them.
func (r *Reader) Sorted(dst []uint64, n int) []uint64 {
	if n == 0 {
		return dst
	}
	width, x := int(r.Byte()), r.Word()
	deltas := r.Bytes(width * (n - 1))
	if r.bad || width > 8 {
		r.Fail()
		return dst
	}
	dst = append(dst, x)
	all := uint64(0)
	for i := range n - 1 {
		delta := uint64(0)
		for at, b := range deltas[i*width : (i+1)*width] {
			delta |= uint64(b) << (8 * at)
		}
		all |= delta
		if x += delta; x < delta {
			r.Fail()
			return dst
		}
		dst = append(dst, x)
	}
	if (bits.Len64(all)+7)/8 != width {
		r.Fail()
	}
	return dst
}
