package expr

import "github.com/tallydb/tallydb/sql/types"

// This file lists what the binder calls. Every constructor checks types, adds
// the implicit casts and reports PostgreSQL's errors as *sqlerr.Error.

// FunctionInfo describes one overload for pg_proc.
type FunctionInfo struct {
	Name        string
	Args        []types.Type // pseudo-types by OID: types.AnyElement, types.AnyArray, types.Any
	Result      types.Type
	Variadic    bool // the last argument repeats
	Volatility  Volatility
	Strict      bool // NULL in, NULL out
	Description string
}

// CastContext says who asked for a cast.
type CastContext uint8

// Cast contexts, from the least to the most willing.
const (
	Implicit CastContext = iota
	Assignment
	Explicit
)

// When is one arm of a CASE.
type When struct{ Cond, Result Expr }

// Option adjusts NewFunction.
type Option func(*options)

type options struct{ extraNames []string }

// WithNames adds names (aggregates, window functions) that a hint may suggest.
func WithNames(names []string) Option { return func(o *options) { o.extraNames = names } }

// Column reads a column of the input batch.
type Column struct {
	Index int
	Typ   types.Type
	Name  string
}

// Const is a literal. A string literal that has no type yet is of type unknown.
type Const struct{ Datum types.Datum }

// Param is $N. A Param of type unknown takes the type that it is cast to, so
// the binder learns parameter types by walking the bound expression.
type Param struct {
	N   int // 1-based
	Typ types.Type
}

// Functions lists every overload.
func Functions() []FunctionInfo { return nil }

// NearestName returns the candidate that is a likely misspelling's target, or "".
func NearestName(name string, candidates []string) string { return "" }

// NewFunction resolves a call by PostgreSQL's overload rules. name is folded to
// lower case already and may be qualified with pg_catalog.
func NewFunction(name string, args []Expr, opts ...Option) (Expr, error) { return nil, nil }

// HasFunction reports whether any overload has this name.
func HasFunction(name string) bool { return false }

// NewOperator resolves an operator; left is nil for a prefix operator.
func NewOperator(op string, left, right Expr) (Expr, error) { return nil, nil }

// NewAnd and NewOr take any number of operands, which must be boolean.
func NewAnd(args ...Expr) (Expr, error) { return nil, nil }

// NewOr is the disjunction.
func NewOr(args ...Expr) (Expr, error) { return nil, nil }

// NewNot is the negation.
func NewNot(x Expr) (Expr, error) { return nil, nil }

// NewIsNull is x IS [NOT] NULL.
func NewIsNull(x Expr, not bool) (Expr, error) { return nil, nil }

// NewIsDistinct is a IS [NOT] DISTINCT FROM b.
func NewIsDistinct(a, b Expr, not bool) (Expr, error) { return nil, nil }

// BoolTestKind is the right side of IS TRUE and its kin.
type BoolTestKind uint8

// Boolean tests.
const (
	IsTrue BoolTestKind = iota
	IsFalse
	IsUnknown
)

// NewBoolTest is x IS [NOT] TRUE|FALSE|UNKNOWN.
func NewBoolTest(x Expr, kind BoolTestKind, not bool) (Expr, error) { return nil, nil }

// NewCase builds CASE; operand is nil in the searched form, otherwise it is
// compared with each Cond; otherwise may be nil.
func NewCase(operand Expr, whens []When, otherwise Expr) (Expr, error) { return nil, nil }

// NewCoalesce is COALESCE.
func NewCoalesce(args ...Expr) (Expr, error) { return nil, nil }

// NewNullIf is NULLIF.
func NewNullIf(a, b Expr) (Expr, error) { return nil, nil }

// NewGreatest is GREATEST.
func NewGreatest(args ...Expr) (Expr, error) { return nil, nil }

// NewLeast is LEAST.
func NewLeast(args ...Expr) (Expr, error) { return nil, nil }

