package expr_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// sqlText binds the SQL of the golden files: enough of the grammar of scalar
// expressions, with PostgreSQL's precedence, and nothing else.
type sqlText struct {
	toks []string
	pos  int
}

func tokenize(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		c := s[i]
		start := i
		switch {
		case c == ' ':
			i++
			continue
		case c == '\'' || (c == 'E' || c == 'e') && i+1 < len(s) && s[i+1] == '\'':
			if c != '\'' {
				i++
			}
			for i++; i < len(s); i++ {
				if s[i] == '\\' && c != '\'' {
					i++
				} else if s[i] == '\'' {
					if i+1 < len(s) && s[i+1] == '\'' {
						i++
						continue
					}
					break
				}
			}
			i++
		case c == '"':
			i += strings.IndexByte(s[i+1:], '"') + 2
		case c >= '0' && c <= '9' || c == '.' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
			for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.' || s[i] == 'e' || (s[i] == '-' || s[i] == '+') && s[i-1] == 'e') {
				i++
			}
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_':
			for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || s[i] == '_' || s[i] >= '0' && s[i] <= '9') {
				i++
			}
		case strings.ContainsRune("()[],", rune(c)):
			i++
		case c == ':' && s[i+1] == ':':
			i += 2
		case c == ':':
			i++
		default:
			for i < len(s) && strings.ContainsRune("+-*/<>=~!@#%^&|?", rune(s[i])) {
				i++
				if (s[i-1] == '-' || s[i-1] == '+') && i-1 > start && !strings.ContainsAny(s[start:i], "~!@#%^&|?") {
					i--
					break
				}
			}
			if i == start {
				panic("token at " + s[i:])
			}
		}
		out = append(out, s[start:i])
	}
	return out
}

func bindSQL(s string) (e expr.Expr, err error) {
	p := &sqlText{toks: tokenize(s)}
	defer func() {
		if r := recover(); r != nil {
			if b, ok := r.(bindError); ok {
				err = b.err
				return
			}
			panic(fmt.Sprintf("%v in %s", r, s))
		}
	}()
	e = p.expr(0)
	if p.pos != len(p.toks) {
		panic("rest: " + strings.Join(p.toks[p.pos:], " "))
	}
	return expr.ResolveUnknown(e)
}

type bindError struct{ err error }

func must(e expr.Expr, err error) expr.Expr {
	if err != nil {
		panic(bindError{err})
	}
	return e
}

func (p *sqlText) peek() string {
	if p.pos < len(p.toks) {
		return p.toks[p.pos]
	}
	return ""
}

func (p *sqlText) word() string { return strings.ToUpper(p.peek()) }

func (p *sqlText) accept(words ...string) bool {
	for i, w := range words {
		if p.pos+i >= len(p.toks) || strings.ToUpper(p.toks[p.pos+i]) != w {
			return false
		}
	}
	p.pos += len(words)
	return true
}

func (p *sqlText) expect(w string) {
	if !p.accept(w) {
		panic("want " + w + ", have " + p.peek())
	}
}

func (p *sqlText) list(closing string) []expr.Expr {
	var out []expr.Expr
	for !p.accept(closing) {
		out = append(out, p.expr(0))
		p.accept(",")
	}
	return out
}

func precedence(op string) int {
	switch op {
	case "OR":
		return 1
	case "AND":
		return 2
	case "IS":
		return 4
	case "<", ">", "=", "<=", ">=", "<>", "!=":
		return 5
	case "BETWEEN", "IN", "LIKE", "ILIKE", "SIMILAR", "NOT":
		return 6
	case "+", "-":
		return 8
	case "*", "/", "%":
		return 9
	case "^":
		return 10
	case "AT":
		return 11
	case "[":
		return 13
	case "::":
		return 14
	}
	if op != "" && strings.ContainsAny(op[:1], "+-*/<>=~!@#%^&|?") {
		return 7
	}
	return 0
}

