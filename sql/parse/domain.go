package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// createDomain parses CREATE DOMAIN.
func (p *parser) createDomain(t *token) (ast.Statement, error) {
	s := &ast.CreateDomain{Pos: ast.Pos(t.char)}
	var err error
	if s.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	p.acceptWord("as")
	if s.Type, err = p.typeName(); err != nil {
		return nil, err
	}
	for !p.atEnd() {
		if p.acceptWord("collate") {
			name, err := p.objectName()
			if err != nil {
				return nil, err
			}
			s.Collation = &name
			continue
		}
		part, err := p.domainPart()
		if err != nil {
			return nil, err
		}
		s.Parts = append(s.Parts, part)
	}
	return s, nil
}

// domainPart parses a default or a constraint of a domain.
func (p *parser) domainPart() (part ast.DomainPart, err error) {
	part.Pos = p.pos()
	if p.acceptWord("constraint") {
		if part.Name, err = p.simpleName(); err != nil {
			return part, err
		}
	}
	first := p.cur()
	switch {
	case p.acceptWords("not", "null"):
		part.Kind = ast.DomainNotNull
	case p.acceptWord("null"):
		part.Kind = ast.DomainNull
	case p.acceptWord("default"):
		part.Kind = ast.DomainDefault
		part.Expr, err = p.parseExpr(levelOperator)
	case p.acceptWord("check"):
		part.Kind = ast.DomainCheck
		if part.Expr, err = p.parenthesisedExpr(); err == nil && p.acceptWords("not", "valid") {
			part.NotValid = true
		}
		if no := p.cur(); err == nil && p.acceptWords("no", "inherit") {
			err = sqlerr.New(sqlerr.InvalidObjectDefinition, "check constraints for domains cannot be marked NO INHERIT").At(int(no.char))
		}
	case first.isWord("unique", "primary", "references", "foreign", "exclude"):
		what := map[string]string{
			"unique": "unique", "primary": "primary key", "references": "foreign key", "foreign": "foreign key", "exclude": "exclusion",
		}[first.text]
		err = sqlerr.New(sqlerr.SyntaxError, "%s constraints not possible for domains", what).At(int(first.char))
	default:
		err = p.errorHere()
	}
	return part, err
}

// alterDomain parses ALTER DOMAIN.
func (p *parser) alterDomain(t *token) (ast.Statement, error) {
	s := &ast.AlterDomain{Pos: ast.Pos(t.char)}
	var err error
	if s.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	action, value, err := p.valueRule()
	if err != nil {
		return nil, err
	}
	switch {
	case action != 0:
		s.Action, s.Expr = action, value
	case p.acceptWord("add"):
		s.Action = ast.AddConstraint
		err = p.addedDomainConstraint(s)
	case p.acceptWords("drop", "constraint"):
		s.Action = ast.DropConstraint
		if s.IfExists, err = p.ifExists(); err == nil {
			s.Constraint, err = p.simpleName()
			p.cascade()
		}
	case p.acceptWords("rename", "constraint"):
		s.Action = ast.RenameConstraint
		change := ast.TableChange{}
		err = p.renamed(&change)
		s.Constraint, s.NewName = change.OldName, change.NewName
	case p.acceptWords("validate", "constraint"):
		s.Action = ast.ValidateConstraint
		s.Constraint, err = p.simpleName()
	default:
		place := &ast.AlterType{Pos: s.Pos, Kind: ast.DomainObject, Name: s.Name}
		return place, p.alterTypePlace(place)
	}
	return s, err
}

// addedDomainConstraint parses what stands behind ADD, which is no default.
func (p *parser) addedDomainConstraint(s *ast.AlterDomain) error {
	if p.isWord("default", "not", "null") {
		return p.errorHere()
	}
	part, err := p.domainPart()
	if err == nil && part.Kind != ast.DomainCheck {
		return sqlerr.New(sqlerr.SyntaxError, "only CHECK constraints can be added to a domain").At(part.Position())
	}
	s.Part = &part
	return err
}
