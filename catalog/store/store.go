// Package store keeps the catalog in the key-value store: databases, and the
// descriptors of their relations. What a transaction does to them is one durable,
// atomic batch (Tx), and so is each statement that takes effect at once, so a crash
// leaves it done or not begun.
//
// A Store is safe for concurrent use; snapshots are immutable. It starts no
// goroutine.
package store

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/kv"
)

// DefaultDatabase exists in every new data directory.
const DefaultDatabase = "tally"

// descriptorVersion is the first byte of a stored descriptor; JSON follows. Version 2
// has storage numbers, version 3 weights of events, version 4 types of users and indexes on
// expressions, and version 5 privileges, which who reads earlier ones only would ignore.
const (
	descriptorVersion = 5
	privilegesVersion = 5 // what is older was open to every role
)

// Keys (docs/format/catalog.md).
var (
	counterKey     = []byte("c/counter")   // last number given out, and the catalog's version
	databasePrefix = []byte("c/database/") // + name
	relationPrefix = []byte("c/relation/") // + tenant, relation (big-endian)
	ownerKey       = []byte("c/owner")     // fencing token of the last process
)

// Database is a tenant: a boundary of names, quotas and seeds.
type Database struct {
	Name    string
	Tenant  id.Tenant
	Seed    keyhash.Seed // secret
	Created time.Time
	Owner   string
	ACL     catalog.ACL `json:",omitzero"`
	// Settings are what its sessions begin with, whoever they are of.
	Settings map[string]string `json:",omitempty"`
}

// SketchSeed is the seed of the hashes in sketches: one for the database, so that
// sketches of all its streams and tables merge.
func (d Database) SketchSeed() keyhash.Seed { return d.Seed.Derive("sketch") }

// Store is the catalog of a node.
type Store struct {
	kv *kv.Store

	mu        sync.RWMutex
	counter   counter
	databases map[string]Database
	roles     map[string]Role
	relations map[id.Tenant]map[id.Relation]*catalog.Relation
	schemas   map[id.Tenant]map[string]catalog.Schema
	types     map[id.Tenant]map[types.OID]*catalog.Type
	snapshots map[id.Tenant]*catalog.Snapshot
	open      map[id.Tenant]*Tx // that has changes
	access    atomic.Pointer[access.Roles]
}

type counter struct {
	last    uint64
	version uint64
}

// Open loads the catalog, which it begins if there is none.
func Open(store *kv.Store, now time.Time) (*Store, error) {
	s := &Store{
		kv: store, databases: map[string]Database{}, roles: map[string]Role{},
		relations: map[id.Tenant]map[id.Relation]*catalog.Relation{}, snapshots: map[id.Tenant]*catalog.Snapshot{},
		schemas: map[id.Tenant]map[string]catalog.Schema{}, types: map[id.Tenant]map[types.OID]*catalog.Type{}, open: map[id.Tenant]*Tx{},
	}
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("load catalog: %w", err)
	}
	if len(s.databases) == 0 {
		s.counter.last = uint64(id.FirstRelation) - 1
		if _, err := s.CreateDatabase(DefaultDatabase, catalog.BootstrapRole, now); err != nil {
			return nil, fmt.Errorf("begin catalog: %w", err)
		}
	}
	return s, nil
}

// NextOwner gives this process a fencing token above every earlier one (L-10).
func NextOwner(store *kv.Store) (id.FencingToken, error) {
	b, ok, err := store.Get(ownerKey)
	if err != nil {
		return 0, err
	}
	var token uint64
	if ok {
		if len(b) != 8 {
			return 0, fmt.Errorf("owner record: %w", storage.ErrCorrupt)
		}
		token = binary.BigEndian.Uint64(b)
	}
	batch := store.NewBatch()
	if err := batch.Set(ownerKey, binary.BigEndian.AppendUint64(nil, token+1)); err != nil {
		return 0, err
	}
	return id.FencingToken(token + 1), batch.Commit(true)
}

