package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/distsql/exchange"
	"github.com/tallydb/tallydb/distsql/fragment"
	"github.com/tallydb/tallydb/distsql/gather"
	"github.com/tallydb/tallydb/server/session"
	"github.com/tallydb/tallydb/sketchfn"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/spill"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/tablestore"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/ingestlog/segmentlog"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/vfs"
	"github.com/tallydb/tallydb/stream"
	"github.com/tallydb/tallydb/stream/image"
	"github.com/tallydb/tallydb/stream/partition"
	"github.com/tallydb/tallydb/stream/state"
)

// Config of a node. The zero value of an optional field means its default.
type Config struct {
	DataDir string
	FS      vfs.FS           // optional: the operating system's
	Logger  *slog.Logger     // optional: silent
	Now     func() time.Time // optional: time.Now

	CheckpointEvery time.Duration // optional, see stream.Config
	CheckpointRows  int64
	MemoryBytes     int64 // of groups and, up to a quarter, of columns of logs in memory; default 1 GiB
	StatementMemory int64 // of one statement; default 256 MiB
	SegmentBytes    int64 // of the log; default 64 MiB
	TickEvery       time.Duration
	ScribbleRows    bool // for tests, see stream.Config
	// ApplyAtATime is how many partitions apply records at a time; default one
	// processor less than the runtime has.
	ApplyAtATime int

	// LeavePatience is how long DROP DATABASE waits for sessions to leave; default 5 s.
	LeavePatience time.Duration

	Access Access
}

// Access is who may connect, and how.
type Access struct {
	MaxConnections int // default 1,000
	// RequirePassword asks clients of this machine for a password too.
	RequirePassword bool
	// TLS is offered if it is set; RequireTLS wants it of clients of other machines.
	TLS        *tls.Config
	RequireTLS bool
}

// Node is a running server without its listeners.
type Node struct {
	cfg     Config
	lock    dirLock
	store   *kv.Store
	log     *segmentlog.Log
	catalog *store.Store
	engine  *session.Engine
	metrics *metrics
	gather  gather.Counters

	temporary *spill.Dir

	checkpoints, turns chan struct{} // see partition.Config
	memory             *partition.Budget
	images             *image.Cache

	mu      sync.Mutex
	tenants map[string]*session.Tenant
	failed  chan struct{} // closed when a part failed for good
	failure error
	closed  bool
}

