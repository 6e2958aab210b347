package parse

import (
	"slices"
	"strconv"

	"github.com/tallydb/tallydb/sql/ast"
)

// grant parses GRANT, of privileges on objects or of roles.
func (p *parser) grant(t *token) (ast.Statement, error) {
	words, err := p.grantedWords()
	if err != nil {
		return nil, err
	}
	if p.isWord("to") {
		s := &ast.GrantRole{Pos: ast.Pos(t.char), Roles: words}
		p.at++
		if s.Members, err = p.granted(); err != nil {
			return nil, err
		}
		if p.acceptWord("with") {
			s.Admin = true
			if err := p.expectWords("admin", "option"); err != nil {
				return nil, err
			}
		}
		s.By, err = p.grantedBy()
		return s, err
	}
	s := &ast.Grant{Pos: ast.Pos(t.char), Kind: "TABLE"}
	if err := p.grantedOn(s, words); err != nil {
		return nil, err
	}
	if err := p.expectWord("to"); err != nil {
		return nil, err
	}
	if s.Roles, err = p.granted(); err != nil {
		return nil, err
	}
	if p.acceptWord("with") {
		s.Option = true
		if err := p.expectWords("grant", "option"); err != nil {
			return nil, err
		}
	}
	s.By, err = p.grantedBy()
	return s, err
}

// revoke parses REVOKE.
func (p *parser) revoke(t *token) (ast.Statement, error) {
	option := p.acceptWords("grant", "option", "for")
	admin := !option && p.acceptWords("admin", "option", "for")
	words, err := p.grantedWords()
	if err != nil {
		return nil, err
	}
	if p.isWord("from") && !option {
		s := &ast.GrantRole{Pos: ast.Pos(t.char), Roles: words, Revoke: true, Admin: admin}
		p.at++
		if s.Members, err = p.granted(); err != nil {
			return nil, err
		}
		if s.By, err = p.grantedBy(); err != nil {
			return nil, err
		}
		p.acceptWord("cascade", "restrict")
		return s, nil
	}
	s := &ast.Grant{Pos: ast.Pos(t.char), Kind: "TABLE", Revoke: true, Option: option}
	if err := p.grantedOn(s, words); err != nil {
		return nil, err
	}
	if err := p.expectWord("from"); err != nil {
		return nil, err
	}
	if s.Roles, err = p.granted(); err != nil {
		return nil, err
	}
	if s.By, err = p.grantedBy(); err != nil {
		return nil, err
	}
	s.Cascade = p.acceptWord("cascade")
	if !s.Cascade {
		p.acceptWord("restrict")
	}
	return s, nil
}

// grantedWords parses what is granted: privileges or roles.
func (p *parser) grantedWords() ([]string, error) {
	var out []string
	err := p.commaList(func() error {
		all := p.isWord("all")
		name, err := p.label()
		if err != nil {
			return err
		}
		if all {
			p.acceptWord("privileges")
		}
		if p.isPunct("(") {
			return unsupported(p.cur(), "a privilege on columns").WithHint("Make a view of these columns and grant the privilege on it.")
		}
		out = append(out, name)
		return nil
	})
	return out, err
}

// grantedOn parses ON objects, behind the privileges.
func (p *parser) grantedOn(s *ast.Grant, words []string) error {
	on := p.cur()
	if err := p.expectWord("on"); err != nil {
		return err
	}
	for _, w := range words {
		if !slices.Contains(ast.PrivilegeWords, w) {
			return errorAt(on, "unrecognized privilege type "+strconv.Quote(w))
		}
		s.Privileges = append(s.Privileges, upper(w))
	}
	return p.grantedObjects(s)
}

// granted parses the roles that something is granted to or revoked from.
func (p *parser) granted() ([]string, error) {
	var out []string
	err := p.commaList(func() error {
		if p.isWord("group") && !p.peek(1).isPunct(",") {
			p.at++
		}
		name, err := p.label()
		out = append(out, name)
		return err
	})
	return out, err
}

// grantedBy parses GRANTED BY role.
func (p *parser) grantedBy() (string, error) {
	if !p.acceptWords("granted", "by") {
		return "", nil
	}
	return p.label()
}

// grantedObjects parses what stands between ON and TO or FROM.
func (p *parser) grantedObjects(s *ast.Grant) error {
	switch {
	case p.isWord("all") && p.peek(1).isWord("tables", "sequences", "functions", "procedures", "routines") && p.peek(2).isWord("in"):
		s.Kind = "ALL " + upper(p.peek(1).text) + " IN SCHEMA"
		p.at += 3
		if err := p.expectWord("schema"); err != nil {
			return err
		}
	case p.isWord("schema", "database") && !p.peek(1).isWord("to", "from") && !p.peek(1).isPunct(","):
		s.Kind = upper(p.next().text)
	case p.isWord("function", "language", "domain", "type", "tablespace", "large", "foreign", "parameter", "procedure", "routine") && p.peek(1).isColumnID():
		return unsupported(p.cur(), "GRANT ON "+upper(p.cur().text))
	default:
		if p.isWord("table", "sequence") && p.peek(1).isColumnID() {
			s.Kind = upper(p.next().text)
		}
		return p.commaList(func() error {
			n, err := p.objectName()
			s.Relations = append(s.Relations, n)
			return err
		})
	}
	return p.commaList(func() error {
		name, err := p.simpleName()
		s.Names = append(s.Names, name)
		return err
	})
}
