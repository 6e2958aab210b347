package bind

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// IndexExpr binds an expression of an index over the columns of a table. It fails with
// 42P17 where the expression is not immutable.
func IndexExpr(env *Env, rel *catalog.Relation, e ast.Expr) (expr.Expr, error) {
	return newBinder(env, nil, 0).indexExpr(rel, e, "index expression")
}

// IndexWhere binds the condition of a partial index.
func IndexWhere(env *Env, rel *catalog.Relation, e ast.Expr) (expr.Expr, error) {
	cond, err := newBinder(env, nil, 0).indexExpr(rel, e, "index predicate")
	if err != nil || cond.Type().OID == types.Bool {
		return cond, err
	}
	out, err := expr.Cast(cond, types.Of(types.Bool), expr.Assignment)
	if err != nil {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "argument of WHERE must be type boolean, not type %s", cond.Type()).At(e.Position())
	}
	return out, nil
}

func (b *binder) indexExpr(rel *catalog.Relation, e ast.Expr, what string) (expr.Expr, error) {
	out, err := b.check(rel, e, what)
	if err == nil {
		out, err = expr.ResolveUnknown(out)
	}
	switch {
	case err != nil:
		return nil, err
	case out.Volatility() != expr.Immutable:
		return nil, sqlerr.New(sqlerr.InvalidObjectDefinition, "functions in %s must be marked IMMUTABLE", what).At(e.Position())
	}
	return out, nil
}

// Indexed is what a computed index needs of the rows of its table.
type Indexed struct {
	Values []expr.Expr // for its expressions, in order
	Where  expr.Expr   // nil: it has all rows
}

// Index binds the stored text of an index.
func Index(env *Env, rel *catalog.Relation, x *catalog.Index) (*Indexed, error) {
	b := newBinder(env, nil, 0)
	defer b.storedText()()
	out := &Indexed{}
	for _, e := range x.Exprs {
		v, err := b.storedIndexExpr(rel, e.SQL, "index expression")
		if err != nil {
			return nil, err
		}
		out.Values = append(out.Values, v)
	}
	if x.Where == "" {
		return out, nil
	}
	var err error
	out.Where, err = b.storedIndexExpr(rel, x.Where, "index predicate")
	return out, err
}

func (b *binder) storedIndexExpr(rel *catalog.Relation, text, what string) (expr.Expr, error) {
	stored, err := b.storedExpr(text, "an "+what)
	if err != nil {
		return nil, err
	}
	return b.indexExpr(rel, stored, what)
}

// IndexColumnName returns the name of the column that an index has for an expression.
func IndexColumnName(e ast.Expr) string {
	if name, _ := figureName(e); name != "" {
		return name
	}
	return "expr"
}
