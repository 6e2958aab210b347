// Package copyfmt reads and writes the formats of COPY: text, csv and binary. It
// parses straight into columns, without memory per row. Pure: bytes in, columns
// out; it starts no goroutine.
package copyfmt
