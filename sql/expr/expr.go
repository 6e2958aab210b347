package expr

import (
	"time"

	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// Expr is a bound scalar expression: names are resolved, types are known,
// implicit casts are explicit nodes. Expressions are immutable and safe for
// concurrent use.
type Expr interface {
	// Type is the type of every value that Eval returns.
	Type() types.Type
	// Eval computes the expression for each row of in. The result has in.Rows
	// rows; it may alias a column of in, so callers only read it. The first row
	// that fails ends the evaluation with a *RowError.
	Eval(ec *Context, in *types.Batch) (*types.Vector, error)
	// Children returns the operands, in order; nil for leaves.
	Children() []Expr
	// WithChildren returns a copy of the node with these operands, which have
	// the types of the old ones.
	WithChildren(children []Expr) Expr
	// String returns canonical text: equal text in equal settings means equal
	// meaning. EXPLAIN shows it and plan fingerprints hash it.
	String() string
	// Volatility says whether the value can change between rows, statements or never.
	Volatility() Volatility
}

// Volatility classes of PostgreSQL.
type Volatility uint8

// Volatility classes, from the most to the least predictable.
const (
	Immutable Volatility = iota // depends on its arguments only
	Stable                      // and on the statement's Context (now(), TimeZone)
	Volatile                    // may differ from row to row (random())
)

// Context is what a statement fixes for the evaluation of its expressions.
type Context struct {
	Now      time.Time      // statement (transaction) timestamp
	Location *time.Location // session TimeZone; nil means UTC
	Params   []types.Datum  // $1 is Params[0], already of the type that was bound
	User     string         // that the statement runs as
	// SessionUser is who the session is of.
	SessionUser string
	Database    string
	SearchPath  []string
	// ListedPath is SearchPath as it was set, without what comes first in any case; nil is
	// the same.
	ListedPath []string
	Temporary  string // schema of the session's temporary objects; "" where it has none
	// Setting returns a run-time setting for current_setting(); ok is false if it is unknown.
	Setting func(name string) (value string, ok bool)
	// Set changes a run-time setting for set_config(); nil refuses.
	Set func(name, value string, local bool) error
	// Wait waits for pg_sleep(), or fails when the statement is cancelled; nil refuses.
	Wait func(d time.Duration) error
	// Sessions is for functions such as pg_notify(); nil where there are none.
	Sessions Sessions
	// Sequences is for nextval() and its kin; nil where there are none.
	Sequences Sequences
	// Catalog answers lookups such as regclass casts and pg_get_viewdef.
	Catalog Catalog
	// Enums are those that the transaction has changed, as it sees them.
	Enums map[types.OID]*types.Enum
	// Seed keys the hashes of sketches; what looks a value up in one hashes it alike.
	Seed keyhash.Seed
}

// Catalog is what scalar functions ask of the catalog. A nil Catalog knows nothing.
type Catalog interface {
	// RelationOID resolves a possibly qualified name through the search path.
	RelationOID(name string, searchPath []string) (oid uint32, ok bool)
	// RelationName returns the name that ::regclass shows, qualified only
	// where the search path does not find it.
	RelationName(oid uint32, searchPath []string) (name string, ok bool)
	// ViewDefinition returns the text that pg_get_viewdef shows.
	ViewDefinition(oid uint32) (sql string, ok bool)
}

// Definer is what a Catalog may know besides relations. Without it, functions
// such as pg_get_indexdef answer NULL.
type Definer interface {
	// Define returns a text about an object. sub is a column's number, or 0.
	Define(what Definition, oid uint32, sub int) (text string, ok bool)
	// ObjectName returns what ::regproc and ::regnamespace show of a number.
	ObjectName(t types.OID, oid uint32) (name string, ok bool)
	// ObjectOID resolves such a name.
	ObjectOID(t types.OID, name string) (oid uint32, ok bool)
	// TypeName returns the name of a user's type, qualified only where the search path
	// does not find it.
	TypeName(t types.OID, searchPath []string) (name string, ok bool)
	// TypeOID resolves the name of a user's type through the search path.
	TypeOID(name string, searchPath []string) (t types.OID, ok bool)
}

// Definition is a question to a Definer.
type Definition uint8

// Questions to a Definer.
const (
	IndexDefinition      Definition = iota // CREATE INDEX, or the column that sub names
	ConstraintDefinition                   // as in CREATE TABLE
	FunctionArguments                      // with modes, names and defaults
	FunctionResult
	Description // of the object, or of its column sub
	RoleName
)

// RowError is the failure of one row. Row counts from 0 in the batch evaluated.
type RowError struct {
	Row int
	Err error
}

// Error implements error.
func (e *RowError) Error() string { return e.Err.Error() }

// Unwrap returns the cause, usually a *sqlerr.Error.
func (e *RowError) Unwrap() error { return e.Err }
