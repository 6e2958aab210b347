package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// columnID reads a name that a column or a table may have.
func (p *parser) columnID() (ast.Identifier, error) {
	t := p.cur()
	if !t.isColumnID() {
		return ast.Identifier{}, p.errorHere()
	}
	p.at++
	return ast.Identifier{Pos: ast.Pos(t.char), Name: t.text}, nil
}

// simpleName is columnID without its place.
func (p *parser) simpleName() (string, error) {
	id, err := p.columnID()
	return id.Name, err
}

// label reads any word or quoted identifier.
func (p *parser) label() (string, error) {
	t := p.cur()
	if !t.isName() {
		return "", p.errorHere()
	}
	p.at++
	return t.text, nil
}

// dottedParts reads name.name.name. The first part is already checked.
func (p *parser) dottedParts() ([]string, error) {
	first, err := p.label()
	if err != nil {
		return nil, err
	}
	parts := []string{first}
	for p.isPunct(".") && p.peek(1).isName() {
		p.at++
		parts = append(parts, p.next().text)
	}
	return parts, nil
}

// objectName reads the name of a relation or another object.
func (p *parser) objectName() (ast.ObjectName, error) {
	t := p.cur()
	if !t.isColumnID() {
		return ast.ObjectName{}, p.errorHere()
	}
	parts, err := p.dottedParts()
	if err != nil {
		return ast.ObjectName{}, err
	}
	if p.isPunct(".") {
		p.at++
		return ast.ObjectName{}, p.errorHere()
	}
	return makeObjectName(t, parts)
}

// makeObjectName orders the parts of a name that starts at t.
func makeObjectName(t *token, parts []string) (ast.ObjectName, error) {
	n := ast.ObjectName{Pos: ast.Pos(t.char), Name: parts[len(parts)-1]}
	switch len(parts) {
	case 1:
	case 2:
		n.Schema = parts[0]
	case 3:
		n.Catalog, n.Schema = parts[0], parts[1]
	default:
		return n, errorAt(t, "improper qualified name (too many dotted names)")
	}
	return n, nil
}

// columnNames is (name, name, ...).
func (p *parser) columnNames() ([]ast.Identifier, error) {
	var ids []ast.Identifier
	err := p.parenList(func() error {
		id, err := p.columnID()
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// dottedLength returns how many tokens the dotted name at the cursor takes, 0 if
// there is none.
func (p *parser) dottedLength() int {
	if !p.cur().isName() {
		return 0
	}
	n := 1
	for p.peek(n).isPunct(".") && p.peek(n+1).isName() {
		n += 2
	}
	return n
}
