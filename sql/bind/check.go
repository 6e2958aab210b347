package bind

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Checks binds the CHECK constraints of a table, over its columns.
func Checks(env *Env, rel *catalog.Relation) ([]plan.Check, error) {
	return newBinder(env, nil, 0).checks(rel)
}

// RowExpr binds an expression over the columns of a table.
func RowExpr(env *Env, rel *catalog.Relation, e ast.Expr) (expr.Expr, error) {
	return newBinder(env, nil, 0).check(rel, e, "transform expression")
}

// Default binds the default of a column, brought to the column's type.
func Default(env *Env, rel *catalog.Relation, column int) (expr.Expr, error) {
	return newBinder(env, nil, 0).defaultOf(rel, column)
}

// checks binds the CHECK constraints of the table that a statement writes.
func (b *binder) checks(rel *catalog.Relation) ([]plan.Check, error) {
	if rel.Table == nil || len(rel.Table.Checks) == 0 {
		return nil, nil
	}
	out := make([]plan.Check, len(rel.Table.Checks))
	for i, c := range rel.Table.Checks {
		cond, err := b.storedCondition(rel, c.SQL, "check constraint "+c.Name)
		if err != nil {
			return nil, err
		}
		out[i] = plan.Check{Name: c.Name, Cond: cond}
	}
	return out, nil
}

// storedExpr parses the text of an expression that is kept, which is of what.
func (b *binder) storedExpr(text, what string) (ast.Expr, error) {
	body, err := b.viewBody("SELECT " + text)
	if err != nil {
		return nil, err
	}
	core, ok := body.Body.(*ast.SelectCore)
	if !ok || len(core.Targets) != 1 {
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "the text of %s is not an expression", what)
	}
	return core.Targets[0].Expr, nil
}

// storedCondition binds the text of a CHECK constraint, which is of what.
func (b *binder) storedCondition(rel *catalog.Relation, sql, what string) (expr.Expr, error) {
	defer b.storedText()()
	stored, err := b.storedExpr(sql, what)
	if err != nil {
		return nil, err
	}
	cond, err := b.check(rel, stored, "check constraint")
	if err == nil {
		cond = b.fixNames(cond)
	}
	if err != nil || cond.Type().OID == types.Bool {
		return cond, err
	}
	given := cond.Type()
	if cond, err = expr.Cast(cond, types.Of(types.Bool), expr.Assignment); err != nil {
		err = sqlerr.New(sqlerr.DatatypeMismatch, "argument of CHECK must be type boolean, not type %s", given)
	}
	return cond, err
}

// check binds an expression over one row of a table, that is for what.
func (b *binder) check(rel *catalog.Relation, cond ast.Expr, what string) (expr.Expr, error) {
	s, err := rowScope(rel, nil)
	if err != nil {
		return nil, err
	}
	e, err := b.expr(&clause{s: s, name: what + "s"}, cond)
	switch {
	case err != nil:
		return nil, err
	case has(e, subqueryKind):
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot use subquery in %s", what).At(cond.Position())
	case has(e, setKind):
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "set-returning functions are not allowed in %ss", what).At(cond.Position())
	}
	return e, nil
}
