package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage/kv"
)

// makeTemporary makes a table in a schema of temporary objects, and commits it.
func makeTemporary(t *testing.T, db *kv.Store, s *store.Store, d store.Database, schema string) *catalog.Relation {
	t.Helper()
	tx := s.Begin(d)
	tx.CreateSchema(schema, catalog.BootstrapRole, time.Unix(0, 0))
	r := &catalog.Relation{Schema: schema, Name: "t", Kind: catalog.KindTable, Table: &catalog.Table{}}
	if err := errors.Join(tx.Create(r), tx.Commit(db.NewBatch())); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDropTemporary: it drops one schema, beside transactions that are open, but not what
// one of them has changed; and none brings back what is gone.
func TestDropTemporary(t *testing.T) {
	db, s, d := begin(t)
	mine, other := makeTemporary(t, db, s, d, "pg_temp_1"), makeTemporary(t, db, s, d, "pg_temp_2")
	var erased []id.Relation
	drop := func(schema string) bool {
		done, err := s.DropTemporary(d, schema, func(*catalog.Relation) *catalog.Relation { return nil }, func(_ *kv.Batch, storages []id.Relation) error {
			erased = storages
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	open := s.Begin(d)
	change := func(r *catalog.Relation) error {
		return open.Update(r.ID, func(next *catalog.Relation) error {
			next.Columns = nil
			return nil
		})
	}
	if err := change(mine); err != nil {
		t.Fatal(err)
	}
	if drop("pg_temp_1") {
		t.Error("what a transaction has changed was dropped under it")
	}
	if !drop("pg_temp_2") || len(erased) != 1 || erased[0] != other.StorageID() {
		t.Errorf("what nobody changed was not dropped, or erased %v", erased)
	}
	if err := change(other); sqlerr.CodeOf(err) != sqlerr.UndefinedTable {
		t.Errorf("a change of what is gone: %v", err)
	}
	if err := open.Commit(db.NewBatch()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // once more, and nothing is there
		if !drop("pg_temp_1") {
			t.Error("it was not dropped after the transaction")
		}
	}
	again, err := store.Open(db, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*store.Store{s, again} {
		if now := s.Snapshot(d.Tenant); len(now.Relations()) != 0 || len(now.Schemas) != 0 {
			t.Errorf("left: %v and %v", now.Relations(), now.Schemas)
		}
	}
}

// TestDropTemporaryFreesOthers: what names something in the schema is changed with it, but
// not under a transaction that has changed that, or has made more of the kind.
func TestDropTemporaryFreesOthers(t *testing.T) {
	db, s, d := begin(t)
	makeTemporary(t, db, s, d, "pg_temp_1")
	names := func(name string) *catalog.Relation {
		return &catalog.Relation{Name: name, Kind: catalog.KindTable, Table: &catalog.Table{Defaults: map[int]string{0: "here"}}}
	}
	drop := func() bool {
		done, err := s.DropTemporary(d, "pg_temp_1", func(r *catalog.Relation) *catalog.Relation {
			if r.Table.Defaults[0] != "here" {
				return nil
			}
			next := *r
			next.Table = &catalog.Table{}
			return &next
		}, func(*kv.Batch, []id.Relation) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	first, second := names("first"), names("second")
	for _, change := range []func(*store.Tx) error{
		func(tx *store.Tx) error { return tx.Create(first) },
		func(tx *store.Tx) error { return tx.Create(second) },
		func(tx *store.Tx) error {
			return tx.Update(first.ID, func(r *catalog.Relation) error { r.Table = &catalog.Table{}; return nil })
		},
	} {
		tx := s.Begin(d)
		if err := change(tx); err != nil {
			t.Fatal(err)
		}
		if drop() {
			t.Error("it was dropped under a transaction")
		}
		if err := tx.Commit(db.NewBatch()); err != nil {
			t.Fatal(err)
		}
	}
	was := s.Snapshot(d.Tenant).ByID(second.ID).Version
	if !drop() {
		t.Error("it was not dropped")
	}
	again, err := store.Open(db, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*store.Store{s, again} {
		now := s.Snapshot(d.Tenant)
		if r := now.ByID(second.ID); len(now.Relations()) != 2 || len(r.Table.Defaults) != 0 || r.Version <= was {
			t.Errorf("left: %v, %v at version %d", now.Relations(), r.Table, r.Version)
		}
	}
}

// TestDefinitionsKeepTheDatabase: a transaction of a session that began before the database
// was changed leaves that change.
func TestDefinitionsKeepTheDatabase(t *testing.T) {
	db, s, d := begin(t)
	acl := catalog.ACL{{Grantor: catalog.BootstrapRole, Grantee: "someone", Privileges: catalog.MayConnect}}
	err := s.UpdateDatabase(d.Name, func(d *store.Database) error {
		d.Owner, d.ACL = "someone", acl
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	makeTemporary(t, db, s, d, "pg_temp_1")
	if now := s.Snapshot(d.Tenant); now.Owner != "someone" || len(now.ACL) != 1 {
		t.Errorf("the database belongs to %q and has %v", now.Owner, now.ACL)
	}
}
