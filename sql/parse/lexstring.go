package parse

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// scanQuoted reads from the opening quote at byte open and returns the inner text
// with doubled quotes made single, and the offset after the closing quote. It
// returns -1 where the quote is never closed.
func (l *lexer) scanQuoted(open int) (string, int) {
	quote := l.src[open]
	j, doubled := open+1, false
	for {
		k := strings.IndexByte(l.src[j:], quote)
		if k < 0 {
			return "", -1
		}
		j += k
		if j+1 >= len(l.src) || l.src[j+1] != quote {
			break
		}
		doubled = true
		j += 2
	}
	text := l.src[open+1 : j]
	if doubled {
		text = strings.ReplaceAll(text, string([]byte{quote, quote}), string(quote))
	}
	return text, j + 1
}

// quotedString reads '...' with its quote skip bytes after start, and the
// continuation lines of the SQL standard: 'a' <newline> 'b' is 'ab'.
func (l *lexer) quotedString(start, skip int) error {
	text, end := l.scanQuoted(start + skip)
	if end < 0 {
		return l.failNear(start, "unterminated quoted string")
	}
	l.i = end
	for {
		open := l.continuation()
		if open < 0 {
			break
		}
		more, end := l.scanQuoted(open)
		if end < 0 {
			return l.failNear(open, "unterminated quoted string")
		}
		text += more
		l.i = end
	}
	l.emit(tokString, start, text)
	return nil
}

// continuation returns the offset of a quote that continues a string, or -1.
func (l *lexer) continuation() int {
	newline := false
	for j := l.i; j < len(l.src); j++ {
		switch c := l.src[j]; {
		case c == '\n' || c == '\r':
			newline = true
		case isSpace(c):
		case c == '\'' && newline:
			return j
		default:
			return -1
		}
	}
	return -1
}

// prefixedString reads E”, B”, X” and N”.
func (l *lexer) prefixedString(prefix byte) error {
	start := l.i
	switch prefix {
	case 'e', 'E':
		return l.escapeString()
	case 'n', 'N': // N'x' is the typed literal nchar 'x'
		l.emit(tokWord, start, "nchar")
		return l.quotedString(start, 1)
	}
	kind, what := tokBits, "unterminated bit string literal"
	if prefix == 'x' || prefix == 'X' {
		kind, what = tokHex, "unterminated hexadecimal string literal"
	}
	text, end := l.scanQuoted(start + 1)
	if end < 0 {
		return l.failNear(start, what)
	}
	l.i = end
	l.emit(kind, start, text)
	return nil
}

// quotedIdentifier reads "...".
func (l *lexer) quotedIdentifier() error {
	start := l.i
	text, end := l.scanQuoted(start)
	if end < 0 {
		return l.failNear(start, "unterminated quoted identifier")
	}
	l.i = end
	if text == "" {
		return l.fail(start, "zero-length delimited identifier at or near \"\"\"\"")
	}
	l.emit(tokQuoted, start, text)
	return nil
}

// dollar reads $1, $$...$$ and $tag$...$tag$.
func (l *lexer) dollar() error {
	start := l.i
	if isDigit(l.at(1)) {
		l.i++
		for isDigit(l.at(0)) {
			l.i++
		}
		if isIdentStart(l.at(0)) {
			return l.fail(start, "trailing junk after parameter at or near \"%s\"", l.src[start:l.i+1])
		}
		l.emit(tokParam, start, l.src[start+1:l.i])
		return nil
	}
	j := start + 1
	for j < len(l.src) && isIdentPart(l.src[j]) && l.src[j] != '$' {
		j++
	}
	if j >= len(l.src) || l.src[j] != '$' {
		return l.fail(start, "syntax error at or near \"$\"")
	}
	tag := l.src[start : j+1]
	length := strings.Index(l.src[j+1:], tag)
	if length < 0 {
		return l.failNear(start, "unterminated dollar-quoted string")
	}
	l.i = j + 1 + length + len(tag)
	l.emit(tokString, start, l.src[j+1:j+1+length])
	return nil
}

// escapeString reads E'...'.
func (l *lexer) escapeString() error {
	start := l.i
	l.i += 2
	var b strings.Builder
	for {
		if l.i >= len(l.src) {
			return l.failNear(start, "unterminated quoted string")
		}
		switch c := l.src[l.i]; c {
		case '\'':
			if l.at(1) != '\'' {
				l.i++
				return l.finishEscape(start, b.String())
			}
			b.WriteByte('\'')
			l.i += 2
		case '\\':
			if l.i+1 >= len(l.src) {
				return l.failNear(start, "unterminated quoted string")
			}
			if err := l.escape(&b); err != nil {
				return err
			}
		default:
			b.WriteByte(c)
			l.i++
		}
	}
}

// finishEscape emits the string, unless its escapes made it invalid text.
func (l *lexer) finishEscape(start int, text string) error {
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return sqlerr.From(types.CheckUTF8([]byte(text))).At(l.charAt(start))
	}
	l.emit(tokString, start, text)
	return nil
}

var simpleEscapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', 'v': '\v'}

