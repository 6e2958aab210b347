package types

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// TextOptions is what a session fixes for the text form of values. nil means
// the defaults: UTC, no catalog.
type TextOptions struct {
	Location *time.Location // session TimeZone; nil means UTC
	Now      time.Time      // what 'now', 'today' … mean
	// RegName returns the name that a regclass, regproc or regnamespace shows.
	RegName func(t OID, oid uint32) (string, bool)
	// RegLookup resolves such a name.
	RegLookup func(t OID, name string) (uint32, bool)
	// Enums are those that the session's transaction has changed, as it sees them;
	// others are as they were published.
	Enums map[OID]*Enum
}

// Parse reads the text form of a value of type t, applying its modifier as
// input from a client does: text that is too long for varchar(n) is an error.
func Parse(t Type, text []byte, opts *TextOptions) (Datum, error) {
	d := Datum{Type: t}
	var err error
	if (t.OID == Bytea || t.OID.IsArray()) && !isASCII(text) { // bytes are written as digits
		if err := CheckUTF8(text); err != nil {
			return d, err
		}
	}
	switch t.OID {
	case Bool:
		var b bool
		if b, err = parseBool(text); b {
			d.Int = 1
		}
	case Int2:
		d.Int, err = parseInt(text, math.MinInt16, math.MaxInt16, "smallint")
	case Int4:
		d.Int, err = parseInt(text, math.MinInt32, math.MaxInt32, "integer")
	case Int8:
		d.Int, err = parseInt(text, math.MinInt64, math.MaxInt64, "bigint")
	case Oid, Xid:
		d.Int, err = parseOID(text, catalogByOID[t.OID].Name)
	case Regclass, Regtype, Regproc, Regnamespace:
		d.Int, err = parseReg(t.OID, text, opts)
	case Char:
		if len(text) > 0 {
			d.Int = int64(text[0])
		}
	case Float8:
		d.Float, err = parseFloat8(text)
	case Float4:
		d.Float, err = parseFloatText(text, 32)
	case Date:
		d.Int, err = parseDate(text, opts)
	case Time:
		d.Int, err = parseTime(text, t, opts)
	case TimeTZ:
		d.Int, err = parseTimetz(text, t, opts)
	case Timestamp, Timestamptz:
		d.Int, err = parseTimestamp(text, t, opts)
	default:
		if t.OID.IsEnum() {
			d.Int, err = parseEnum(text, t.OID, opts)
			return d, err
		}
		return parseBytesKind(t, text, opts)
	}
	return d, err
}

func parseBytesKind(t Type, text []byte, opts *TextOptions) (Datum, error) {
	d := Datum{Type: t}
	var err error
	switch t.OID {
	case Numeric:
		var x Decimal
		if x, err = ParseDecimal(text); err == nil {
			x, err = x.Fit(t)
		}
		d.Bytes = x.Append(nil)
	case Interval:
		var s Span
		s, err = ParseSpan(text, t)
		d.Bytes = s.Append(nil)
	case UUID:
		var u [16]byte
		u, err = parseUUID(text)
		d.Bytes = u[:]
	case Bit, Varbit:
		d.Bytes, err = parseBits(text, t)
	case Bytea, Sketch:
		d.Bytes, err = parseBytea(text)
	case JSON:
		if err = CheckUTF8(text); err == nil {
			_, err = ParseJSON(text)
		}
		d.Bytes = bytes.Clone(text)
	case JSONB:
		d.Bytes, err = parseJSONB(text)
	default:
		if t.OID.IsArray() {
			return parseArray(text, t, opts)
		}
		if err = CheckUTF8(text); err == nil {
			d.Bytes, err = fitText(text, t, false)
			d.Bytes = bytes.Clone(d.Bytes)
		}
	}
	return d, err
}

func parseJSONB(text []byte) ([]byte, error) {
	if err := CheckUTF8(text); err != nil {
		return nil, err
	}
	v, err := ParseJSON(text)
	if err != nil {
		return nil, err
	}
	if err := v.Canonical(); err != nil {
		return nil, err
	}
	return v.Append(nil), nil
}

func parseOID(text []byte, typ string) (int64, error) {
	x, err := parseInt(text, math.MinInt32, math.MaxUint32, typ)
	return int64(uint32(x)), err
}

