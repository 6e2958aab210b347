package pgcatalog

import (
	"context"
	"sync"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// Config is what the catalogs of one statement show. Functions and Runtime may
// be nil; what they would tell is then empty.
type Config struct {
	Snapshot  *catalog.Snapshot
	Registry  *agg.Registry
	Databases func() []Database
	User      string // that statements run as
	// Rights decides who may do what, and Role is whose the session has. Without them it is
	// the bootstrap role.
	Rights    *access.Roles
	Role      string
	Settings  func() []Setting
	Activity  func() []Activity
	Roles     func() []Role
	Cursors   func() []Cursor
	Prepared  func() []Prepared
	Listening func() []string
	Runtime   Runtime
	// View binds a continuous view, for what its columns guarantee.
	View func(view *catalog.Relation) (*bind.ViewPlan, error)
}

// Catalog is the virtual tables of one statement, which may run more than once. It
// is safe for concurrent use.
type Catalog struct {
	cfg Config

	mu     sync.Mutex
	tables map[*tableDef]*plan.VirtualTable
	run    *expr.Context // the execution that rows are of
	rows   map[*tableDef][]*types.Batch

	objectsOnce sync.Once
	objectList  []*object
	objectByOID map[uint32]*object
}

var (
	_ bind.VirtualTables = (*Catalog)(nil)
	_ expr.Catalog       = (*Catalog)(nil)
	_ expr.Definer       = (*Catalog)(nil)
	_ expr.Granter       = (*Catalog)(nil)
)

// New returns the catalogs that cfg describes.
func New(cfg Config) *Catalog {
	if cfg.Rights == nil {
		cfg.Rights, cfg.Role = access.NewRoles(nil), catalog.BootstrapRole
	}
	return &Catalog{cfg: cfg}
}

// Lookup implements bind.VirtualTables.
func (c *Catalog) Lookup(schema, name string) *plan.VirtualTable {
	def := definitions().byName[schema+"."+name]
	if def == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.tables[def]; t != nil {
		return t
	}
	t := &plan.VirtualTable{
		Schema: def.schema, Name: def.name, OID: def.oid, Columns: def.columns, View: def.kind == "v", Restricted: def.restricted(),
		Rows: func(ctx context.Context, run *expr.Context) ([]*types.Batch, error) { return c.read(ctx, run, def) },
	}
	if c.tables == nil {
		c.tables = map[*tableDef]*plan.VirtualTable{}
	}
	c.tables[def] = t
	return t
}

// Names implements bind.VirtualTables.
func (c *Catalog) Names() []string { return definitions().names }

// read returns the rows of a table. An execution that reads a table twice, as
// correlated subqueries do, computes it once and sees the same rows; the next
// execution of a prepared statement sees new ones.
func (c *Catalog) read(ctx context.Context, run *expr.Context, def *tableDef) ([]*types.Batch, error) {
	c.mu.Lock()
	if c.run != run {
		c.run, c.rows = run, nil
	}
	rows, ok := c.rows[def]
	c.mu.Unlock()
	if ok {
		return rows, nil
	}
	if fixed := def.fixedRows(); fixed.Rows > 0 {
		rows = append(rows, fixed)
	}
	if fill := fillers[def.schema+"."+def.name]; fill != nil {
		w := newWriter(def)
		if err := fill(ctx, c, w); err != nil {
			return nil, err
		}
		if w.batch.Rows > 0 {
			rows = append(rows, w.batch)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run != run { // another execution has begun meanwhile
		return rows, nil
	}
	if c.rows == nil {
		c.rows = map[*tableDef][]*types.Batch{}
	}
	c.rows[def] = rows
	return rows, nil
}
