package ast

// Insert is [WITH] INSERT INTO table [AS alias] [(columns)] source [ON CONFLICT] [RETURNING].
type Insert struct {
	Pos
	With    *With
	Table   ObjectName
	Alias   string
	Columns []Identifier
	// Overriding is "", SYSTEM or USER.
	Overriding string
	// Source is nil for DEFAULT VALUES.
	Source     *Select
	OnConflict *OnConflict
	Returning  []Target
}

// OnConflict is ON CONFLICT [target] DO NOTHING | DO UPDATE SET ....
type OnConflict struct {
	Pos
	// Target is the columns of an index, Constraint that of ON CONSTRAINT name.
	Target     []IndexKey
	Constraint string
	// TargetWhere is the predicate of a partial index.
	TargetWhere Expr
	// Set is empty for DO NOTHING.
	Set   []Assignment
	Where Expr
}

// Assignment is column = value, or (a, b) = row where Columns has several names
// or Multi is set.
type Assignment struct {
	Pos
	Columns []Identifier
	// Field is that of column.field = value, which no type has; "" for column = value.
	Field string
	Multi bool
	Value Expr
}

// Update is [WITH] UPDATE table SET ... [FROM] [WHERE] [RETURNING].
type Update struct {
	Pos
	With      *With
	Table     TableRef
	Set       []Assignment
	From      []FromItem
	Where     Expr
	Returning []Target
}

// Delete is [WITH] DELETE FROM table [USING] [WHERE] [RETURNING].
type Delete struct {
	Pos
	With      *With
	Table     TableRef
	Using     []FromItem
	Where     Expr
	Returning []Target
}

// Merge is [WITH] MERGE INTO table USING source ON condition WHEN ....
type Merge struct {
	Pos
	With   *With
	Table  TableRef
	Source FromItem
	On     Expr
	When   []MergeWhen
}

// MergeAction is what a WHEN of MERGE does with its rows.
type MergeAction uint8

// What MERGE does.
const (
	MergeNothing MergeAction = iota
	MergeUpdate
	MergeDelete
	MergeInsert
)

// MergeWhen is WHEN [NOT] MATCHED [AND condition] THEN action.
type MergeWhen struct {
	Pos
	Matched bool
	Cond    Expr // nil: every row
	Action  MergeAction
	Set     []Assignment // of MergeUpdate
	// Insert has the columns and the values of MergeInsert.
	Insert *Insert
}

// Truncate is TRUNCATE [TABLE] names.
type Truncate struct {
	Pos
	Names   []ObjectName
	Restart bool
	Cascade bool
}

// Copy is COPY table [(columns)] FROM STDIN, COPY table TO STDOUT or COPY (query) TO
// STDOUT. Old-style options are brought to the new names: "format", "header",
// "delimiter", "null", "quote", "escape", "force_null", "force_not_null",
// "force_quote", "encoding", "on_error", ....
type Copy struct {
	Pos
	// Table is unset where Query is.
	Table   ObjectName
	Columns []Identifier
	Query   Statement
	// From is true for COPY FROM.
	From bool
	// File is the server-side file named instead of STDIN or STDOUT, "" for those.
	File    string
	Options []Option
	Where   Expr
}

func (*Insert) node()   {}
func (*Update) node()   {}
func (*Delete) node()   {}
func (*Merge) node()    {}
func (*Truncate) node() {}
func (*Copy) node()     {}

func (*Insert) statement()   {}
func (*Update) statement()   {}
func (*Delete) statement()   {}
func (*Merge) statement()    {}
func (*Truncate) statement() {}
func (*Copy) statement()     {}
