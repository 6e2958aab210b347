package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// update parses UPDATE.
func (p *parser) update(t *token) (ast.Statement, error) {
	s := &ast.Update{Pos: ast.Pos(t.char)}
	if err := p.targetTable(&s.Table); err != nil {
		return nil, err
	}
	if err := p.expectWord("set"); err != nil {
		return nil, err
	}
	var err error
	if s.Set, err = p.assignments(); err != nil {
		return nil, err
	}
	if p.acceptWord("from") {
		if s.From, err = p.parseFrom(); err != nil {
			return nil, err
		}
	}
	if s.Where, err = p.whereClause(); err != nil {
		return nil, err
	}
	s.Returning, err = p.returning()
	return s, err
}

// delete parses DELETE.
func (p *parser) delete(t *token) (ast.Statement, error) {
	s := &ast.Delete{Pos: ast.Pos(t.char)}
	if err := p.expectWord("from"); err != nil {
		return nil, err
	}
	if err := p.targetTable(&s.Table); err != nil {
		return nil, err
	}
	var err error
	if p.acceptWord("using") {
		if s.Using, err = p.parseFrom(); err != nil {
			return nil, err
		}
	}
	if s.Where, err = p.whereClause(); err != nil {
		return nil, err
	}
	s.Returning, err = p.returning()
	return s, err
}

// targetTable reads the table of UPDATE or DELETE, where SET cannot be an alias.
func (p *parser) targetTable(ref *ast.TableRef) (err error) {
	ref.Only = p.acceptWord("only")
	if ref.Name, err = p.objectName(); err != nil {
		return err
	}
	ref.Pos = ref.Name.Pos
	if !ref.Only && p.isOp("*") {
		p.at++
	}
	as := p.acceptWord("as")
	if as || p.cur().isColumnID() && !p.isWord("set") {
		id, err := p.columnID()
		if err != nil {
			return err
		}
		ref.Alias = &ast.Alias{Pos: id.Pos, Name: id.Name}
	}
	return nil
}

// whereClause parses an optional WHERE.
func (p *parser) whereClause() (ast.Expr, error) {
	if !p.acceptWord("where") {
		return nil, nil
	}
	if p.isWords("current", "of") {
		return nil, unsupported(p.cur(), "WHERE CURRENT OF")
	}
	return p.parseExpr(0)
}

// truncate parses TRUNCATE.
func (p *parser) truncate(t *token) (ast.Statement, error) {
	s := &ast.Truncate{Pos: ast.Pos(t.char)}
	p.acceptWord("table")
	err := p.commaList(func() error {
		p.acceptWord("only")
		name, err := p.objectName()
		s.Names = append(s.Names, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	switch {
	case p.acceptWords("restart", "identity"):
		s.Restart = true
	case p.acceptWords("continue", "identity"):
	}
	s.Cascade = p.cascade()
	return s, nil
}

// cascade reads CASCADE or RESTRICT.
func (p *parser) cascade() bool {
	if p.acceptWord("cascade") {
		return true
	}
	p.acceptWord("restrict")
	return false
}
