package parse

import (
	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/tallydb/tallydb/sql/ast"
)

func (d *decoder) exprs(list []tidb.ExprNode) []ast.Expr {
	out := make([]ast.Expr, len(list))
	for i, e := range list {
		out[i] = d.expr(e)
	}
	return out
}

// expr decodes an expression. What only PostgreSQL has arrives as a call of f.
func (d *decoder) expr(e tidb.ExprNode) ast.Expr {
	switch x := e.(type) {
	case *tidb.ParenthesesExpr:
		return d.expr(x.Expr)
	case *number:
		return d.leaf(x.index())
	case *tidb.PositionExpr: // a number in ORDER BY or GROUP BY
		return d.leaf(x.N)
	case *tidb.FuncCallExpr:
		head, args, _ := d.formCall(x)
		f, ok := head.(form)
		if !ok {
			d.fail("form %T", head)
		}
		return f.build(d.exprs(args))
	case *tidb.BinaryOperationExpr:
		return d.binary(x)
	case *tidb.UnaryOperationExpr:
		return d.unary(x)
	case *tidb.PatternInExpr:
		return d.in(x)
	case *tidb.CaseExpr:
		return d.caseExpr(x)
	case *tidb.SubqueryExpr:
		return &ast.Subquery{Pos: d.charBefore(x, 0), Kind: ast.ScalarSubquery, Query: d.query(x)}
	case *tidb.ExistsSubqueryExpr:
		sub := &ast.Subquery{Pos: d.charBefore(x, 0), Kind: ast.ExistsSubquery, Query: d.query(x.Sel)}
		if x.Not {
			return &ast.Not{Pos: sub.Pos, Arg: sub}
		}
		return sub
	case *tidb.RowExpr:
		return &ast.Row{Pos: d.charBefore(x, 0), Elems: d.exprs(x.Values)}
	}
	d.fail("expression %T", e)
	return nil
}

func (d *decoder) leaf(i int) ast.Expr {
	e, ok := d.kept(i).(ast.Expr)
	if !ok {
		d.fail("leaf %T", d.kept(i))
	}
	return e
}

var binaryOps = map[opcode.Op]string{
	opcode.Plus: "+", opcode.Minus: "-", opcode.Mul: "*", opcode.Div: "/", opcode.Mod: "%",
	opcode.EQ: "=", opcode.NE: "<>", opcode.LT: "<", opcode.LE: "<=", opcode.GT: ">", opcode.GE: ">=",
}

func (d *decoder) binary(x *tidb.BinaryOperationExpr) ast.Expr {
	switch x.Op {
	case opcode.LogicAnd, opcode.LogicOr:
		return d.logical(x)
	}
	op, ok := binaryOps[x.Op]
	if !ok {
		d.fail("operator %v", x.Op)
	}
	return &ast.Binary{Pos: d.charBefore(x.R, 1), Op: ast.Operator{Name: op}, Left: d.expr(x.L), Right: d.expr(x.R)}
}

// logical decodes a chain of AND or OR without recursion down its left side, which
// may be thousands of terms long. As in PostgreSQL a chain on the left melts into
// the node even where it stood in parentheses.
func (d *decoder) logical(x *tidb.BinaryOperationExpr) ast.Expr {
	var rights []ast.Expr
	op := x.Op
	var left tidb.ExprNode = x
	pos := ast.Pos(0)
	for {
		if paren, ok := left.(*tidb.ParenthesesExpr); ok {
			left = paren.Expr
			continue
		}
		b, ok := left.(*tidb.BinaryOperationExpr)
		if !ok || b.Op != op {
			break
		}
		pos = d.charBefore(b.R, 1)
		rights = append(rights, d.expr(b.R))
		left = b.L
	}
	out := &ast.Logical{Pos: pos, Op: ast.And, Args: make([]ast.Expr, 0, len(rights)+1)}
	if op == opcode.LogicOr {
		out.Op = ast.Or
	}
	out.Args = append(out.Args, d.expr(left))
	for i := len(rights) - 1; i >= 0; i-- {
		out.Args = append(out.Args, rights[i])
	}
	return out
}

func (d *decoder) unary(x *tidb.UnaryOperationExpr) ast.Expr {
	pos := d.charBefore(x, 0)
	switch x.Op {
	case opcode.Not, opcode.Not2:
		return &ast.Not{Pos: pos, Arg: d.expr(x.V)}
	case opcode.Minus:
		return &ast.Unary{Pos: pos, Op: ast.Operator{Name: "-"}, Arg: d.expr(x.V)}
	case opcode.Plus:
		return &ast.Unary{Pos: pos, Op: ast.Operator{Name: "+"}, Arg: d.expr(x.V)}
	}
	d.fail("prefix operator %v", x.Op)
	return nil
}

func (d *decoder) in(x *tidb.PatternInExpr) ast.Expr {
	in := &ast.In{Arg: d.expr(x.Expr), Not: x.Not}
	if x.Sel != nil {
		in.Pos = d.charBefore(x.Sel, 1)
		in.Query = d.query(x.Sel)
		return in
	}
	in.Pos = d.charBefore(x.List[0], 1)
	in.List = d.exprs(x.List)
	return in
}

func (d *decoder) caseExpr(x *tidb.CaseExpr) ast.Expr {
	c := &ast.Case{Pos: d.charBefore(x, 0)}
	if x.Value != nil {
		c.Operand = d.expr(x.Value)
	}
	for _, w := range x.WhenClauses {
		c.Whens = append(c.Whens, ast.When{Cond: d.expr(w.Expr), Result: d.expr(w.Result)})
	}
	if x.ElseClause != nil {
		c.Else = d.expr(x.ElseClause)
	}
	return c
}
