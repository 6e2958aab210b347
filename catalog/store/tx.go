package store

import (
	"slices"
	"strings"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/kv"
)

// Tx is what a transaction does to the catalog of a database. Its Snapshot has the
// changes in it; others see them when it is committed (ADR 8). It is used by one
// goroutine.
//
// Whoever changes keeps the other writers of the database away until the end: one Tx
// of a database has changes at a time.
type Tx struct {
	store     *Store
	d         Database
	relations map[id.Relation]*catalog.Relation // changed; nil: dropped
	schemas   map[string]*catalog.Schema        // changed; nil: dropped
	types     map[types.OID]*catalog.Type       // changed; nil: dropped
	touched   map[types.OID]bool                // types that were changed, or are no more
	undo      []func()

	seen *catalog.Snapshot // nil after a change
	of   *catalog.Snapshot // the committed one that seen was made of
}

// Begin starts a transaction on the catalog of a database.
func (s *Store) Begin(d Database) *Tx {
	return &Tx{
		store: s, d: d, relations: map[id.Relation]*catalog.Relation{}, schemas: map[string]*catalog.Schema{},
		types: map[types.OID]*catalog.Type{}, touched: map[types.OID]bool{},
	}
}

// Changes reports whether the transaction has changed anything.
func (t *Tx) Changes() bool { return len(t.relations)+len(t.schemas)+len(t.types) > 0 }

// Snapshot returns the committed catalog as it is now, with the changes in it.
func (t *Tx) Snapshot() *catalog.Snapshot {
	committed := t.store.Snapshot(t.d.Tenant)
	if !t.Changes() {
		return committed
	}
	if t.seen != nil && t.of == committed {
		return t.seen
	}
	var rels []*catalog.Relation
	for _, r := range committed.Relations() {
		if _, changed := t.relations[r.ID]; !changed {
			rels = append(rels, r)
		}
	}
	for _, r := range t.relations {
		if r != nil {
			rels = append(rels, r)
		}
	}
	t.seen, t.of = catalog.NewSnapshot(t.store.nextVersion(), t.d.Tenant, t.d.Name, rels), committed
	t.seen.Types = t.snapshotTypes(committed)
	t.seen.Public, t.seen.Owner, t.seen.ACL = committed.Public, committed.Owner, committed.ACL
	for _, schema := range committed.Schemas {
		if _, changed := t.schemas[schema.Name]; !changed {
			t.seen.Schemas = append(t.seen.Schemas, schema)
		}
	}
	for _, schema := range t.schemas {
		switch {
		case schema == nil:
		case schema.Name == catalog.PublicSchema:
			t.seen.Public = *schema
		default:
			t.seen.Schemas = append(t.seen.Schemas, *schema)
		}
	}
	slices.SortFunc(t.seen.Schemas, func(a, b catalog.Schema) int { return strings.Compare(a.Name, b.Name) })
	return t.seen
}

// nextVersion returns a version that no catalog has. It need not be durable: what is
// remembered by it ends with the process.
func (s *Store) nextVersion() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counter.version++
	return s.counter.version
}

// Create adds relations, and gives numbers to those that have none. 42P07 if a name
// is taken.
func (t *Tx) Create(rels ...*catalog.Relation) error {
	for _, r := range rels {
		if t.Snapshot().ByName(r.Schema, r.Name) != nil {
			return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", r.Name)
		}
		if r.ID == 0 {
			r.ID = t.store.Reserve()
		}
		if err := t.set(r); err != nil {
			return err
		}
	}
	return nil
}

// Update replaces a relation by what change makes of a copy. 42P07 if the new name
// is taken.
func (t *Tx) Update(rel id.Relation, change func(*catalog.Relation) error) error {
	old := t.Snapshot().ByID(rel)
	if old == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "relation %d does not exist", rel)
	}
	r := copyOf(old)
	if err := change(r); err != nil {
		return err
	}
	if (r.Schema != old.Schema || r.Name != old.Name) && t.Snapshot().ByName(r.Schema, r.Name) != nil {
		return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", r.Name)
	}
	return t.set(r)
}

