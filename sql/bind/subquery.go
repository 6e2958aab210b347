package bind

import (
	"fmt"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// subquery binds (query), EXISTS (query) and ARRAY(query).
func (b *binder) subquery(c *clause, x *ast.Subquery) (expr.Expr, error) {
	f := &frame{parent: c.s, clause: c}
	r, err := b.selectStmt(x.Query, c.s.below(f))
	if err != nil {
		return nil, err
	}
	a := &plan.Apply{Kind: plan.ApplyScalar}
	switch x.Kind {
	case ast.ExistsSubquery:
		a.Kind = plan.ApplyExists
		if err := countedRows(r, "EXISTS", "Ask for (SELECT count(*) FROM …) > 0, or a continuous view for its counts.", x.Position()); err != nil {
			return nil, err
		}
		if plan.EnvelopeAt(r.node.Schema()) < 0 {
			r.node = &plan.Limit{Child: r.node, Count: expr.NewConst(types.IntDatum(types.Int8, 1))}
		}
		a.Column = types.Column{Name: "exists", Type: types.Of(types.Bool)}
	default:
		if len(r.cols) != 1 {
			return nil, oneColumn(len(r.cols))
		}
		a.Column = types.Column{Name: r.cols[0].name, Type: r.cols[0].typ}
		if x.Kind == ast.ArraySubquery {
			return b.arrayOf(r, f, x.Position())
		}
	}
	return b.applied(a, r, f, x.Position()), nil
}

func oneColumn(n int) error {
	if n == 0 {
		return sqlerr.New(sqlerr.SyntaxError, "subquery must return a column")
	}
	return sqlerr.New(sqlerr.SyntaxError, "subquery must return only one column")
}

// below is the context of a subquery of this scope.
func (s *scope) below(f *frame) *context {
	c := &context{frame: f}
	if s.ctx != nil {
		c.ctes = s.ctx.ctes
	}
	return c
}

// applied returns the placeholder of an Apply.
func (b *binder) applied(a *plan.Apply, r *result, f *frame, pos int) expr.Expr {
	a.Subplan, a.Slots = r.visible(), f.slots
	b.nextShared++
	p := &placeholder{
		id: b.nextShared, kind: subqueryKind, typ: a.Column.Type, pos: pos,
		text: fmt.Sprint(b.nextShared), apply: a,
	}
	p.args = append(append(p.args, a.Args...), f.outer...)
	if a.Kind == plan.ApplyScalar && len(r.cols) > 0 && r.cols[0].approx != nil {
		b.unbounded(p)
	}
	return p
}

func (b *binder) arrayOf(r *result, f *frame, pos int) (expr.Expr, error) {
	t := r.cols[0].typ
	array := t.OID.ArrayOf()
	if array == 0 {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "could not find array type for data type %s", t)
	}
	a := &plan.Apply{Kind: plan.ApplyArray, Column: types.Column{Name: "array", Type: types.Of(array)}}
	return b.applied(a, r, f, pos), nil
}

// in binds x IN (list) and x IN (query).
func (b *binder) in(c *clause, x *ast.In) (expr.Expr, error) {
	if x.Query != nil {
		e, err := b.inQuery(c, x.Arg, x.Query, x.Position())
		if err != nil || !x.Not {
			return e, err
		}
		return expr.NewNot(e)
	}
	if row, ok := x.Arg.(*ast.Row); ok {
		return b.rowIn(c, row, x)
	}
	arg, err := b.expr(c, x.Arg)
	if err != nil {
		return nil, err
	}
	list, err := b.exprs(c, x.List)
	if err != nil {
		return nil, err
	}
	return expr.NewIn(arg, list, x.Not)
}

func (b *binder) rowIn(c *clause, row *ast.Row, x *ast.In) (expr.Expr, error) {
	var any []expr.Expr
	for _, item := range x.List {
		other, ok := item.(*ast.Row)
		if !ok {
			return nil, sqlerr.New(sqlerr.DatatypeMismatch, "IN list must hold rows").At(item.Position())
		}
		e, err := b.rowCompare(c, "=", row, other)
		if err != nil {
			return nil, err
		}
		any = append(any, e)
	}
	e := any[0]
	if len(any) > 1 {
		var err error
		if e, err = expr.NewOr(any...); err != nil {
			return nil, err
		}
	}
	if x.Not {
		return expr.NewNot(e)
	}
	return e, nil
}

// inQuery binds left IN (query), where left may be a row.
func (b *binder) inQuery(c *clause, left ast.Expr, query *ast.Select, pos int) (expr.Expr, error) {
	items := []ast.Expr{left}
	if row, ok := left.(*ast.Row); ok {
		items = b.rowElems(c, row.Elems)
	}
	args, err := b.exprs(c, items)
	if err != nil {
		return nil, err
	}
	f := &frame{parent: c.s, clause: c}
	ctx := c.s.below(f)
	r, err := b.selectStmt(query, ctx)
	if err != nil {
		return nil, err
	}
	if err := sameWidth(r, len(args), pos); err != nil {
		return nil, err
	}
	if err := countedRows(r, "IN", groupedRows, pos); err != nil {
		return nil, err
	}
	to := make([]types.Type, len(args))
	for i := range args {
		if to[i], err = expr.EqualityType(args[i], r.sample(i)); err != nil {
			return nil, err
		}
		if args[i], err = expr.Cast(args[i], to[i], expr.Implicit); err != nil {
			return nil, err
		}
	}
	if r, err = b.coerce(r, to, expr.Implicit, nil); err != nil {
		return nil, err
	}
	a := &plan.Apply{Kind: plan.ApplyIn, Args: args, Column: types.Column{Name: "in", Type: types.Of(types.Bool)}}
	return b.applied(a, r, f, pos), nil
}

