package ast

// ColumnDef is a column of a CREATE TABLE or CREATE STREAM.
type ColumnDef struct {
	Pos
	Name      string
	Type      *TypeName
	Collation *ObjectName
	// NotNull and PrimaryKey are the column's own constraints, as are the others
	// in Constraints.
	NotNull     bool
	PrimaryKey  bool
	KeyName     string // of the constraint PRIMARY KEY; "": one is made
	Constraints []Constraint
	Default     Expr      // nil where there is none
	Identity    *Identity // GENERATED ... AS IDENTITY
	// Like stands for the columns of another relation; the rest is empty then.
	Like *TableLike
}

// TableLike is LIKE name [INCLUDING|EXCLUDING what ...] in CREATE TABLE.
type TableLike struct {
	Pos
	Name    ObjectName
	Options []LikeOption
}

// LikeOption includes or excludes one kind of what a table has, or all.
type LikeOption struct {
	Exclude bool
	What    string
}

// Includes reports whether the new table gets what a table has of a kind.
func (l *TableLike) Includes(what string) bool {
	in := false
	for _, o := range l.Options {
		if o.What == what || o.What == "all" {
			in = !o.Exclude
		}
	}
	return in
}

// Identity is GENERATED ALWAYS|BY DEFAULT AS IDENTITY [(options)].
type Identity struct {
	Always  bool
	Options SequenceOptions
}

// SequenceOptions are those of CREATE and ALTER SEQUENCE and of IDENTITY; nil where not
// given.
type SequenceOptions struct {
	Type         *TypeName
	Start        *int64
	Increment    *int64
	Min, Max     *int64
	NoMin, NoMax bool
	Cycle        Choice
	Restart      bool // of ALTER: at RestartWith or, if that is nil, at the start
	RestartWith  *int64
	OwnedBy      *ObjectName // table.column in its parts, or the name none
}

// CreateSequence is CREATE SEQUENCE.
type CreateSequence struct {
	Pos
	Name        ObjectName
	IfNotExists bool
	Temporary   bool
	Options     SequenceOptions
}

// IndexKey is a column of an index: of the table, or an expression.
type IndexKey struct {
	Column    Identifier // where Expr is nil
	Expr      Expr
	Collation *ObjectName
}

// CreateIndex is CREATE [UNIQUE] INDEX name ON table (keys) [NULLS [NOT] DISTINCT] [WHERE
// condition].
type CreateIndex struct {
	Pos
	Name        string // "": one is made
	IfNotExists bool
	Unique      bool
	Table       ObjectName
	Method      string // "": btree
	Keys        []IndexKey
	NullsEqual  bool // NULLS NOT DISTINCT
	Where       Expr
}

// ConstraintKind is a kind of table constraint.
type ConstraintKind uint8

// The kinds of table constraints.
const (
	PrimaryKeyConstraint ConstraintKind = iota + 1
	UniqueConstraint
	CheckConstraint
	ForeignKeyConstraint
)

// Constraint is a table constraint.
type Constraint struct {
	Pos
	Name    string
	Kind    ConstraintKind
	Columns []Identifier
	// UsingIndex is the index that UNIQUE or PRIMARY KEY takes over, in place of Columns.
	UsingIndex string
	// NullsEqual is NULLS NOT DISTINCT of UNIQUE.
	NullsEqual bool
	Check      Expr
	// References is what a foreign key refers to. Only these can be deferred.
	References *References
	Deferrable Choice
	Deferred   Choice // INITIALLY DEFERRED
	// NotValid leaves out the rows that are there, of ALTER TABLE ADD.
	NotValid bool
}

// ReferentialAction is what becomes of referencing rows, in the words of SQL.
type ReferentialAction string

// The referential actions.
const (
	NoAction     ReferentialAction = "NO ACTION"
	Restrict     ReferentialAction = "RESTRICT"
	Cascade      ReferentialAction = "CASCADE"
	SetNull      ReferentialAction = "SET NULL"
	SetToDefault ReferentialAction = "SET DEFAULT"
)

// References is REFERENCES table [(columns)] [MATCH FULL] [ON DELETE action] [ON UPDATE
// action].
type References struct {
	Table      ObjectName
	Columns    []Identifier // none: those of the primary key
	MatchFull  bool
	OnDelete   ReferentialAction
	OnUpdate   ReferentialAction
	SetColumns []Identifier // of ON DELETE SET NULL|DEFAULT (columns); none: all
}

