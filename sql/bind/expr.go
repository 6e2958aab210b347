package bind

import (
	"fmt"
	"slices"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// clause is the place where an expression stands: what it may read and what may
// be in it.
type clause struct {
	s       *scope
	name    string    // "WHERE", for errors
	group   *grouping // collects aggregates; nil where none may be
	windows *windowing
	sets    bool   // set-returning functions may be
	noSets  string // the construct that forbids them, where it is not name
	inAgg   bool
}

// withoutSets is the clause inside a construct whose operands are not always
// evaluated, so that they cannot multiply the row.
func (c *clause) withoutSets(construct string) *clause {
	out := *c
	out.sets, out.noSets = false, construct
	return &out
}

// expr binds an expression. Errors get the position of the innermost node.
func (b *binder) expr(c *clause, e ast.Expr) (expr.Expr, error) {
	out, err := b.exprNode(c, e)
	if err != nil {
		return nil, sqlerr.From(err).At(e.Position())
	}
	return out, nil
}

func (b *binder) exprs(c *clause, list []ast.Expr) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		var err error
		if out[i], err = b.expr(c, e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// boolExpr binds a condition.
func (b *binder) boolExpr(c *clause, e ast.Expr) (expr.Expr, error) {
	out, err := b.expr(c, e)
	if err != nil {
		return nil, err
	}
	if t := out.Type().OID; t != types.Bool && t != types.Unknown {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "argument of %s must be type boolean, not type %s", c.name, out.Type()).At(e.Position())
	}
	out, err = expr.Cast(out, types.Of(types.Bool), expr.Implicit)
	if err != nil {
		return nil, sqlerr.From(err).At(e.Position())
	}
	return out, nil
}

func (b *binder) exprNode(c *clause, e ast.Expr) (expr.Expr, error) {
	switch x := e.(type) {
	case *ast.ColumnRef:
		return b.resolve(c.s, x)
	case *ast.Literal:
		return literal(x, false)
	case *ast.Param:
		return b.param(x)
	case *ast.Unary:
		return b.unary(c, x)
	case *ast.Binary:
		return b.binary(c, x)
	case *ast.Logical:
		return b.logical(c, x)
	case *ast.Not:
		arg, err := b.boolExpr(&clause{s: c.s, name: "NOT", group: c.group, windows: c.windows, sets: c.sets, inAgg: c.inAgg}, x.Arg)
		if err != nil {
			return nil, err
		}
		return expr.NewNot(arg)
	case *ast.IsTest:
		return b.isTest(c, x)
	case *ast.FuncCall:
		return b.call(c, x)
	case *ast.Cast:
		return b.cast(c, x)
	case *ast.Case:
		return b.caseExpr(c, x)
	case *ast.Subquery:
		return b.subquery(c, x)
	case *ast.Collate:
		arg, err := b.expr(c, x.Arg)
		if err != nil {
			return nil, err
		}
		return arg, checkCollation(x.Collation, arg.Type(), x.Position())
	}
	return b.predicate(c, e)
}

func (b *binder) predicate(c *clause, e ast.Expr) (expr.Expr, error) {
	switch x := e.(type) {
	case *ast.IsDistinct:
		args, err := b.exprs(c, []ast.Expr{x.Left, x.Right})
		if err != nil {
			return nil, err
		}
		return expr.NewIsDistinct(args[0], args[1], x.Not)
	case *ast.Between:
		if row, ok := x.Arg.(*ast.Row); ok && !x.Symmetric {
			low, lowIsRow := x.Low.(*ast.Row)
			high, highIsRow := x.High.(*ast.Row)
			if lowIsRow && highIsRow {
				return b.rowBetween(c, row, low, high, x.Not)
			}
		}
		args, err := b.exprs(c, []ast.Expr{x.Arg, x.Low, x.High})
		if err != nil {
			return nil, err
		}
		return expr.NewBetween(args[0], args[1], args[2], x.Symmetric, x.Not)
	case *ast.In:
		return b.in(c, x)
	case *ast.PatternMatch:
		return b.pattern(c, x)
	case *ast.Quantified:
		return b.quantified(c, x)
	}
	return b.composite(c, e)
}

// rowBetween binds row BETWEEN low AND high, which compare field by field.
func (b *binder) rowBetween(c *clause, row, low, high *ast.Row, not bool) (expr.Expr, error) {
	above, err := b.rowCompare(c, ">=", row, low)
	if err != nil {
		return nil, err
	}
	below, err := b.rowCompare(c, "<=", row, high)
	if err != nil {
		return nil, err
	}
	both, err := expr.NewAnd(above, below)
	if err != nil || !not {
		return both, err
	}
	return expr.NewNot(both)
}

func (b *binder) composite(c *clause, e ast.Expr) (expr.Expr, error) {
	switch x := e.(type) {
	case *ast.Array:
		elems, err := b.exprs(c, x.Elems)
		if err != nil {
			return nil, err
		}
		return expr.NewArray(elems)
	case *ast.Subscript:
		return b.subscript(c, x)
	case *ast.Row:
		values, err := b.rowFields(c, x.Elems)
		if err != nil {
			return nil, err
		}
		fields := make([]recordField, len(values))
		for i, v := range values {
			fields[i] = recordField{fmt.Sprintf("f%d", i+1), v}
		}
		return b.record(fields)
	case *ast.Default:
		return nil, sqlerr.New(sqlerr.SyntaxError, "DEFAULT is not allowed in this context")
	case *ast.FieldSelect:
		return b.fieldSelect(c, x)
	case *ast.Star:
		if of := qualified(x.Qualifier); c.s.hasTable(of) {
			return b.wholeRow(c.s, of)
		}
		return nil, sqlerr.New(sqlerr.SyntaxError, "row expansion via \"*\" is not supported here")
	case *ast.NamedArg:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "named arguments are not supported").WithHint("Give the arguments in order.")
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "expressions of the form %T are not supported", e)
}

