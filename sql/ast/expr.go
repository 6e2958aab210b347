package ast

// ColumnRef names a column: column, table.column or schema.table.column.
type ColumnRef struct {
	Pos
	Parts []string
}

// Name returns the column's own name.
func (c *ColumnRef) Name() string { return c.Parts[len(c.Parts)-1] }

// Star is * or qualifier.*.
type Star struct {
	Pos
	Qualifier []string
}

// LiteralKind tells what sort of constant a Literal is.
type LiteralKind uint8

// The sorts of constants. Which type an Integer or a Decimal gets is the
// binder's decision.
const (
	NullLiteral LiteralKind = iota + 1
	BoolLiteral
	IntegerLiteral
	DecimalLiteral
	StringLiteral
	BitLiteral
	HexLiteral
)

// Literal is a constant as written. Text is "" for NULL, "true" or "false" for a
// boolean, the digits for a number (underscores removed), else the decoded string.
type Literal struct {
	Pos
	Kind LiteralKind
	Text string
}

// Param is $1, $2, ...
type Param struct {
	Pos
	Number int
}

// Unary is a prefix operator. A minus in front of a number stays an operator.
type Unary struct {
	Pos
	Op  Operator
	Arg Expr
}

// Binary is an infix operator: arithmetic, comparison, ||, ->, ~ and all others.
// Pos is the operator's place.
type Binary struct {
	Pos
	Op          Operator
	Left, Right Expr
}

// LogicalOp is AND or OR.
type LogicalOp uint8

// The two connectives.
const (
	And LogicalOp = iota + 1
	Or
)

// Logical is a chain of AND or of OR with two or more arguments.
type Logical struct {
	Pos
	Op   LogicalOp
	Args []Expr
}

// Not is NOT arg.
type Not struct {
	Pos
	Arg Expr
}

// Truth is what IS asks for.
type Truth uint8

// The questions that IS [NOT] can ask.
const (
	IsNull Truth = iota + 1
	IsTrue
	IsFalse
	IsUnknown
)

// IsTest is arg IS [NOT] NULL|TRUE|FALSE|UNKNOWN.
type IsTest struct {
	Pos
	Arg  Expr
	Test Truth
	Not  bool
}

// IsDistinct is left IS [NOT] DISTINCT FROM right.
type IsDistinct struct {
	Pos
	Left, Right Expr
	Not         bool
}

// Between is arg [NOT] BETWEEN [SYMMETRIC] low AND high.
type Between struct {
	Pos
	Arg, Low, High Expr
	Not, Symmetric bool
}

// In is arg [NOT] IN (list) or arg [NOT] IN (query); exactly one of List and
// Query is set.
type In struct {
	Pos
	Arg   Expr
	List  []Expr
	Query *Select
	Not   bool
}

// LikeKind is the pattern language.
type LikeKind uint8

// The pattern languages.
const (
	Like LikeKind = iota + 1
	ILike
	SimilarTo
)

// PatternMatch is arg [NOT] LIKE|ILIKE|SIMILAR TO pattern [ESCAPE escape].
type PatternMatch struct {
	Pos
	Kind                 LikeKind
	Arg, Pattern, Escape Expr
	Not                  bool
}

// Quantified is left op ANY|ALL (array) or (query); exactly one of Array and
// Query is set. LIKE ANY has the operator ~~, NOT ILIKE ANY has !~~*, and so on.
type Quantified struct {
	Pos
	Op    Operator
	All   bool
	Left  Expr
	Array Expr
	Query *Select
}

// When is one arm of a CASE.
type When struct {
	Cond, Result Expr
}

// Case is CASE [operand] WHEN ... END. Operand and Else may be nil.
type Case struct {
	Pos
	Operand Expr
	Whens   []When
	Else    Expr
}

// Cast is expr::type, CAST(expr AS type), or a typed literal such as DATE '...',
// INTERVAL '...', whose Arg is then a string Literal.
type Cast struct {
	Pos
	Arg  Expr
	Type *TypeName
}

// Collate is expr COLLATE name.
type Collate struct {
	Pos
	Arg       Expr
	Collation ObjectName
}

// Array is ARRAY[...]. Inner brackets are Arrays too.
type Array struct {
	Pos
	Elems []Expr
}

// Subscript is arg[index], or with Slice arg[lower:upper] where both may be nil.
type Subscript struct {
	Pos
	Arg          Expr
	Index        Expr
	Lower, Upper Expr
	Slice        bool
}

// FieldSelect is (arg).field, or (arg).* with Field "*" and Star set.
type FieldSelect struct {
	Pos
	Arg   Expr
	Field string
	Star  bool
}

// Row is ROW(...), or (a, b) where Explicit is false.
type Row struct {
	Pos
	Elems    []Expr
	Explicit bool
}

// SubqueryKind tells how a subquery yields a value.
type SubqueryKind uint8

// The kinds of subqueries.
const (
	ScalarSubquery SubqueryKind = iota + 1
	ExistsSubquery
	ArraySubquery
)

// Subquery is (query), EXISTS (query) or ARRAY(query).
type Subquery struct {
	Pos
	Kind  SubqueryKind
	Query *Select
}

// Default is DEFAULT in VALUES or SET.
type Default struct{ Pos }

// GroupingKind is a form of grouping set.
type GroupingKind uint8

// The forms of grouping sets.
const (
	EmptyGroupingSet GroupingKind = iota + 1
	GroupingSets
	Rollup
	Cube
)

// GroupingSet is (), GROUPING SETS (...), ROLLUP (...) or CUBE (...). It appears
// only in GROUP BY; a plain (a, b) there is a Row.
type GroupingSet struct {
	Pos
	Kind  GroupingKind
	Items []Expr
}

func (*ColumnRef) node()    {}
func (*Star) node()         {}
func (*Literal) node()      {}
func (*Param) node()        {}
func (*Unary) node()        {}
func (*Binary) node()       {}
func (*Logical) node()      {}
func (*Not) node()          {}
func (*IsTest) node()       {}
func (*IsDistinct) node()   {}
func (*Between) node()      {}
func (*In) node()           {}
func (*PatternMatch) node() {}
func (*Quantified) node()   {}
func (*Case) node()         {}
func (*Cast) node()         {}
func (*Collate) node()      {}
func (*Array) node()        {}
func (*Subscript) node()    {}
func (*FieldSelect) node()  {}
func (*Row) node()          {}
func (*Subquery) node()     {}
func (*Default) node()      {}
func (*GroupingSet) node()  {}

func (*ColumnRef) expr()    {}
func (*Star) expr()         {}
func (*Literal) expr()      {}
func (*Param) expr()        {}
func (*Unary) expr()        {}
func (*Binary) expr()       {}
func (*Logical) expr()      {}
func (*Not) expr()          {}
func (*IsTest) expr()       {}
func (*IsDistinct) expr()   {}
func (*Between) expr()      {}
func (*In) expr()           {}
func (*PatternMatch) expr() {}
func (*Quantified) expr()   {}
func (*Case) expr()         {}
func (*Cast) expr()         {}
func (*Collate) expr()      {}
func (*Array) expr()        {}
func (*Subscript) expr()    {}
func (*FieldSelect) expr()  {}
func (*Row) expr()          {}
func (*Subquery) expr()     {}
func (*Default) expr()      {}
func (*GroupingSet) expr()  {}
