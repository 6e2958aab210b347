package session

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/distsql/exchange"
	"github.com/tallydb/tallydb/distsql/gather"
	"github.com/tallydb/tallydb/server/pgwire"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/spill"
	"github.com/tallydb/tallydb/sql/tablestore"
	"github.com/tallydb/tallydb/stream"
	"github.com/tallydb/tallydb/stream/partition"
)

// Tenant is a database that is open on this node.
type Tenant struct {
	Database  store.Database
	Streams   *stream.Manager
	Tables    *tablestore.Store
	Transport exchange.Transport

	channels  channels
	advisory  advisory
	numbering numbering // of the sessions with temporary objects
	shut      bool      // it takes no sessions any more; of the engine's directory
}

// Engine is what sessions share. All fields are set before the first session.
type Engine struct {
	Catalog  *store.Store
	Registry *agg.Registry
	Logger   *slog.Logger
	Now      func() time.Time
	Started  time.Time // of the server
	// Tenant returns an open database; 3D000 if there is none.
	Tenant func(name string) (*Tenant, error)
	// CreateTenant and DropTenant are CREATE and DROP DATABASE; who drops one has shut it.
	CreateTenant func(name, owner string) error
	DropTenant   func(t *Tenant) error
	// RenameTenant is ALTER DATABASE RENAME.
	RenameTenant func(t *Tenant, name string) error
	// LeavePatience is how long DROP DATABASE waits for the sessions of the database to end.
	LeavePatience time.Duration
	// Virtual returns the system catalogs as a session of this database sees them.
	Virtual func(t *Tenant, s *Session) bind.VirtualTables
	// Compile binds a continuous view to the program that partitions run.
	Compile func(t store.Database, view *catalog.Relation) (partition.Compiled, error)
	// Gather counts what the coverage gates refused.
	Gather *gather.Counters
	// Flights shares answers between sessions; nil shares none.
	Flights *gather.Flights
	// MemoryBytes is the budget of the groups of one partition of a view.
	MemoryBytes int64
	// StatementMemory is the budget of one statement.
	StatementMemory int64
	// Temporary is where statements put what exceeds it; nil refuses them.
	Temporary *spill.Dir
	// RequirePassword asks clients of this machine for a password too, and
	// RequireTLS wants those of other machines to encrypt.
	RequirePassword, RequireTLS bool

	Statements atomic.Int64 // run so far
	Failures   atomic.Int64 // ended with an error

	directory directory

	pretendOnce sync.Once
	pretendKey  [32]byte
}

var _ pgwire.Backend = (*Engine)(nil)

// Open implements pgwire.Backend.
func (e *Engine) Open(_ context.Context, s pgwire.Startup) (pgwire.Session, error) {
	t, err := e.Tenant(s.Database)
	if err != nil {
		return nil, err
	}
	as, err := e.logIn(s.User, e.trusts(s.RemoteAddr))
	if err != nil {
		return nil, err
	}
	session := newSession(e, t, s, as)
	if err := session.mayConnect(); err != nil {
		return nil, err
	}
	if err := session.beginSettings(); err != nil {
		return nil, err
	}
	if err := e.directory.add(session); err != nil {
		return nil, err
	}
	return session, nil
}
