package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// createDomain runs CREATE DOMAIN.
func (s *Session) createDomain(x *ast.CreateDomain) (string, error) {
	schema, name, err := s.newPermanent(x.Name, "domains")
	if err != nil {
		return "", err
	}
	if err := s.typeNameTaken(schema, name, ""); err != nil {
		return "", err
	}
	of, err := bind.TypeOf(s.bindEnv(s.exprContext()), x.Type)
	if err != nil {
		return "", err
	}
	if info, ok := types.Lookup(of.OID); !ok || info.Type == 'p' {
		return "", sqlerr.New(sqlerr.DatatypeMismatch, "%q is not a valid base type for a domain", of.String()).At(x.Type.Position())
	}
	if err := bind.CheckCollation(x.Collation, of); err != nil {
		return "", err
	}
	t := &catalog.Type{Schema: schema, Name: name, Owner: s.owner(), Created: s.now(), Domain: &catalog.Domain{Of: of}}
	if base := s.snapshot().TypeByOID(of.Domain()); base != nil {
		t.Domain.Default = base.Domain.Default
	}
	if t.OID, err = s.engine.Catalog.ReserveType(types.FirstDomain, types.LastDomain); err != nil {
		return "", err
	}
	if err := s.domainParts(t, x.Parts); err != nil {
		return "", err
	}
	s.catalog().SetType(t)
	return "CREATE DOMAIN", nil
}

