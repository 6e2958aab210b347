package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// createSink parses CREATE SINK name FROM relation | AS query INTO kind (target) [WITH (options)].
func (p *parser) createSink(t *token) (ast.Statement, error) {
	s := &ast.CreateSink{Pos: ast.Pos(t.char)}
	var err error
	if s.IfNotExists, err = p.ifNotExists(); err != nil {
		return nil, err
	}
	if s.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	if p.acceptWord("from") {
		name, err := p.objectName()
		if err != nil {
			return nil, err
		}
		s.From = &name
	} else {
		if err := p.expectWord("as"); err != nil {
			return nil, err
		}
		if s.Query, s.Source, err = p.sinkQuery(); err != nil {
			return nil, err
		}
	}
	if err := p.expectWord("into"); err != nil {
		return nil, err
	}
	if s.Kind, err = p.simpleName(); err != nil {
		return nil, err
	}
	if p.isPunct("(") {
		if s.Target, err = p.optionList(); err != nil {
			return nil, err
		}
	}
	s.Options, err = p.withOptions()
	return s, err
}

// sinkQuery parses a query in parentheses, so that its end is plain to see.
func (p *parser) sinkQuery() (*ast.Select, string, error) {
	if err := p.expectPunct("("); err != nil {
		return nil, "", err
	}
	q, source, err := p.parseQuerySource()
	if err != nil {
		return nil, "", err
	}
	return q, source, p.expectPunct(")")
}

// createSchema parses CREATE SCHEMA.
func (p *parser) createSchema(t *token) (ast.Statement, error) {
	s := &ast.CreateSchema{Pos: ast.Pos(t.char)}
	var err error
	if s.IfNotExists, err = p.ifNotExists(); err != nil {
		return nil, err
	}
	if !p.isWord("authorization") {
		if s.Name, err = p.simpleName(); err != nil {
			return nil, err
		}
	}
	if p.acceptWord("authorization") {
		s.Owner, err = p.label()
	}
	return s, err
}