// escape reads one backslash sequence.
func (l *lexer) escape(b *strings.Builder) error {
	c := l.src[l.i+1]
	if r, ok := simpleEscapes[c]; ok {
		b.WriteByte(r)
		l.i += 2
		return nil
	}
	switch {
	case c == 'x' && isHex(l.at(2)):
		n := digits(l.src[l.i+2:], 2, isHex)
		v, _ := strconv.ParseUint(l.src[l.i+2:l.i+2+n], 16, 8)
		b.WriteByte(byte(v))
		l.i += 2 + n
	case c >= '0' && c <= '7':
		n := digits(l.src[l.i+1:], 3, func(c byte) bool { return c >= '0' && c <= '7' })
		v, _ := strconv.ParseUint(l.src[l.i+1:l.i+1+n], 8, 16)
		b.WriteByte(byte(v))
		l.i += 1 + n
	case c == 'u' || c == 'U':
		return l.unicodeEscape(b, map[byte]int{'u': 4, 'U': 8}[c])
	default:
		_, size := utf8.DecodeRuneInString(l.src[l.i+1:])
		b.WriteString(l.src[l.i+1 : l.i+1+size])
		l.i += 1 + size
	}
	return nil
}

// unicodeEscape reads \uXXXX or \UXXXXXXXX; a surrogate needs its partner.
func (l *lexer) unicodeEscape(b *strings.Builder, width int) error {
	start := l.i
	v, ok := hexValue(l.src[l.i+2:], width)
	if !ok {
		return sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid Unicode escape").
			WithHint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX.").At(l.charAt(start))
	}
	l.i += 2 + width
	if v >= 0xD800 && v < 0xDC00 && l.at(0) == '\\' && l.at(1) == 'u' {
		if low, ok := hexValue(l.src[l.i+2:], 4); ok && low >= 0xDC00 && low < 0xE000 {
			v = 0x10000 + (v-0xD800)<<10 + low - 0xDC00
			l.i += 6
		}
	}
	return l.writeCodePoint(b, v, start)
}

func (l *lexer) writeCodePoint(b *strings.Builder, v uint64, start int) error {
	switch {
	case v >= 0xD800 && v < 0xE000:
		return l.fail(start, "invalid Unicode surrogate pair at or near \"%s\"", l.src[start:l.i])
	case v == 0 || v > utf8.MaxRune:
		return l.fail(start, "invalid Unicode escape value at or near \"%s\"", l.src[start:l.i])
	}
	b.WriteRune(rune(v))
	return nil
}

// unicodeString reads U&'...' and U&"...", with UESCAPE 'c' after it.
func (l *lexer) unicodeString() error {
	start := l.i
	kind, what := tokString, "unterminated quoted string"
	if l.src[start+2] == '"' {
		kind, what = tokQuoted, "unterminated quoted identifier"
	}
	raw, end := l.scanQuoted(start + 2)
	if end < 0 {
		return l.failNear(start, what)
	}
	l.i = end
	escape, err := l.uescape()
	if err != nil {
		return err
	}
	text, err := l.decodeUnicode(raw, escape, start)
	if err != nil {
		return err
	}
	l.emit(kind, start, text)
	return nil
}

// uescape reads an optional UESCAPE clause.
func (l *lexer) uescape() (byte, error) {
	save := l.i
	if err := l.skipSpace(); err != nil {
		return 0, err
	}
	const word = "uescape"
	if len(l.src)-l.i < len(word) || foldIdentifier(l.src[l.i:l.i+len(word)]) != word {
		l.i = save
		return '\\', nil
	}
	l.i += len(word)
	if err := l.skipSpace(); err != nil {
		return 0, err
	}
	open := l.i
	if l.at(0) != '\'' {
		return 0, l.fail(open, "UESCAPE must be followed by a simple string literal")
	}
	s, end := l.scanQuoted(open)
	if end < 0 || len(s) != 1 || isHex(s[0]) || isSpace(s[0]) || strings.Contains("+'\"", s) {
		return 0, l.fail(open, "invalid Unicode escape character")
	}
	l.i = end
	return s[0], nil
}

// decodeUnicode replaces \XXXX and \+XXXXXX in the text of a U& form.
func (l *lexer) decodeUnicode(s string, escape byte, start int) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != escape {
			b.WriteByte(s[i])
			i++
			continue
		}
		if i+1 < len(s) && s[i+1] == escape {
			b.WriteByte(escape)
			i += 2
			continue
		}
		from, width := i+1, 4
		if from < len(s) && s[from] == '+' {
			from, width = from+1, 6
		}
		v, ok := hexValue(s[min(from, len(s)):], width)
		if !ok {
			return "", l.fail(start, "invalid Unicode escape")
		}
		i = from + width
		if v >= 0xD800 && v < 0xDC00 && i+4 < len(s) && s[i] == escape {
			if low, ok := hexValue(s[i+1:], 4); ok && low >= 0xDC00 && low < 0xE000 {
				v = 0x10000 + (v-0xD800)<<10 + low - 0xDC00
				i += 5
			}
		}
		if err := l.writeCodePoint(&b, v, start); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// digits counts the leading digits of s, at most limit.
func digits(s string, limit int, is func(byte) bool) int {
	n := 0
	for n < len(s) && n < limit && is(s[n]) {
		n++
	}
	return n
}

// hexValue reads exactly width hexadecimal digits.
func hexValue(s string, width int) (uint64, bool) {
	if digits(s, width, isHex) < width {
		return 0, false
	}
	v, err := strconv.ParseUint(s[:width], 16, 64)
	return v, err == nil
}
