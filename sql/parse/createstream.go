package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// createStream parses CREATE STREAM name (columns, WATERMARK FOR ...) [WITH (options)].
func (p *parser) createStream(t *token) (ast.Statement, error) {
	s := &ast.CreateStream{Pos: ast.Pos(t.char)}
	var err error
	if s.IfNotExists, err = p.ifNotExists(); err != nil {
		return nil, err
	}
	if s.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	elements := tableElements{}
	if err := p.tableElements(&elements, true); err != nil {
		return nil, err
	}
	s.Columns, s.Constraints, s.Watermark = elements.columns, elements.constraints, elements.watermark
	s.Options, err = p.withOptions()
	return s, err
}

// watermark parses WATERMARK FOR column AS expression.
func (p *parser) watermark(e *tableElements) error {
	t := p.cur()
	p.at += 2
	if e.watermark != nil {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "a stream has one watermark").At(int(t.char))
	}
	w := &ast.Watermark{Pos: ast.Pos(t.char)}
	var err error
	if w.Column, err = p.columnID(); err != nil {
		return err
	}
	if err := p.expectWord("as"); err != nil {
		return err
	}
	e.watermark = w
	w.Expr, err = p.parseExpr(0)
	return err
}
