package ast

import (
	"strconv"
	"strings"
)

// operand writes an expression where an operator would reach into it: in parentheses,
// unless it holds together by itself.
func (p *printer) operand(e Expr) {
	if isPrimary(e) {
		p.expr(e)
		return
	}
	p.write("(")
	p.expr(e)
	p.write(")")
}

func isPrimary(e Expr) bool {
	switch x := e.(type) {
	case *ColumnRef, *Star, *Literal, *Param, *Cast, *Case, *Array, *Subquery, *Row, *Subscript, *FieldSelect, *Default:
		return true
	case *FuncCall:
		return !x.SQLSyntax || x.Name.Name != "timezone" && x.Name.Name != "overlaps"
	}
	return false
}

func (p *printer) expr(e Expr) {
	switch x := e.(type) {
	case *ColumnRef:
		p.dotted(x.Parts)
	case *Star:
		p.star(x)
	case *Literal:
		p.literal(x)
	case *Param:
		p.write("$", strconv.Itoa(x.Number))
	case *Case:
		p.caseExpr(x)
	case *Cast:
		p.operand(x.Arg)
		p.write("::")
		p.typeName(x.Type)
	case *FuncCall:
		p.call(x)
	case *NamedArg:
		p.ident(x.Name)
		p.write(" => ")
		p.expr(x.Arg)
	case *Array:
		p.write("ARRAY[")
		p.exprs(x.Elems)
		p.write("]")
	case *Subscript:
		p.subscript(x)
	case *FieldSelect:
		p.fieldSelect(x)
	case *Row:
		p.row(x)
	case *Subquery:
		p.write(map[SubqueryKind]string{ExistsSubquery: "EXISTS ", ArraySubquery: "ARRAY"}[x.Kind])
		p.subquery(x.Query)
	case *Default:
		p.write("DEFAULT")
	case *GroupingSet:
		p.write(map[GroupingKind]string{GroupingSets: "GROUPING SETS ", Rollup: "ROLLUP ", Cube: "CUBE "}[x.Kind], "(")
		p.exprs(x.Items)
		p.write(")")
	default:
		p.operation(e)
	}
}

// operation writes what has operators.
func (p *printer) operation(e Expr) {
	switch x := e.(type) {
	case *Unary:
		p.operator(x.Op)
		p.operand(x.Arg)
	case *Binary:
		p.operand(x.Left)
		p.write(" ")
		p.operator(x.Op)
		p.write(" ")
		p.operand(x.Right)
	case *Logical:
		p.logical(x)
	case *Not:
		p.write("NOT ")
		p.operand(x.Arg)
	case *IsTest:
		p.operand(x.Arg)
		p.write(" IS ", not(x.Not), map[Truth]string{IsNull: "NULL", IsTrue: "TRUE", IsFalse: "FALSE", IsUnknown: "UNKNOWN"}[x.Test])
	case *IsDistinct:
		p.operand(x.Left)
		p.write(" IS ", not(x.Not), "DISTINCT FROM ")
		p.operand(x.Right)
	case *Between:
		p.operand(x.Arg)
		p.write(" ", not(x.Not), "BETWEEN ")
		if x.Symmetric {
			p.write("SYMMETRIC ")
		}
		p.operand(x.Low)
		p.write(" AND ")
		p.operand(x.High)
	case *In:
		p.in(x)
	case *PatternMatch:
		p.operand(x.Arg)
		p.write(" ", not(x.Not), map[LikeKind]string{Like: "LIKE", ILike: "ILIKE", SimilarTo: "SIMILAR TO"}[x.Kind], " ")
		p.operand(x.Pattern)
		if x.Escape != nil {
			p.write(" ESCAPE ")
			p.operand(x.Escape)
		}
	case *Quantified:
		p.quantified(x)
	case *Collate:
		p.operand(x.Arg)
		p.write(" COLLATE ")
		p.name(x.Collation)
	}
}

