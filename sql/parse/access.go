package parse

import (
	"strings"

	"github.com/tallydb/tallydb/sql/ast"
)

// checkpoint parses CHECKPOINT.
func (p *parser) checkpoint(t *token) (ast.Statement, error) {
	return &ast.Checkpoint{Pos: ast.Pos(t.char)}, nil
}

// lockTable parses LOCK [TABLE] names [IN mode MODE] [NOWAIT].
func (p *parser) lockTable(t *token) (ast.Statement, error) {
	s := &ast.LockTable{Pos: ast.Pos(t.char), Mode: "ACCESS EXCLUSIVE"}
	p.acceptWord("table")
	err := p.commaList(func() error {
		p.acceptWord("only")
		n, err := p.objectName()
		s.Names = append(s.Names, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.acceptWord("in") {
		var words []string
		for p.isWord("access", "row", "share", "update", "exclusive") {
			words = append(words, upper(p.next().text))
		}
		s.Mode = strings.Join(words, " ")
		switch s.Mode {
		case "ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE":
		default:
			return nil, p.errorHere()
		}
		if err := p.expectWord("mode"); err != nil {
			return nil, err
		}
	}
	s.NoWait = p.acceptWord("nowait")
	return s, nil
}

// grant parses GRANT privileges ON objects TO roles. That of a role to another is not
// supported.
func (p *parser) grant(t *token) (ast.Statement, error) {
	s := &ast.Grant{Pos: ast.Pos(t.char), Kind: "TABLE"}
	err := p.commaList(func() error {
		word := p.cur()
		if !word.isWord("all", "select", "insert", "update", "delete", "truncate", "references", "trigger", "usage", "create", "connect", "temporary", "temp", "execute") {
			return unsupported(t, "GRANT of a role")
		}
		p.at++
		s.Privileges = append(s.Privileges, upper(word.text))
		if word.isWord("all") {
			p.acceptWord("privileges")
		}
		if p.isPunct("(") {
			_, err := p.columnNames()
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := p.expectWord("on"); err != nil {
		return nil, err
	}
	if err := p.grantedObjects(s); err != nil {
		return nil, err
	}
	if err := p.expectWord("to"); err != nil {
		return nil, err
	}
	err = p.commaList(func() error {
		p.acceptWord("group")
		name, err := p.label()
		s.Roles = append(s.Roles, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.acceptWord("with") {
		if err := p.expectWords("grant", "option"); err != nil {
			return nil, err
		}
	}
	if p.acceptWords("granted", "by") {
		_, err = p.label()
	}
	return s, err
}

// grantedObjects parses what stands between ON and TO.
func (p *parser) grantedObjects(s *ast.Grant) error {
	switch {
	case p.isWord("all") && p.peek(1).isWord("tables", "sequences", "functions", "routines") && p.peek(2).isWord("in"):
		s.Kind = "ALL " + upper(p.peek(1).text) + " IN SCHEMA"
		p.at += 3
		if err := p.expectWord("schema"); err != nil {
			return err
		}
	case p.isWord("schema", "database") && !p.peek(1).isWord("to") && !p.peek(1).isPunct(","):
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