// NewIn is x [NOT] IN (list).
func NewIn(x Expr, list []Expr, not bool) (Expr, error) { return nil, nil }

// NewBetween is x [NOT] BETWEEN [SYMMETRIC] lo AND hi.
func NewBetween(x, lo, hi Expr, symmetric, not bool) (Expr, error) { return nil, nil }

// NewLike is x [NOT] LIKE|ILIKE pattern [ESCAPE escape]; escape may be nil.
func NewLike(x, pattern, escape Expr, insensitive, not bool) (Expr, error) { return nil, nil }

// NewSimilar is x [NOT] SIMILAR TO pattern [ESCAPE escape]; escape may be nil.
func NewSimilar(x, pattern, escape Expr, not bool) (Expr, error) { return nil, nil }

// NewRegex is x ~ pattern and its kin.
func NewRegex(x, pattern Expr, insensitive, not bool) (Expr, error) { return nil, nil }

// NewAnyAll is left op ANY|ALL (array).
func NewAnyAll(op string, left, array Expr, all bool) (Expr, error) { return nil, nil }

// NewArray is ARRAY[...]; an empty list needs NewArrayOf.
func NewArray(elems []Expr) (Expr, error) { return nil, nil }

// NewArrayOf is ARRAY[...]::elem[].
func NewArrayOf(elem types.Type, elems []Expr) (Expr, error) { return nil, nil }

// NewSubscript is array[i][j]….
func NewSubscript(array Expr, index []Expr) (Expr, error) { return nil, nil }

// NewSlice is array[lo:hi]; either bound may be nil.
func NewSlice(array, lo, hi Expr) (Expr, error) { return nil, nil }

// NewRow is ROW(...), of type record.
func NewRow(fields []Expr) (Expr, error) { return nil, nil }

// NewRowCompare is (a, b) op (c, d) for = <> < <= > >=.
func NewRowCompare(op string, left, right []Expr) (Expr, error) { return nil, nil }

// NewExtract is EXTRACT(field FROM source).
func NewExtract(field string, source Expr) (Expr, error) { return nil, nil }

// NewAtTimeZone is x AT TIME ZONE zone.
func NewAtTimeZone(x, zone Expr) (Expr, error) { return nil, nil }

// Cast converts e, or fails with 42846 (no such cast) or 42804 (not in this
// context). A literal of type unknown is parsed now.
func Cast(e Expr, to types.Type, ctx CastContext) (Expr, error) { return nil, nil }

// CanCast reports whether Cast would find a conversion.
func CanCast(from, to types.Type, ctx CastContext) bool { return false }

// CommonType resolves the type of UNION, CASE, VALUES, COALESCE…; what names the
// construct in the error: "CASE types integer and text cannot be matched".
func CommonType(what string, exprs ...Expr) (types.Type, error) { return types.Type{}, nil }

// ResolveUnknown makes an expression of type unknown a text.
func ResolveUnknown(e Expr) (Expr, error) { return nil, nil }

// Fold evaluates immutable subexpressions of constants. One that fails is left
// as it is, to fail when and if a row reaches it.
func Fold(e Expr, ec *Context) Expr { return nil }

// Walk calls fn for e and, while fn returns true, for what is below it.
func Walk(e Expr, fn func(Expr) bool) {}

// Rewrite rebuilds e bottom up; fn returns the replacement of a node.
func Rewrite(e Expr, fn func(Expr) Expr) Expr { return nil }

// Equal reports whether two expressions are the same.
func Equal(a, b Expr) bool { return false }

// FilterSel returns the rows of in for which e is true, appended to sel[:0].
func FilterSel(ec *Context, e Expr, in *types.Batch, sel []int32) ([]int32, error) { return nil, nil }

// EvalConst evaluates an expression without columns.
func EvalConst(ec *Context, e Expr) (types.Datum, error) { return types.Datum{}, nil }
