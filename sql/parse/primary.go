package parse

import (
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// primary rewrites what operators apply to: a constant, a column, a call, a
// parenthesised expression, a CASE, ....
func (p *parser) primary() error {
	t := p.cur()
	switch t.kind {
	case tokWord, tokQuoted:
		return p.nameOrKeyword(t)
	case tokParam:
		mark := p.mark()
		param, err := p.param()
		if err != nil {
			return err
		}
		p.leaf(param)
		return p.indirection(mark)
	case tokPunct:
		if t.text == "(" {
			return p.parenExpr()
		}
	default:
		if lit := p.literal(); lit != nil {
			p.leaf(lit)
			return nil
		}
	}
	return p.errorHere()
}

// literal reads a number or a string, or returns nil.
func (p *parser) literal() *ast.Literal {
	t := p.cur()
	lit := &ast.Literal{Pos: ast.Pos(t.char), Text: t.text}
	switch t.kind {
	case tokInteger:
		lit.Kind = ast.IntegerLiteral
		if len(t.text) > 2 && t.text[1] > '9' { // 0x1F and its like
			if v, err := strconv.ParseUint(strings.ToLower(t.text), 0, 64); err == nil {
				lit.Text = strconv.FormatUint(v, 10)
			}
		}
	case tokDecimal:
		lit.Kind = ast.DecimalLiteral
	case tokString:
		lit.Kind = ast.StringLiteral
	case tokBits:
		lit.Kind = ast.BitLiteral
	case tokHex:
		lit.Kind = ast.HexLiteral
	default:
		return nil
	}
	p.at++
	return lit
}

// param reads $n.
func (p *parser) param() (*ast.Param, error) {
	t := p.next()
	n, err := strconv.Atoi(t.text)
	if err != nil || n < 1 || n > maxParam {
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%s", t.text).At(int(t.char))
	}
	p.params = max(p.params, n)
	return &ast.Param{Pos: ast.Pos(t.char), Number: n}, nil
}

// parenExpr rewrites (query), (expression) and the row (a, b).
func (p *parser) parenExpr() error {
	mark := p.mark()
	if p.startsQuery(1) {
		if err := p.parenthesised(true); err != nil {
			return err
		}
		return p.indirection(mark)
	}
	p.emit("(", p.next().char)
	if err := p.exprList(); err != nil {
		return err
	}
	p.emit(")", p.cur().char)
	if err := p.expectPunct(")"); err != nil {
		return err
	}
	return p.indirection(mark)
}

// indirection rewrites subscripts and field selections after what was emitted at mark.
func (p *parser) indirection(mark int) error {
	for chain := 0; ; chain++ {
		if chain > maxDepth {
			return tooComplex(p.cur(), "too many subscripts in a row")
		}
		var err error
		switch {
		case p.isPunct("["):
			err = p.subscript(mark)
		case p.isPunct("."):
			err = p.fieldSelect(mark)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (p *parser) fieldSelect(mark int) error {
	t := p.next()
	sel := &ast.FieldSelect{Pos: ast.Pos(t.char)}
	if p.isOp("*") {
		p.at++
		sel.Field, sel.Star = "*", true
	} else {
		var err error
		if sel.Field, err = p.label(); err != nil {
			return err
		}
	}
	p.wrapForm(mark, formFunc(func(args []ast.Expr) ast.Expr {
		sel.Arg = args[0]
		return sel
	}))
	p.closeForm()
	return nil
}

// subscript rewrites [index] and [lower:upper].
func (p *parser) subscript(mark int) error {
	sub := &ast.Subscript{Pos: ast.Pos(p.next().char)}
	first, second := false, false
	var err error
	if !p.isPunct(":") {
		first, err = true, p.argument()
		if err != nil {
			return err
		}
	}
	if p.acceptPunct(":") {
		sub.Slice = true
		if !p.isPunct("]") {
			second, err = true, p.argument()
			if err != nil {
				return err
			}
		}
	}
	p.wrapForm(mark, formFunc(func(args []ast.Expr) ast.Expr {
		sub.Arg, args = args[0], args[1:]
		switch {
		case !sub.Slice:
			sub.Index = args[0]
		default:
			if first {
				sub.Lower, args = args[0], args[1:]
			}
			if second {
				sub.Upper = args[0]
			}
		}
		return sub
	}))
	p.closeForm()
	return p.expectPunct("]")
}

// nameOrKeyword rewrites what starts with a word.
func (p *parser) nameOrKeyword(t *token) error {
	if t.kind == tokWord {
		if done, err := p.keywordExpr(t); done || err != nil {
			return err
		}
		if done, err := p.typedLiteral(t); done || err != nil {
			return err
		}
		if t.class() == reserved {
			return p.errorHere()
		}
	}
	n := p.dottedLength()
	after := p.peek(n)
	switch {
	case after.kind == tokString && (n > 1 || t.kind == tokQuoted || t.class() != columnName):
		return p.genericTypedLiteral()
	case after.isPunct("("):
		if n == 1 && t.class() == columnName {
			if !keywordFunctions[t.text] {
				return syntaxError(p.src, after)
			}
			if after = p.peek(2); after.isPunct(")") {
				return syntaxError(p.src, after) // they have arguments
			}
			return p.call(true)
		}
		return p.call(false)
	case t.class() == typeFuncName:
		p.at++ // PostgreSQL expected the parenthesis of a call
		return p.errorHere()
	}
	return p.columnRef(t, n)
}

// columnRef rewrites a.b.c, a.b.* or a.b[1].
func (p *parser) columnRef(t *token, n int) error {
	mark := p.mark()
	if star := p.starTarget(); star != nil {
		p.leaf(star)
		return nil
	}
	if n > 5 {
		return unsupported(t, "a name of more than three parts")
	}
	parts, err := p.dottedParts()
	if err != nil {
		return err
	}
	p.leaf(&ast.ColumnRef{Pos: ast.Pos(t.char), Parts: parts})
	return p.indirection(mark)
}

// genericTypedLiteral rewrites name 'text' for any type name.
func (p *parser) genericTypedLiteral() error {
	t := p.cur()
	typ, err := p.typeName()
	if err != nil {
		return err
	}
	p.leaf(&ast.Cast{Pos: ast.Pos(t.char), Arg: p.literal(), Type: typ})
	return nil
}

// typedLiteral rewrites a literal of a type that has keywords of its own, such as
// double precision '1' or timestamp(3) with time zone '...'.
func (p *parser) typedLiteral(t *token) (bool, error) {
	if !typeWords[t.text] || p.peek(1).isPunct(".") {
		return false, nil
	}
	start := p.at
	typ, err := p.typeName()
	if err != nil || p.cur().kind != tokString {
		p.at = start
		return false, nil //nolint:nilerr // then it is no typed literal, and is read as something else
	}
	lit := p.literal()
	if t.text == "interval" && typ.IntervalFields == "" {
		if typ.IntervalFields, err = p.intervalFields(typ); err != nil {
			return false, err
		}
	}
	p.leaf(&ast.Cast{Pos: ast.Pos(t.char), Arg: lit, Type: typ})
	return true, nil
}
