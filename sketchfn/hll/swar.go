package hll

import "encoding/binary"

// maxWords is maxBytes with words: eight registers are compared in one.
func maxWords(a, b []uint8) {
	const high = 0x8080808080808080
	for len(a) >= 8 && len(b) >= 8 {
		x, y := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		keep := (((x | high) - y) & high) >> 7 * 255 // bytes of x that are not smaller
		binary.LittleEndian.PutUint64(a, x&keep|y&^keep)
		a, b = a[8:], b[8:]
	}
}

// spread writes the 2*len(from) nibbles of from, low one first, plus base to
// registers, and returns how many of them were 15. len(from) is a multiple of four.
func spread(registers []uint8, from []byte, base uint8) (escapes int) {
	const low = 0x0101010101010101
	bases := uint64(base) * low
	for len(from) >= 4 && len(registers) >= 8 {
		x := uint64(binary.LittleEndian.Uint32(from))
		x = (x | x<<16) & 0x0000ffff0000ffff
		x = (x | x<<8) & 0x00ff00ff00ff00ff
		x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
		escapes += int((x + low) & (low << 4) >> 4 * low >> 56)
		binary.LittleEndian.PutUint64(registers, x+bases)
		from, registers = from[4:], registers[8:]
	}
	return escapes
}
