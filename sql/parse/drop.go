package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// objectKind reads the words that name a kind of object; "" where there are none.
func (p *parser) objectKind() ast.ObjectKind {
	switch {
	case p.acceptWords("continuous", "view"):
		return ast.ContinuousViewObject
	case p.acceptWord("table"):
		return ast.TableObject
	case p.acceptWord("stream"):
		return ast.StreamObject
	case p.acceptWord("view"):
		return ast.ViewObject
	case p.acceptWord("sink"):
		return ast.SinkObject
	case p.acceptWord("schema"):
		return ast.SchemaObject
	case p.acceptWord("database"):
		return ast.DatabaseObject
	case p.acceptWord("index"):
		p.acceptWord("concurrently")
		return ast.IndexObject
	case p.acceptWord("sequence"):
		return ast.SequenceObject
	case p.acceptWord("column"):
		return ast.ColumnObject
	case p.acceptWords("materialized", "view"):
		return ast.MaterializedObject
	case p.acceptWord("constraint"):
		return ast.ConstraintObject
	case p.acceptWord("type"):
		return ast.TypeObject
	case p.acceptWord("domain"):
		return ast.DomainObject
	}
	return ""
}

// drop parses DROP.
func (p *parser) drop(t *token) (ast.Statement, error) {
	if p.roleWord() {
		return p.dropRole(t)
	}
	if p.acceptWord("database") {
		return p.dropDatabase(t)
	}
	first := p.cur()
	s := &ast.Drop{Pos: ast.Pos(t.char), Kind: p.objectKind()}
	if s.Kind == "" || s.Kind == ast.ColumnObject || s.Kind == ast.ConstraintObject {
		if first.isWord("function",
			"extension", "owned", "procedure", "trigger", "aggregate", "operator", "policy") {
			return nil, unsupported(first, "DROP "+upper(first.text))
		}
		return nil, syntaxError(p.src, first)
	}
	var err error
	if s.IfExists, err = p.ifExists(); err != nil {
		return nil, err
	}
	err = p.commaList(func() error {
		n, err := p.objectName()
		s.Names = append(s.Names, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.Cascade = p.cascade()
	return s, nil
}

// comment parses COMMENT ON kind name IS 'text' and COMMENT ON CONSTRAINT name ON table.
func (p *parser) comment(t *token) (ast.Statement, error) {
	if err := p.expectWord("on"); err != nil {
		return nil, err
	}
	first := p.cur()
	s := &ast.CommentOn{Pos: ast.Pos(t.char), Kind: p.objectKind()}
	if s.Kind == "" {
		if first.kind != tokWord {
			return nil, p.errorHere()
		}
		return nil, unsupported(first, "COMMENT ON this kind of object")
	}
	var err error
	if s.Kind == ast.ConstraintObject {
		if s.Constraint, err = p.simpleName(); err != nil {
			return nil, err
		}
		if err := p.expectWord("on"); err != nil {
			return nil, err
		}
		if p.isWord("domain") && p.peek(1).isColumnID() {
			p.at++
			s.OfDomain = true
		}
	}
	if s.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	if err := p.expectWord("is"); err != nil {
		return nil, err
	}
	if p.acceptWord("null") {
		return s, nil
	}
	text := p.cur()
	if text.kind != tokString {
		return nil, p.errorHere()
	}
	p.at++
	s.Comment = &text.text
	return s, nil
}
