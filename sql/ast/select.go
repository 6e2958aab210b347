package ast

// Select is a whole query: [WITH] body [ORDER BY] [LIMIT] [OFFSET] [FOR ...].
type Select struct {
	Pos
	// With is nil where there is none.
	With    *With
	Body    QueryBody
	OrderBy []SortKey
	// Limit is nil for no limit (also for LIMIT ALL).
	Limit  Expr
	Offset Expr
	// WithTies is FETCH FIRST ... WITH TIES.
	WithTies bool
	// Locking is kept so that a statement can be shown; it has no effect.
	Locking []Locking
}

// With is WITH [RECURSIVE] ctes.
type With struct {
	Pos
	Recursive bool
	CTEs      []CTE
}

// Materialization is the MATERIALIZED hint of a CTE.
type Materialization uint8

// Materialization hints.
const (
	DefaultMaterialized Materialization = iota
	Materialized
	NotMaterialized
)

// CTE is one common table expression.
type CTE struct {
	Pos
	Name         string
	Columns      []Identifier
	Materialized Materialization
	Query        *Select
	// Modify is the INSERT, UPDATE, DELETE or MERGE in the place of Query.
	Modify Statement
}

// SelectCore is SELECT ... FROM ... WHERE ... GROUP BY ... HAVING ... WINDOW. TABLE t is
// SELECT * FROM t.
type SelectCore struct {
	Pos
	Distinct bool
	// DistinctOn is set for DISTINCT ON (...), with Distinct true.
	DistinctOn []Expr
	// Targets may be empty: PostgreSQL allows rows without columns.
	Targets []Target
	From    []FromItem
	Where   Expr
	GroupBy []Expr
	// GroupDistinct is GROUP BY DISTINCT.
	GroupDistinct bool
	Having        Expr
	Windows       []NamedWindow
}

// Target is one entry of a SELECT or RETURNING list. Alias is "" where none was given.
type Target struct {
	Expr  Expr
	Alias string
}

// NamedWindow is one entry of the WINDOW clause.
type NamedWindow struct {
	Pos
	Name string
	Spec *WindowSpec
}

// Values is VALUES (...), (...). As the source of an INSERT its rows may hold *Default.
type Values struct {
	Pos
	Rows [][]Expr
}

// SetOpKind is a set operation.
type SetOpKind uint8

// The set operations.
const (
	Union SetOpKind = iota + 1
	Intersect
	Except
)

// SetOp is left UNION|INTERSECT|EXCEPT [ALL] right.
type SetOp struct {
	Pos
	Op          SetOpKind
	All         bool
	Left, Right *Select
}

// LockStrength is the strength of a locking clause.
type LockStrength uint8

// Lock strengths.
const (
	ForKeyShare LockStrength = iota + 1
	ForShare
	ForNoKeyUpdate
	ForUpdate
)

// String returns the strength in the words of SQL.
func (l LockStrength) String() string {
	return [...]string{"", "FOR KEY SHARE", "FOR SHARE", "FOR NO KEY UPDATE", "FOR UPDATE"}[l]
}

// LockWait tells what to do about locked rows.
type LockWait uint8

// Lock wait policies.
const (
	LockBlock LockWait = iota
	LockNoWait
	LockSkip
)

// Locking is FOR UPDATE and its relatives.
type Locking struct {
	Strength LockStrength
	Of       []ObjectName
	Wait     LockWait
}

// Alias renames a FROM item and its columns.
type Alias struct {
	Pos
	// Name may be empty for a function's column definition list.
	Name    string
	Columns []ColumnAlias
}

// ColumnAlias is a column's new name; Type is set only in a column definition list.
type ColumnAlias struct {
	Name string
	Type *TypeName
}

// TableRef is a table, view or stream in FROM.
type TableRef struct {
	Pos
	Name ObjectName
	// Only is FROM ONLY t.
	Only  bool
	Alias *Alias
}

// SubqueryRef is (query) AS alias.
type SubqueryRef struct {
	Pos
	Lateral bool
	Query   *Select
	Alias   *Alias
}

// FuncRef is a function in FROM: generate_series(...), or one of the windowing
// table functions TUMBLE, HOP and SESSION, whose first argument is a ColumnRef
// that names the stream.
type FuncRef struct {
	Pos
	Lateral    bool
	Func       *FuncCall
	Ordinality bool
	Alias      *Alias
}

// JoinKind is a kind of join.
type JoinKind uint8

// The kinds of joins.
const (
	CrossJoin JoinKind = iota + 1
	InnerJoin
	LeftJoin
	RightJoin
	FullJoin
)

// Join is left kind JOIN right. Of On, Using and Natural at most one is set, none
// for a cross join.
type Join struct {
	Pos
	Kind        JoinKind
	Natural     bool
	Left, Right FromItem
	On          Expr
	Using       []Identifier
	// Alias is that of a parenthesised join, nil where there is none.
	Alias *Alias
}

func (*Select) node()      {}
func (*With) node()        {}
func (*SelectCore) node()  {}
func (*Values) node()      {}
func (*SetOp) node()       {}
func (*TableRef) node()    {}
func (*SubqueryRef) node() {}
func (*FuncRef) node()     {}
func (*Join) node()        {}

func (*Select) statement() {}

func (*SelectCore) queryBody() {}
func (*Values) queryBody()     {}
func (*SetOp) queryBody()      {}

func (*TableRef) fromItem()    {}
func (*SubqueryRef) fromItem() {}
func (*FuncRef) fromItem()     {}
func (*Join) fromItem()        {}
