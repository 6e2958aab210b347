package expr

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// likeMatch matches LIKE patterns: % any run, _ any character. escape is 0 for none.
func likeMatch(s, p string, escape rune, fold bool) (bool, error) {
	if fold {
		s, p = strings.ToLower(s), strings.ToLower(p)
		escape = unicode.ToLower(escape)
	}
	// On a mismatch the last % takes one character more.
	starS, starP := "", ""
	star := false
	for {
		if p != "" {
			r, n := utf8.DecodeRuneInString(p)
			switch {
			case r == escape && escape != 0:
				if len(p) == n && s != "" {
					return false, sqlerr.New(sqlerr.InvalidEscapeSequence, "LIKE pattern must not end with escape character")
				}
				lit, k := utf8.DecodeRuneInString(p[n:])
				c, m := utf8.DecodeRuneInString(s)
				if m > 0 && c == lit {
					s, p = s[m:], p[n+k:]
					continue
				}
			case r == '%':
				star, starS, starP = true, s, p[1:]
				p = p[1:]
				continue
			default:
				c, m := utf8.DecodeRuneInString(s)
				if m > 0 && (r == '_' || c == r) {
					s, p = s[m:], p[n:]
					continue
				}
			}
		} else if s == "" {
			return true, nil
		}
		if !star || starS == "" {
			return false, nil
		}
		_, m := utf8.DecodeRuneInString(starS)
		starS = starS[m:]
		s, p = starS, starP
	}
}

func escapeRune(s string) (rune, error) {
	if utf8.RuneCountInString(s) > 1 {
		return 0, sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid escape string").
			WithHint("Escape string must be empty or one character.")
	}
	if s == "" {
		return 0, nil
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r, nil
}

func textArgs(args ...Expr) ([]Expr, error) {
	var out []Expr
	for _, a := range args {
		if a == nil {
			continue
		}
		t, err := Cast(a, types.Of(types.Text), Implicit)
		if err != nil {
			return nil, undefinedOperator("~~", args[:2])
		}
		out = append(out, t)
	}
	return out, nil
}

// NewLike is x [NOT] LIKE|ILIKE pattern [ESCAPE escape]; escape may be nil.
func NewLike(x, pattern, escape Expr, insensitive, not bool) (Expr, error) {
	if escape == nil {
		op := "~~"
		if insensitive {
			op = "~~*"
		}
		if not {
			op = "!" + op
		}
		return NewOperator(op, x, pattern)
	}
	args, err := textArgs(x, pattern, escape)
	if err != nil {
		return nil, err
	}
	name := "LIKE"
	if insensitive {
		name = "ILIKE"
	}
	if not {
		name = "NOT_" + name
	}
	return strictRow(name, args, boolType, func(_ *Context, a []types.Datum) (types.Datum, error) {
		esc, err := escapeRune(str(a[2]))
		if err != nil {
			return types.Datum{}, err
		}
		ok, err := likeMatch(str(a[0]), str(a[1]), esc, insensitive)
		return types.BoolDatum(ok != not), err
	}), nil
}

// strictRow is a rowwise expression that is NULL where an operand is.
func strictRow(name string, args []Expr, t types.Type, f rowFunc) Expr {
	return &rowwise{name: name, args: args, typ: t, row: func(ec *Context, a []types.Datum) (types.Datum, error) {
		for _, d := range a {
			if d.Null {
				return types.NullOf(t), nil
			}
		}
		return f(ec, a)
	}}
}

// NewSimilar is x [NOT] SIMILAR TO pattern [ESCAPE escape]; escape may be nil.
func NewSimilar(x, pattern, escape Expr, not bool) (Expr, error) {
	if escape == nil {
		escape = NewLiteral(`\`)
	}
	args, err := textArgs(x, pattern, escape)
	if err != nil {
		return nil, err
	}
	name := "SIMILAR"
	if not {
		name = "NOT_SIMILAR"
	}
	return strictRow(name, args, boolType, func(_ *Context, a []types.Datum) (types.Datum, error) {
		esc, err := escapeRune(str(a[2]))
		if err != nil {
			return types.Datum{}, err
		}
		pattern := str(a[1])
		if esc != 0 { // the marks of what SUBSTRING takes mean nothing here
			parts := strings.Split(pattern, string(esc)+`"`)
			if len(parts) > 3 {
				return types.Datum{}, tooManySeparators()
			}
			pattern = strings.Join(parts, "")
		}
		re, err := compileRegex(similarToRegex(pattern, esc), "")
		if err != nil {
			return types.Datum{}, err
		}
		return boolean(re.Match(a[0].Bytes) != not)
	}), nil
}

// similarToRegex translates SQL's regular expressions to POSIX ones.
func similarToRegex(p string, escape rune) string {
	var b strings.Builder
	b.WriteString("^(?:")
	escaped, class := false, false
	for _, r := range p {
		switch {
		case escaped:
			b.WriteByte('\\')
			b.WriteRune(r)
			escaped = false
		case r == escape && escape != 0:
			escaped = true
		case class:
			if r == '\\' {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
			class = r != ']'
		case r == '[':
			b.WriteRune(r)
			class = true
		case r == '%':
			b.WriteString("(?s:.*)")
		case r == '_':
			b.WriteString("(?s:.)")
		case r == '(':
			b.WriteString("(?:")
		case r == '\\' || r == '.' || r == '^' || r == '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteString(")$")
	return b.String()
}

// NewRegex is x ~ pattern and its kin.
func NewRegex(x, pattern Expr, insensitive, not bool) (Expr, error) {
	op := "~"
	if insensitive {
		op = "~*"
	}
	if not {
		op = "!" + op
	}
	return NewOperator(op, x, pattern)
}