func (p *sqlText) expr(limit int) expr.Expr {
	left := p.prefix()
	for {
		op := p.word()
		prec := precedence(op)
		if prec == 0 || prec <= limit {
			return left
		}
		p.pos++
		left = p.infix(left, op, prec)
	}
}

func (p *sqlText) infix(left expr.Expr, op string, prec int) expr.Expr {
	not := op == "NOT"
	if not {
		op = p.word()
		p.pos++
	}
	switch op {
	case "OR":
		return must(expr.NewOr(left, p.expr(prec)))
	case "AND":
		return must(expr.NewAnd(left, p.expr(prec)))
	case "IS":
		return p.is(left)
	case "BETWEEN":
		symmetric := p.accept("SYMMETRIC")
		lo := p.expr(6)
		p.expect("AND")
		return must(expr.NewBetween(left, lo, p.expr(6), symmetric, not))
	case "IN":
		p.expect("(")
		return must(expr.NewIn(left, p.list(")"), not))
	case "LIKE", "ILIKE":
		if w := p.word(); w == "ANY" || w == "ALL" {
			break
		}
		pattern := p.expr(6)
		return must(expr.NewLike(left, pattern, p.escape(), op == "ILIKE", not))
	case "SIMILAR":
		p.expect("TO")
		pattern := p.expr(6)
		return must(expr.NewSimilar(left, pattern, p.escape(), not))
	case "AT":
		p.accept("TIME", "ZONE")
		return must(expr.NewAtTimeZone(left, p.expr(prec)))
	case "[":
		return p.subscript(left)
	case "::":
		return must(expr.Cast(left, p.typ(), expr.Explicit))
	}
	if op == "LIKE" {
		op = "~~"
	}
	for _, all := range []bool{false, true} {
		if p.accept([]string{"ANY", "ALL"}[b2i(all)], "(") {
			array := p.expr(0)
			p.expect(")")
			return must(expr.NewAnyAll(op, left, array, all))
		}
	}
	return must(expr.NewOperator(op, left, p.expr(prec)))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *sqlText) escape() expr.Expr {
	if p.accept("ESCAPE") {
		return p.expr(6)
	}
	return nil
}

func (p *sqlText) is(left expr.Expr) expr.Expr {
	not := p.accept("NOT")
	switch w := p.word(); w {
	case "NULL":
		p.pos++
		return must(expr.NewIsNull(left, not))
	case "DISTINCT":
		p.accept("DISTINCT", "FROM")
		return must(expr.NewIsDistinct(left, p.expr(5), not))
	default:
		p.pos++
		kind := map[string]expr.BoolTestKind{"TRUE": expr.IsTrue, "FALSE": expr.IsFalse, "UNKNOWN": expr.IsUnknown}[w]
		return must(expr.NewBoolTest(left, kind, not))
	}
}

func (p *sqlText) subscript(left expr.Expr) expr.Expr {
	index := []expr.Expr{p.expr(0)}
	if p.accept(":") {
		hi := p.expr(0)
		p.expect("]")
		return must(expr.NewSlice(left, []expr.SliceBound{{Lo: index[0], Hi: hi}}))
	}
	p.expect("]")
	for p.accept("[") {
		index = append(index, p.expr(0))
		p.expect("]")
	}
	return must(expr.NewSubscript(left, index))
}

func (p *sqlText) typ() types.Type {
	name := strings.ToLower(p.peek())
	p.pos++
	for _, more := range [][]string{{"PRECISION"}, {"VARYING"}} {
		if p.accept(more...) {
			name += " " + strings.ToLower(more[0])
		}
	}
	var mods []int32
	if p.accept("(") {
		for !p.accept(")") {
			sign := ""
			if p.accept("-") {
				sign = "-"
			}
			n, _ := strconv.Atoi(sign + p.peek())
			mods = append(mods, int32(n))
			p.pos++
			p.accept(",")
		}
	}
	if p.accept("WITH", "TIME", "ZONE") {
		name += " with time zone"
	}
	for p.accept("[", "]") {
		if !strings.HasSuffix(name, "[]") {
			name += "[]"
		}
	}
	t, err := types.ByName(name, mods...)
	if err != nil {
		panic(bindError{err})
	}
	return t
}