// Watermark is WATERMARK FOR column AS expr.
type Watermark struct {
	Pos
	Column Identifier
	Expr   Expr
}

// OnCommit is what becomes of a temporary table at the end of a transaction.
type OnCommit uint8

// The ON COMMIT clauses.
const (
	OnCommitUnset OnCommit = iota
	OnCommitPreserve
	OnCommitDelete
	OnCommitDrop
)

// CreateTable is CREATE [TEMP] TABLE, also CREATE TABLE ... AS query, SELECT INTO and
// CREATE MATERIALIZED VIEW.
type CreateTable struct {
	Pos
	Materialized bool
	Name         ObjectName
	IfNotExists  bool
	Temporary    bool
	Unlogged     bool
	Columns      []ColumnDef
	Constraints  []Constraint
	Options      []Option
	OnCommit     OnCommit
	// As is the query of CREATE TABLE AS, whose column names are in ColumnNames; Execute
	// stands in its place.
	As          *Select
	Execute     *Execute
	ColumnNames []Identifier
	WithNoData  bool
	// Source is the text of As as written.
	Source string
}

// Refresh is REFRESH MATERIALIZED VIEW [CONCURRENTLY] name [WITH NO DATA].
type Refresh struct {
	Pos
	Name         ObjectName
	Concurrently bool
	WithNoData   bool
}

// CreateStream is CREATE STREAM.
type CreateStream struct {
	Pos
	Name        ObjectName
	IfNotExists bool
	Columns     []ColumnDef
	Constraints []Constraint
	Watermark   *Watermark
	Options     []Option
}

// CreateView is CREATE [OR REPLACE] VIEW of the ordinary kind.
type CreateView struct {
	Pos
	Name      ObjectName
	OrReplace bool
	Temporary bool
	Columns   []Identifier
	Options   []Option
	Query     *Select
	// Source is the text of the query as written.
	Source string
}

// EmitKind tells when a continuous view emits.
type EmitKind uint8

// The EMIT clauses.
const (
	EmitDefault EmitKind = iota
	EmitOnWindowClose
	EmitChanges
)

// CreateContinuousView is CREATE CONTINUOUS VIEW. PipelineDB's spelling CREATE VIEW ...
// WITH (action=materialize) gives the same node, without that option.
type CreateContinuousView struct {
	Pos
	Name        ObjectName
	OrReplace   bool
	IfNotExists bool
	Columns     []Identifier
	Options     []Option
	Query       *Select
	// Source is the text of the query as written.
	Source string
	Emit   EmitKind
}

// CreateSink is CREATE SINK name FROM relation | AS query INTO kind(options) [WITH (...)].
type CreateSink struct {
	Pos
	Name        ObjectName
	IfNotExists bool
	// Exactly one of From and Query is set.
	From  *ObjectName
	Query *Select
	// Source is the text of the query as written.
	Source string
	// Kind is "kafka", "postgres", ....
	Kind    string
	Target  []Option
	Options []Option
}

// CreateSchema is CREATE SCHEMA.
type CreateSchema struct {
	Pos
	Name        string // empty: that of the owner
	IfNotExists bool
	Owner       string // of AUTHORIZATION; empty: who makes it
}

// ObjectKind is a kind of catalog object, in the words of the SQL that names it.
type ObjectKind string

// The kinds of objects.
const (
	TableObject          ObjectKind = "TABLE"
	StreamObject         ObjectKind = "STREAM"
	ViewObject           ObjectKind = "VIEW"
	ContinuousViewObject ObjectKind = "CONTINUOUS VIEW"
	SinkObject           ObjectKind = "SINK"
	SchemaObject         ObjectKind = "SCHEMA"
	DatabaseObject       ObjectKind = "DATABASE"
	ColumnObject         ObjectKind = "COLUMN"
	IndexObject          ObjectKind = "INDEX"
	SequenceObject       ObjectKind = "SEQUENCE"
	ConstraintObject     ObjectKind = "CONSTRAINT"
	MaterializedObject   ObjectKind = "MATERIALIZED VIEW"
	TypeObject           ObjectKind = "TYPE"
	DomainObject         ObjectKind = "DOMAIN"
)

// Drop is DROP kind [IF EXISTS] names [CASCADE].
type Drop struct {
	Pos
	Kind     ObjectKind
	IfExists bool
	Names    []ObjectName
	Cascade  bool
}

// AlterAction is one change of an ALTER STREAM.
type AlterAction uint8

