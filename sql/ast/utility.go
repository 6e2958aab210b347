package ast

// Explain is EXPLAIN [ANALYZE] [VERBOSE] statement or EXPLAIN (options) statement. Other
// options than the three named here are in Options.
type Explain struct {
	Pos
	Analyze bool
	Verbose bool
	// Format is "" for the default, else in lower case: text, json, yaml, xml.
	Format  string
	Options []Option
	Stmt    Statement
}

// Prepare is PREPARE name [(types)] AS statement.
type Prepare struct {
	Pos
	Name  string
	Types []*TypeName
	Stmt  Statement
	// Source is the text of the statement as written.
	Source string
}

// Execute is EXECUTE name [(args)].
type Execute struct {
	Pos
	Name string
	Args []Expr
}

// Deallocate is DEALLOCATE [PREPARE] name; Name is "" for ALL.
type Deallocate struct {
	Pos
	Name string
}

// DeclareCursor is DECLARE name CURSOR FOR query.
type DeclareCursor struct {
	Pos
	Name        string
	Binary      bool
	Insensitive bool
	// Scroll is Yes for SCROLL, No for NO SCROLL.
	Scroll Choice
	Hold   bool
	Query  *Select
}

// FetchDirection is where a FETCH or MOVE goes.
type FetchDirection uint8

// The directions of FETCH and MOVE.
const (
	FetchForward FetchDirection = iota + 1
	FetchBackward
	FetchAbsolute
	FetchRelative
)

// FetchAll is the Count of FETCH ALL.
const FetchAll = 1<<63 - 1

// Fetch is FETCH or MOVE. NEXT is FORWARD 1, PRIOR is BACKWARD 1, FIRST is ABSOLUTE 1, LAST
// is ABSOLUTE -1, ALL is FORWARD FetchAll.
type Fetch struct {
	Pos
	Move      bool
	Direction FetchDirection
	Count     int64
	Cursor    string
}

// CloseCursor is CLOSE name; Name is "" for ALL.
type CloseCursor struct {
	Pos
	Name string
}

// Subscribe is SUBSCRIBE TO relation [WITH (...)] or SUBSCRIBE TO (query).
type Subscribe struct {
	Pos
	// Exactly one of From and Query is set.
	From    *ObjectName
	Query   *Select
	Options []Option
}

// Vacuum is VACUUM or ANALYZE: accepted for clients that send them.
type Vacuum struct {
	Pos
	// AnalyzeOnly is ANALYZE without VACUUM.
	AnalyzeOnly bool
	Options     []Option
	Tables      []VacuumTarget
}

// VacuumTarget is a table, and the columns to analyze.
type VacuumTarget struct {
	Name    ObjectName
	Columns []Identifier
}

// Reindex is REINDEX: indexes are never out of date, so it only looks at who may.
type Reindex struct {
	Pos
	Kind    ObjectKind // INDEX, TABLE, SCHEMA, DATABASE
	System  bool       // SYSTEM, of a DATABASE
	Options []Option
	Name    ObjectName
}

func (*Explain) node()       {}
func (*Prepare) node()       {}
func (*Execute) node()       {}
func (*Deallocate) node()    {}
func (*DeclareCursor) node() {}
func (*Fetch) node()         {}
func (*CloseCursor) node()   {}
func (*Subscribe) node()     {}
func (*Vacuum) node()        {}
func (*Reindex) node()       {}

func (*Explain) statement()       {}
func (*Prepare) statement()       {}
func (*Execute) statement()       {}
func (*Deallocate) statement()    {}
func (*DeclareCursor) statement() {}
func (*Fetch) statement()         {}
func (*CloseCursor) statement()   {}
func (*Subscribe) statement()     {}
func (*Vacuum) statement()        {}
func (*Reindex) statement()       {}
