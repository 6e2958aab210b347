package ast

import "strings"

// plainSyntax are the special functions that are written like calls.
var plainSyntax = map[string]bool{
	"coalesce": true, "nullif": true, "greatest": true, "least": true, "grouping": true,
}

func (p *printer) call(x *FuncCall) {
	if x.SQLSyntax {
		p.specialCall(x)
		return
	}
	p.name(x.Name)
	p.write("(")
	p.callArgs(x)
	p.write(")")
	if x.WithinGroup {
		p.write(" WITHIN GROUP (")
		p.orderBy(x.OrderBy)
		p.write(")")
	}
	if x.Filter != nil {
		p.write(" FILTER (WHERE ")
		p.expr(x.Filter)
		p.write(")")
	}
	if x.Over != nil {
		p.write(" OVER ")
		p.windowSpec(x.Over)
	}
}

func (p *printer) callArgs(x *FuncCall) {
	if x.Star {
		p.write("*")
		return
	}
	if x.Distinct {
		p.write("DISTINCT ")
	}
	p.list(len(x.Args), func(i int) {
		if x.Variadic && i == len(x.Args)-1 {
			p.write("VARIADIC ")
		}
		p.expr(x.Args[i])
	})
	if len(x.OrderBy) > 0 && !x.WithinGroup {
		p.write(" ")
		p.orderBy(x.OrderBy)
	}
}

// specialCall writes a function by its syntax in SQL.
func (p *printer) specialCall(x *FuncCall) {
	arg := func(i int) { p.expr(x.Args[i]) }
	switch name := x.Name.Name; name {
	case "timezone":
		p.operand(x.Args[1])
		p.write(" AT TIME ZONE ")
		p.operand(x.Args[0])
	case "overlaps":
		p.write("(")
		p.exprs(x.Args[:2])
		p.write(") OVERLAPS (")
		p.exprs(x.Args[2:])
		p.write(")")
	case "extract":
		p.write("EXTRACT(")
		arg(0)
		p.write(" FROM ")
		arg(1)
		p.write(")")
	case "position":
		p.write("POSITION(")
		p.operand(x.Args[1])
		p.write(" IN ")
		p.operand(x.Args[0])
		p.write(")")
	case "substring", "overlay":
		p.write(strings.ToUpper(name), "(")
		words := []string{" FROM ", " FOR "}
		if name == "overlay" {
			words = []string{" PLACING ", " FROM ", " FOR "}
		}
		for i := range x.Args {
			if i > 0 {
				p.write(words[i-1])
			}
			arg(i)
		}
		p.write(")")
	case "btrim", "ltrim", "rtrim":
		p.trim(x)
	default:
		p.write(strings.ToUpper(name))
		if plainSyntax[name] || len(x.Args) > 0 {
			p.write("(")
			p.exprs(x.Args)
			p.write(")")
		}
	}
}

func (p *printer) trim(x *FuncCall) {
	p.write("TRIM(", map[string]string{"btrim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}[x.Name.Name], " ")
	if len(x.Args) > 1 {
		p.expr(x.Args[1])
		p.write(" ")
	}
	p.write("FROM ")
	p.expr(x.Args[0])
	for _, more := range x.Args[min(2, len(x.Args)):] {
		p.write(", ")
		p.expr(more)
	}
	p.write(")")
}

func (p *printer) orderBy(keys []SortKey) {
	p.write("ORDER BY ")
	p.list(len(keys), func(i int) {
		p.expr(keys[i].Expr)
		p.write([]string{"", " ASC", " DESC"}[keys[i].Direction])
		p.write([]string{"", " NULLS FIRST", " NULLS LAST"}[keys[i].Nulls])
	})
}

func (p *printer) windowSpec(w *WindowSpec) {
	if w.Ref != "" {
		p.ident(w.Ref)
		return
	}
	p.write("(")
	sep := ""
	if w.Base != "" {
		p.ident(w.Base)
		sep = " "
	}
	if len(w.PartitionBy) > 0 {
		p.write(sep, "PARTITION BY ")
		p.exprs(w.PartitionBy)
		sep = " "
	}
	if len(w.OrderBy) > 0 {
		p.write(sep)
		p.orderBy(w.OrderBy)
		sep = " "
	}
	if w.Frame != nil {
		p.write(sep)
		p.frame(w.Frame)
	}
	p.write(")")
}

func (p *printer) frame(f *Frame) {
	p.write([]string{"", "RANGE", "ROWS", "GROUPS"}[f.Mode], " BETWEEN ")
	p.bound(f.Start)
	p.write(" AND ")
	p.bound(f.End)
	p.write([]string{"", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"}[f.Exclude])
}

func (p *printer) bound(b FrameBound) {
	switch b.Kind {
	case UnboundedPreceding:
		p.write("UNBOUNDED PRECEDING")
	case UnboundedFollowing:
		p.write("UNBOUNDED FOLLOWING")
	case CurrentRow:
		p.write("CURRENT ROW")
	case OffsetPreceding:
		p.operand(b.Offset)
		p.write(" PRECEDING")
	case OffsetFollowing:
		p.operand(b.Offset)
		p.write(" FOLLOWING")
	}
}
