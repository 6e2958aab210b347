package catalog

import (
	"time"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// Kind of a relation.
type Kind string

// Kinds of relations.
const (
	KindTable          Kind = "table"
	KindStream         Kind = "stream"
	KindView           Kind = "view"
	KindContinuousView Kind = "continuous view"
	KindSequence       Kind = "sequence"
	KindMaterialized   Kind = "materialized view"
)

// Schema is a part of a database's names, besides public.
type Schema struct {
	ID      id.Relation // in the numbers of relations
	Name    string
	Owner   string
	Created time.Time
	Comment string `json:",omitempty"`
	ACL     ACL    `json:",omitzero"`
}

// Relation is a descriptor of any kind. Exactly one of the pointers that fits
// Kind is set.
type Relation struct {
	ID      id.Relation
	Version uint64 // grows with every DDL on this relation
	Schema  string // "public"
	Name    string
	Kind    Kind
	Columns []types.Column // visible data columns, in order
	Created time.Time
	Owner   string
	// Comments are what COMMENT ON said of it (key "") and of its parts, see CommentOf.
	Comments map[string]string `json:",omitempty"`
	ACL      ACL               `json:",omitzero"` // who may do what with it

	Table          *Table          `json:",omitempty"`
	Stream         *Stream         `json:",omitempty"`
	View           *View           `json:",omitempty"`
	ContinuousView *ContinuousView `json:",omitempty"`
	Sequence       *Sequence       `json:",omitempty"`
	// Materialized is the query of a materialized view, whose rows are those of Table.
	Materialized *Materialized `json:",omitempty"`
}

// Materialized is what a materialized view is filled by.
type Materialized struct {
	View
	Populated bool // false: it cannot be read until it is refreshed
}

// CommentOf is the key of the comment on a part of a relation: a "column", an "index" or
// a "constraint".
func CommentOf(part, name string) string { return part + " " + name }

// Column returns the position of a column by name, or -1.
func (r *Relation) Column(name string) int {
	for i := range r.Columns {
		if r.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// RowSchema returns the relation's data columns as a schema.
func (r *Relation) RowSchema() *types.Schema { return &types.Schema{Columns: r.Columns} }

// Table is reference data that clients insert into and join with.
type Table struct {
	PrimaryKey []int // column numbers; empty if none
	// PrimaryKeyName is that of its constraint; empty is the table's with _pkey.
	PrimaryKeyName string         `json:",omitempty"`
	Defaults       map[int]string // column number → SQL text of its default
	Indexes        []Index        `json:",omitempty"` // but that of the primary key
	Checks         []Check        `json:",omitempty"`
	// ForeignKeys are those by which it references tables, the oldest first.
	ForeignKeys []ForeignKey `json:",omitempty"`
	Identity    map[int]bool `json:",omitempty"` // identity columns; true: GENERATED ALWAYS
	OnCommit    OnCommit     `json:",omitempty"` // of a temporary table
	// Storage is the number under which the rows are; 0: the table's own. What
	// replaces all rows gives the table another (ADR 8).
	Storage id.Relation `json:",omitempty"`
}

// StorageID is the number under which the rows of a table are, or the state of a
// sequence.
func (r *Relation) StorageID() id.Relation {
	if r.Table != nil && r.Table.Storage != 0 {
		return r.Table.Storage
	}
	return r.ID
}

// Check is a CHECK constraint.
type Check struct {
	ID   id.Relation
	Name string
	SQL  string // the condition
}

// Sequence gives out numbers. Which ones it gave is kept with the tables' rows.
type Sequence struct {
	Type             types.OID
	Start, Increment int64
	Min, Max         int64
	Cycle            bool
	Table            id.Relation // that owns it, or 0
	// Column is that of the table which owns it; empty in old sequences: the one whose
	// default it is.
	Column string `json:",omitempty"`
}

// View is a plain SQL view, expanded where it is used.
type View struct {
	SQL string // the body
	// TimeZone is that of the session that created it, in which the body's literals
	// are read; empty in views of before it was kept: the reader's.
	TimeZone string `json:",omitempty"`
	// Path is the search path of that session, by which the names in the body are
	// looked up; nil is the view's own schema. What is not in the first schema of it is
	// named with its own, but in views of before that was so.
	Path []string `json:",omitempty"`
	// Invoker says that its body is read with the rights of who reads the view, not of its
	// owner.
	Invoker bool `json:",omitempty"`
}

// Body returns the query of a view of any kind but a continuous one, or nil.
func (r *Relation) Body() *View {
	if r.Materialized != nil {
		return &r.Materialized.View
	}
	return r.View
}

// Stream is a partitioned, durable sequence of events, which is only appended to: what
// an event says is taken away by another of negative weight.
type Stream struct {
	TimeColumn     int                // the event time, or -1
	WatermarkDelay eventtime.Duration // how far event times may lag
	Options        StreamOptions
	Epochs         []RoutingEpoch // ascending; the last is open
	Offline        []id.Partition // partitions that an operator took offline
	Seed           keyhash.Seed   // derived from the tenant's; never shown
	SketchSeed     keyhash.Seed   `json:",omitzero"` // of the tenant, so that sketches of its streams merge; zero in old streams
	Defaults       map[int]string // column number → SQL text of its default
}

// StreamOptions are the WITH options of CREATE STREAM, resolved.
type StreamOptions struct {
	Partitions    int
	PartitionKey  []int // column numbers; empty: routed by the dedup key, else spread by batch
	DedupKey      []int // column numbers; empty: no deduplication
	DedupHorizon  eventtime.Duration
	SourceKey     int // column that names the source of an event, or -1: one source
	IdleTimeout   time.Duration
	MaxFutureSkew time.Duration
	Retention     time.Duration
	RejectBadRows bool   // on_bad_row = reject
	StreamKind    string // AppendStream, …
	Weight        int    `json:",omitempty"` // number from 1 of the column that says how often an event counts; 0: each counts once
}

// Kinds of streams, by what events may take away.
const (
	AppendStream          = "append"           // nothing
	StrictTurnstileStream = "strict_turnstile" // what other events brought
	TurnstileStream       = "turnstile"        // anything
)

// WeightColumn is the column that says how often an event counts, or -1.
func (s *Stream) WeightColumn() int { return s.Options.Weight - 1 }

// RoutingEpoch maps key groups to partitions from a moment on.
type RoutingEpoch struct {
	Epoch      id.Epoch
	Partitions []id.Partition // partition of key group g is Partitions[g % len]
}

// Partitions returns the partitions of the open epoch.
func (s *Stream) Partitions() []id.Partition { return s.Epochs[len(s.Epochs)-1].Partitions }

// AggregateSeed is the seed of the hashes in the states of aggregates.
func (s *Stream) AggregateSeed() keyhash.Seed {
	if s.SketchSeed == (keyhash.Seed{}) {
		return s.Seed.Derive("aggregate")
	}
	return s.SketchSeed
}

// IsOffline reports whether an operator took partition p offline.
func (s *Stream) IsOffline(p id.Partition) bool {
	for _, q := range s.Offline {
		if q == p {
			return true
		}
	}
	return false
}

// ContinuousView is a view that TallyDB keeps up to date.
type ContinuousView struct {
	Stream          id.Relation
	SQL             string // the body, as bound at creation
	TimeZone        string // frozen into the plan
	AllowedLateness eventtime.Duration
	Early           time.Duration // early panes; 0 is off
	MaxGroups       int64         // hard budget of groups per partition (L-11)
	MaxStaleness    time.Duration // older results are labelled stale; 0 is off
	Accuracy        *Accuracy     `json:",omitempty"` // nil: any error is accepted
	Fingerprint     string        // of the bound plan; a different one means different state
	// Birth holds for each partition the first offset that the view reads. What
	// was trimmed before is missing coverage for the windows it may touch.
	Birth map[id.Partition]id.Offset
	// MissedUntil bounds the event times of what was trimmed before the view's
	// birth: windows that begin before it may lack events. nil: nothing was trimmed.
	MissedUntil *eventtime.Time `json:",omitempty"`
}

// Accuracy is a contract on the errors of a view's approximate values.
type Accuracy struct {
	MaxError   float64 // as _error has it: in the unit of the family of each aggregate
	OnExceeded string  // what becomes of a value whose error is larger, or unknown
}

// What becomes of a value that is not accurate enough.
const (
	LabelExceeded = "label" // the row is degraded
	NullExceeded  = "null"  // and the value is NULL
	FailExceeded  = "error" // the statement fails
	ExactExceeded = "exact" // the value is computed from the retained log, as far as that goes back
)

// Default returns the SQL text of a column's default, or "".
func (r *Relation) Default(column int) string {
	switch {
	case r.Table != nil:
		return r.Table.Defaults[column]
	case r.Stream != nil:
		return r.Stream.Defaults[column]
	}
	return ""
}
