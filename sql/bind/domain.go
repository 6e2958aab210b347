package bind

import (
	"cmp"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Coerce casts an expression to a type, which may be a domain.
func Coerce(env *Env, e expr.Expr, t types.Type, ctx expr.CastContext) (expr.Expr, error) {
	return newBinder(env, nil, 0).toType(e, t, ctx)
}

// DomainOf binds the constraints of a domain, for values of its base type.
func DomainOf(env *Env, t *catalog.Type) (*expr.Domain, error) {
	return newBinder(env, nil, 0).domain(t)
}

// toType casts an expression to a type. What is of a domain already keeps its
// constraints.
func (b *binder) toType(e expr.Expr, t types.Type, ctx expr.CastContext) (expr.Expr, error) {
	if t.Domain() == 0 || e.Type() == t {
		return expr.Cast(e, t, ctx)
	}
	arg, err := expr.Cast(e, t.Base(), ctx)
	if err != nil {
		return nil, err
	}
	domain := b.env.Snapshot.TypeByOID(t.Domain())
	if domain == nil {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", t.Domain())
	}
	d := b.domains[t.Domain()]
	if d == nil {
		if d, err = b.domain(domain); err != nil {
			return nil, err
		}
		b.domains[t.Domain()] = d
	}
	return d.WithChildren([]expr.Expr{arg}), nil
}

// domain binds the constraints of a domain: those of the domains that it is over come
// first, and each's in the order of their names.
func (b *binder) domain(t *catalog.Type) (*expr.Domain, error) {
	if err := b.enter(); err != nil { // a constraint may cast to the domain itself
		return nil, err
	}
	defer b.leave()
	out := &expr.Domain{Typ: t.Values(), Name: b.shownType(t)}
	for at := t; at != nil; at = b.env.Snapshot.TypeByOID(at.Domain.Of.Domain()) {
		out.NotNull = out.NotNull || at.Domain.NotNull
		var checks []expr.DomainCheck
		for i := range at.Domain.Checks {
			cond, err := b.domainCheck(at, at.Domain.Checks[i].SQL)
			if err != nil {
				return nil, err
			}
			checks = append(checks, expr.DomainCheck{Name: at.Domain.Checks[i].Name, Cond: cond})
		}
		slices.SortFunc(checks, func(a, b expr.DomainCheck) int { return cmp.Compare(a.Name, b.Name) })
		out.Checks = append(checks, out.Checks...)
		if at.Domain.Of.Domain() == 0 {
			break
		}
	}
	return out, nil
}

// shownType returns the name of a type as the search path has it.
func (b *binder) shownType(t *catalog.Type) string {
	if found, _ := UserType(b.env.Snapshot, b.searchPath(), ast.ObjectName{Name: t.Name}); found == t {
		return ast.QuoteIdentifier(t.Name)
	}
	return ast.QuoteIdentifier(t.Schema) + "." + ast.QuoteIdentifier(t.Name)
}

// declared returns the name of a type, which for a domain is the domain's.
func (b *binder) declared(t types.Type) string {
	if domain := b.env.Snapshot.TypeByOID(t.Domain()); domain != nil {
		return b.shownType(domain)
	}
	return t.String()
}

// ValueOf is a row of the value that a domain's constraints are about.
func ValueOf(t types.Type) *catalog.Relation {
	return &catalog.Relation{Name: "value", Kind: catalog.KindTable, Columns: []types.Column{{Name: "value", Type: t}}}
}

func (b *binder) domainCheck(t *catalog.Type, sql string) (expr.Expr, error) {
	return b.storedCondition(ValueOf(t.Domain.Of), sql, "domain "+t.Name)
}

// DomainDefault binds the default of a domain, brought to its base type.
func DomainDefault(env *Env, t *catalog.Type) (expr.Expr, error) {
	b := newBinder(env, nil, 0)
	return b.storedDefault(t.Domain.Default, "domain "+t.Name, func(e expr.Expr) (expr.Expr, error) {
		out, err := expr.Cast(e, t.Domain.Of.Base(), expr.Assignment)
		if code := sqlerr.CodeOf(err); code == sqlerr.CannotCoerce || code == sqlerr.DatatypeMismatch {
			err = sqlerr.New(sqlerr.DatatypeMismatch, "domain %s is of type %s but default expression is of type %s", t.Name, t.Domain.Of, e.Type()).
				WithHint("You will need to rewrite or cast the expression.")
		}
		return out, err
	})
}

// StoredExpr binds a text that is kept with a table, over its columns.
func StoredExpr(env *Env, rel *catalog.Relation, text string) (expr.Expr, error) {
	b := newBinder(env, nil, 0)
	defer b.storedText()()
	stored, err := b.storedExpr(text, "a stored expression")
	if err != nil {
		return nil, err
	}
	return b.check(rel, stored, "stored expression")
}

// StoredDefault binds the text of a default, brought to a type.
func StoredDefault(env *Env, text string, t types.Type) (expr.Expr, error) {
	b := newBinder(env, nil, 0)
	return b.storedDefault(text, "a column", func(e expr.Expr) (expr.Expr, error) { return b.toType(e, t, expr.Assignment) })
}