func parseReg(t OID, text []byte, opts *TextOptions) (int64, error) {
	s := trimSpace(text)
	if x, err := strconv.ParseUint(string(s), 10, 32); err == nil {
		return int64(x), nil
	}
	if len(s) == 1 && s[0] == '-' {
		return 0, nil
	}
	switch t {
	case Regtype:
		x, err := ByName(string(s))
		if err != nil && opts != nil && opts.RegLookup != nil {
			if oid, ok := opts.RegLookup(t, string(s)); ok {
				return int64(oid), nil
			}
		}
		return int64(x.OID), err
	case Regclass:
		if opts != nil && opts.RegLookup != nil {
			if oid, ok := opts.RegLookup(t, string(s)); ok {
				return int64(oid), nil
			}
		}
		return 0, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", s)
	}
	if opts != nil && opts.RegLookup != nil {
		if oid, ok := opts.RegLookup(t, string(s)); ok {
			return int64(oid), nil
		}
	}
	if t == Regnamespace {
		return 0, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s)
	}
	return 0, sqlerr.New(sqlerr.UndefinedFunction, "function \"%s\" does not exist", s)
}

// CheckUTF8 refuses what PostgreSQL refuses in a UTF-8 database, with 22021: invalid
// sequences and zero bytes.
func CheckUTF8(b []byte) error {
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		return nil
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 || b[i] == 0 {
			return sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": % #x", b[i:min(i+claimedLength(b[i]), len(b))])
		}
		i += n
	}
	return nil
}

// claimedLength is how many bytes a UTF-8 sequence has by its first byte.
func claimedLength(first byte) int {
	switch {
	case first >= 0xF0 && first < 0xF8:
		return 4
	case first >= 0xE0 && first < 0xF0:
		return 3
	case first >= 0xC0 && first < 0xE0:
		return 2
	default:
		return 1
	}
}

// fitText applies the length of varchar(n), char(n) and name. An explicit cast
// cuts; otherwise only trailing spaces may be lost.
func fitText(b []byte, t Type, explicit bool) ([]byte, error) {
	if t.OID == Name {
		return CutName(b), nil
	}
	if t.Modifier() < 0 || t.OID != Varchar && t.OID != Bpchar {
		return b, nil
	}
	limit := int(t.Modifier()) - 4
	if len(b) <= limit && t.OID == Varchar {
		return b, nil
	}
	n := utf8.RuneCount(b)
	if n > limit {
		end := 0
		for range limit {
			_, k := utf8.DecodeRune(b[end:])
			end += k
		}
		if !explicit && len(bytes.TrimRight(b[end:], " ")) > 0 {
			return nil, sqlerr.New(sqlerr.StringDataRightTruncation, "value too long for type %s", t)
		}
		return b[:end], nil
	}
	if t.OID == Bpchar && n < limit {
		return append(b[:len(b):len(b)], bytes.Repeat([]byte{' '}, limit-n)...), nil
	}
	return b, nil
}

// CutName cuts a name to the 63 bytes that names have.
func CutName(b []byte) []byte {
	if len(b) < 64 {
		return b
	}
	end := 63
	for end > 0 && !utf8.RuneStart(b[end]) {
		end--
	}
	return b[:end]
}

// FitText applies the length of a character type as a cast does; explicit casts
// cut without an error.
func FitText(b []byte, t Type, explicit bool) ([]byte, error) { return fitText(b, t, explicit) }

func parseUUID(text []byte) (u [16]byte, err error) {
	b := text
	if len(b) > 2 && b[0] == '{' && b[len(b)-1] == '}' {
		b = b[1 : len(b)-1]
	}
	i := 0
	for k := 0; k < 16; k++ {
		if i > 0 && i < len(b) && b[i] == '-' && k%2 == 0 {
			i++
		}
		if i+1 >= len(b) {
			return u, badInput("uuid", text)
		}
		hi, ok1 := hexDigit(b[i])
		lo, ok2 := hexDigit(b[i+1])
		if !ok1 || !ok2 {
			return u, badInput("uuid", text)
		}
		u[k] = hi<<4 | lo
		i += 2
	}
	if i != len(b) {
		return u, badInput("uuid", text)
	}
	return u, nil
}

func appendUUID(dst, u []byte) []byte {
	if len(u) != 16 {
		return dst
	}
	for i, k := range [5]int{4, 6, 8, 10, 16} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, u[[5]int{0, 4, 6, 8, 10}[i]:k])
	}
	return dst
}

func parseBytea(text []byte) ([]byte, error) {
	if len(text) >= 2 && text[0] == '\\' && text[1] == 'x' {
		return ParseHex(text[2:])
	}
	return ParseByteaEscape(text)
}

