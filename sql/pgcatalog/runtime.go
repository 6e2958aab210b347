package pgcatalog

import (
	"context"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
)

// Setting is a run-time setting as pg_settings shows it.
type Setting struct {
	Name, Value, Initial, Reset, About string
	Unit                               string // of Value, a number; empty for most
	ReadOnly                           bool
}

// Activity is a client's session as pg_stat_activity shows it.
type Activity struct {
	Database, User, Application, ClientAddress string
	Role                                       string // that User stands for
	ClientPort                                 int
	ProcessID                                  int64
	State, Query                               string
	// Zero where there is none.
	BackendStart, TransactionStart, QueryStart, StateChange time.Time
	TLSVersion, Cipher                                      string // empty without TLS
}

// Role is who may log in, as pg_roles shows it.
type Role struct {
	Name       string
	ID         uint32
	Flags      map[string]bool // login, superuser and so on
	Password   string          // its verifier; empty: none
	ValidUntil time.Time       // zero: for ever
	// Memberships are the roles that it is a member of.
	Memberships []access.Membership
	// Settings are those of its sessions, by the number of the database; 0 is any.
	Settings map[uint32]map[string]string
}

// Database is a row of pg_database.
type Database struct {
	Name     string
	ID       uint32
	Owner    string
	ACL      catalog.ACL
	Settings map[string]string // of its sessions
}

// Cursor is a cursor of the session, as pg_cursors shows it.
type Cursor struct {
	Name, Statement         string
	Hold, Binary, Scrolling bool
	Created                 time.Time
}

// Prepared is a prepared statement of the session, as pg_prepared_statements shows it.
type Prepared struct {
	Name, Statement string
	Created         time.Time
	Types           []types.OID
	FromSQL         bool
}

// Runtime tells what streams and views are doing now. The server implements it;
// calls may wait for partitions until ctx ends.
type Runtime interface {
	// Partitions returns the status of every partition of a stream, in order. A
	// partition that does not answer is listed with Answered false.
	Partitions(ctx context.Context, stream *catalog.Relation) ([]PartitionStatus, error)
}

// PartitionStatus is what is known of a partition. What comes from its owner is
// zero unless Answered.
type PartitionStatus struct {
	Partition   id.Partition
	Base, Head  id.Offset // of the retained log
	LogBytes    int64     // -1: unknown
	Offline     bool
	Answered    bool
	Applied     id.Offset
	Watermark   *time.Time // nil: none yet
	AllIdle     bool
	Sources     int
	DedupIDs    int
	MemoryBytes int64
	Checkpoint  time.Time
	// StalenessMillis is how far behind accepted events the partition is; -1 where
	// that is unknown.
	StalenessMillis                          int64
	Received, Admitted, Duplicates, Rejected int64
	Views                                    map[id.Relation]ViewStatus
}

// ViewStatus is what is known of a continuous view in a partition.
type ViewStatus struct {
	Applied      id.Offset
	Live         bool // false while it reads history
	Rows         int64
	Late, Errors int64
	OpenGroups   int64
	OpenWindows  int
	MemoryBytes  int64
}
