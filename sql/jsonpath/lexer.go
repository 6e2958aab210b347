package jsonpath

import (
	"strings"
	"unicode/utf8"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

type tokenKind uint8

const (
	endToken tokenKind = iota
	nameToken
	stringToken
	numberToken
	variableToken // $ or $name
	symbolToken
)

type token struct {
	kind tokenKind
	text string // decoded
}

// symbols, longer ones before those that they begin with.
var symbols = []string{
	"**", "&&", "||", "==", "!=", "<>", "<=", ">=", "<", ">", "!", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}",
	".", ",", "?", "@", "=",
}

func syntaxError(near string) error {
	if near == "" {
		return sqlerr.New(sqlerr.SyntaxError, "syntax error at end of jsonpath input")
	}
	return sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \"%s\" of jsonpath input", near)
}

func lex(s string) ([]token, error) {
	var out []token
	for s != "" {
		c := s[0]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			s = s[1:]
		case strings.HasPrefix(s, "/*"):
			end := strings.Index(s[2:], "*/")
			if end < 0 {
				return nil, sqlerr.New(sqlerr.SyntaxError, "unexpected end of comment at end of jsonpath input")
			}
			s = s[2+end+2:]
		case c == '"':
			text, rest, err := lexString(s)
			if err != nil {
				return nil, err
			}
			out, s = append(out, token{stringToken, text}), rest
		case c == '$':
			if len(s) > 1 && s[1] == '"' {
				text, rest, err := lexString(s[1:])
				if err != nil {
					return nil, err
				}
				out, s = append(out, token{variableToken, text}), rest
				continue
			}
			n := nameLength(s[1:])
			out, s = append(out, token{variableToken, s[1 : 1+n]}), s[1+n:]
		case c >= '0' && c <= '9' || c == '.' && len(s) > 1 && s[1] >= '0' && s[1] <= '9':
			n := numberLength(s)
			if _, err := types.ParseDecimal([]byte(s[:n])); err != nil || n < len(s) && nameLength(s[n:]) > 0 {
				return nil, sqlerr.New(sqlerr.SyntaxError, "trailing junk after numeric literal at or near \"%s\" of jsonpath input", s[:min(n+1, len(s))])
			}
			out, s = append(out, token{numberToken, s[:n]}), s[n:]
		default:
			if n := nameLength(s); n > 0 {
				out, s = append(out, token{nameToken, s[:n]}), s[n:]
				continue
			}
			at := len(out)
			for _, sym := range symbols {
				if strings.HasPrefix(s, sym) {
					out, s = append(out, token{symbolToken, sym}), s[len(sym):]
					break
				}
			}
			if len(out) == at {
				return nil, syntaxError(s[:1])
			}
		}
	}
	return append(out, token{}), nil
}

// lexString reads a string, whose escapes are those of JSON.
func lexString(s string) (text, rest string, err error) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			v, err := types.ParseJSON([]byte(s[:i+1]))
			if err != nil {
				return "", "", syntaxError(s[:i+1])
			}
			return v.Text, s[i+1:], nil
		}
	}
	return "", "", sqlerr.New(sqlerr.SyntaxError, "unterminated quoted string at end of jsonpath input")
}

func nameLength(s string) int {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
		if !letter && (i == 0 || r < '0' || r > '9') {
			return i
		}
	}
	return len(s)
}

func numberLength(s string) int {
	i := 0
	digits := func() {
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
	}
	digits()
	if i < len(s) && s[i] == '.' {
		i++
		digits()
	}
	if i+1 < len(s) && (s[i] == 'e' || s[i] == 'E') {
		mark := i
		if i++; s[i] == '+' || s[i] == '-' {
			i++
		}
		if start := i; i < len(s) {
			if digits(); i == start {
				i = mark
			}
		} else {
			i = mark
		}
	}
	return i
}