// What ALTER TABLE, ALTER STREAM and ALTER CONTINUOUS VIEW can do.
const (
	SetOptions AlterAction = iota + 1
	ResetOptions
	PartitionOffline
	PartitionOnline
	AddColumn
	RenameTo
	DropColumn
	RenameColumn
	UpgradeView
	PromoteView
	RollbackView
	SetDefault
	DropDefault
	SetNotNull
	DropNotNull
	SetType
	AddConstraint
	DropConstraint
	ValidateConstraint
	AlterConstraint
	SetOwner
	SetSchema
	RenameConstraint
	SequenceChange
)

// AlterTable is ALTER TABLE, VIEW, MATERIALIZED VIEW, SEQUENCE or INDEX name with one or
// more changes.
type AlterTable struct {
	Pos
	Kind     ObjectKind
	Name     ObjectName
	IfExists bool
	Changes  []TableChange
}

// TableChange is ADD [COLUMN] column | DROP [COLUMN] name | ALTER [COLUMN] name … | ADD
// constraint | DROP CONSTRAINT name | RENAME [COLUMN] name TO name | RENAME CONSTRAINT
// name TO name | RENAME TO name | OWNER TO name | SET SCHEMA name | SET (options) |
// RESET (names) | options of a sequence.
type TableChange struct {
	Pos
	Action AlterAction
	// Column is what ADD COLUMN adds, IfColumn its IF NOT EXISTS or DROP's IF EXISTS.
	Column   *ColumnDef
	IfColumn bool
	// OldName is the column or constraint that is changed.
	OldName    string
	NewName    string
	Cascade    bool
	Constraint *Constraint
	Type       *TypeName // of SetType
	Expr       Expr      // of SetDefault, and USING of SetType
	Options    []Option  // of SetOptions and ResetOptions
	Sequence   SequenceOptions
}

// AlterSchema is ALTER SCHEMA name RENAME TO name | OWNER TO name.
type AlterSchema struct {
	Pos
	Name    string
	Action  AlterAction
	NewName string
}

// AlterStream is ALTER STREAM name SET (options) | RESET (names) | PARTITION n
// OFFLINE|ONLINE | ADD [COLUMN] column | RENAME TO name.
type AlterStream struct {
	Pos
	Name      ObjectName
	IfExists  bool
	Action    AlterAction
	Options   []Option
	Partition int
	Column    *ColumnDef
	NewName   string
}

// AlterContinuousView is ALTER CONTINUOUS VIEW name SET (options) | RESET (names) |
// UPGRADE AS query | PROMOTE | ROLLBACK | RENAME TO name.
type AlterContinuousView struct {
	Pos
	Name     ObjectName
	IfExists bool
	Action   AlterAction
	Options  []Option
	Query    *Select
	// Source is the text of the query as written.
	Source  string
	NewName string
}

// CommentOn is COMMENT ON kind name IS 'text'; Comment is nil for NULL. Of a column,
// Name holds relation.column in its parts; of a constraint it is the table, and
// Constraint the name.
type CommentOn struct {
	Pos
	Kind       ObjectKind
	Name       ObjectName
	Constraint string
	OfDomain   bool // the constraint is that of a domain
	Comment    *string
}

func (*CreateTable) node()          {}
func (*CreateStream) node()         {}
func (*CreateView) node()           {}
func (*CreateContinuousView) node() {}
func (*CreateSink) node()           {}
func (*CreateSchema) node()         {}
func (*CreateSequence) node()       {}
func (*CreateIndex) node()          {}
func (*Drop) node()                 {}
func (*AlterTable) node()           {}
func (*AlterSchema) node()          {}
func (*Refresh) node()              {}
func (*AlterStream) node()          {}
func (*AlterContinuousView) node()  {}
func (*CommentOn) node()            {}

func (*CreateTable) statement()          {}
func (*CreateStream) statement()         {}
func (*CreateView) statement()           {}
func (*CreateContinuousView) statement() {}
func (*CreateSink) statement()           {}
func (*CreateSchema) statement()         {}
func (*CreateSequence) statement()       {}
func (*CreateIndex) statement()          {}
func (*Drop) statement()                 {}
func (*AlterTable) statement()           {}
func (*Refresh) statement()              {}
func (*AlterSchema) statement()          {}
func (*AlterStream) statement()          {}
func (*AlterContinuousView) statement()  {}
func (*CommentOn) statement()            {}
