package parse

import "strings"

// number reads an integer or a decimal. Underscores between digits are PostgreSQL
// 16's, accepted and dropped; 0x, 0o and 0b integers too.
func (l *lexer) number() error {
	start, kind := l.i, tokInteger
	if l.at(0) == '0' && strings.IndexByte("xXoObB", l.at(1)) >= 0 && l.at(1) != 0 && isHex(l.at(2)) {
		l.i += 2
		for isHex(l.at(0)) || l.at(0) == '_' {
			l.i++
		}
	} else {
		l.digitRun()
		if l.at(0) == '.' && l.at(1) != '.' {
			kind = tokDecimal
			l.i++
			l.digitRun()
		}
		if l.exponent() {
			kind = tokDecimal
		}
	}
	if isIdentStart(l.at(0)) {
		end := l.i
		for end < len(l.src) && isIdentPart(l.src[end]) {
			end++
		}
		return l.fail(start, "trailing junk after numeric literal at or near \"%s\"", l.src[start:end])
	}
	l.emit(kind, start, strings.ReplaceAll(l.src[start:l.i], "_", ""))
	return nil
}

func (l *lexer) digitRun() {
	for isDigit(l.at(0)) || l.at(0) == '_' && isDigit(l.at(1)) {
		l.i++
	}
}

// exponent steps over e+10 if it is there.
func (l *lexer) exponent() bool {
	if c := l.at(0); c != 'e' && c != 'E' {
		return false
	}
	j := 1
	if c := l.at(1); c == '+' || c == '-' {
		j = 2
	}
	if !isDigit(l.at(j)) {
		return false
	}
	l.i += j
	l.digitRun()
	return true
}
