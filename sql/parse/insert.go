package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// insert parses INSERT.
func (p *parser) insert(t *token) (ast.Statement, error) {
	if err := p.expectWord("into"); err != nil {
		return nil, err
	}
	s := &ast.Insert{Pos: ast.Pos(t.char)}
	var err error
	if s.Table, err = p.objectName(); err != nil {
		return nil, err
	}
	if p.acceptWord("as") {
		if s.Alias, err = p.simpleName(); err != nil {
			return nil, err
		}
	}
	if err := p.insertTarget(s); err != nil {
		return nil, err
	}
	if err := p.insertSource(s); err != nil {
		return nil, err
	}
	if p.isWord("on") {
		if s.OnConflict, err = p.onConflict(); err != nil {
			return nil, err
		}
	}
	s.Returning, err = p.returning()
	return s, err
}

// insertTarget parses [(columns)] [OVERRIDING SYSTEM|USER VALUE].
func (p *parser) insertTarget(s *ast.Insert) (err error) {
	if p.isPunct("(") && !p.startsSource() {
		if s.Columns, err = p.insertColumns(); err != nil {
			return err
		}
	}
	if p.acceptWord("overriding") {
		if !p.isWord("system", "user") {
			return p.errorHere()
		}
		s.Overriding = upper(p.next().text)
		return p.expectWord("value")
	}
	return nil
}

// startsSource tells INSERT INTO t (SELECT ...) from INSERT INTO t (a, b).
func (p *parser) startsSource() bool {
	first := p.peek(1)
	return first.isPunct("(") || first.isWord("select", "with", "table") || first.isWord("values") && p.peek(2).isPunct("(")
}

// insertColumns is columnNames; PostgreSQL would allow parts of columns here.
func (p *parser) insertColumns() ([]ast.Identifier, error) {
	var ids []ast.Identifier
	err := p.parenList(func() error {
		id, err := p.columnID()
		if err == nil && (p.isPunct(".") || p.isPunct("[")) {
			return unsupported(p.cur(), "INSERT into a part of a column")
		}
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// insertSource parses DEFAULT VALUES, VALUES or a query.
func (p *parser) insertSource(s *ast.Insert) (err error) {
	if p.isWord("default") {
		if s.Columns != nil {
			return p.errorHere()
		}
		p.at++
		return p.expectWord("values")
	}
	if p.isWord("values") {
		if s.Source = p.plainValues(); s.Source != nil {
			return nil
		}
	}
	s.Source, err = p.parseQuery()
	return err
}

// onConflict parses ON CONFLICT.
func (p *parser) onConflict() (*ast.OnConflict, error) {
	c := &ast.OnConflict{Pos: p.pos()}
	if err := p.expectWords("on", "conflict"); err != nil {
		return nil, err
	}
	var err error
	switch {
	case p.isPunct("("):
		if c.Target, err = p.indexKeys(func(*ast.IndexKey) error { return nil }); err != nil {
			return nil, err
		}
		if p.acceptWord("where") {
			if c.TargetWhere, err = p.parseExpr(0); err != nil {
				return nil, err
			}
		}
	case p.acceptWord("on"):
		if err := p.expectWord("constraint"); err != nil {
			return nil, err
		}
		if c.Constraint, err = p.simpleName(); err != nil {
			return nil, err
		}
	}
	if err := p.expectWord("do"); err != nil {
		return nil, err
	}
	if p.acceptWord("nothing") {
		return c, nil
	}
	if err := p.expectWords("update", "set"); err != nil {
		return nil, err
	}
	if c.Set, err = p.assignments(); err != nil {
		return nil, err
	}
	if p.acceptWord("where") {
		c.Where, err = p.parseExpr(0)
	}
	return c, err
}

// returning parses an optional RETURNING list.
func (p *parser) returning() ([]ast.Target, error) {
	if !p.acceptWord("returning") {
		return nil, nil
	}
	return p.parseTargets()
}

// assignments parses the list behind SET.
func (p *parser) assignments() ([]ast.Assignment, error) {
	var list []ast.Assignment
	err := p.commaList(func() error {
		a, err := p.assignment()
		list = append(list, a)
		return err
	})
	return list, err
}

func (p *parser) assignment() (ast.Assignment, error) {
	a := ast.Assignment{Pos: p.pos()}
	if p.isPunct("(") {
		ids, err := p.columnNames()
		if err != nil {
			return a, err
		}
		a.Columns, a.Multi = ids, true
	} else {
		id, err := p.columnID()
		if err != nil {
			return a, err
		}
		a.Columns = []ast.Identifier{id}
		if p.acceptPunct(".") {
			if a.Field, err = p.label(); err != nil {
				return a, err
			}
		}
		if p.isPunct(".") || p.isPunct("[") {
			return a, unsupported(p.cur(), "assignment to a part of a column")
		}
	}
	if !p.isOp("=") {
		return a, p.errorHere()
	}
	p.at++
	var err error
	a.Value, err = p.parseExpr(0)
	return a, err
}
