package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// plainValues parses VALUES (...), ... where every value is plain: a constant, a
// number with a sign, a parameter, DEFAULT, or one of these with a cast. Clients send
// thousands of such rows in a statement, and TiDB's grammar takes ten times as long.
// It returns nil and leaves the cursor where it was if anything else turns up.
func (p *parser) plainValues() *ast.Select {
	start := p.at
	values := &ast.Values{Pos: p.pos()}
	p.at++
	width := 0
	for {
		row, ok := p.plainRow(width)
		if !ok {
			p.at = start
			return nil
		}
		width = len(row)
		values.Rows = append(values.Rows, row)
		if !p.acceptPunct(",") {
			break
		}
	}
	if !p.atEnd() && !p.isWord("on", "returning") { // UNION, ORDER BY, a syntax error
		p.at = start
		return nil
	}
	return &ast.Select{Pos: values.Pos, Body: values}
}

// plainRow parses (value, value, ...).
func (p *parser) plainRow(width int) ([]ast.Expr, bool) {
	if !p.acceptPunct("(") {
		return nil, false
	}
	row := make([]ast.Expr, 0, max(width, 4))
	for {
		e := p.plainValue()
		if e == nil {
			return nil, false
		}
		row = append(row, e)
		if p.acceptPunct(",") {
			continue
		}
		return row, p.acceptPunct(")")
	}
}

// plainValue parses one value, or returns nil.
func (p *parser) plainValue() ast.Expr {
	t := p.cur()
	var e ast.Expr
	switch t.kind {
	case tokParam:
		param, err := p.param()
		if err != nil {
			return nil // the grammar will say so again
		}
		e = param
	case tokWord:
		e = p.plainWord(t)
	case tokOp:
		e = p.plainSign(t)
	default:
		if lit := p.literal(); lit != nil {
			e = lit
		}
	}
	if e == nil || !p.isPunct("::") {
		return e
	}
	if _, signed := e.(*ast.Unary); signed {
		return nil // -1::int4 is -(1::int4)
	}
	return p.plainCast(e)
}

func (p *parser) plainWord(t *token) ast.Expr {
	switch t.text {
	case "null":
		p.at++
		return &ast.Literal{Pos: ast.Pos(t.char), Kind: ast.NullLiteral}
	case "true", "false":
		p.at++
		return &ast.Literal{Pos: ast.Pos(t.char), Kind: ast.BoolLiteral, Text: t.text}
	case "default":
		p.at++
		return &ast.Default{Pos: ast.Pos(t.char)}
	}
	return nil
}

// plainSign parses a signed number.
func (p *parser) plainSign(t *token) ast.Expr {
	n := p.peek(1)
	if t.text != "-" && t.text != "+" || n.kind != tokInteger && n.kind != tokDecimal {
		return nil
	}
	p.at++
	return &ast.Unary{Pos: ast.Pos(t.char), Op: ast.Operator{Name: t.text}, Arg: p.literal()}
}

func (p *parser) plainCast(e ast.Expr) ast.Expr {
	for p.isPunct("::") {
		t := p.next()
		typ, err := p.typeName()
		if err != nil {
			return nil
		}
		e = &ast.Cast{Pos: ast.Pos(t.char), Arg: e, Type: typ}
	}
	return e
}