// SetACL says who may do what with a relation. It stays at its version: what was planned
// for it still holds.
func (t *Tx) SetACL(rel id.Relation, acl catalog.ACL) error {
	old := t.Snapshot().ByID(rel)
	if old == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "relation %d does not exist", rel)
	}
	r := copyOf(old)
	r.ACL = acl
	return t.put(r)
}

// set puts a descriptor in the place of the one there is.
func (t *Tx) set(r *catalog.Relation) error {
	if r.Schema == "" {
		r.Schema = catalog.PublicSchema
	}
	r.Version = t.store.nextVersion()
	return t.put(r)
}

// put notes a descriptor. 42P01 if its session has ended meanwhile.
func (t *Tx) put(r *catalog.Relation) (err error) {
	t.change(func() {
		if t.gone(r) {
			err = sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", r.Name)
			return
		}
		put(t, t.relations, r.ID, r)
	})
	return err
}

// Drop removes relations. 2BP01 if another session has just made a continuous view of
// one of them.
func (t *Tx) Drop(rels ...id.Relation) error {
	var late *catalog.Relation
	t.change(func() {
		for _, r := range t.store.relations[t.d.Tenant] {
			if r.ContinuousView == nil || !slices.Contains(rels, r.ContinuousView.Stream) || slices.Contains(rels, r.ID) {
				continue
			}
			if gone, changed := t.relations[r.ID]; !changed || gone != nil {
				late = r
				return
			}
		}
		for _, rel := range rels {
			put(t, t.relations, rel, nil)
		}
	})
	if late != nil {
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "continuous view %s, which is new, depends on it", late.Name)
	}
	return nil
}

// SetSchema adds a schema or changes it. It has a number from then on.
func (t *Tx) SetSchema(schema catalog.Schema) {
	if schema.ID == 0 && schema.Name != catalog.PublicSchema {
		schema.ID = t.store.Reserve()
	}
	t.change(func() { put(t, t.schemas, schema.Name, &schema) })
}

// CreateSchema adds a schema.
func (t *Tx) CreateSchema(name, owner string, now time.Time) {
	t.SetSchema(catalog.Schema{Name: name, Owner: owner, Created: now})
}

// RenameSchema gives a schema and its relations another name.
func (t *Tx) RenameSchema(schema catalog.Schema, name string) error {
	in := t.Snapshot().Relations()
	was := schema.Name
	schema.Name = name
	t.change(func() {
		put(t, t.schemas, was, nil)
		put(t, t.schemas, name, &schema)
	})
	for _, r := range in {
		if r.Schema != was {
			continue
		}
		next := copyOf(r)
		next.Schema = name
		if err := t.set(next); err != nil {
			return err
		}
	}
	t.renameTypesOf(was, name)
	return nil
}

// DropSchema removes a schema, which has to be empty: 2BP01 otherwise.
func (t *Tx) DropSchema(name string) error {
	snapshot := t.Snapshot()
	if slices.ContainsFunc(snapshot.Relations(), func(r *catalog.Relation) bool { return r.Schema == name }) ||
		slices.ContainsFunc(snapshot.Types, func(typ *catalog.Type) bool { return typ.Schema == name }) {
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop schema %s because other objects depend on it", name)
	}
	t.change(func() { put(t, t.schemas, name, nil) })
	return nil
}

// change makes a change where statements that take effect at once see it too.
func (t *Tx) change(apply func()) {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	apply()
	t.seen = nil
	t.store.open[t.d.Tenant] = t
}

// put changes an entry and notes how to undo it.
func put[K comparable, V any](t *Tx, entries map[K]*V, key K, to *V) {
	old, had := entries[key]
	t.undo = append(t.undo, func() {
		if had {
			entries[key] = old
		} else {
			delete(entries, key)
		}
	})
	entries[key] = to
}

// Savepoint returns a mark that RollbackTo goes back to.
func (t *Tx) Savepoint() int { return len(t.undo) }

