package ast

// FuncCall is a function, an aggregate or a window function.
//
// SQL's special syntaxes are calls as well, marked by SQLSyntax, in PostgreSQL's
// argument order: extract('field', x), position(string, substring),
// substring(s, from, for), overlay(s, placing, from, for), btrim/ltrim/rtrim(s, chars),
// timezone(zone, x) for AT TIME ZONE, overlaps(a, b, c, d); the keyword functions
// coalesce, nullif, greatest, least, grouping; and the values current_date,
// current_time, current_timestamp, localtime, localtimestamp, current_user,
// current_role, session_user, user, current_catalog, current_schema. Without
// SQLSyntax the same name is an ordinary function.
type FuncCall struct {
	Pos
	Name      ObjectName
	Args      []Expr
	SQLSyntax bool
	// Star is f(*).
	Star bool
	// Distinct is f(DISTINCT ...).
	Distinct bool
	// Variadic marks the last argument as VARIADIC.
	Variadic bool
	// OrderBy is the ordering inside the parentheses, or with WithinGroup that of
	// WITHIN GROUP (ORDER BY ...).
	OrderBy     []SortKey
	WithinGroup bool
	// Filter is FILTER (WHERE ...), nil where there is none.
	Filter Expr
	// Over is nil where the call is no window function call.
	Over *WindowSpec
}

// NamedArg is name => value in an argument list.
type NamedArg struct {
	Pos
	Name string
	Arg  Expr
}

func (*FuncCall) node() {}
func (*NamedArg) node() {}
func (*FuncCall) expr() {}
func (*NamedArg) expr() {}

// Direction is the direction of a sort key.
type Direction uint8

// Sort directions; the default ascends.
const (
	DefaultDirection Direction = iota
	Ascending
	Descending
)

// NullsOrder places the NULLs of a sort key.
type NullsOrder uint8

// Places for NULLs; by default last when ascending, first when descending.
const (
	DefaultNulls NullsOrder = iota
	NullsFirst
	NullsLast
)

// SortKey is one entry of ORDER BY.
type SortKey struct {
	Expr      Expr
	Direction Direction
	Nulls     NullsOrder
}

// WindowSpec is what follows OVER, or a definition in the WINDOW clause.
type WindowSpec struct {
	Pos
	// Ref is the window of OVER name; all other fields are then empty.
	Ref string
	// Base is the existing window that (name ...) starts from.
	Base        string
	PartitionBy []Expr
	OrderBy     []SortKey
	// Frame is nil for the default frame.
	Frame *Frame
}

func (*WindowSpec) node() {}

// FrameMode is the unit of a window frame.
type FrameMode uint8

// Frame units.
const (
	FrameRange FrameMode = iota + 1
	FrameRows
	FrameGroups
)

// BoundKind is an end of a window frame.
type BoundKind uint8

// The ends of a window frame.
const (
	UnboundedPreceding BoundKind = iota + 1
	OffsetPreceding
	CurrentRow
	OffsetFollowing
	UnboundedFollowing
)

// Exclusion is what EXCLUDE leaves out of a frame.
type Exclusion uint8

// Frame exclusions; EXCLUDE NO OTHERS is ExcludeNone.
const (
	ExcludeNone Exclusion = iota
	ExcludeCurrentRow
	ExcludeGroup
	ExcludeTies
)

// FrameBound is one end of a frame; Offset is set for the two Offset kinds.
type FrameBound struct {
	Kind   BoundKind
	Offset Expr
}

// Frame is a window frame; a missing end is CURRENT ROW.
type Frame struct {
	Mode       FrameMode
	Start, End FrameBound
	Exclude    Exclusion
}

func (*Frame) node() {}