// Open opens a data directory and starts its streams. A directory that another
// process has open is refused (L-10).
func Open(cfg Config) (*Node, error) {
	if cfg.FS == nil {
		cfg.FS = vfs.OS()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now //nolint:forbidigo // the edge at which the clock comes in
	}
	if cfg.MemoryBytes == 0 {
		cfg.MemoryBytes = 1 << 30
	}
	if cfg.ApplyAtATime == 0 {
		cfg.ApplyAtATime = max(1, runtime.GOMAXPROCS(0)-1)
	}
	if cfg.LeavePatience == 0 {
		cfg.LeavePatience = 5 * time.Second
	}
	n := &Node{
		cfg: cfg, tenants: map[string]*session.Tenant{}, failed: make(chan struct{}), metrics: newMetrics(),
		checkpoints: make(chan struct{}, 1), turns: make(chan struct{}, cfg.ApplyAtATime), memory: partition.NewBudget(cfg.MemoryBytes - cfg.MemoryBytes/4), images: image.NewCache(cfg.MemoryBytes / 4),
	}
	if err := n.open(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Node) open() error {
	cfg := n.cfg
	if err := vfs.MkdirDurable(cfg.FS, cfg.DataDir); err != nil {
		return fmt.Errorf("create data directory: %w", err)
	}
	var err error
	if n.lock, err = lockDir(cfg.FS, cfg.DataDir); err != nil {
		return err
	}
	path := func(name string) string { return cfg.FS.PathJoin(cfg.DataDir, name) }
	if n.store, err = kv.Open(path("kv"), kv.Config{FS: cfg.FS, Logger: cfg.Logger}); err != nil {
		return err
	}
	owner, err := store.NextOwner(n.store)
	if err != nil {
		return fmt.Errorf("take ownership: %w", err)
	}
	n.log, err = segmentlog.Open(path("log"), segmentlog.Config{
		FS: cfg.FS, Fence: owner, Now: cfg.Now, SegmentBytes: cfg.SegmentBytes, Observe: n.metrics.observeCommit,
		OnStall: func(err error) {
			if err != nil {
				cfg.Logger.Error("appends fail until the log has a new segment", slog.String("error", err.Error()))
			} else {
				cfg.Logger.Info("appends work again")
			}
		},
	})
	if err != nil {
		return err
	}
	if n.catalog, err = store.Open(n.store, cfg.Now()); err != nil {
		return err
	}
	if n.temporary, err = spill.Open(cfg.FS, path("temporary")); err != nil {
		return err
	}
	n.engine = n.newEngine()
	if err := n.trimDropped(); err != nil {
		return err
	}
	for _, d := range n.catalog.Databases() {
		if err := n.openTenant(d); err != nil {
			return fmt.Errorf("open database %s: %w", d.Name, err)
		}
	}
	return nil
}

func (n *Node) newEngine() *session.Engine {
	registry := agg.NewRegistry()
	agg.RegisterExact(registry)
	sketchfn.Register(registry)
	e := &session.Engine{
		Catalog: n.catalog, Registry: registry, Logger: n.cfg.Logger, Now: n.cfg.Now, Gather: &n.gather, Flights: gather.NewFlights(),
		MemoryBytes: n.cfg.MemoryBytes, StatementMemory: n.cfg.StatementMemory, Temporary: n.temporary, Started: n.cfg.Now(),
		RequirePassword: n.cfg.Access.RequirePassword, RequireTLS: n.cfg.Access.RequireTLS,
		Tenant: n.tenant, CreateTenant: n.createTenant, DropTenant: n.dropTenant, RenameTenant: n.renameTenant, LeavePatience: n.cfg.LeavePatience, Virtual: n.virtualTables,
	}
	e.Compile = func(d store.Database, v *catalog.Relation) (partition.Compiled, error) {
		return compileView(n.catalog.Snapshot(d.Tenant), registry, d.SketchSeed(), v)
	}
	return e
}

// compileView binds a continuous view to the program that partitions run, in the
// time zone that was frozen into it.
func compileView(snapshot *catalog.Snapshot, registry *agg.Registry, seed keyhash.Seed, v *catalog.Relation) (partition.Compiled, error) {
	location, err := types.LoadZone(v.ContinuousView.TimeZone)
	if err != nil {
		return partition.Compiled{}, err
	}
	ec := &expr.Context{Location: location, Seed: seed}
	env := &bind.Env{Snapshot: snapshot, Registry: registry, Parse: parseSelect, SearchPath: []string{catalog.PublicSchema}, Expr: ec}
	p, err := bind.ViewOf(env, v)
	if err != nil {
		return partition.Compiled{}, err
	}
	if got := session.ViewFingerprint(p, v.ContinuousView.TimeZone); got != v.ContinuousView.Fingerprint {
		return partition.Compiled{}, sqlerr.New(sqlerr.DataCorrupted, "continuous view %q would be kept differently by this version (plan %s, was %s)", v.Name, got, v.ContinuousView.Fingerprint).
			WithHint("Drop the view and create it again; it reads the retained log.")
	}
	return partition.Compiled{Fold: p.Fold, Context: ec}, nil
}

func parseSelect(sql string) (*ast.Select, error) {
	p, err := parse.ParseOne(sql)
	if err != nil {
		return nil, err
	}
	sel, ok := p.Statement.(*ast.Select)
	if !ok {
		return nil, sqlerr.New(sqlerr.SyntaxError, "a query is expected")
	}
	return sel, nil
}

func (n *Node) openTenant(d store.Database) error {
	m, err := stream.Open(stream.Config{
		Tenant: d.Tenant, Log: n.log, Store: n.store, Logger: n.cfg.Logger, Now: n.cfg.Now,
		Compile:         func(v *catalog.Relation) (partition.Compiled, error) { return n.engine.Compile(d, v) },
		CheckpointEvery: n.cfg.CheckpointEvery, CheckpointRows: n.cfg.CheckpointRows, Memory: n.memory, Images: n.images, TickEvery: n.cfg.TickEvery,
		ScribbleRows: n.cfg.ScribbleRows, Checkpoints: n.checkpoints, Turns: n.turns,
	}, n.catalog.Snapshot(d.Tenant))
	if err != nil {
		return err
	}
	t := &session.Tenant{Database: d, Streams: m, Tables: tablestore.New(n.store, d.Tenant), Transport: exchange.Local{Executor: fragment.NewExecutor(m)}}
	for _, schema := range n.catalog.Snapshot(d.Tenant).Schemas {
		if !catalog.IsTemporary(schema.Name) {
			continue
		}
		// Its session did not end in an orderly way, and nobody is served yet.
		if err := session.DropTemporary(n.catalog, t, schema.Name); err != nil {
			return errors.Join(err, m.Close())
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tenants[d.Name] = t
	go n.watch(m)
	return nil
}

// watch notes the failure of a tenant's streams. It ends when they do, which
// Close waits for.
func (n *Node) watch(m *stream.Manager) {
	err := m.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil && n.failure == nil && !n.closed {
		n.failure = err
		n.cfg.Logger.Error("streams failed", slog.String("error", err.Error()))
		close(n.failed)
	}
}

func (n *Node) tenant(name string) (*session.Tenant, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.tenants[name]
	if t == nil {
		return nil, sqlerr.New(sqlerr.InvalidCatalogName, "database %q does not exist", name)
	}
	return t, nil
}

func (n *Node) createTenant(name, owner string) error {
	d, err := n.catalog.CreateDatabase(name, owner, n.cfg.Now())
	if err != nil {
		return err
	}
	return n.openTenant(d)
}

// dropTenant ends a database that has no sessions and removes it. What it leaves in the
// log when the process ends too early goes at the next start.
func (n *Node) dropTenant(t *session.Tenant) error {
	n.mu.Lock()
	delete(n.tenants, t.Database.Name)
	n.mu.Unlock()
	if err := t.Streams.Close(); err != nil {
		return err
	}
	err := n.catalog.DropDatabase(t.Database, state.TenantPrefix(t.Database.Tenant), tablestore.TenantPrefix(t.Database.Tenant))
	if err != nil {
		return errors.Join(err, n.openTenant(t.Database))
	}
	return n.trimDropped()
}

// renameTenant gives a database that has no sessions another name.
func (n *Node) renameTenant(t *session.Tenant, name string) error {
	d, err := n.catalog.RenameDatabase(t.Database.Name, name)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.tenants, t.Database.Name)
	n.tenants[name] = &session.Tenant{Database: d, Streams: t.Streams, Tables: t.Tables, Transport: t.Transport}
	return nil
}

// trimDropped trims the logs of streams whose database is gone.
func (n *Node) trimDropped() error {
	known := map[id.Tenant]bool{}
	for _, d := range n.catalog.Databases() {
		known[d.Tenant] = true
	}
	for _, sp := range n.log.Partitions() {
		if known[sp.Tenant] {
			continue
		}
		if err := n.log.Trim(sp, n.log.Head(sp)); err != nil {
			return fmt.Errorf("trim the log of a dropped database: %w", err)
		}
	}
	return nil
}

// Engine returns what sessions run on.
func (n *Node) Engine() *session.Engine { return n.engine }

// Failed is closed when a part of the node failed for good.
func (n *Node) Failed() <-chan struct{} { return n.failed }

// Ready returns why the node cannot serve, or nil.
func (n *Node) Ready() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failure != nil {
		return n.failure
	}
	stalled := []error{n.log.Failed(), n.store.Failed(), n.log.Stalled()}
	for _, t := range n.tenants {
		stalled = append(stalled, t.Streams.Stalled())
	}
	return errors.Join(stalled...)
}

// openTenants returns the tenants by database.
func (n *Node) openTenants() []*session.Tenant {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make([]*session.Tenant, 0, len(n.tenants))
	for _, t := range n.tenants {
		out = append(out, t)
	}
	return out
}

// Close checkpoints, ends everything and releases the directory. It returns the
// first failure of the node's life, if there was one.
func (n *Node) Close() error {
	n.mu.Lock()
	n.closed = true
	errs := []error{n.failure}
	n.mu.Unlock()
	for _, t := range n.openTenants() {
		errs = append(errs, t.Streams.Close(), t.Tables.Close())
	}
	if n.log != nil {
		errs = append(errs, n.log.Close())
	}
	if n.store != nil {
		errs = append(errs, n.store.Flush(), n.store.Close())
	}
	errs = append(errs, n.lock.release())
	return errors.Join(errs...)
}
