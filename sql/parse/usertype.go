package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// createType parses CREATE TYPE name AS ENUM (labels).
func (p *parser) createType(t *token) (ast.Statement, error) {
	name, err := p.objectName()
	if err != nil {
		return nil, err
	}
	if p.atEnd() || p.isPunct("(") || p.isWord("as") && (p.peek(1).isPunct("(") || p.peek(1).isWord("range")) {
		return nil, unsupported(t, "CREATE TYPE of another kind than ENUM").WithHint("CREATE DOMAIN names a type with constraints.")
	}
	if err := p.expectWords("as", "enum"); err != nil {
		return nil, err
	}
	if err := p.expectPunct("("); err != nil {
		return nil, err
	}
	s := &ast.CreateEnum{Pos: ast.Pos(t.char), Name: name}
	if p.acceptPunct(")") {
		return s, nil
	}
	err = p.commaList(func() error {
		label, err := p.stringConstant()
		s.Labels = append(s.Labels, label)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, p.expectPunct(")")
}

// stringConstant reads 'text'.
func (p *parser) stringConstant() (string, error) {
	t := p.cur()
	if t.kind != tokString {
		return "", p.errorHere()
	}
	p.at++
	return t.text, nil
}

// alterType parses ALTER TYPE.
func (p *parser) alterType(t *token) (ast.Statement, error) {
	s := &ast.AlterType{Pos: ast.Pos(t.char), Kind: ast.TypeObject}
	var err error
	if s.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	first := p.cur()
	switch {
	case p.acceptWords("add", "value"):
		return s, p.addLabel(s)
	case p.acceptWords("rename", "value"):
		s.Action = ast.RenameLabel
		if s.Label, err = p.stringConstant(); err != nil {
			return nil, err
		}
		if err := p.expectWord("to"); err != nil {
			return nil, err
		}
		s.NewName, err = p.stringConstant()
		return s, err
	case first.isWord("add", "drop", "alter") && p.peek(1).isWord("attribute"), first.isWord("rename") && p.peek(1).isWord("attribute"),
		first.isWord("set") && p.peek(1).isPunct("("):
		return nil, unsupported(first, "this form of ALTER TYPE")
	}
	return s, p.alterTypePlace(s)
}

// addLabel parses what stands behind ADD VALUE.
func (p *parser) addLabel(s *ast.AlterType) (err error) {
	s.Action = ast.AddLabel
	if s.IfNotExists, err = p.ifNotExists(); err != nil {
		return err
	}
	if s.Label, err = p.stringConstant(); err != nil {
		return err
	}
	if !p.isWord("before", "after") {
		return nil
	}
	s.After = p.next().text == "after"
	neighbour, err := p.stringConstant()
	s.Neighbour = &neighbour
	return err
}

// alterTypePlace parses RENAME TO, SET SCHEMA and OWNER TO.
func (p *parser) alterTypePlace(s *ast.AlterType) (err error) {
	switch {
	case p.acceptWords("rename", "to"):
		s.Action = ast.RenameType
		s.NewName, err = p.simpleName()
	case p.acceptWords("set", "schema"):
		s.Action = ast.MoveType
		s.NewName, err = p.simpleName()
	case p.acceptWords("owner", "to"):
		s.Action = ast.OwnType
		s.NewName, err = p.label()
	default:
		return p.errorHere()
	}
	return err
}
