//go:build !amd64

package hll

// maxBytes sets each byte of a to the larger of it and that of b, which is as long. The
// bytes are below 128 and the lengths multiples of eight.
func maxBytes(a, b []uint8) { maxWords(a, b) }