func not(b bool) string {
	if b {
		return "NOT "
	}
	return ""
}

func (p *printer) operator(op Operator) {
	if op.Schema == "" {
		p.write(op.Name)
		return
	}
	p.write("OPERATOR(", QuoteIdentifier(op.Schema), ".", op.Name, ")")
}

// logical writes a chain. Comparisons need no parentheses in it.
func (p *printer) logical(x *Logical) {
	word := " AND "
	if x.Op == Or {
		word = " OR "
	}
	for i, arg := range x.Args {
		if i > 0 {
			p.write(word)
		}
		if _, nested := arg.(*Logical); nested {
			p.operand(arg)
		} else {
			p.expr(arg)
		}
	}
}

func (p *printer) literal(x *Literal) {
	switch x.Kind {
	case NullLiteral:
		p.write("NULL")
	case BoolLiteral:
		p.write(strings.ToUpper(x.Text))
	case StringLiteral:
		p.write(QuoteString(x.Text))
	case BitLiteral:
		p.write("B", QuoteString(x.Text))
	case HexLiteral:
		p.write("X", QuoteString(x.Text))
	default:
		p.write(x.Text)
	}
}

func (p *printer) star(x *Star) {
	if len(x.Qualifier) > 0 {
		p.dotted(x.Qualifier)
		p.write(".")
	}
	p.write("*")
}

func (p *printer) in(x *In) {
	p.operand(x.Arg)
	p.write(" ", not(x.Not), "IN ")
	if x.Query != nil {
		p.subquery(x.Query)
		return
	}
	p.write("(")
	p.exprs(x.List)
	p.write(")")
}

func (p *printer) quantified(x *Quantified) {
	p.operand(x.Left)
	p.write(" ")
	p.operator(x.Op)
	if x.All {
		p.write(" ALL ")
	} else {
		p.write(" ANY ")
	}
	if x.Query != nil {
		p.subquery(x.Query)
		return
	}
	p.write("(")
	if sub, ok := x.Array.(*Subquery); ok && sub.Kind == ScalarSubquery {
		p.operand(sub) // ANY ((SELECT array)) is not ANY (SELECT ...)
	} else {
		p.expr(x.Array)
	}
	p.write(")")
}

func (p *printer) caseExpr(x *Case) {
	p.write("CASE")
	if x.Operand != nil {
		p.write(" ")
		p.expr(x.Operand)
	}
	for _, w := range x.Whens {
		p.write(" WHEN ")
		p.expr(w.Cond)
		p.write(" THEN ")
		p.expr(w.Result)
	}
	if x.Else != nil {
		p.write(" ELSE ")
		p.expr(x.Else)
	}
	p.write(" END")
}

// indirected writes what a subscript or a field selection applies to.
func (p *printer) indirected(e Expr) {
	switch e.(type) {
	case *ColumnRef, *Param, *Subscript, *FieldSelect:
		p.expr(e)
		return
	}
	p.write("(")
	p.expr(e)
	p.write(")")
}

func (p *printer) subscript(x *Subscript) {
	p.indirected(x.Arg)
	p.write("[")
	if !x.Slice {
		p.expr(x.Index)
		p.write("]")
		return
	}
	if x.Lower != nil {
		p.expr(x.Lower)
	}
	p.write(":")
	if x.Upper != nil {
		p.expr(x.Upper)
	}
	p.write("]")
}

func (p *printer) fieldSelect(x *FieldSelect) {
	switch x.Arg.(type) {
	case *Subscript, *FieldSelect:
		p.expr(x.Arg)
	default:
		p.write("(")
		p.expr(x.Arg)
		p.write(")")
	}
	p.write(".")
	if x.Star {
		p.write("*")
	} else {
		p.ident(x.Field)
	}
}

func (p *printer) row(x *Row) {
	if x.Explicit || len(x.Elems) < 2 {
		p.write("ROW")
	}
	p.write("(")
	p.exprs(x.Elems)
	p.write(")")
}
