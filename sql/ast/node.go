package ast

// Pos is a 1-based character (not byte) position in the text that was parsed,
// 0 where it is unknown. Every node whose meaning can be wrong embeds one, so
// that an error can point at it.
type Pos int

// Position returns p as the number that an error carries.
func (p Pos) Position() int { return int(p) }

// Node is anything in the tree.
type Node interface{ node() }

// Statement is one SQL statement.
type Statement interface {
	Node
	statement()
}

// Expr is a scalar expression, or a form that stands where one may stand
// (a star, DEFAULT, a named argument, a grouping set).
type Expr interface {
	Node
	// Position tells where an error about this expression should point.
	Position() int
	expr()
}

// FromItem is what FROM lists: a table, a subquery, a function call or a join.
type FromItem interface {
	Node
	fromItem()
}

// QueryBody is the middle of a query: a SELECT core, VALUES, or a set operation.
type QueryBody interface {
	Node
	queryBody()
}

// ObjectName names a relation, a function, a type or another object. Catalog and
// Schema are empty where the user gave none.
type ObjectName struct {
	Pos
	Catalog string
	Schema  string
	Name    string
}

func (*ObjectName) node() {}

// Parts returns the parts that were given, outermost first.
func (n ObjectName) Parts() []string {
	switch {
	case n.Catalog != "":
		return []string{n.Catalog, n.Schema, n.Name}
	case n.Schema != "":
		return []string{n.Schema, n.Name}
	}
	return []string{n.Name}
}

// Identifier is a name with its place: a column in a list, an alias.
type Identifier struct {
	Pos
	Name string
}

// Option is one entry of an option list such as WITH (name = value, ...).
type Option struct {
	Pos
	// Name may have a dot in it.
	Name string
	// Value is nil where none was given, else a *Literal (bare words are string
	// literals), a *Row of literals, or a *Star.
	Value Expr
}

// TypeName is a type as written, brought to PostgreSQL's internal names: "int"
// and "integer" are pg_catalog.int4, "timestamp with time zone" is
// pg_catalog.timestamptz.
type TypeName struct {
	Pos
	// Name has the schema pg_catalog where SQL's own spelling was used.
	Name ObjectName
	// Modifiers are the arguments in parentheses: the 10 of varchar(10).
	Modifiers []Expr
	// IntervalFields is "", "year", "day to second", and so on.
	IntervalFields string
	// ArrayBounds has an entry for each dimension, -1 where no size is given.
	ArrayBounds []int
	// SetOf marks SETOF type.
	SetOf bool
}

func (*TypeName) node() {}

// Operator names an operator the PostgreSQL way. Schema is set only by the
// OPERATOR(schema.op) spelling.
type Operator struct {
	Schema string
	Name   string
}
