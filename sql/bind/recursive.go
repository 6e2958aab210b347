package bind

import (
	"slices"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// recursive binds a common table expression that reads itself: base UNION [ALL] step.
func (b *binder) recursive(c *cte, s *ast.Select, ctx *context) (*result, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	op, ok := s.Body.(*ast.SetOp)
	if !ok || op.Op != ast.Union {
		return nil, sqlerr.New(recursionError, "recursive query %q does not have the form non-recursive-term UNION [ALL] recursive-term", c.def.Name).At(c.def.Position())
	}
	refuse := func(what string, pos int) error {
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s in a recursive query is not implemented", what).At(pos)
	}
	switch {
	case len(s.OrderBy) > 0:
		return nil, refuse("ORDER BY", s.OrderBy[0].Expr.Position())
	case s.Offset != nil:
		return nil, refuse("OFFSET", s.Offset.Position())
	case s.Limit != nil:
		return nil, refuse("LIMIT", s.Limit.Position())
	}
	if err := b.checkTerms(c, s, op); err != nil {
		return nil, err
	}
	// Both terms read the queries of a WITH of their own, which do not read this one.
	ctx, err := b.with(s.With, s, &context{frame: ctx.frame, ctes: c})
	if err != nil {
		return nil, err
	}
	base, err := b.selectStmt(op.Left, ctx)
	if err != nil {
		return nil, err
	}
	b.nextShared++
	work := &plan.WorkTable{ID: b.nextShared, Name: c.def.Name}
	c.work = &result{node: work}
	defer func() { c.work = nil }()
	to := make([]types.Type, len(base.cols))
	for i, col := range base.cols {
		to[i] = col.typ
		work.Columns = append(work.Columns, types.Column{Name: col.name, Type: col.typ})
		c.work.cols = append(c.work.cols, output{name: col.name, typ: col.typ, index: i})
	}
	step, err := b.selectInto(op.Right, ctx, to)
	if err != nil {
		return nil, err
	}
	if len(step.cols) != len(base.cols) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "each UNION query must have the same number of columns").At(op.Right.Position())
	}
	step, err = b.coerce(step, to, expr.Implicit, func(i int) error {
		return sqlerr.New(sqlerr.DatatypeMismatch, "recursive query %q column %d has type %s in non-recursive term but type %s overall", c.def.Name, i+1, to[i], step.cols[i].typ).At(op.Right.Position())
	})
	if err != nil {
		return nil, err
	}
	for _, r := range []*result{base, step} {
		if plan.EnvelopeAt(r.node.Schema()) >= 0 {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "recursive queries over streams are not supported").At(c.def.Position())
		}
	}
	u := &plan.RecursiveUnion{ID: work.ID, Base: exact(base), Step: exact(step), All: op.All}
	return &result{node: u, cols: c.work.cols}, nil
}

// recursionError is PostgreSQL's code for a recursion that has no meaning.
const recursionError = sqlerr.Code("42P19")

// checkTerms refuses what would not come to an end, or mean nothing.
func (b *binder) checkTerms(c *cte, s *ast.Select, op *ast.SetOp) error {
	name, step := c.def.Name, op.Right
	within := func(readers []*ast.TableRef, place string) error {
		return sqlerr.New(recursionError, "recursive reference to query %q must not appear within %s", name, place).At(readers[0].Position())
	}
	if early := readersOf(op.Left, name); len(early) > 0 {
		return within(early, "its non-recursive term")
	}
	if s.With != nil {
		for i := range s.With.CTEs {
			if aside := readersOf(definition(&s.With.CTEs[i]), name); len(aside) > 0 {
				return within(aside, "a subquery")
			}
		}
	}
	if readers := readersOf(step, name); len(readers) > 1 {
		return sqlerr.New(recursionError, "recursive reference to query %q must not appear more than once", name).At(readers[1].Position())
	}
	core, ok := step.Body.(*ast.SelectCore)
	if !ok || hides(step.With, name) || !slices.ContainsFunc(core.From, func(f ast.FromItem) bool { return reads(f, name) }) {
		return nil
	}
	var err error
	ast.WalkExprs(core, func(e ast.Expr) bool {
		f, ok := e.(*ast.FuncCall)
		if ok && f.Over == nil && !f.SQLSyntax && b.env.Registry.Lookup(f.Name.Name) != nil {
			err = sqlerr.New(recursionError, "aggregate functions are not allowed in a recursive query's recursive term").At(f.Position())
		}
		return err == nil
	})
	return err
}

// reads reports whether an item of FROM is, or joins, the query of this name.
func reads(f ast.FromItem, name string) bool {
	switch x := f.(type) {
	case *ast.TableRef:
		return x.Name.Schema == "" && x.Name.Name == name
	case *ast.Join:
		return reads(x.Left, name) || reads(x.Right, name)
	}
	return false
}

// exact projects the visible columns alone.
func exact(r *result) plan.Node {
	values, cols := r.values()
	return &plan.Project{Child: r.node, Values: values, Cols: cols}
}
