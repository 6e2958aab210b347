package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// lexer cuts a text into PostgreSQL's tokens.
type lexer struct {
	src string
	i   int // next byte
	out []token

	// The character position of byte countedTo; it only moves forward, so that
	// counting is linear in the text.
	countedTo int
	chars     int
}

// lex returns the tokens of src, ended by a tokEOF.
func lex(src string) ([]token, error) {
	l := &lexer{src: src, out: make([]token, 0, len(src)/5+8)}
	if strings.IndexByte(src, 0) >= 0 || !utf8.ValidString(src) {
		return nil, types.CheckUTF8([]byte(src))
	}
	for {
		if err := l.skipSpace(); err != nil {
			return nil, err
		}
		if l.i >= len(src) {
			l.emit(tokEOF, len(src), "")
			return l.out, nil
		}
		if err := l.token(); err != nil {
			return nil, err
		}
	}
}

// emit appends the token that started at byte start and ends at the cursor.
func (l *lexer) emit(kind tokenKind, start int, text string) {
	l.out = append(l.out, token{kind, int32(start), int32(l.i), int32(l.charAt(start)), text})
}

// charAt returns the character position of a byte offset.
func (l *lexer) charAt(offset int) int {
	if offset < l.countedTo {
		return utf8.RuneCountInString(l.src[:offset]) + 1
	}
	l.chars += utf8.RuneCountInString(l.src[l.countedTo:offset])
	l.countedTo = offset
	return l.chars + 1
}

// fail is a syntax error of the lexer at a byte offset.
func (l *lexer) fail(offset int, format string, args ...any) error {
	return sqlerr.New(sqlerr.SyntaxError, format, args...).At(l.charAt(offset))
}

// failNear adds the rest of the text from start, as PostgreSQL does for what never ends.
func (l *lexer) failNear(start int, what string) error {
	return l.fail(start, "%s at or near \"%s\"", what, l.src[start:])
}

// at returns the byte n after the cursor, 0 past the end.
func (l *lexer) at(n int) byte {
	if l.i+n >= len(l.src) {
		return 0
	}
	return l.src[l.i+n]
}

// skipSpace steps over white space and comments; block comments nest.
func (l *lexer) skipSpace() error {
	for l.i < len(l.src) {
		switch c := l.src[l.i]; {
		case isSpace(c):
			l.i++
		case c == '-' && l.at(1) == '-':
			for l.i < len(l.src) && l.src[l.i] != '\n' && l.src[l.i] != '\r' {
				l.i++
			}
		case c == '/' && l.at(1) == '*':
			if err := l.skipComment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) skipComment() error {
	start, depth := l.i, 0
	for {
		switch {
		case l.i+1 >= len(l.src):
			return l.failNear(start, "unterminated /* comment")
		case l.src[l.i] == '/' && l.src[l.i+1] == '*':
			depth++
			l.i += 2
		case l.src[l.i] == '*' && l.src[l.i+1] == '/':
			depth--
			l.i += 2
			if depth == 0 {
				return nil
			}
		default:
			l.i++
		}
	}
}

// token reads one token.
func (l *lexer) token() error {
	c := l.src[l.i]
	switch {
	case c == '\'':
		return l.quotedString(l.i, 0)
	case isQuotePrefix(c) && l.at(1) == '\'':
		return l.prefixedString(c)
	case (c == 'u' || c == 'U') && l.at(1) == '&' && (l.at(2) == '\'' || l.at(2) == '"'):
		return l.unicodeString()
	case c == '"':
		return l.quotedIdentifier()
	case c == '$':
		return l.dollar()
	case isIdentStart(c):
		start := l.i
		for l.i < len(l.src) && isIdentPart(l.src[l.i]) {
			l.i++
		}
		l.emit(tokWord, start, foldIdentifier(l.src[start:l.i]))
		return nil
	case isDigit(c) || c == '.' && isDigit(l.at(1)):
		return l.number()
	case strings.IndexByte("()[],;.", c) >= 0:
		l.i++
		l.emit(tokPunct, l.i-1, l.src[l.i-1:l.i])
		return nil
	case c == ':':
		start := l.i
		l.i++
		if n := l.at(0); n == ':' || n == '=' {
			l.i++
		}
		l.emit(tokPunct, start, l.src[start:l.i])
		return nil
	case isOpChar(c):
		l.operator()
		return nil
	}
	_, size := utf8.DecodeRuneInString(l.src[l.i:])
	return l.fail(l.i, "syntax error at or near \"%s\"", l.src[l.i:l.i+size])
}

// operator reads the longest operator. One of several characters may end in + or -
// only if it has a character that SQL's own operators do not have: so that a=-1 is
// a = -1. A comment ends it.
func (l *lexer) operator() {
	start, j := l.i, l.i
	for j < len(l.src) && isOpChar(l.src[j]) {
		if j > start && (strings.HasPrefix(l.src[j:], "--") || strings.HasPrefix(l.src[j:], "/*")) {
			break
		}
		j++
	}
	for j-start > 1 && (l.src[j-1] == '+' || l.src[j-1] == '-') && !strings.ContainsAny(l.src[start:j-1], "~!@#%^&|`?") {
		j--
	}
	l.i = j
	switch s := l.src[start:j]; s {
	case "!=":
		l.emit(tokOp, start, "<>")
	case "=>":
		l.emit(tokPunct, start, s)
	default:
		l.emit(tokOp, start, s)
	}
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}

func isIdentStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isDigit(c byte) bool     { return c >= '0' && c <= '9' }
func isIdentPart(c byte) bool { return isIdentStart(c) || isDigit(c) || c == '$' }
func isOpChar(c byte) bool    { return strings.IndexByte("+-*/<>=~!@#%^&|`?", c) >= 0 }

func isQuotePrefix(c byte) bool { return strings.IndexByte("eEbBxXnN", c) >= 0 }

// foldIdentifier lower-cases ASCII letters, as PostgreSQL does in a UTF-8 database.
func foldIdentifier(s string) string {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}