// domainParts gives a new domain its default and constraints.
func (s *Session) domainParts(t *catalog.Type, parts []ast.DomainPart) error {
	given := map[ast.DomainPartKind]bool{}
	for i := range parts {
		p := &parts[i]
		switch {
		case p.Kind == ast.DomainDefault && given[p.Kind]:
			return sqlerr.New(sqlerr.SyntaxError, "multiple default expressions").At(p.Position())
		case p.Kind == ast.DomainNotNull && given[ast.DomainNull], p.Kind == ast.DomainNull && given[ast.DomainNotNull]:
			return sqlerr.New(sqlerr.SyntaxError, "conflicting NULL/NOT NULL constraints").At(p.Position())
		}
		given[p.Kind] = true
		var err error
		switch p.Kind {
		case ast.DomainDefault:
			err = s.setDomainDefault(t, p.Expr)
		case ast.DomainNotNull:
			t.Domain.NotNull = true
		case ast.DomainCheck:
			err = s.addDomainCheck(t, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) setDomainDefault(t *catalog.Type, e ast.Expr) error {
	t.Domain.Default = s.storedText(e)
	_, err := bind.DomainDefault(s.bindEnv(s.exprContext()), t)
	return err
}

// addDomainCheck adds a CHECK constraint, which has to have a meaning.
func (s *Session) addDomainCheck(t *catalog.Type, p *ast.DomainPart) error {
	name := p.Name
	for n := 0; name == "" || p.Name == "" && t.Domain.Check(name) >= 0; n++ {
		name = t.Name + "_check"
		if n > 0 {
			name = fmt.Sprintf("%s%d", name, n)
		}
	}
	if t.Domain.Check(name) >= 0 {
		return sqlerr.New(sqlerr.DuplicateObject, "constraint %q for domain %q already exists", name, t.Name).At(p.Position())
	}
	t.Domain.Checks = append(slices.Clone(t.Domain.Checks), catalog.DomainCheck{
		ID: s.engine.Catalog.Reserve(), Name: name, SQL: s.storedText(p.Expr), NotValid: p.NotValid,
	})
	if s.castsTo(p.Expr, t.OID) {
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "a constraint of domain %s cannot cast to the domain itself", t.Shown()).At(p.Expr.Position())
	}
	if _, err := bind.DomainOf(s.bindEnv(s.exprContext()), t); err != nil {
		return sqlerr.From(err).At(p.Expr.Position())
	}
	return nil
}

// castsTo reports whether an expression names a domain, or one that is over it.
func (s *Session) castsTo(e ast.Expr, domain types.OID) (found bool) {
	path := s.path()
	ast.Walk(e, func(n ast.Node) bool {
		if name, ok := n.(*ast.TypeName); ok {
			t, _ := bind.UserType(s.snapshot(), path, name.Name)
			found = found || t != nil && s.isOver(t.OID, domain)
		}
		return true
	})
	return found
}

// alterDomain runs ALTER DOMAIN.
func (s *Session) alterDomain(ctx context.Context, x *ast.AlterDomain, out *sink) (string, error) {
	const tag = "ALTER DOMAIN"
	t, err := s.lookupType(x.Name, notADomain)
	if err == nil && t.Domain == nil {
		err = notADomain(t.Shown())
	}
	if err == nil {
		err = s.mustOwnType(t)
	}
	if err != nil {
		return "", err
	}
	next, domain := *t, *t.Domain
	next.Domain = &domain
	domain.Checks = slices.Clone(domain.Checks)
	if err := s.changeDomain(ctx, &next, x, out); err != nil {
		return "", err
	}
	s.catalog().SetType(&next)
	return tag, s.touchTables(&next)
}

// touchTables gives the tables that have columns of a domain a new version, so that
// statements which were bound before its constraints changed are not run after it.
func (s *Session) touchTables(t *catalog.Type) error {
	for _, r := range s.snapshot().Relations() {
		if r.Table == nil || !slices.ContainsFunc(r.Columns, func(c types.Column) bool { return s.isOver(c.Type.Domain(), t.OID) }) {
			continue
		}
		if err := s.catalog().Update(r.ID, func(*catalog.Relation) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) changeDomain(ctx context.Context, t *catalog.Type, x *ast.AlterDomain, out *sink) error {
	d := t.Domain
	at := d.Check(x.Constraint)
	switch x.Action {
	case ast.SetDefault:
		return s.setDomainDefault(t, x.Expr)
	case ast.DropDefault:
		d.Default = ""
	case ast.SetNotNull:
		d.NotNull = true
		return s.validateDomain(ctx, t, &expr.Domain{NotNull: true})
	case ast.DropNotNull:
		d.NotNull = false
	case ast.AddConstraint:
		if err := s.addDomainCheck(t, x.Part); err != nil || x.Part.NotValid {
			return err
		}
		return s.validateDomainCheck(ctx, t, len(d.Checks)-1)
	case ast.DropConstraint:
		switch {
		case at >= 0:
			d.Checks = slices.Delete(d.Checks, at, at+1)
		case x.IfExists:
			return out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "constraint %q of domain %q does not exist, skipping", x.Constraint, t.Name))
		default:
			return sqlerr.New(sqlerr.UndefinedObject, "constraint %q of domain %q does not exist", x.Constraint, t.Name)
		}
	case ast.RenameConstraint:
		switch {
		case at < 0:
			return sqlerr.New(sqlerr.UndefinedObject, "constraint %q for domain %s does not exist", x.Constraint, t.Shown())
		case d.Check(x.NewName) >= 0:
			return sqlerr.New(sqlerr.DuplicateObject, "constraint %q for domain %s already exists", x.NewName, t.Shown())
		}
		d.Checks[at].Name = x.NewName
	case ast.ValidateConstraint:
		if at < 0 {
			return sqlerr.New(sqlerr.UndefinedObject, "constraint %q of domain %q does not exist", x.Constraint, t.Name)
		}
		d.Checks[at].NotValid = false
		return s.validateDomainCheck(ctx, t, at)
	}
	return nil
}

// validateDomainCheck makes sure that the columns of a domain keep one of its checks.
func (s *Session) validateDomainCheck(ctx context.Context, t *catalog.Type, check int) error {
	alone := *t
	alone.Domain = &catalog.Domain{Of: t.Domain.Of.Base(), Checks: t.Domain.Checks[check : check+1]}
	bound, err := bind.DomainOf(s.bindEnv(s.exprContext()), &alone)
	if err != nil {
		return err
	}
	return s.validateDomain(ctx, t, bound)
}

// validateDomain makes sure that the columns of a domain, and of the domains over it,
// keep constraints.
func (s *Session) validateDomain(ctx context.Context, t *catalog.Type, of *expr.Domain) error {
	ec := s.exprContext()
	for _, r := range s.snapshot().Relations() {
		if r.Table == nil {
			continue
		}
		for i, c := range r.Columns {
			if !s.isOver(c.Type.Domain(), t.OID) {
				continue
			}
			err := s.tx().EachBatch(ctx, r, func(b *types.Batch) error { return of.Check(ec, b.Cols[i], b.Rows) })
			switch code := sqlerr.CodeOf(err); code {
			case sqlerr.NotNullViolation:
				return sqlerr.New(code, "column %q of table %q contains null values", c.Name, r.Name)
			case sqlerr.CheckViolation:
				return sqlerr.New(code, "column %q of table %q contains values that violate the new constraint", c.Name, r.Name)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// isOver reports whether a domain is another, or is over it.
func (s *Session) isOver(domain, other types.OID) bool {
	for domain != 0 && domain != other {
		t := s.snapshot().TypeByOID(domain)
		if t == nil || t.Domain == nil {
			return false
		}
		domain = t.Domain.Of.Domain()
	}
	return domain != 0
}

// commentOnDomainConstraint runs COMMENT ON CONSTRAINT name ON DOMAIN name.
func (s *Session) commentOnDomainConstraint(x *ast.CommentOn, text string) error {
	t, err := s.lookupType(x.Name, notADomain)
	if err == nil && t.Domain == nil {
		err = notADomain(t.Shown())
	}
	if err == nil {
		err = s.mustOwnType(t)
	}
	if err != nil {
		return err
	}
	at := t.Domain.Check(x.Constraint)
	if at < 0 {
		return sqlerr.New(sqlerr.UndefinedObject, "constraint %q for domain %s does not exist", x.Constraint, t.Shown())
	}
	next, domain := *t, *t.Domain
	next.Domain = &domain
	domain.Checks = slices.Clone(domain.Checks)
	domain.Checks[at].Comment = text
	s.catalog().SetType(&next)
	return nil
}
