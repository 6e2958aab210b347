package hll

// blockBytes is how many registers maxBlocks compares at a time.
const blockBytes = 64

// maxBlocks sets each of blocks*blockBytes bytes at a to the larger of it and that at b.
//
//go:noescape
func maxBlocks(a, b *uint8, blocks int)

// maxBytes sets each byte of a to the larger of it and that of b, which is as long. The
// bytes are below 128 and the lengths multiples of eight.
func maxBytes(a, b []uint8) {
	b = b[:len(a)]
	if n := len(a) / blockBytes; n > 0 {
		maxBlocks(&a[0], &b[0], n)
		a, b = a[n*blockBytes:], b[n*blockBytes:]
	}
	maxWords(a, b)
}
