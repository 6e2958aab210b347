package parse

import "github.com/tallydb/tallydb/sql/ast"

// describe parses DESCRIBE AGGREGATE function.
func (p *parser) describe(t *token) (ast.Statement, error) {
	if err := p.expectWord("aggregate"); err != nil {
		return nil, err
	}
	name, err := p.objectName()
	return &ast.Show{Pos: ast.Pos(t.char), Kind: ast.ShowAggregate, For: &name}, err
}
