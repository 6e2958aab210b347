package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// optionList parses (name [=] value, name, ...).
func (p *parser) optionList() ([]ast.Option, error) {
	var list []ast.Option
	err := p.parenList(func() error {
		o, err := p.option()
		list = append(list, o)
		return err
	})
	return list, err
}

// withOptions parses an optional WITH (options).
func (p *parser) withOptions() ([]ast.Option, error) {
	if !p.isWord("with") || !p.peek(1).isPunct("(") {
		return nil, nil
	}
	p.at++
	return p.optionList()
}

// option parses one entry. The equals sign may be missing, as in COPY and EXPLAIN.
func (p *parser) option() (ast.Option, error) {
	o := ast.Option{Pos: p.pos()}
	parts, err := p.dottedParts()
	if err != nil {
		return o, err
	}
	o.Name = joinDots(parts)
	if p.isOp("=") {
		p.at++
	} else if p.isPunct(",") || p.isPunct(")") {
		return o, nil
	}
	o.Value, err = p.optionValue()
	return o, err
}

func joinDots(parts []string) string {
	s := parts[0]
	for _, part := range parts[1:] {
		s += "." + part
	}
	return s
}

// optionValue parses a constant, a bare word, * or a list of these in parentheses.
func (p *parser) optionValue() (ast.Expr, error) {
	t := p.cur()
	switch {
	case t.isOp("*"):
		p.at++
		return &ast.Star{Pos: ast.Pos(t.char)}, nil
	case t.isPunct("("):
		row := &ast.Row{Pos: ast.Pos(t.char)}
		return row, p.parenList(func() error {
			e, err := p.settingValue()
			row.Elems = append(row.Elems, e)
			return err
		})
	}
	e, err := p.settingValue()
	if _, word := e.(*ast.Literal); word && t.isName() && p.isPunct("(") {
		// A type with modifiers, to PostgreSQL's grammar: the option decides what it means.
		err = p.parenList(func() error {
			_, err := p.settingValue()
			return err
		})
	}
	return e, err
}

// settingValue parses a constant; a bare word is a string, except true and false.
func (p *parser) settingValue() (ast.Expr, error) {
	t := p.cur()
	switch {
	case t.isWord("true", "false"):
		p.at++
		return &ast.Literal{Pos: ast.Pos(t.char), Kind: ast.BoolLiteral, Text: t.text}, nil
	case t.isName():
		parts, err := p.dottedParts()
		return stringLiteral(t, joinDots(parts)), err
	case t.isOp("-"), t.isOp("+"):
		if e := p.plainSign(t); e != nil {
			return e, nil
		}
		p.at++
		return nil, p.errorHere()
	}
	if lit := p.literal(); lit != nil {
		return lit, nil
	}
	return nil, p.errorHere()
}