func literal(l *ast.Literal, negative bool) (expr.Expr, error) {
	text := l.Text
	if negative {
		text = "-" + text
	}
	switch l.Kind {
	case ast.NullLiteral:
		return expr.NewNull(), nil
	case ast.BoolLiteral:
		return expr.NewConst(types.BoolDatum(l.Text == "true")), nil
	case ast.StringLiteral:
		return expr.NewLiteral(l.Text), nil
	case ast.IntegerLiteral:
		for _, t := range []types.OID{types.Int4, types.Int8} {
			if d, err := types.Parse(types.Of(t), []byte(text), nil); err == nil {
				return expr.NewConst(d), nil
			}
		}
		fallthrough
	case ast.DecimalLiteral:
		d, err := types.Parse(types.Of(types.Numeric), []byte(text), nil)
		if err != nil {
			return nil, err
		}
		return expr.NewConst(d), nil
	}
	d, err := types.Parse(types.Of(types.Bit), []byte(map[ast.LiteralKind]string{ast.BitLiteral: "B", ast.HexLiteral: "X"}[l.Kind]+text), nil)
	if err != nil {
		return nil, sqlerr.From(err).At(l.Position())
	}
	return expr.NewConst(d), nil
}

func (b *binder) unary(c *clause, x *ast.Unary) (expr.Expr, error) {
	if l, ok := x.Arg.(*ast.Literal); ok && x.Op.Name == "-" && (l.Kind == ast.IntegerLiteral || l.Kind == ast.DecimalLiteral) {
		return literal(l, true)
	}
	arg, err := b.expr(c, x.Arg)
	if err != nil {
		return nil, err
	}
	out, err := expr.NewOperator(x.Op.Name, nil, arg)
	if err != nil {
		return nil, err
	}
	return out, b.boundUnary(x.Op.Name, out, arg)
}

func (b *binder) binary(c *clause, x *ast.Binary) (expr.Expr, error) {
	if l, ok := x.Left.(*ast.Row); ok {
		if r, ok := x.Right.(*ast.Row); ok {
			return b.rowCompare(c, x.Op.Name, l, r)
		}
		if q, ok := x.Right.(*ast.Subquery); ok && q.Kind == ast.ScalarSubquery {
			return b.rowCompareQuery(c, x.Op.Name, l, q)
		}
	}
	args, err := b.exprs(c, []ast.Expr{x.Left, x.Right})
	if err != nil {
		return nil, err
	}
	l, r := args[0], args[1]
	switch x.Op.Name {
	case "~", "!~", "~*", "!~*":
		if l.Type().Kind() == types.KindBytes {
			return expr.NewRegex(l, r, x.Op.Name[len(x.Op.Name)-1] == '*', x.Op.Name[0] == '!')
		}
	case "~~", "!~~":
		return expr.NewLike(l, r, nil, false, x.Op.Name[0] == '!')
	case "~~*", "!~~*":
		return expr.NewLike(l, r, nil, true, x.Op.Name[0] == '!')
	}
	out, err := expr.NewOperator(x.Op.Name, l, r)
	if err != nil {
		return nil, err
	}
	return out, b.boundBinary(x.Op.Name, out, l, r)
}

