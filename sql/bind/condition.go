package bind

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Condition binds the WHERE of COPY FROM: a boolean over the columns of a relation,
// in their order. It may hold no subquery.
// What it needs to be allowed to read is added to access.
func Condition(env *Env, rel *catalog.Relation, access *plan.Access, e ast.Expr) (expr.Expr, error) {
	b := newBinder(env, nil, 0)
	s, err := nodeScope(&plan.Values{Columns: rel.Columns}, rel.Name, rel.Schema, nil, false, &context{})
	if err != nil {
		return nil, err
	}
	out, err := b.boolExpr(&clause{s: s.watch(access), name: "WHERE"}, e)
	if err != nil {
		return nil, err
	}
	subquery := false
	expr.Walk(out, func(x expr.Expr) bool {
		_, is := x.(*placeholder)
		subquery = subquery || is
		return !is
	})
	if subquery {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot use subquery in COPY FROM WHERE condition").At(e.Position())
	}
	return out, nil
}
