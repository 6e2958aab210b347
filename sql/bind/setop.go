package bind

import (
	"slices"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

var setOpNames = map[ast.SetOpKind]string{ast.Union: "UNION", ast.Intersect: "INTERSECT", ast.Except: "EXCEPT"}

// setOp binds UNION, INTERSECT and EXCEPT. All are made of appending and
// grouping, so that the envelopes merge by the rules of a grouping.
func (b *binder) setOp(x *ast.SetOp, ctx *context, want []types.Type) (*result, error) {
	ops := chain(x)
	sides, err := b.setSides(ops, ctx, want)
	if err != nil {
		return nil, err
	}
	to, err := commonTypes(ops, sides)
	if err != nil {
		return nil, err
	}
	for i, s := range sides {
		again := false
		for c := range s.cols {
			again = again || s.cols[c].literal && s.cols[c].typ != to[c]
		}
		op := ops[max(i-1, 0)]
		if again {
			side := op.Right
			if i == 0 {
				side = op.Left
			}
			if sides[i], err = b.selectInto(side, ctx, to); err != nil {
				return nil, err
			}
		}
		if sides[i], err = b.coerce(sides[i], to, expr.Implicit, nil); err != nil {
			return nil, sqlerr.From(err).At(op.Position())
		}
	}
	return combineSides(x, sides), nil
}

// chain returns the operations of a UNION b UNION c …, which are bound as one
// with many sides: sides of an operation are not levels of nesting.
func chain(x *ast.SetOp) []*ast.SetOp {
	ops := []*ast.SetOp{x}
	for x.Op == ast.Union {
		l := x.Left
		next, ok := l.Body.(*ast.SetOp)
		if !ok || next.Op != x.Op || next.All != x.All || l.With != nil || len(l.OrderBy) > 0 || l.Limit != nil || l.Offset != nil {
			break
		}
		ops = append(ops, next)
		x = next
	}
	slices.Reverse(ops)
	return ops
}

// setSides binds the sides of a chain.
func (b *binder) setSides(ops []*ast.SetOp, ctx *context, want []types.Type) ([]*result, error) {
	l, err := b.selectInto(ops[0].Left, ctx, want)
	if err != nil {
		return nil, err
	}
	sides := []*result{l}
	for _, x := range ops {
		r, err := b.selectInto(x.Right, ctx, want)
		if err != nil {
			return nil, err
		}
		if len(l.cols) != len(r.cols) {
			return nil, sqlerr.New(sqlerr.SyntaxError, "each %s query must have the same number of columns", setOpNames[x.Op]).At(x.Right.Position())
		}
		sides = append(sides, r)
	}
	return sides, nil
}

// commonTypes resolves the types of the columns, side by side as they stand.
func commonTypes(ops []*ast.SetOp, sides []*result) ([]types.Type, error) {
	to := make([]types.Type, len(sides[0].cols))
	for c := range to {
		so := sides[0].sample(c)
		for i, x := range ops {
			t, err := expr.CommonType(setOpNames[x.Op], so, sides[i+1].sample(c))
			if err != nil {
				return nil, sqlerr.From(err).At(x.Position())
			}
			if so = expr.NewLiteral(""); !unknown(t) {
				so = &expr.Const{Datum: types.NullOf(t)}
			}
		}
		if to[c] = so.Type(); unknown(to[c]) {
			to[c] = types.Of(types.Text)
		}
	}
	return to, nil
}

// combineSides appends all sides, with a column that tells them apart where
// that matters, and groups.
func combineSides(x *ast.SetOp, sides []*result) *result {
	env := false
	for _, s := range sides {
		env = env || plan.EnvelopeAt(s.node.Schema()) >= 0
	}
	width := len(sides[0].cols)
	marked := x.Op != ast.Union
	inputs := make([]plan.Node, len(sides))
	for i, s := range sides {
		inputs[i] = alignSide(s, i, marked, env)
	}
	var node plan.Node = &plan.Append{Inputs: inputs}
	switch {
	case marked:
		node = countSides(node, width, x)
	case !x.All:
		node = distinctOf(node, width)
	}
	out := &result{node: node}
	for _, s := range sides {
		if s.weight != nil {
			out.weight = s.weight.without(setOpNames[x.Op])
		}
	}
	for i, c := range sides[0].cols {
		c.index, c.status = i, false
		for _, s := range sides[1:] {
			o := s.cols[i]
			c.approx = noBounds(c.approx, o.approx)
			c.notNull, c.literal = c.notNull && o.notNull, c.literal && o.literal
		}
		c.origin = plan.Origin{}
		out.cols = append(out.cols, c)
	}
	return out
}

// alignSide projects a side to its columns, the mark, and the envelope; a plain
// side is complete.
func alignSide(r *result, side int, marked, env bool) plan.Node {
	values, cols := r.values()
	if marked {
		values = append(values, expr.NewConst(types.IntDatum(types.Int4, int64(side))))
		cols = append(cols, types.Column{Name: "side", Type: types.Of(types.Int4), Hidden: true})
	}
	p := plan.NewProject(r.node, values, cols)
	if env && plan.EnvelopeAt(r.node.Schema()) < 0 {
		p.Values = append(p.Values, plan.CompleteEnvelope()...)
		p.Cols = append(p.Cols, plan.EnvelopeColumns()...)
	}
	return p
}

// countSides groups equal rows, counts those of each side, and keeps or repeats
// the groups as INTERSECT and EXCEPT say.
func countSides(n plan.Node, width int, x *ast.SetOp) plan.Node {
	s := n.Schema()
	keys := make([]expr.Expr, width)
	for i := range keys {
		keys[i] = plan.NewColumn(s, i)
	}
	calls := []plan.AggCall{sideCount(s, width, 0), sideCount(s, width, 1)}
	a := plan.NewAggregate(n, keys, s.Columns[:width:width], calls, true)
	l, r := plan.NewColumn(a.Schema(), width), plan.NewColumn(a.Schema(), width+1)
	zero := expr.NewConst(types.IntDatum(types.Int8, 0))
	must := func(e expr.Expr, err error) expr.Expr {
		if err != nil {
			panic("bigint has no comparison or subtraction: " + err.Error())
		}
		return e
	}
	if x.All {
		times := must(expr.NewLeast(l, r))
		if x.Op == ast.Except {
			times = must(expr.NewOperator("-", l, r))
		}
		return &plan.Repeat{Child: a, Times: times}
	}
	op := ">"
	if x.Op == ast.Except {
		op = "="
	}
	return &plan.Filter{Child: a, Cond: must(expr.NewAnd(must(expr.NewOperator(">", l, zero)), must(expr.NewOperator(op, r, zero))))}
}

func sideCount(s *types.Schema, mark, side int) plan.AggCall {
	is, err := expr.NewOperator("=", plan.NewColumn(s, mark), expr.NewConst(types.IntDatum(types.Int4, int64(side))))
	if err != nil {
		panic("integer has no equality: " + err.Error())
	}
	return plan.AggCall{
		Name: "count", Bound: agg.CountRows(), Filter: is,
		Column: types.Column{Name: "rows", Type: types.Of(types.Int8), Hidden: true},
	}
}

// values binds VALUES.
func (b *binder) values(v *ast.Values, ctx *context, want []types.Type) (*result, error) {
	s := &scope{node: plan.OneRow(), ctx: ctx}
	rows := make([][]expr.Expr, len(v.Rows))
	width := len(v.Rows[0])
	for i, row := range v.Rows {
		if len(row) != width {
			return nil, sqlerr.New(sqlerr.SyntaxError, "VALUES lists must all be the same length").At(row[0].Position())
		}
		var err error
		if rows[i], err = b.exprs(&clause{s: s, name: "VALUES"}, row); err != nil {
			return nil, err
		}
	}
	r := &result{}
	to := make([]types.Type, width)
	out := &plan.Values{Rows: rows}
	for c := range width {
		column := make([]expr.Expr, len(rows))
		for i := range rows {
			column[i] = rows[i][c]
		}
		t, err := expr.CommonType("VALUES", column...)
		if err != nil {
			return nil, sqlerr.From(err).At(v.Rows[0][c].Position())
		}
		literal := unknown(t)
		if literal {
			t = types.Of(types.Text)
			if c < len(want) {
				t = want[c]
			}
		}
		to[c] = t
		for i := range rows {
			if rows[i][c], err = expr.Cast(rows[i][c], t, expr.Implicit); err != nil {
				return nil, sqlerr.From(err).At(v.Rows[i][c].Position())
			}
		}
		col := types.Column{Name: columnN(c), Type: t}
		out.Columns = append(out.Columns, col)
		r.cols = append(r.cols, output{name: col.Name, typ: t, index: c, literal: literal})
	}
	return b.valuesNode(r, out)
}

// valuesNode turns rows with subqueries into an Append of single rows.
func (b *binder) valuesNode(r *result, v *plan.Values) (*result, error) {
	r.node = v
	subquery := false
	for _, row := range v.Rows {
		for _, e := range row {
			subquery = subquery || has(e, subqueryKind)
		}
	}
	if !subquery {
		return r, nil
	}
	var inputs []plan.Node
	for _, row := range v.Rows {
		var node plan.Node = plan.OneRow()
		if err := b.attachAll(&node, row); err != nil {
			return nil, err
		}
		inputs = append(inputs, &plan.Project{Child: node, Values: row, Cols: v.Columns})
	}
	r.node = &plan.Append{Inputs: inputs}
	return r, nil
}

func columnN(i int) string {
	digits := ""
	for n := i + 1; n > 0; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return "column" + digits
}