// rowCompareQuery compares a row with the row of a subquery.
func (b *binder) rowCompareQuery(c *clause, op string, l *ast.Row, q *ast.Subquery) (expr.Expr, error) {
	r, err := b.selectStmt(q.Query, c.s.below(&frame{parent: c.s, clause: c}))
	if err != nil {
		return nil, err
	}
	l = &ast.Row{Pos: l.Pos, Elems: b.rowElems(c, l.Elems)}
	if err := sameWidth(r, len(l.Elems), q.Position()); err != nil {
		return nil, err
	}
	items, err := b.rowSubquery(c, q, len(l.Elems))
	if err != nil {
		return nil, err
	}
	return b.rowCompare(c, op, l, &ast.Row{Pos: q.Pos, Elems: items})
}

func (b *binder) rowCompare(c *clause, op string, l, r *ast.Row) (expr.Expr, error) {
	left, err := b.rowFields(c, l.Elems)
	if err != nil {
		return nil, err
	}
	right, err := b.rowFields(c, r.Elems)
	if err != nil {
		return nil, err
	}
	return expr.NewRowCompare(op, left, right)
}

func (b *binder) logical(c *clause, x *ast.Logical) (expr.Expr, error) {
	inner := *c
	inner.name = "AND"
	if x.Op == ast.Or {
		inner.name = "OR"
	}
	args := make([]expr.Expr, len(x.Args))
	for i, a := range x.Args {
		var err error
		if args[i], err = b.boolExpr(&inner, a); err != nil {
			return nil, err
		}
	}
	if x.Op == ast.Or {
		return expr.NewOr(args...)
	}
	return expr.NewAnd(args...)
}

// fieldsOf returns the fields of a record that are known, nil for anything else.
func (b *binder) fieldsOf(e expr.Expr) []expr.Expr {
	var out []expr.Expr
	for _, f := range b.records[e] {
		out = append(out, f.value)
	}
	return out
}

// rowIsNull is IS NULL of a row: every field is; IS NOT NULL: no field is.
func (b *binder) rowIsNull(c *clause, row *ast.Row, not bool) (expr.Expr, error) {
	fields, err := b.rowFields(c, row.Elems)
	if err != nil {
		return nil, err
	}
	return fieldsAreNull(fields, not)
}

func fieldsAreNull(fields []expr.Expr, not bool) (expr.Expr, error) {
	if len(fields) == 0 {
		return expr.NewConst(types.BoolDatum(true)), nil
	}
	for i, f := range fields {
		var err error
		if fields[i], err = expr.NewIsNull(f, not); err != nil {
			return nil, err
		}
	}
	return expr.NewAnd(fields...)
}

func (b *binder) isTest(c *clause, x *ast.IsTest) (expr.Expr, error) {
	if row, ok := x.Arg.(*ast.Row); ok && x.Test == ast.IsNull {
		return b.rowIsNull(c, row, x.Not)
	}
	arg, err := b.expr(c, x.Arg)
	if err != nil {
		return nil, err
	}
	if fields := b.fieldsOf(arg); fields != nil && x.Test == ast.IsNull {
		return fieldsAreNull(fields, x.Not)
	}
	switch x.Test {
	case ast.IsNull:
		return expr.NewIsNull(arg, x.Not)
	case ast.IsTrue:
		return expr.NewBoolTest(arg, expr.IsTrue, x.Not)
	case ast.IsFalse:
		return expr.NewBoolTest(arg, expr.IsFalse, x.Not)
	default:
		return expr.NewBoolTest(arg, expr.IsUnknown, x.Not)
	}
}

func (b *binder) pattern(c *clause, x *ast.PatternMatch) (expr.Expr, error) {
	args, err := b.exprs(c, []ast.Expr{x.Arg, x.Pattern})
	if err != nil {
		return nil, err
	}
	var escape expr.Expr
	if x.Escape != nil {
		if escape, err = b.expr(c, x.Escape); err != nil {
			return nil, err
		}
	}
	if x.Kind == ast.SimilarTo {
		return expr.NewSimilar(args[0], args[1], escape, x.Not)
	}
	return expr.NewLike(args[0], args[1], escape, x.Kind == ast.ILike, x.Not)
}

