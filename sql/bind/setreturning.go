package bind

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// setInExpr binds a set-returning function in the SELECT list; field picks a
// column of one that has several, else they make a record.
func (b *binder) setInExpr(c *clause, f *ast.FuncCall, field string) (expr.Expr, error) {
	if !c.sets || c.inAgg {
		place := c.name
		if c.noSets != "" {
			place = c.noSets
		}
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "set-returning functions are not allowed in %s", place)
	}
	scan, err := b.functionScan(c, f)
	if err != nil {
		return nil, err
	}
	if len(scan.Zip) > 0 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "function %s yields rows of several columns, so it belongs in FROM", f.Name.Name)
	}
	column := 0
	if field != "" {
		if column = scan.Schema().Index(field); column < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q not found in the rows of function %s", field, f.Name.Name)
		}
	}
	for _, a := range scan.Args {
		if has(a, setKind) {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "nested set-returning functions are not supported").
				WithHint("Call the inner one in FROM.")
		}
	}
	place := func(column int) expr.Expr {
		return &placeholder{
			id: column, kind: setKind, typ: scan.Columns[column].Type, pos: f.Position(),
			text: scan.Function, args: scan.Args, set: scan,
		}
	}
	if len(scan.Columns) > 1 && field == "" {
		return b.setRecord(scan, place)
	}
	return place(column), nil
}

// planSets runs the set-returning functions of the SELECT list for each row.
func (q *selecting) planSets() error {
	return q.b.expandSets(&q.node, q.places())
}

// expandSets runs the set-returning functions of expressions for each row of a
// plan, side by side; equal calls run once.
func (b *binder) expandSets(node *plan.Node, places []*expr.Expr) error {
	scan := &plan.FunctionScan{Function: "rows"}
	first := map[string]int{} // column of each call
	for _, place := range places {
		if !has(*place, setKind) {
			continue
		}
		e, err := b.attach(node, *place)
		if err != nil {
			return err
		}
		expr.Walk(e, func(x expr.Expr) bool {
			p, ok := x.(*placeholder)
			if !ok || p.kind != setKind {
				return true
			}
			if _, known := first[p.call()]; !known {
				first[p.call()] = len(scan.Columns)
				part := *p.set
				part.Args = p.args
				scan.Zip = append(scan.Zip, &part)
				scan.Columns = append(scan.Columns, part.Columns...)
			}
			return false
		})
		*place = e
	}
	if len(scan.Zip) == 0 {
		return nil
	}
	at := b.applySets(node, scan)
	schema := (*node).Schema()
	for _, place := range places {
		var err error
		*place, err = replace(*place, func(x expr.Expr) (expr.Expr, error) {
			if p, ok := x.(*placeholder); ok && p.kind == setKind {
				return plan.NewColumn(schema, at+first[p.call()]+p.id), nil
			}
			return nil, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// call is the text of a set-returning call: equal text is the same call.
func (p *placeholder) call() string {
	out := p.text
	for _, a := range p.args {
		out += "," + a.String()
	}
	return out
}

// applySets joins the rows of functions to each row of the plan. Their columns
// come last, so that the others keep their places; it returns the first.
func (b *binder) applySets(node *plan.Node, scan *plan.FunctionScan) int {
	a := &plan.Apply{Kind: plan.ApplyLateral, Child: *node}
	for _, part := range scan.Zip {
		args := make([]expr.Expr, len(part.Args))
		for i, arg := range part.Args {
			b.slots++
			n := b.base + b.slots
			a.Outer, a.Slots = append(a.Outer, arg), append(a.Slots, n)
			args[i] = &expr.Param{N: n, Typ: arg.Type()}
		}
		part.Args = args
	}
	a.Subplan = scan
	if len(scan.Zip) == 1 {
		a.Subplan = scan.Zip[0]
	}
	at := len(a.Child.Schema().Columns)
	*node = a
	return at
}

func pointers(list []expr.Expr) []*expr.Expr {
	out := make([]*expr.Expr, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}
