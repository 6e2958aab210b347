package types

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"unsafe"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

var pow10f = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
	1e20, 1e21, 1e22,
}

func badInput(typ string, text []byte) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type %s: \"%s\"", typ, text)
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// view lets strconv read bytes without a copy; the string must not be kept.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// parseInt reads an integer of at most 64 bits. Most inputs are short and plain
// and take the loop alone.
func parseInt(text []byte, lo, hi int64, typ string) (int64, error) {
	b := text
	neg := false
	if len(b) > 0 && b[0] == '-' {
		neg, b = true, b[1:]
	}
	if n := len(b); n == 0 || n > 18 {
		return parseIntSlow(text, lo, hi, typ)
	}
	var v int64
	if len(b) >= 8 {
		eight, ok := parseEight(b)
		if !ok {
			return parseIntSlow(text, lo, hi, typ)
		}
		v, b = eight, b[8:]
	}
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return parseIntSlow(text, lo, hi, typ)
		}
		v = v*10 + int64(d)
	}
	if neg {
		v = -v
	}
	if v < lo || v > hi {
		return 0, intOutOfRange(text, typ)
	}
	return v, nil
}

// parseEight reads eight digits at once: pairs, then fours, then the eight.
func parseEight(b []byte) (int64, bool) {
	x := binary.LittleEndian.Uint64(b)
	if (x&0xF0F0F0F0F0F0F0F0)|((x+0x0606060606060606)&0xF0F0F0F0F0F0F0F0)>>4 != 0x3333333333333333 {
		return 0, false
	}
	x -= 0x3030303030303030
	x = x*10 + x>>8
	x = ((x&0x000000FF000000FF)*(100+1000000<<32) + (x>>16&0x000000FF000000FF)*(1+10000<<32)) >> 32
	return int64(x), true
}

func intOutOfRange(text []byte, typ string) error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "value \"%s\" is out of range for type %s", text, typ)
}

func parseIntSlow(text []byte, lo, hi int64, typ string) (int64, error) {
	b := trimSpace(text)
	for i, c := range b {
		if (c < '0' || c > '9') && (i > 0 || c != '-' && c != '+') {
			return 0, badInput(typ, text)
		}
	}
	v, err := strconv.ParseInt(view(b), 10, 64)
	if errors.Is(err, strconv.ErrRange) || err == nil && (v < lo || v > hi) {
		return 0, intOutOfRange(text, typ)
	}
	if err != nil {
		return 0, badInput(typ, text)
	}
	return v, nil
}

// parseFloat8 reads a float8. Up to 15 digits with a small exponent are exact in
// one division (Clinger's fast path).
func parseFloat8(text []byte) (float64, error) {
	b := text
	neg := false
	if len(b) > 0 && b[0] == '-' {
		neg, b = true, b[1:]
	}
	var m uint64
	digits, frac, point := 0, 0, false
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			if c != '.' || point {
				return parseFloatText(text, 64)
			}
			point = true
			continue
		}
		m = m*10 + uint64(d)
		digits++
		if point {
			frac++
		}
	}
	if digits == 0 || digits > 15 {
		return parseFloatText(text, 64)
	}
	f := float64(m)
	if frac > 0 {
		f /= pow10f[frac]
	}
	if neg {
		f = -f
	}
	return f, nil
}

func parseFloatText(text []byte, bitSize int) (float64, error) {
	typ := "double precision"
	if bitSize == 32 {
		typ = "real"
	}
	b := trimSpace(text)
	for _, c := range b {
		if c == '_' || c == 'x' || c == 'X' || c == 'p' || c == 'P' {
			return 0, badInput(typ, text)
		}
	}
	if digits := bytes.TrimLeft(b, "+-"); len(b)-len(digits) == 1 && bytes.EqualFold(digits, []byte("nan")) {
		return math.NaN(), nil // the C library reads a sign before it
	}
	f, err := strconv.ParseFloat(view(b), bitSize)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, badInput(typ, text)
	}
	underflow := f == 0 && err == nil && hasNonZeroDigit(b)
	if err != nil || underflow {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", b, typ)
	}
	return f, nil
}

func hasNonZeroDigit(b []byte) bool {
	for _, c := range b {
		if c >= '1' && c <= '9' {
			return true
		}
		if c == 'e' || c == 'E' {
			return false
		}
	}
	return false
}

// AppendFloat appends the shortest text that reads back as f, as PostgreSQL
// writes it: exponents of 15 and more, and below -4, in scientific form.
func AppendFloat(dst []byte, f float64, bitSize int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e6) {
		var tmp [32]byte
		e := strconv.AppendFloat(tmp[:0], f, 'e', -1, bitSize)
		k := len(e) - 1
		for e[k] != 'e' {
			k--
		}
		x, _ := strconv.Atoi(view(e[k+1:]))
		limit := 15
		if bitSize == 32 {
			limit = 6
		}
		if x < -4 || x >= limit {
			return append(dst, e...)
		}
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bitSize)
}

func parseBool(text []byte) (bool, error) {
	b := trimSpace(text)
	var low [5]byte
	if len(b) > 0 && len(b) <= 5 {
		for i, c := range b {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			low[i] = c
		}
		switch s := view(low[:len(b)]); s {
		case "t", "tr", "tru", "true", "y", "ye", "yes", "on", "1":
			return true, nil
		case "f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0":
			return false, nil
		}
	}
	return false, badInput("boolean", text)
}
