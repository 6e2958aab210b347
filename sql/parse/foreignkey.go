package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// references parses REFERENCES table [(columns)] and the rules behind it.
func (p *parser) references() (*ast.References, error) {
	if err := p.expectWord("references"); err != nil {
		return nil, err
	}
	r := &ast.References{OnDelete: ast.NoAction, OnUpdate: ast.NoAction}
	var err error
	if r.Table, err = p.objectName(); err != nil {
		return nil, err
	}
	if p.isPunct("(") {
		if r.Columns, err = p.columnNames(); err != nil {
			return nil, err
		}
	}
	if p.acceptWord("match") {
		switch {
		case p.acceptWord("full"):
			r.MatchFull = true
		case p.acceptWord("simple"):
		case p.isWord("partial"):
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "MATCH PARTIAL not yet implemented").At(int(p.cur().char))
		default:
			return nil, p.errorHere()
		}
	}
	return r, p.referentialActions(r)
}

// referentialActions parses ON DELETE and ON UPDATE, each at most once.
func (p *parser) referentialActions(r *ast.References) error {
	seen := map[string]bool{}
	for p.isWord("on") && p.peek(1).isWord("delete", "update") && !seen[p.peek(1).text] {
		p.at++
		event := p.next().text
		seen[event] = true
		action, columns, err := p.referentialAction(event)
		if err != nil {
			return err
		}
		if event == "delete" {
			r.OnDelete, r.SetColumns = action, columns
		} else {
			r.OnUpdate = action
		}
	}
	return nil
}

func (p *parser) referentialAction(event string) (ast.ReferentialAction, []ast.Identifier, error) {
	first := p.cur()
	var action ast.ReferentialAction
	switch {
	case p.acceptWords("no", "action"):
		return ast.NoAction, nil, nil
	case p.acceptWord("restrict"):
		return ast.Restrict, nil, nil
	case p.acceptWord("cascade"):
		return ast.Cascade, nil, nil
	case p.acceptWords("set", "null"):
		action = ast.SetNull
	case p.acceptWords("set", "default"):
		action = ast.SetToDefault
	default:
		return "", nil, p.errorHere()
	}
	if !p.isPunct("(") {
		return action, nil, nil
	}
	columns, err := p.columnNames()
	if err == nil && event == "update" {
		err = sqlerr.New(sqlerr.FeatureNotSupported, "a column list with %s is only supported for ON DELETE actions", action).At(int(first.char))
	}
	return action, columns, err
}

// isConstraintTime reports whether one of the words follows that say when a constraint
// is checked.
func (p *parser) isConstraintTime() bool {
	return p.isWord("deferrable", "initially") || p.isWords("not", "deferrable") || p.isWords("not", "valid")
}

// constraintTime parses [NOT] DEFERRABLE, INITIALLY DEFERRED|IMMEDIATE or NOT VALID.
func (p *parser) constraintTime(c *ast.Constraint) error {
	t := p.cur()
	deferrable, deferred := ast.Unset, ast.Unset
	switch {
	case p.acceptWord("deferrable"):
		deferrable = ast.Yes
	case p.acceptWords("not", "deferrable"):
		deferrable = ast.No
	case p.acceptWords("not", "valid"):
		c.NotValid = true
		return nil
	case p.acceptWords("initially", "deferred"):
		deferred = ast.Yes
	case p.acceptWords("initially", "immediate"):
		deferred = ast.No
	default:
		p.at++
		return p.errorHere()
	}
	switch {
	case c.Kind == ast.CheckConstraint:
		return errorAt(t, "misplaced "+upper(t.text)+" clause")
	case c.Kind != ast.ForeignKeyConstraint && (deferrable == ast.Yes || deferred == ast.Yes):
		return unsupported(t, "a key that is checked later")
	case deferrable != ast.Unset && c.Deferrable != ast.Unset:
		return errorAt(t, "multiple DEFERRABLE/NOT DEFERRABLE clauses not allowed")
	case deferred != ast.Unset && c.Deferred != ast.Unset:
		return errorAt(t, "multiple INITIALLY IMMEDIATE/DEFERRED clauses not allowed")
	}
	if deferrable != ast.Unset {
		c.Deferrable = deferrable
	}
	if deferred != ast.Unset {
		c.Deferred = deferred
	}
	if c.Deferred == ast.Yes && c.Deferrable == ast.No {
		return errorAt(t, "constraint declared INITIALLY DEFERRED must be DEFERRABLE")
	}
	return nil
}

// setConstraints parses what follows SET CONSTRAINTS.
func (p *parser) setConstraints(t *token) (ast.Statement, error) {
	s := &ast.SetConstraints{Pos: ast.Pos(t.char)}
	if !p.acceptWord("all") {
		err := p.commaList(func() error {
			n, err := p.objectName()
			s.Names = append(s.Names, n)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	switch {
	case p.acceptWord("deferred"):
		s.Deferred = true
	case p.acceptWord("immediate"):
	default:
		return nil, p.errorHere()
	}
	return s, nil
}
