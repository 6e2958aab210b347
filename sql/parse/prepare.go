package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// prepare parses PREPARE name [(types)] AS statement.
func (p *parser) prepare(t *token) (ast.Statement, error) {
	if p.isWord("transaction") {
		return nil, unsupported(p.cur(), "two-phase commit")
	}
	s := &ast.Prepare{Pos: ast.Pos(t.char)}
	var err error
	if s.Name, err = p.simpleName(); err != nil {
		return nil, err
	}
	if p.isPunct("(") {
		err := p.parenList(func() error {
			typ, err := p.typeName()
			s.Types = append(s.Types, typ)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if err := p.expectWord("as"); err != nil {
		return nil, err
	}
	if !p.isPunct("(") && !p.isWord("select", "with", "values", "table", "insert", "update", "delete", "merge") {
		return nil, p.errorHere()
	}
	start := p.cur().start
	if s.Stmt, err = p.statement(); err != nil {
		return nil, err
	}
	s.Source = p.source(start)
	return s, nil
}

// execute parses EXECUTE name [(arguments)].
func (p *parser) execute(t *token) (ast.Statement, error) {
	s := &ast.Execute{Pos: ast.Pos(t.char)}
	var err error
	if s.Name, err = p.simpleName(); err != nil {
		return nil, err
	}
	if !p.acceptPunct("(") {
		return s, nil
	}
	if s.Args, err = p.parseExprList(); err != nil {
		return nil, err
	}
	return s, p.expectPunct(")")
}

// deallocate parses DEALLOCATE [PREPARE] name|ALL.
func (p *parser) deallocate(t *token) (ast.Statement, error) {
	s := &ast.Deallocate{Pos: ast.Pos(t.char)}
	if p.isWord("prepare") && p.peek(1).isName() {
		p.at++
	}
	if p.acceptWord("all") {
		return s, nil
	}
	var err error
	s.Name, err = p.simpleName()
	return s, err
}
