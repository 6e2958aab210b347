package parse

import "github.com/tallydb/tallydb/sql/ast"

// createDatabase parses CREATE DATABASE name [[WITH] option [=] value ...].
func (p *parser) createDatabase(t *token) (ast.Statement, error) {
	s := &ast.CreateDatabase{Pos: ast.Pos(t.char)}
	var err error
	if s.Name, err = p.simpleName(); err != nil {
		return nil, err
	}
	p.acceptWord("with")
	for !p.atEnd() {
		o := ast.Option{Pos: p.pos()}
		if o.Name, err = p.label(); err != nil {
			return nil, err
		}
		if p.acceptWord("limit") { // CONNECTION LIMIT
			o.Name += "_limit"
		}
		if p.isOp("=") {
			p.at++
		}
		if o.Value, err = p.settingValue(); err != nil {
			return nil, err
		}
		s.Options = append(s.Options, o)
	}
	return s, nil
}

// dropDatabase parses DROP DATABASE [IF EXISTS] name [[WITH] (FORCE [, ...])].
func (p *parser) dropDatabase(t *token) (ast.Statement, error) {
	s := &ast.DropDatabase{Pos: ast.Pos(t.char)}
	var err error
	if s.IfExists, err = p.ifExists(); err != nil {
		return nil, err
	}
	if s.Name, err = p.simpleName(); err != nil {
		return nil, err
	}
	if !p.acceptWord("with") && !p.isPunct("(") {
		return s, nil
	}
	if err := p.expectPunct("("); err != nil {
		return nil, err
	}
	s.Force = true
	if err := p.commaList(func() error { return p.expectWord("force") }); err != nil {
		return nil, err
	}
	return s, p.expectPunct(")")
}

// alterDatabase parses ALTER DATABASE name RENAME TO, OWNER TO, SET and RESET.
func (p *parser) alterDatabase(t *token) (ast.Statement, error) {
	name, err := p.simpleName()
	if err != nil {
		return nil, err
	}
	if p.isWord("set", "reset") && !p.peek(1).isWord("tablespace") {
		return p.alterSettings(&ast.AlterSettings{Pos: ast.Pos(t.char), Database: name})
	}
	s := &ast.AlterDatabase{Pos: ast.Pos(t.char), Name: name}
	switch {
	case p.acceptWords("rename", "to"):
		s.NewName, err = p.simpleName()
	case p.acceptWords("owner", "to"):
		s.Owner, err = p.label()
	case p.atEnd():
		err = p.errorHere()
	default:
		err = unsupported(p.cur(), "this form of ALTER DATABASE")
	}
	return s, err
}

// alterSettings parses what follows a role or a database: SET name TO values, RESET name.
func (p *parser) alterSettings(s *ast.AlterSettings) (ast.Statement, error) {
	first := p.next()
	if first.text == "reset" {
		r, err := p.reset(first)
		if err != nil {
			return nil, err
		}
		s.Name, s.Reset = r.(*ast.Reset).Name, true
		return s, nil
	}
	change, err := p.set(first)
	if err != nil {
		return nil, err
	}
	set, ok := change.(*ast.SetStmt)
	if !ok || set.Scope == ast.ScopeLocal {
		return nil, syntaxError(p.src, first)
	}
	s.Name, s.Values, s.Reset = set.Name, set.Values, set.Default
	return s, nil
}
