package ast

import (
	"fmt"
	"strconv"
	"strings"
)

// String writes a node as PostgreSQL text. The text is canonical: it does not depend
// on how the source spelled the node, and parsing it gives the node again.
func String(n Node) string {
	p := &printer{}
	p.node(n)
	return p.b.String()
}

// printer writes nodes. The files print*.go have a part of the tree each.
type printer struct{ b strings.Builder }

func (p *printer) write(parts ...string) {
	for _, s := range parts {
		p.b.WriteString(s)
	}
}

func (p *printer) node(n Node) {
	switch x := n.(type) {
	case Expr:
		p.expr(x)
	case *Select:
		p.query(x)
	case Statement:
		p.statement(x)
	case FromItem:
		p.fromItem(x)
	case QueryBody:
		p.query(&Select{Body: x})
	case *TypeName:
		p.typeName(x)
	case *ObjectName:
		p.name(*x)
	case *With:
		p.with(x)
	case *WindowSpec:
		p.windowSpec(x)
	case *Frame:
		p.frame(x)
	default:
		p.write(fmt.Sprintf("<%T>", n))
	}
}

// list calls item for 0..n-1 with commas between.
func (p *printer) list(n int, item func(i int)) {
	for i := range n {
		if i > 0 {
			p.write(", ")
		}
		item(i)
	}
}

func (p *printer) exprs(list []Expr) {
	p.list(len(list), func(i int) { p.expr(list[i]) })
}

func (p *printer) ident(name string) { p.write(QuoteIdentifier(name)) }

func (p *printer) dotted(parts []string) {
	for i, part := range parts {
		if i > 0 {
			p.write(".")
		}
		p.ident(part)
	}
}

func (p *printer) name(n ObjectName) { p.dotted(n.Parts()) }

// idents writes (a, b), or nothing for an empty list.
func (p *printer) idents(ids []Identifier) {
	if len(ids) == 0 {
		return
	}
	p.write("(")
	p.list(len(ids), func(i int) { p.ident(ids[i].Name) })
	p.write(")")
}

// sqlTypeNames are the spellings of pg_catalog's types that have one of their own. A
// type with modifiers needs the part behind them as well.
var sqlTypeNames = map[string]string{
	"int2": "smallint", "int4": "integer", "int8": "bigint", "float4": "real", "float8": "double precision",
	"numeric": "numeric", "bool": "boolean", "varchar": "character varying", "bit": "bit", "varbit": "bit varying",
	"time": "time", "timestamp": "timestamp", "timetz": "time", "timestamptz": "timestamp", "interval": "interval",
	"bpchar": "character",
}

func (p *printer) typeName(t *TypeName) {
	if t.SetOf {
		p.write("SETOF ")
	}
	spelled, isSQL := sqlTypeNames[t.Name.Name]
	if bare := t.Name.Name == "bpchar" || t.Name.Name == "bit"; bare && len(t.Modifiers) == 0 {
		isSQL = false // character means character(1)
	}
	if t.Name.Schema == "pg_catalog" && t.Name.Catalog == "" && isSQL {
		p.write(spelled)
	} else {
		p.name(t.Name)
	}
	if t.IntervalFields != "" {
		p.write(" ", t.IntervalFields)
	}
	if len(t.Modifiers) > 0 {
		p.write("(")
		p.exprs(t.Modifiers)
		p.write(")")
	}
	if t.Name.Schema == "pg_catalog" && (t.Name.Name == "timestamptz" || t.Name.Name == "timetz") {
		p.write(" with time zone")
	}
	for _, bound := range t.ArrayBounds {
		if bound >= 0 {
			p.write("[", strconv.Itoa(bound), "]")
		} else {
			p.write("[]")
		}
	}
}

// options writes name = value, ....
func (p *printer) options(list []Option) {
	p.list(len(list), func(i int) {
		p.optionName(list[i].Name)
		if list[i].Value != nil {
			p.write(" = ")
			p.optionValue(list[i].Value)
		}
	})
}

// withOptions writes WITH (...), or nothing.
func (p *printer) withOptions(list []Option) {
	if len(list) > 0 {
		p.write(" WITH (")
		p.options(list)
		p.write(")")
	}
}

func (p *printer) optionName(name string) { p.dotted(strings.Split(name, ".")) }

func (p *printer) optionValue(e Expr) {
	if row, ok := e.(*Row); ok {
		p.write("(")
		p.exprs(row.Elems)
		p.write(")")
		return
	}
	p.expr(e)
}