func number(s string, neg bool) expr.Expr {
	if neg {
		s = "-" + s
	}
	for _, t := range []types.OID{types.Int4, types.Int8, types.Numeric} {
		if d, err := types.Parse(types.Of(t), []byte(s), nil); err == nil {
			return expr.NewConst(d)
		}
	}
	panic("number " + s)
}

func (p *sqlText) prefix() expr.Expr {
	t := p.peek()
	w := p.word()
	p.pos++
	switch {
	case w == "NOT":
		return must(expr.NewNot(p.expr(3)))
	case t == "(":
		e := p.expr(0)
		p.expect(")")
		return e
	case t[0] == '\'':
		return expr.NewLiteral(strings.ReplaceAll(t[1:len(t)-1], "''", "'"))
	case len(t) > 1 && t[1] == '\'':
		s := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`, `\'`, `'`).Replace(t[2 : len(t)-1])
		return expr.NewLiteral(s)
	case t[0] >= '0' && t[0] <= '9' || t[0] == '.':
		return number(t, false)
	case w == "TRUE" || w == "FALSE":
		return expr.NewConst(types.BoolDatum(w == "TRUE"))
	case w == "NULL":
		return expr.NewNull()
	case w == "CASE":
		return p.caseExpr()
	case w == "ARRAY":
		p.expect("[")
		elems := p.list("]")
		if len(elems) == 0 && p.accept("::") {
			return must(expr.NewArrayOf(types.Of(p.typ().OID.Elem()), nil))
		}
		return must(expr.NewArray(elems))
	case strings.ContainsAny(t[:1], "+-*/<>=~!@#%^&|?"):
		if n := p.peek(); t == "-" && n != "" && n[0] >= '0' && n[0] <= '9' && !strings.HasPrefix(strings.Join(p.toks[p.pos+1:min(p.pos+2, len(p.toks))], ""), "::") {
			p.pos++
			return number(n, true)
		}
		return must(expr.NewOperator(t, nil, p.expr(map[bool]int{true: 12, false: 7}[t == "-" || t == "+"])))
	case p.peek() == "(":
		return p.call(w)
	case strings.HasPrefix(p.peek(), "'"):
		p.pos--
		typ := p.typ()
		lit := p.peek()
		p.pos++
		return must(expr.Cast(expr.NewLiteral(strings.ReplaceAll(lit[1:len(lit)-1], "''", "'")), typ, expr.Explicit))
	}
	panic("token " + t)
}

func (p *sqlText) call(w string) expr.Expr {
	p.pos++
	switch w {
	case "CAST":
		e := p.expr(0)
		p.expect("AS")
		t := p.typ()
		p.expect(")")
		return must(expr.Cast(e, t, expr.Explicit))
	case "EXTRACT":
		field := strings.Trim(p.peek(), "'")
		p.pos++
		p.expect("FROM")
		e := p.expr(0)
		p.expect(")")
		return must(expr.NewExtract(field, e))
	}
	args := p.list(")")
	switch w {
	case "COALESCE":
		return must(expr.NewCoalesce(args...))
	case "NULLIF":
		return must(expr.NewNullIf(args[0], args[1]))
	case "GREATEST":
		return must(expr.NewGreatest(args...))
	case "LEAST":
		return must(expr.NewLeast(args...))
	case "ROW":
		return must(expr.NewRow(args, nil))
	}
	return must(expr.NewFunction(strings.ToLower(w), args))
}

func (p *sqlText) caseExpr() expr.Expr {
	var operand, otherwise expr.Expr
	if p.word() != "WHEN" {
		operand = p.expr(0)
	}
	var whens []expr.When
	for p.accept("WHEN") {
		c := p.expr(0)
		p.expect("THEN")
		whens = append(whens, expr.When{Cond: c, Result: p.expr(0)})
	}
	if p.accept("ELSE") {
		otherwise = p.expr(0)
	}
	p.expect("END")
	return must(expr.NewCase(operand, whens, otherwise))
}
