// Package sqlerr is the vocabulary of errors that a client sees: a SQLSTATE, a
// sentence, and where it helps a detail, a hint and a position in the statement.
//
// Every error that reaches a client is one of these; an error of another kind
// that reaches the wire is a defect and is reported as XX000.
package sqlerr

import (
	"errors"
	"fmt"
	"syscall"
)

// Code is a SQLSTATE. Codes are append-only: once released, one keeps its meaning.
type Code string

// SQLSTATEs of PostgreSQL 15 that TallyDB raises.
const (
	SuccessfulCompletion         Code = "00000"
	SequenceLimitExceeded        Code = "2200H"
	SerializationFailure         Code = "40001"
	GeneratedAlways              Code = "428C9"
	Warning                      Code = "01000"
	PrivilegeNotRevoked          Code = "01006"
	PrivilegeNotGranted          Code = "01007"
	ProtocolViolation            Code = "08P01"
	FeatureNotSupported          Code = "0A000"
	InvalidGrantOperation        Code = "0LP01"
	CardinalityViolation         Code = "21000"
	StringDataRightTruncation    Code = "22001"
	NumericValueOutOfRange       Code = "22003"
	NullValueNotAllowed          Code = "22004"
	InvalidDatetimeFormat        Code = "22007"
	DatetimeFieldOverflow        Code = "22008"
	InvalidParameterValue        Code = "22023"
	InvalidRegularExpression     Code = "2201B"
	DivisionByZero               Code = "22012"
	SubstringError               Code = "22011"
	CharacterNotInRepertoire     Code = "22021"
	InvalidEscapeSequence        Code = "22025"
	InvalidTextRepresentation    Code = "22P02"
	InvalidBinaryRepresentation  Code = "22P03"
	BadCopyFileFormat            Code = "22P04"
	NotNullViolation             Code = "23502"
	ForeignKeyViolation          Code = "23503"
	UniqueViolation              Code = "23505"
	CheckViolation               Code = "23514"
	InvalidForeignKey            Code = "42830"
	ActiveSQLTransaction         Code = "25001"
	NoActiveSQLTransaction       Code = "25P01"
	InFailedSQLTransaction       Code = "25P02"
	ReadOnlySQLTransaction       Code = "25006"
	IdleInTransactionTimeout     Code = "25P03"
	InvalidAuthorization         Code = "28000"
	InvalidPassword              Code = "28P01"
	InvalidSQLStatementName      Code = "26000"
	DependentObjectsStillExist   Code = "2BP01"
	InvalidCursorName            Code = "34000"
	InvalidSavepoint             Code = "3B001"
	InvalidCatalogName           Code = "3D000"
	InvalidSchemaName            Code = "3F000"
	SyntaxError                  Code = "42601"
	InvalidName                  Code = "42602"
	InsufficientPrivilege        Code = "42501"
	CannotCoerce                 Code = "42846"
	GroupingError                Code = "42803"
	WrongObjectType              Code = "42809"
	IndeterminateDatatype        Code = "42P18"
	UndefinedColumn              Code = "42703"
	UndefinedFunction            Code = "42883"
	UndefinedTable               Code = "42P01"
	UndefinedParameter           Code = "42P02"
	UndefinedObject              Code = "42704"
	DuplicateColumn              Code = "42701"
	DuplicateCursor              Code = "42P03"
	DuplicateDatabase            Code = "42P04"
	DuplicatePreparedStatement   Code = "42P05"
	DuplicateSchema              Code = "42P06"
	DuplicateTable               Code = "42P07"
	DuplicateObject              Code = "42710"
	DuplicateAlias               Code = "42712"
	AmbiguousColumn              Code = "42702"
	AmbiguousAlias               Code = "42P09"
	WindowingError               Code = "42P20"
	AmbiguousFunction            Code = "42725"
	DatatypeMismatch             Code = "42804"
	InvalidColumnReference       Code = "42P10"
	InvalidObjectDefinition      Code = "42P17"
	InvalidTableDefinition       Code = "42P16"
	ReservedName                 Code = "42939"
	InsufficientResources        Code = "53000"
	DiskFull                     Code = "53100"
	OutOfMemory                  Code = "53200"
	TooManyConnections           Code = "53300"
	ConfigurationLimitExceeded   Code = "53400"
	ProgramLimitExceeded         Code = "54000"
	StatementTooComplex          Code = "54001"
	TooManyColumns               Code = "54011"
	ObjectNotInPrerequisiteState Code = "55000"
	ObjectInUse                  Code = "55006"
	CantChangeRuntimeParam       Code = "55P02"
	LockNotAvailable             Code = "55P03"
	UnsafeNewEnumValue           Code = "55P04"
	QueryCanceled                Code = "57014"
	AdminShutdown                Code = "57P01"
	CannotConnectNow             Code = "57P03"
	IdleSessionTimeout           Code = "57P05"
	IOError                      Code = "58030"
	InternalError                Code = "XX000"
	DataCorrupted                Code = "XX001"
)

// SQLSTATEs of our own class "TY": what only TallyDB can say about a result.
const (
	// PartialResult: coverage misses an expected log range (design, “Fail closed”).
	PartialResult Code = "TY001"
	// StaleResult: the result is older than max_staleness allows.
	StaleResult Code = "TY002"
	// IncompatibleState: states of different identity, or of overlapping coverage, met in a merge.
	IncompatibleState Code = "TY003"
	// EventRejected: an event was refused at ingest, with its reason.
	EventRejected Code = "TY004"
	// AccuracyExceeded: the error of a value is larger than the view's max_error.
	AccuracyExceeded Code = "TY005"
)

// Error is an error for a client. Position is the 1-based character (not byte)
// position in the statement text, 0 where there is none.
type Error struct {
	Code     Code
	Message  string
	Detail   string
	Hint     string
	Position int
	Context  string // PostgreSQL's WHERE: e.g. “COPY flights, line 3, column delay”
	cause    error
}

// New returns an error with this code and a formatted sentence in PostgreSQL's
// style: lower case, no full stop. A %w in format becomes the cause.
func New(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s (SQLSTATE %s)", e.Message, e.Code) }

// Unwrap returns the cause, if any.
func (e *Error) Unwrap() error { return e.cause }

// WithHint returns e with a hint that says what to do.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithDetail returns e with a detail.
func (e *Error) WithDetail(format string, args ...any) *Error {
	e.Detail = fmt.Sprintf(format, args...)
	return e
}

// At returns e with a position, unless it has one already or pos is 0.
func (e *Error) At(pos int) *Error {
	if e.Position == 0 {
		e.Position = pos
	}
	return e
}

// InContext returns e with a context line, unless it has one already.
func (e *Error) InContext(format string, args ...any) *Error {
	if e.Context == "" {
		e.Context = fmt.Sprintf(format, args...)
	}
	return e
}

// From returns err as an *Error: itself where it is one, else XX000 around it.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: InternalError, Message: err.Error(), cause: err}
}

// OfIO returns the SQLSTATE of a failed write: 53100 where there was no space, else
// 58030.
func OfIO(err error) Code {
	var own *Error
	if errors.As(err, &own) && own.Code == DiskFull || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return DiskFull
	}
	return IOError
}

// CodeOf returns the SQLSTATE of err, XX000 for foreign errors, 00000 for nil.
func CodeOf(err error) Code {
	if err == nil {
		return SuccessfulCompletion
	}
	return From(err).Code
}
