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