// quantified binds left op ANY|ALL (array or query).
func (b *binder) quantified(c *clause, x *ast.Quantified) (expr.Expr, error) {
	if x.Query != nil && x.Op.Name == "=" && !x.All {
		return b.inQuery(c, x.Left, x.Query, x.Position())
	}
	if x.Query != nil && x.Op.Name == "<>" && x.All {
		e, err := b.inQuery(c, x.Left, x.Query, x.Position())
		if err != nil {
			return nil, err
		}
		return expr.NewNot(e)
	}
	if row, ok := x.Left.(*ast.Row); ok && x.Query != nil {
		return b.quantifiedRow(c, row, x)
	}
	left, err := b.expr(c, x.Left)
	if err != nil {
		return nil, err
	}
	if x.Query == nil {
		array, err := b.expr(c, x.Array)
		if err != nil {
			return nil, err
		}
		return expr.NewAnyAll(x.Op.Name, left, array, x.All)
	}
	f := &frame{parent: c.s, clause: c}
	r, err := b.selectStmt(x.Query, c.s.below(f))
	if err != nil {
		return nil, err
	}
	if len(r.cols) != 1 {
		return nil, oneColumn(len(r.cols))
	}
	if err := countedRows(r, "ANY and ALL", groupedRows, x.Position()); err != nil {
		return nil, err
	}
	if compared, err := expr.NewOperator(x.Op.Name, left, r.sample(0)); err == nil && compared.Type().OID != types.Bool {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "row comparison operator must yield type boolean, not type %s", compared.Type())
	}
	array, err := b.arrayOf(r, f, x.Position())
	if err != nil {
		return nil, err
	}
	return expr.NewAnyAll(x.Op.Name, left, array, x.All)
}

// quantifiedRow binds row op ANY|ALL (query): whether one, or all, of the outcomes of
// the comparisons are true.
func (b *binder) quantifiedRow(c *clause, row *ast.Row, x *ast.Quantified) (expr.Expr, error) {
	left, err := b.rowFields(c, row.Elems)
	if err != nil {
		return nil, err
	}
	f := &frame{parent: c.s, clause: c}
	r, err := b.selectStmt(x.Query, c.s.below(f))
	if err != nil {
		return nil, err
	}
	if err := sameWidth(r, len(left), x.Position()); err != nil {
		return nil, err
	}
	if err := countedRows(r, "ANY and ALL", groupedRows, x.Position()); err != nil {
		return nil, err
	}
	right := make([]expr.Expr, len(left))
	for i := range left {
		right[i] = r.sample(i)
		if _, constant := left[i].(*expr.Const); !constant {
			left[i] = b.cross(f, left[i])
		}
	}
	outcome, err := expr.NewRowCompare(x.Op.Name, left, right)
	if err != nil {
		return nil, err
	}
	of := types.Of(types.Bool)
	compared := &result{cols: []output{{typ: of}}}
	compared.node = plan.NewProject(r.node, []expr.Expr{outcome}, []types.Column{{Name: "compared", Type: of}})
	array, err := b.arrayOf(compared, f, x.Position())
	if err != nil {
		return nil, err
	}
	return expr.NewAnyAll("=", expr.NewConst(types.BoolDatum(true)), array, x.All)
}

// sameWidth checks that a subquery has as many columns as what it is compared with.
func sameWidth(r *result, n, pos int) error {
	switch {
	case len(r.cols) > n:
		return sqlerr.New(sqlerr.SyntaxError, "subquery has too many columns").At(pos)
	case len(r.cols) < n:
		return sqlerr.New(sqlerr.SyntaxError, "subquery has too few columns").At(pos)
	}
	return nil
}

// rowSubquery makes n expressions of a subquery with n columns: each is the
// subquery with one column alone.
func (b *binder) rowSubquery(c *clause, x *ast.Subquery, n int) ([]ast.Expr, error) {
	r, err := b.selectStmt(x.Query, c.s.below(&frame{parent: c.s, clause: c}))
	if err != nil {
		return nil, err
	}
	if len(r.cols) != n {
		return nil, sqlerr.New(sqlerr.SyntaxError, "number of columns does not match number of values").At(x.Position())
	}
	alias := &ast.Alias{Pos: x.Pos, Name: "row"}
	for i := range n {
		alias.Columns = append(alias.Columns, ast.ColumnAlias{Name: columnN(i)})
	}
	out := make([]ast.Expr, n)
	for i := range out {
		out[i] = &ast.Subquery{Pos: x.Pos, Kind: ast.ScalarSubquery, Query: &ast.Select{Pos: x.Pos, Body: &ast.SelectCore{
			Pos:     x.Pos,
			Targets: []ast.Target{{Expr: &ast.ColumnRef{Pos: x.Pos, Parts: []string{columnN(i)}}}},
			From:    []ast.FromItem{&ast.SubqueryRef{Pos: x.Pos, Query: x.Query, Alias: alias}},
		}}}
	}
	return out, nil
}
