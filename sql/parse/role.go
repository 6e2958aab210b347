package parse

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/sql/ast"
)

// roleWord steps over the word for a role.
func (p *parser) roleWord() bool { return p.acceptWord("role", "user", "group") }

// createRole parses CREATE ROLE|USER|GROUP name [[WITH] options]. Of the three,
// USER means LOGIN.
func (p *parser) createRole(t *token, word string) (ast.Statement, error) {
	s := &ast.CreateRole{Pos: ast.Pos(t.char)}
	var err error
	if s.Name, err = p.simpleName(); err != nil {
		return nil, err
	}
	if s.Options, err = p.roleOptions(); err != nil {
		return nil, err
	}
	if _, said := s.Options.Flags["login"]; word == "user" && !said {
		s.Options.Flags["login"] = true
	}
	return s, nil
}

// alterRole parses ALTER ROLE|USER name|CURRENT_USER|ALL [IN DATABASE name] and either
// SET or RESET, or [WITH] options.
func (p *parser) alterRole(t *token) (ast.Statement, error) {
	s := &ast.AlterRole{Pos: ast.Pos(t.char)}
	of := &ast.AlterSettings{Pos: s.Pos, OfRole: true, Everyone: p.acceptWord("all")}
	var err error
	if !of.Everyone && !p.acceptWord("current_user", "current_role", "session_user") {
		if s.Name, err = p.simpleName(); err != nil {
			return nil, err
		}
	}
	of.Role = s.Name
	if p.acceptWords("in", "database") {
		if of.Database, err = p.simpleName(); err != nil {
			return nil, err
		}
	}
	if p.isWord("set", "reset") {
		return p.alterSettings(of)
	}
	if of.Everyone || of.Database != "" {
		return nil, p.errorHere()
	}
	if p.isWord("rename") {
		return nil, unsupported(p.cur(), "ALTER ROLE ... RENAME")
	}
	s.Options, err = p.roleOptions()
	return s, err
}

// dropRole parses DROP ROLE|USER|GROUP [IF EXISTS] names.
func (p *parser) dropRole(t *token) (ast.Statement, error) {
	s := &ast.DropRole{Pos: ast.Pos(t.char)}
	var err error
	if s.IfExists, err = p.ifExists(); err != nil {
		return nil, err
	}
	return s, p.commaList(func() error {
		name, err := p.columnID()
		s.Names = append(s.Names, name)
		return err
	})
}

// roleOptions reads the attributes of a role.
func (p *parser) roleOptions() (ast.RoleOptions, error) {
	o := ast.RoleOptions{Flags: map[string]bool{}}
	p.acceptWord("with")
	for !p.atEnd() {
		if err := p.roleOption(&o); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (p *parser) roleOption(o *ast.RoleOptions) (err error) {
	t := p.cur()
	flag, off := strings.CutPrefix(t.text, "no")
	switch {
	case p.isWord("in", "role", "user", "admin", "sysid"):
		return unsupported(t, "this option of a role")
	case t.kind == tokWord && slices.Contains(ast.RoleFlags, flag):
		p.at++
		if _, again := o.Flags[flag]; again {
			return errorAt(t, "conflicting or redundant options")
		}
		o.Flags[flag] = !off
	case p.acceptWords("connection", "limit"):
		n, err := p.signedCount()
		o.ConnectionLimit = &n
		return err
	case p.isWord("encrypted", "password"):
		p.acceptWord("encrypted")
		if err := p.expectWord("password"); err != nil {
			return err
		}
		o.Password = &ast.RolePassword{Null: p.acceptWord("null")}
		if !o.Password.Null {
			o.Password.Text, err = p.stringText()
		}
		return err
	case p.acceptWords("valid", "until"):
		text, err := p.stringText()
		o.ValidUntil = &text
		return err
	default:
		return p.errorHere()
	}
	return nil
}

// stringText reads a string literal.
func (p *parser) stringText() (string, error) {
	t := p.cur()
	if t.kind != tokString {
		return "", p.errorHere()
	}
	p.at++
	return t.text, nil
}