func (s *Store) load() error {
	b, ok, err := s.kv.Get(counterKey)
	if err != nil {
		return err
	}
	if ok {
		if len(b) != 16 {
			return fmt.Errorf("counter: %w", storage.ErrCorrupt)
		}
		s.counter = counter{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
	}
	if err := s.loadRoles(); err != nil {
		return err
	}
	old := &upgrade{}
	if err := s.loadSchemas(old); err != nil {
		return err
	}
	if err := s.loadTypes(old); err != nil {
		return err
	}
	err = s.kv.Scan(databasePrefix, kv.PrefixEnd(databasePrefix), func(key, value []byte) error {
		var d Database
		if err := decode(value, &d); err != nil {
			return err
		}
		if value[0] < privilegesVersion {
			d.Owner, d.ACL = catalog.BootstrapRole, catalog.OpenDatabase()
			old.add(key, d)
			public := catalog.NewPublic(catalog.BootstrapRole)
			public.Open(catalog.BootstrapRole)
			old.add(schemaKey(d.Tenant, public.Name), public)
			s.addSchema(d.Tenant, public)
		}
		s.databases[d.Name] = d
		s.relations[d.Tenant] = map[id.Relation]*catalog.Relation{}
		return nil
	})
	if err != nil {
		return err
	}
	err = s.kv.Scan(relationPrefix, kv.PrefixEnd(relationPrefix), func(key, value []byte) error {
		r := &catalog.Relation{}
		if err := decode(value, r); err != nil {
			return err
		}
		tenant := id.Tenant(binary.BigEndian.Uint32(key[len(relationPrefix):]))
		if s.relations[tenant] == nil {
			return fmt.Errorf("relation %s of unknown tenant %d: %w", r.Name, tenant, storage.ErrCorrupt)
		}
		if value[0] < privilegesVersion {
			r.Open(s.Access().Owner(r.Owner))
			old.add(key, r)
		}
		s.relations[tenant][r.ID] = r
		return nil
	})
	if err == nil {
		err = old.write(s)
	}
	for _, d := range s.databases {
		s.refresh(d)
	}
	return err
}

func decode(b []byte, into any) error {
	if len(b) == 0 {
		return fmt.Errorf("descriptor: %w", storage.ErrCorrupt)
	}
	if b[0] > descriptorVersion {
		return fmt.Errorf("descriptor of version %d: %w", b[0], storage.ErrTooNew)
	}
	if err := json.Unmarshal(b[1:], into); err != nil {
		return fmt.Errorf("descriptor: %w: %w", storage.ErrCorrupt, err)
	}
	return nil
}

func encode(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	return append([]byte{descriptorVersion}, b...), err
}

// refresh makes a new snapshot of a database, as it is now: d may be from when it was opened.
// s.mu is held for writing.
func (s *Store) refresh(d Database) {
	if now, ok := s.databases[d.Name]; ok && now.Tenant == d.Tenant {
		d = now
	}
	var rels []*catalog.Relation
	for _, r := range s.relations[d.Tenant] {
		rels = append(rels, r)
	}
	snapshot := catalog.NewSnapshot(s.counter.version, d.Tenant, d.Name, rels)
	snapshot.Schemas, snapshot.Types, snapshot.Public = s.schemasOf(d.Tenant), s.typesOf(d.Tenant), s.public(d)
	snapshot.Owner, snapshot.ACL = d.Owner, d.ACL
	s.snapshots[d.Tenant] = snapshot
}

// Databases returns all databases by name.
func (s *Store) Databases() []Database {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]Database, 0, len(s.databases))
	for _, d := range s.databases {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Database) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Database returns a database by name; 3D000 if there is none.
func (s *Store) Database(name string) (Database, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d, ok := s.databases[name]
	if !ok {
		return Database{}, sqlerr.New(sqlerr.InvalidCatalogName, "database %q does not exist", name)
	}
	return d, nil
}

// Snapshot returns a database's relations as they are now: none of one that was dropped,
// which who goes through all databases may meet.
func (s *Store) Snapshot(t id.Tenant) *catalog.Snapshot {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if snapshot := s.snapshots[t]; snapshot != nil {
		return snapshot
	}
	return catalog.NewSnapshot(s.counter.version, t, "", nil)
}

// CreateDatabase adds an empty database with a fresh secret seed.
func (s *Store) CreateDatabase(name, owner string, now time.Time) (Database, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.databases[name]; ok {
		return Database{}, sqlerr.New(sqlerr.DuplicateDatabase, "database %q already exists", name)
	}
	var secret [16]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return Database{}, fmt.Errorf("make seed: %w", err)
	}
	next := counter{s.counter.last + 1, s.counter.version + 1}
	d := Database{
		Name: name, Tenant: id.Tenant(next.last), Created: now, Owner: owner,
		Seed: keyhash.Seed{K0: binary.LittleEndian.Uint64(secret[:]), K1: binary.LittleEndian.Uint64(secret[8:])},
	}
	value, err := encode(d)
	if err != nil {
		return Database{}, err
	}
	err = s.commit(next, func(b *kv.Batch) error { return b.Set(append(slices.Clone(databasePrefix), name...), value) })
	if err != nil {
		return Database{}, err
	}
	s.databases[name] = d
	s.relations[d.Tenant] = map[id.Relation]*catalog.Relation{}
	s.refresh(d)
	return d, nil
}

