package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// copy parses COPY in its present form and in that of PostgreSQL 8.
func (p *parser) copy(t *token) (ast.Statement, error) {
	s := &ast.Copy{Pos: ast.Pos(t.char)}
	if p.isWord("binary") {
		s.Options = append(s.Options, wordOption(p.next(), "format", "binary"))
	}
	if err := p.copySource(s); err != nil {
		return nil, err
	}
	if err := p.copyTarget(s); err != nil {
		return nil, err
	}
	if err := p.copyOptions(s); err != nil {
		return nil, err
	}
	if p.isWord("where") && !s.From {
		return nil, errorAt(p.cur(), "WHERE clause not allowed with COPY TO")
	}
	var err error
	s.Where, err = p.whereClause()
	return s, err
}

func wordOption(t *token, name, value string) ast.Option {
	return ast.Option{Pos: ast.Pos(t.char), Name: name, Value: stringLiteral(t, value)}
}

func stringLiteral(t *token, text string) *ast.Literal {
	return &ast.Literal{Pos: ast.Pos(t.char), Kind: ast.StringLiteral, Text: text}
}

// copySource reads a table with columns, or a statement in parentheses.
func (p *parser) copySource(s *ast.Copy) (err error) {
	if !p.isPunct("(") {
		if s.Table, err = p.objectName(); err == nil && p.isPunct("(") {
			s.Columns, err = p.columnNames()
		}
		return err
	}
	p.at++
	if p.modifies() {
		s.Query, err = p.statement()
	} else {
		s.Query, err = p.parseQuery()
	}
	if err != nil {
		return err
	}
	return p.expectPunct(")")
}

// copyTarget reads FROM or TO and where to.
func (p *parser) copyTarget(s *ast.Copy) error {
	s.From = p.isWord("from")
	if s.From && s.Query != nil || !p.isWord("from", "to") {
		return p.errorHere()
	}
	p.at++
	switch t := p.cur(); {
	case t.isWord("stdin", "stdout"):
	case t.kind == tokString:
		s.File = t.text
	case t.isWord("program"):
		return unsupported(t, "COPY with PROGRAM")
	default:
		return p.errorHere()
	}
	p.at++
	return nil
}

// copyOptions reads [WITH] (options) or the old words.
func (p *parser) copyOptions(s *ast.Copy) error {
	if p.isWord("using") || p.isWord("delimiters") { // older than WITH
		p.acceptWord("using")
		t := p.cur()
		if err := p.expectWord("delimiters"); err != nil {
			return err
		}
		return p.copyString(s, t, "delimiter")
	}
	p.acceptWord("with")
	if !p.isPunct("(") {
		return p.oldCopyOptions(s)
	}
	options, err := p.optionList()
	s.Options = append(s.Options, options...)
	return err
}

// oldCopyOptions reads CSV HEADER DELIMITER ',' and its like.
func (p *parser) oldCopyOptions(s *ast.Copy) error {
	for {
		var err error
		switch t := p.cur(); {
		case t.isWord("binary", "csv"):
			p.at++
			s.Options = append(s.Options, wordOption(t, "format", t.text))
		case t.isWord("header", "freeze"):
			p.at++
			s.Options = append(s.Options, ast.Option{
				Pos: ast.Pos(t.char), Name: t.text,
				Value: &ast.Literal{Pos: ast.Pos(t.char), Kind: ast.BoolLiteral, Text: "true"},
			})
		case t.isWord("delimiter", "null", "quote", "escape", "encoding"):
			p.at++
			err = p.copyString(s, t, t.text)
		case t.isWord("force"):
			err = p.oldForce(s)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// copyString reads [AS] 'value' of an old option.
func (p *parser) copyString(s *ast.Copy, t *token, name string) error {
	if t.text == "delimiters" {
		p.acceptWord("as")
	}
	p.acceptWord("as")
	v := p.cur()
	if v.kind != tokString {
		return p.errorHere()
	}
	p.at++
	s.Options = append(s.Options, ast.Option{Pos: ast.Pos(t.char), Name: name, Value: stringLiteral(v, v.text)})
	return nil
}

// oldForce reads FORCE QUOTE columns|*, FORCE NOT NULL columns and FORCE NULL columns.
func (p *parser) oldForce(s *ast.Copy) error {
	o := ast.Option{Pos: p.pos()}
	p.at++
	switch {
	case p.acceptWord("quote"):
		o.Name = "force_quote"
	case p.acceptWords("not", "null"):
		o.Name = "force_not_null"
	case p.acceptWord("null"):
		o.Name = "force_null"
	default:
		return p.errorHere()
	}
	if t := p.cur(); o.Name == "force_quote" && t.isOp("*") {
		p.at++
		o.Value = &ast.Star{Pos: ast.Pos(t.char)}
	} else {
		row := &ast.Row{Pos: ast.Pos(t.char)}
		err := p.commaList(func() error {
			c := p.cur()
			name, err := p.simpleName()
			row.Elems = append(row.Elems, stringLiteral(c, name))
			return err
		})
		if err != nil {
			return err
		}
		o.Value = row
	}
	s.Options = append(s.Options, o)
	return nil
}
