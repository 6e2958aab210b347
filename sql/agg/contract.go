package agg

import (
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// Function is one SQL aggregate name: its contract for documentation, and the
// rule that binds a call of it.
type Function struct {
	Descriptor
	// Bind checks the argument types and constant parameters of a call and
	// returns how to run it. args are the types of all arguments in order; consts
	// holds, for each argument, its value if it is a constant (after implicit
	// casts the binder applies Bound.ArgTypes to the non-constant ones).
	// Errors are *sqlerr.Error: 42883 for types that do not fit, 22023 for a
	// parameter outside its limits.
	Bind func(args []types.Type, consts []*types.Datum) (Bound, error)
	// Weighted binds a call over rows that each count as often as a weight says, where
	// negative weights take away what other rows brought. args and consts end with the
	// weight, an int8. strict says that in the end no more is taken away than was
	// brought. nil: the states cannot do that.
	Weighted func(args []types.Type, consts []*types.Datum, strict bool) (Bound, error)
	// Weight is the number, from 1, of an argument that is a weight itself, which is
	// then multiplied by that of the rows; 0: there is none.
	Weight int
}

// Takes reports whether the states take rows of a stream model.
func (f *Function) Takes(m StreamModel) bool {
	switch m {
	case Turnstile:
		return f.StreamModel == Turnstile
	case StrictTurnstile:
		return f.StreamModel != CashRegister
	}
	return true
}

// Bound is a bound aggregate call: which state it keeps and what it makes of it.
type Bound struct {
	// Inputs are the indexes of the call's arguments that are read per row, the
	// rest being parameters.
	Inputs []int
	// ArgTypes are the types that the inputs must be cast to.
	ArgTypes []types.Type
	// JSONKey says that the first input is the key of a JSON object. An input whose
	// type is json or jsonb is made JSON of any type.
	JSONKey bool
	State   StateSpec
	Final   Finaliser
	// Shadow computes from the same inputs what an approximate aggregate estimates;
	// nil where there is no such thing.
	Shadow *Shadow
}

// Shadow is the exact twin of an estimate: its state keeps the values themselves, and
// its finaliser, which is not approximate, makes a value of the same type of them.
type Shadow struct {
	State StateSpec
	Final Finaliser
}

// StateSpec names a state and makes arrays of it.
type StateSpec interface {
	// Identity is canonical text of function family, input types, parameters,
	// hash family and codec version: "kll(float8) k=200 v1". States merge only
	// when identities and seeds are equal.
	Identity() string
	// New returns an array of states for no groups yet.
	New(cfg Config) States
	// BytesPerGroup estimates the memory of one group's state after n rows.
	BytesPerGroup(n int64) int64
}

// Config is what the owner of the states decides.
type Config struct {
	Seed keyhash.Seed // keyed hashing of values, the tenant's
}

// States is an array of states, one per group, of one StateSpec. It is used by
// one goroutine at a time. Groups are dense numbers from 0.
type States interface {
	// Grow makes groups [0, n) exist.
	Grow(n int)
	// Update folds rows into groups: row rows[i] of the inputs goes to group
	// groups[i]. len(rows) == len(groups). inputs may be read during the call only.
	// An error is a *RowError-like failure of a value (overflow): Row names the
	// index into rows; rows before it are folded, it and those after are not.
	Update(groups []uint32, rows []int32, inputs []*types.Vector) error
	// MergeFrom merges group src of other, which has the same spec, into group dst.
	// It changes nothing of other, which several goroutines may read so at a time.
	MergeFrom(dst uint32, other States, src uint32) error
	// Append appends the portable, versioned form of a group's state. It is
	// canonical: equal states give equal bytes.
	Append(dst []byte, group uint32) []byte
	// Merge merges a portable state into a group. It refuses bytes that are not
	// a state of this spec with an error that wraps storage's ErrCorrupt's
	// meaning as *sqlerr.Error XX001, and leaves the group as it was.
	Merge(group uint32, state []byte) error
	// MemoryBytes returns the bytes held.
	MemoryBytes() int64
}

// Finaliser turns states into values.
type Finaliser interface {
	// Type is the type of the value.
	Type() types.Type
	// Approximate reports whether the value has bounds and an error.
	Approximate() bool
	// Kind says what the error is.
	Kind() ErrorKind
	// Finalise appends the value of each group in [0, n) to out. For approximate
	// aggregates bounds is not nil and gets one row per group. The states go on as
	// if it had not been called.
	Finalise(states States, n int, confidence float64, out *types.Vector, bounds *Bounds) error
	// String is canonical text for EXPLAIN: "quantile 0.99".
	String() string
}

// Bounds are the declared limits of approximate values.
type Bounds struct {
	Lo, Hi *types.Vector // of the value's type, or NULL where it has no order
	Error  *types.Vector // float8: the declared error in the family's unit; 0 is exact, NULL unknown
}

// ErrorKind says what kind of promise an error bound is.
type ErrorKind string

// Error kinds, from the strongest promise to none.
const (
	Exact         ErrorKind = "exact"
	WorstCase     ErrorKind = "worst_case"
	Probabilistic ErrorKind = "probabilistic"
	Asymptotic    ErrorKind = "asymptotic"
	Heuristic     ErrorKind = "heuristic"
	NoBound       ErrorKind = "none"
)

// UpdateError reports the row at which Update stopped.
type UpdateError struct {
	Index int // into rows
	Err   error
}

// Error implements error.
func (e *UpdateError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UpdateError) Unwrap() error { return e.Err }

// Call is one aggregate of a query: the function, its bound form and what to feed it.
// Expressions are the caller's affair; the call reads columns by number.
type Call struct {
	Name   string
	Bound  Bound
	Inputs []int // column of the input batch for each of Bound.Inputs
	Filter int   // column of a boolean that admits rows, or -1
}