// commit writes a DDL's changes with the counter, durably; s.mu is held.
func (s *Store) commit(next counter, fill func(*kv.Batch) error) error {
	return s.commitIn(s.kv.NewBatch(), next, fill)
}

// commitIn is commit in a batch that has other changes already.
func (s *Store) commitIn(batch *kv.Batch, next counter, fill func(*kv.Batch) error) error {
	err := fill(batch)
	if err == nil {
		err = batch.Set(counterKey, binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, next.last), next.version))
	}
	if err != nil {
		batch.Discard()
		return fmt.Errorf("write catalog: %w", err)
	}
	if err := batch.Commit(true); err != nil {
		return fmt.Errorf("write catalog: %w", err)
	}
	s.counter = next
	return nil
}

func relationKey(t id.Tenant, r id.Relation) []byte {
	k := binary.BigEndian.AppendUint32(slices.Clone(relationPrefix), uint32(t))
	return binary.BigEndian.AppendUint32(k, uint32(r))
}

// Create adds a relation, at once, and gives it its number. 42P07 if the name is taken.
func (s *Store) Create(d Database, r catalog.Relation) (*catalog.Relation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Schema == "" {
		r.Schema = catalog.PublicSchema
	}
	if err := s.undisturbed(d, nil, &r); err != nil {
		return nil, err
	}
	if s.snapshots[d.Tenant].ByName(r.Schema, r.Name) != nil {
		return nil, sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", r.Name)
	}
	if t, array := s.snapshots[d.Tenant].TypeByName(r.Schema, r.Name); t != nil && !array {
		return nil, sqlerr.New(sqlerr.DuplicateObject, "type %q already exists", r.Name).
			WithHint("A relation has an associated type of the same name, so you must use a name that doesn't conflict with any existing type.")
	}
	if v := r.ContinuousView; v != nil && s.relations[d.Tenant][v.Stream] == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "the stream was dropped while the statement ran")
	}
	next := counter{s.counter.last + 1, s.counter.version + 1}
	r.ID, r.Version = id.Relation(next.last), next.version
	return &r, s.put(d, next, &r)
}

// Reserve returns a number that only a relation created with it will have. It is
// not durable: what is written under it must come with the relation.
func (s *Store) Reserve() id.Relation {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counter.last++
	return id.Relation(s.counter.last)
}

// Update replaces a relation's descriptor by what change makes of a copy.
func (s *Store) Update(d Database, rel id.Relation, change func(*catalog.Relation) error) (*catalog.Relation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.relations[d.Tenant][rel]
	if old == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %d does not exist", rel)
	}
	r := copyOf(old)
	err := change(r)
	if err == nil {
		err = s.undisturbed(d, old, r)
	}
	if err != nil {
		return nil, err
	}
	next := counter{s.counter.last, s.counter.version + 1}
	r.Version = next.version
	return r, s.put(d, next, r)
}

// copyOf returns a descriptor that can be changed, but for what its parts point to.
func copyOf(old *catalog.Relation) *catalog.Relation {
	r := *old
	if old.Stream != nil {
		stream := *old.Stream
		r.Stream = &stream
	}
	if old.Table != nil {
		table := *old.Table
		r.Table = &table
	}
	if old.ContinuousView != nil {
		view := *old.ContinuousView
		r.ContinuousView = &view
	}
	if old.View != nil {
		view := *old.View
		r.View = &view
	}
	if old.Sequence != nil {
		sequence := *old.Sequence
		r.Sequence = &sequence
	}
	return &r
}

// put writes a relation; s.mu is held.
func (s *Store) put(d Database, next counter, r *catalog.Relation) error {
	err := s.commit(next, func(b *kv.Batch) error { return setOrDelete(b, relationKey(d.Tenant, r.ID), r) })
	if err != nil {
		return err
	}
	s.relations[d.Tenant][r.ID] = r
	s.refresh(d)
	return nil
}

// Drop removes a relation at once.
func (s *Store) Drop(d Database, rel id.Relation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.undisturbed(d, s.relations[d.Tenant][rel], nil); err != nil {
		return err
	}
	next := counter{s.counter.last, s.counter.version + 1}
	if err := s.commit(next, func(b *kv.Batch) error { return b.Delete(relationKey(d.Tenant, rel)) }); err != nil {
		return err
	}
	delete(s.relations[d.Tenant], rel)
	s.refresh(d)
	return nil
}
