package types

import (
	"encoding/binary"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// A bit string is stored as its digits, which order as PostgreSQL orders bit strings: by
// the digits, where a string comes before those that it begins.

const maxBits = 83886080 // as PostgreSQL's BITMAXLEN

// bitLengthMismatch is 22026, string_data_length_mismatch.
const bitLengthMismatch sqlerr.Code = "22026"

// parseBits reads binary digits, perhaps after B, or hexadecimal ones after X.
func parseBits(text []byte, t Type) ([]byte, error) {
	digits, hex := text, false
	if len(text) > 0 && (text[0]|0x20 == 'b' || text[0]|0x20 == 'x') {
		digits, hex = text[1:], text[0]|0x20 == 'x'
	}
	out := make([]byte, 0, len(digits))
	for i, c := range digits {
		if !hex {
			if c != '0' && c != '1' {
				return nil, badDigit(digits[i:], "binary")
			}
			out = append(out, c)
			continue
		}
		x, ok := hexDigit(c)
		if !ok {
			return nil, badDigit(digits[i:], "hexadecimal")
		}
		for shift := 3; shift >= 0; shift-- {
			out = append(out, '0'+x>>shift&1)
		}
	}
	return FitBits(out, t, false)
}

func badDigit(rest []byte, what string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "\"%c\" is not a valid %s digit", []rune(string(rest))[0], what)
}

// FitBits applies the length of a bit type. Only an explicit cast cuts a string or fills
// it with zeros.
func FitBits(b []byte, t Type, explicit bool) ([]byte, error) {
	n := int(t.Modifier())
	switch {
	case len(b) > maxBits:
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "bit string length exceeds the maximum allowed (%d)", maxBits)
	case n < 0 || len(b) == n || t.OID == Varbit && len(b) < n:
		return b, nil
	case !explicit && t.OID == Varbit:
		return nil, sqlerr.New(sqlerr.StringDataRightTruncation, "bit string too long for type bit varying(%d)", n)
	case !explicit:
		return nil, sqlerr.New(bitLengthMismatch, "bit string length %d does not match type bit(%d)", len(b), n)
	case len(b) > n:
		return b[:n:n], nil
	}
	out := append(make([]byte, 0, n), b...)
	for len(out) < n {
		out = append(out, '0')
	}
	return out, nil
}

// appendBitsBinary writes the number of bits, and the bits from the highest of each byte.
func appendBitsBinary(dst, digits []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(digits)))
	for i := 0; i < len(digits); i += 8 {
		var b byte
		for k, c := range digits[i:min(i+8, len(digits))] {
			b |= (c & 1) << (7 - k)
		}
		dst = append(dst, b)
	}
	return dst
}

func readBitsBinary(data []byte, t Type) ([]byte, error) {
	if len(data) < 4 {
		return nil, badBinary(t)
	}
	n := int(binary.BigEndian.Uint32(data))
	data = data[4:]
	if n > maxBits || len(data) != (n+7)/8 {
		return nil, badBinary(t)
	}
	out := make([]byte, n)
	for i := range out {
		out[i] = '0' + data[i/8]>>(7-i%8)&1
	}
	return FitBits(out, t, false)
}
