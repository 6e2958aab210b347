package bind

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// recursive binds a common table expression that reads itself: base UNION [ALL] step.
func (b *binder) recursive(c *cte, s *ast.Select, ctx *context) (*result, error) {
	op, ok := s.Body.(*ast.SetOp)
	if !ok || op.Op != ast.Union || references(op.Left, c.def.Name) > 0 {
		return nil, sqlerr.New(sqlerr.Code("42P19"), "recursive query %q does not have the form non-recursive-term UNION [ALL] recursive-term", c.def.Name).At(c.def.Position())
	}
	if len(s.OrderBy) > 0 || s.Limit != nil || s.Offset != nil || s.With != nil {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "ORDER BY, LIMIT and WITH in a recursive query are not implemented").At(c.def.Position())
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
	step, err := b.selectInto(op.Right, &context{frame: ctx.frame, ctes: c}, to)
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

// exact projects the visible columns alone.
func exact(r *result) plan.Node {
	values, cols := r.values()
	return &plan.Project{Child: r.node, Values: values, Cols: cols}
}