// ParseHex reads hexadecimal digits in pairs, with white space between pairs.
func ParseHex(text []byte) ([]byte, error) {
	out := make([]byte, 0, len(text)/2)
	for i := 0; i < len(text); {
		if isSpace(text[i]) {
			i++
			continue
		}
		hi, ok := hexDigit(text[i])
		if !ok {
			return nil, badHex(text[i:])
		}
		if i+1 >= len(text) {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
		}
		lo, ok := hexDigit(text[i+1])
		if !ok {
			return nil, badHex(text[i+1:])
		}
		out = append(out, hi<<4|lo)
		i += 2
	}
	return out, nil
}

func badHex(rest []byte) error {
	r, _ := utf8.DecodeRune(rest)
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal digit: \"%c\"", r)
}

// ParseByteaEscape reads bytea's escape form: \\ and \nnn.
func ParseByteaEscape(text []byte) ([]byte, error) {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		if i+1 < len(text) && text[i+1] == '\\' {
			out = append(out, '\\')
			i++
			continue
		}
		if i+3 >= len(text) || text[i+1] > '3' || text[i+1] < '0' || text[i+2]-'0' > 7 || text[i+3]-'0' > 7 {
			return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
		}
		out = append(out, (text[i+1]-'0')<<6|(text[i+2]-'0')<<3|(text[i+3]-'0'))
		i += 3
	}
	return out, nil
}

// AppendText appends the text form of row i, which is not NULL.
func AppendText(dst []byte, v *Vector, i int, opts *TextOptions) []byte {
	switch v.Type.OID {
	case Text, Varchar:
		return append(dst, v.Bytes(i)...)
	case Int8, Int4, Int2:
		return strconv.AppendInt(dst, v.Ints[i], 10)
	}
	return AppendDatumText(dst, v.Datum(i), opts)
}

// AppendDatumText appends the text form of d, which is not NULL.
func AppendDatumText(dst []byte, d Datum, opts *TextOptions) []byte {
	switch d.Type.OID {
	case Bool:
		if d.Int != 0 {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case Char:
		if d.Int == 0 {
			return dst
		}
		return append(dst, byte(d.Int))
	case Float8:
		return AppendFloat(dst, d.Float, 64)
	case Float4:
		return AppendFloat(dst, d.Float, 32)
	case Date:
		return appendDate(dst, d.Int)
	case Time:
		return appendClock(dst, d.Int)
	case TimeTZ:
		return appendTimetz(dst, d.Int)
	case Timestamp:
		return appendTimestamp(dst, d.Int, ' ')
	case Timestamptz:
		return appendTimestamptz(dst, d.Int, opts.location(), ' ')
	case Regclass, Regtype, Regproc, Regnamespace:
		return appendReg(dst, d, opts)
	case Numeric:
		return DecodeDecimal(d.Bytes).AppendText(dst)
	case Interval:
		return DecodeSpan(d.Bytes).AppendText(dst)
	case UUID:
		return appendUUID(dst, d.Bytes)
	case Bytea, Sketch:
		return hex.AppendEncode(append(dst, '\\', 'x'), d.Bytes)
	case Void:
		return dst
	case Record:
		return appendRecordText(dst, d, opts)
	}
	switch {
	case d.Type.OID.IsEnum():
		return appendEnum(dst, d, opts)
	case d.Type.Kind() == KindInt:
		return strconv.AppendInt(dst, d.Int, 10)
	case d.Type.OID.IsArray():
		return appendArrayText(dst, d, opts)
	}
	return append(dst, d.Bytes...)
}

func appendReg(dst []byte, d Datum, opts *TextOptions) []byte {
	if d.Int == 0 {
		return append(dst, '-')
	}
	builtin := d.Type.OID == Regtype && OID(d.Int) < FirstEnum
	if !builtin && opts != nil && opts.RegName != nil {
		if s, ok := opts.RegName(d.Type.OID, uint32(d.Int)); ok {
			return append(dst, s...)
		}
	} else if d.Type.OID == Regtype {
		if _, ok := Lookup(OID(d.Int)); ok {
			return append(dst, Of(OID(d.Int)).String()...)
		}
	}
	return strconv.AppendInt(dst, d.Int, 10)
}

// FormatDatum returns the text form of d, "" for NULL.
func FormatDatum(d Datum, opts *TextOptions) string {
	if d.Null {
		return ""
	}
	return string(AppendDatumText(nil, d, opts))
}

// AppendJSONDateTime appends a date or time as to_json shows it, in ISO 8601.
func AppendJSONDateTime(dst []byte, d Datum, opts *TextOptions) []byte {
	switch d.Type.OID {
	case Timestamp:
		return appendTimestamp(dst, d.Int, 'T')
	case Timestamptz:
		return appendTimestamptz(dst, d.Int, opts.location(), 'T')
	}
	return AppendDatumText(dst, d, opts)
}