func (b *binder) caseExpr(c *clause, x *ast.Case) (expr.Expr, error) {
	c = c.withoutSets("CASE")
	var operand, otherwise expr.Expr
	var err error
	if x.Operand != nil {
		if operand, err = b.expr(c, x.Operand); err != nil {
			return nil, err
		}
	}
	whens := make([]expr.When, len(x.Whens))
	for i, w := range x.Whens {
		if operand == nil {
			inner := *c
			inner.name = "CASE/WHEN"
			whens[i].Cond, err = b.boolExpr(&inner, w.Cond)
		} else {
			whens[i].Cond, err = b.expr(c, w.Cond)
		}
		if err != nil {
			return nil, err
		}
		if whens[i].Result, err = b.expr(c, w.Result); err != nil {
			return nil, err
		}
	}
	if x.Else != nil {
		if otherwise, err = b.expr(c, x.Else); err != nil {
			return nil, err
		}
	}
	return expr.NewCase(operand, whens, otherwise)
}

// subscript binds a[i][j] and a[lo:hi][lo:hi], where an index among slices is 1:i.
func (b *binder) subscript(c *clause, x *ast.Subscript) (expr.Expr, error) {
	base := ast.Expr(x)
	var chain []*ast.Subscript
	slice := false
	for {
		s, ok := base.(*ast.Subscript)
		if !ok {
			break
		}
		chain = append(chain, s)
		slice = slice || s.Slice
		base = s.Arg
	}
	slices.Reverse(chain)
	array, err := b.expr(c, base)
	if err != nil {
		return nil, err
	}
	var index []expr.Expr
	var bounds []expr.SliceBound
	for _, s := range chain {
		parts := make([]expr.Expr, 3)
		for i, e := range []ast.Expr{s.Index, s.Lower, s.Upper} {
			if e == nil {
				continue
			}
			if parts[i], err = b.expr(c, e); err != nil {
				return nil, err
			}
		}
		if slice && !s.Slice {
			parts[1], parts[2] = expr.NewConst(types.IntDatum(types.Int4, 1)), parts[0]
		}
		index, bounds = append(index, parts[0]), append(bounds, expr.SliceBound{Lo: parts[1], Hi: parts[2]})
	}
	if slice {
		return expr.NewSlice(array, bounds)
	}
	return expr.NewSubscript(array, index)
}

// arrayAs binds ARRAY[...]::t, which casts each element.
func (b *binder) arrayAs(c *clause, a *ast.Array, t types.Type) (expr.Expr, error) {
	if len(a.Elems) == 0 {
		return expr.NewArrayOf(types.Of(t.OID.Elem()), nil)
	}
	elems := make([]expr.Expr, len(a.Elems))
	nested := slices.ContainsFunc(a.Elems, func(item ast.Expr) bool { _, ok := item.(*ast.Array); return ok })
	for i, item := range a.Elems {
		var err error
		if inner, ok := item.(*ast.Array); ok {
			elems[i], err = b.arrayAs(c, inner, t)
		} else if elems[i], err = b.expr(c, item); err == nil {
			to := t
			if !nested && !elems[i].Type().OID.IsArray() {
				to = t.ElemType()
			}
			elems[i], err = expr.Cast(elems[i], to, expr.Explicit)
		}
		if err != nil {
			return nil, err
		}
	}
	return expr.NewArray(elems)
}

func (b *binder) cast(c *clause, x *ast.Cast) (expr.Expr, error) {
	t, err := b.typeOf(x.Type)
	if err != nil {
		return nil, err
	}
	var arg expr.Expr
	if a, ok := x.Arg.(*ast.Array); ok && t.OID.IsArray() {
		arg, err = b.arrayAs(c, a, t)
	} else {
		arg, err = b.expr(c, x.Arg)
	}
	if err != nil {
		return nil, err
	}
	if b.forView && t.Domain() != 0 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "casts to a domain are not supported in continuous views").
			WithDetail("What a view keeps cannot follow when the domain's constraints change.").
			WithHint("Use the type that the domain is over.").At(x.Type.Position())
	}
	out, err := b.toType(arg, t, expr.Explicit)
	if err != nil {
		return nil, err
	}
	return out, b.boundCast(out, arg)
}
