package pgwire

import (
	"context"
	"time"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Format is the form of values on the wire.
type Format int16

// Formats.
const (
	TextFormat   Format = 0
	BinaryFormat Format = 1
)

// Column describes a column of a result.
type Column struct {
	Name   string
	Type   types.Type
	Format Format
	Table  uint32 // pg_class.oid of its table, or 0
	Number int16  // its number there
}

// Startup is what a client says of itself.
type Startup struct {
	User, Database string
	Parameters     map[string]string // all of the startup message, options included
	ProcessID      uint32            // given to the client for CancelRequest
	RemoteAddr     string
	Encryption     *Encryption // nil without TLS
	Client         Client      // the connection; nil before authentication
}

// Encryption is how a connection is encrypted.
type Encryption struct{ Version, Cipher string }

// Client is what others may do to a session's connection, from any goroutine.
type Client interface {
	// Wake makes the connection ask for Notifications, at once if it is idle.
	Wake()
	// Cancel ends the statement that runs, if one does, with this error.
	Cancel(cause *sqlerr.Error)
	// Terminate ends the connection with 57P01, its statement first.
	Terminate()
}

// Notification is what NOTIFY tells a client that listens.
type Notification struct {
	ProcessID        uint32 // of the session that sent it
	Channel, Payload string
}

// Session is one client's state on the server. Its methods are called by one
// goroutine, one at a time. Errors are *sqlerr.Error, or are reported as XX000.
// ctx ends when the client cancels the statement or goes away.
type Session interface {
	// Parameters are the ParameterStatus values to report at the start.
	Parameters() [][2]string
	// Query runs the statements of a simple query.
	Query(ctx context.Context, sql string, w *Writer) error
	// Parse prepares a statement; an empty name replaces the unnamed one.
	Parse(ctx context.Context, name, sql string, paramTypes []uint32) error
	// DescribeStatement returns a statement's parameter types, and its result
	// columns or nil if it returns none.
	DescribeStatement(ctx context.Context, name string) (params []types.OID, columns []Column, err error)
	// Bind makes a portal from a statement and parameter values.
	Bind(ctx context.Context, b Bind) error
	// DescribePortal returns a portal's result columns, nil if it returns none.
	DescribePortal(ctx context.Context, name string) ([]Column, error)
	// Execute runs a portal for at most maxRows rows, 0 for all.
	Execute(ctx context.Context, portal string, maxRows int, w *Writer) error
	// CloseStatement and ClosePortal forget; unknown names are no error.
	CloseStatement(name string)
	ClosePortal(name string)
	// Sync ends the implicit transaction of an extended-protocol sequence; failed
	// says that a message of it did. Notices go to w.
	Sync(ctx context.Context, failed bool, w *Writer) error
	// TransactionStatus is 'I', 'T' or 'E'.
	TransactionStatus() byte
	// IdleLimit is how long the client may be silent now, and how its connection ends
	// then; 0 is unlimited.
	IdleLimit() (time.Duration, *sqlerr.Error)
	// Notifications returns what the client is to be told now, once.
	Notifications() []Notification
	// Close ends the session; an open transaction is rolled back.
	Close()
}

// Bind is the content of a Bind message. The slices are the session's.
type Bind struct {
	Portal, Statement string
	ParamFormats      []Format
	Params            [][]byte // nil is NULL
	ResultFormats     []Format
}

// Backend makes sessions.
type Backend interface {
	// Credentials returns how a client proves who it is, nil if it is trusted, or
	// refuses it (28000).
	Credentials(ctx context.Context, s Startup) (*Credentials, error)
	// Open begins a session, or refuses it (28000, 3D000, 53300, 57P03).
	Open(ctx context.Context, s Startup) (Session, error)
}

// errClosing ends a connection after its error was sent.
type errClosing struct{ err *sqlerr.Error }

func (e errClosing) Error() string { return e.err.Error() }
