package catalog

import (
	"cmp"
	"strconv"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
)

// Index is an index of a table. Those that are not unique say what a user has in
// mind; nothing reads them.
type Index struct {
	ID         id.Relation // of the index, in the numbers of relations; of a primary key the table's
	Name       string
	Columns    []int // of the table; IndexColumnExpr stands for the next of Exprs
	Unique     bool
	Constraint bool // made by UNIQUE or PRIMARY KEY, not by CREATE INDEX
	Primary    bool
	Exprs      []IndexExpr `json:",omitempty"`
	Where      string      `json:",omitempty"` // SQL; the index has the rows that meet it
	// NullsEqual says that a NULL is like another: NULLS NOT DISTINCT.
	NullsEqual bool `json:",omitempty"`
}

// IndexColumnExpr stands in Index.Columns for an expression.
const IndexColumnExpr = -1

// IndexExpr is an expression whose values an index has.
type IndexExpr struct {
	SQL  string
	Name string // of its column in pg_attribute
	Call bool   // of a function, which stands without parentheses
	// Operator says that PostgreSQL's text of the expression has parentheses of its own.
	Operator bool
	Type     types.Type
}

// Computed reports whether it takes expressions to tell what an index has of a row.
func (x *Index) Computed() bool { return len(x.Exprs) > 0 || x.Where != "" }

// Expr returns the expression that stands in a place of Columns.
func (x *Index) Expr(place int) *IndexExpr {
	n := 0
	for _, c := range x.Columns[:place] {
		if c == IndexColumnExpr {
			n++
		}
	}
	return &x.Exprs[n]
}

// Indexes returns the indexes of a table, that of the primary key first.
func (r *Relation) Indexes() []Index {
	if r.Table == nil {
		return nil
	}
	var out []Index
	if len(r.Table.PrimaryKey) > 0 {
		out = append(out, Index{ID: r.ID, Name: cmp.Or(r.Table.PrimaryKeyName, r.Name+"_pkey"), Columns: r.Table.PrimaryKey, Unique: true, Constraint: true, Primary: true})
	}
	return append(out, r.Table.Indexes...)
}

// Column returns a column of the index as pg_attribute has it: that of the table, or one
// for an expression.
func (x *Index) Column(table *Relation, place int) types.Column {
	if c := x.Columns[place]; c != IndexColumnExpr {
		return table.Columns[c]
	}
	e := x.Expr(place)
	return types.Column{Name: e.Name, Type: e.Type}
}

// FreeName returns a name for another column of the index.
func (x *Index) FreeName(table *Relation, base string) string {
	taken := func(name string) bool {
		for place := range x.Columns {
			if x.Column(table, place).Name == name {
				return true
			}
		}
		return false
	}
	name := base
	for n := 1; taken(name); n++ {
		name = base + strconv.Itoa(n)
	}
	return name
}

// ColumnText returns a column of an index as messages and definitions name it.
func (x *Index) ColumnText(table *Relation, place int) string {
	if c := x.Columns[place]; c != IndexColumnExpr {
		return table.Columns[c].Name
	}
	return x.Expr(place).Text()
}

// Text returns the expression as it stands in a definition: in parentheses, unless it is
// the call of a function.
func (e *IndexExpr) Text() string {
	if e.Call {
		return e.SQL
	}
	return "(" + e.SQL + ")"
}