// RollbackTo undoes the changes since the mark.
func (t *Tx) RollbackTo(mark int) {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	for n := len(t.undo); n > mark; n-- {
		t.undo[n-1]()
	}
	t.undo, t.seen = t.undo[:mark], nil
	t.publishTypes()
}

// Rollback drops the changes.
func (t *Tx) Rollback() {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	t.end()
}

func (t *Tx) end() {
	if t.store.open[t.d.Tenant] == t {
		delete(t.store.open, t.d.Tenant)
	}
	clear(t.relations)
	clear(t.schemas)
	clear(t.types)
	t.publishTypes()
	clear(t.touched)
	t.undo, t.seen = nil, nil
}

// Replaced returns the numbers of the storages of the relations that the transaction
// changed or dropped, as they are committed.
func (t *Tx) Replaced() []id.Relation {
	committed := t.store.Snapshot(t.d.Tenant)
	var out []id.Relation
	for n := range t.relations {
		if old := committed.ByID(n); old != nil {
			out = append(out, old.StorageID())
		}
	}
	return out
}

// Commit writes the changes with a batch, which it commits, durable and all or none,
// and makes them the catalog of everyone. The transaction is at its end.
func (t *Tx) Commit(batch *kv.Batch) error {
	s := t.store
	s.mu.Lock()
	defer s.mu.Unlock()
	defer t.end()
	next := counter{s.counter.last, s.counter.version + 1}
	err := s.commitIn(batch, next, t.write)
	if err != nil {
		return err
	}
	for n, r := range t.relations {
		if r == nil {
			delete(s.relations[t.d.Tenant], n)
		} else {
			s.relations[t.d.Tenant][n] = r
		}
	}
	for name, schema := range t.schemas {
		if schema == nil {
			delete(s.schemas[t.d.Tenant], name)
		} else {
			s.addSchema(t.d.Tenant, *schema)
		}
	}
	t.commitTypes()
	s.refresh(t.d)
	return nil
}

// write adds the changes to a batch.
func (t *Tx) write(b *kv.Batch) error {
	for n, r := range t.relations {
		if err := setOrDelete(b, relationKey(t.d.Tenant, n), r); err != nil {
			return err
		}
	}
	for name, schema := range t.schemas {
		if err := setOrDelete(b, schemaKey(t.d.Tenant, name), schema); err != nil {
			return err
		}
	}
	for o, typ := range t.types {
		if err := setOrDelete(b, typeKey(t.d.Tenant, o), typ); err != nil {
			return err
		}
	}
	return nil
}

func setOrDelete[V any](b *kv.Batch, key []byte, v *V) error {
	if v == nil {
		return b.Delete(key)
	}
	value, err := encode(v)
	if err != nil {
		return err
	}
	return b.Set(key, value)
}

// undisturbed refuses what takes effect at once and would meet the changes of a
// transaction that has not ended; s.mu is held. old is the relation before, or nil, and
// r the one after.
func (s *Store) undisturbed(d Database, old, r *catalog.Relation) error {
	t := s.open[d.Tenant]
	if t == nil {
		return nil
	}
	for n, other := range t.relations {
		clash := old != nil && n == old.ID
		if r != nil && !clash {
			committed := s.relations[d.Tenant][n]
			clash = sameName(other, r) || sameName(committed, r) || r.ContinuousView != nil && n == r.ContinuousView.Stream
		}
		if clash {
			return errOpen("relation", r, old)
		}
	}
	if r != nil {
		if _, changed := t.schemas[r.Schema]; changed {
			return errOpen("the schema of relation", r, old)
		}
		if t.usesOpenTypes(r) {
			return errOpenType(r)
		}
	}
	return nil
}

func sameName(a, b *catalog.Relation) bool {
	return a != nil && a.Schema == b.Schema && a.Name == b.Name
}

func errOpen(what string, r, old *catalog.Relation) error {
	if r == nil {
		r = old
	}
	return sqlerr.New(sqlerr.LockNotAvailable, "%s %q is changed by a transaction that has not ended", what, r.Name).
		WithHint("Statements about streams and continuous views take effect at once. Try again when the transaction has ended.")
}
