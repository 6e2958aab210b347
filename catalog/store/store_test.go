package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/vfs"
)

// TestNumbersAreGivenOnce: whether a number was reserved or taken at once, used or
// left, before a restart or after, no two relations have the same, a name is taken
// once, and what came in a relation's batch is there with it.
func TestNumbersAreGivenOnce(t *testing.T) {
	fs := vfs.Memory()
	owner := map[id.Relation]string{}
	for run := range 3 {
		db, err := kv.Open("data", kv.Config{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(db, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		d, err := s.Database(store.DefaultDatabase)
		if err != nil {
			t.Fatal(err)
		}
		for number, name := range owner {
			if r := s.Snapshot(d.Tenant).ByID(number); r == nil || r.Name != name {
				t.Fatalf("run %d: relation %d is %v, want %s", run, number, r, name)
			}
		}
		for i := range 30 {
			r := catalog.Relation{Name: fmt.Sprintf("t%d_%d", run, i), Kind: catalog.KindTable, Table: &catalog.Table{}}
			if i%3 != 0 {
				r.ID = s.Reserve()
			}
			if i%3 == 2 {
				continue // reserved and left
			}
			tx, batch := s.Begin(d), db.NewBatch()
			if err := errors.Join(batch.Set([]byte("with "+r.Name), nil), tx.Create(&r)); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(batch); err != nil {
				t.Fatal(err)
			}
			if other, taken := owner[r.ID]; taken {
				t.Fatalf("%s and %s are both relation %d", other, r.Name, r.ID)
			}
			owner[r.ID] = r.Name
			again := r
			again.ID = 0
			if err := s.Begin(d).Create(&again); sqlerr.CodeOf(err) != sqlerr.DuplicateTable {
				t.Fatalf("the same name again: %v, want 42P07", err)
			}
			if _, ok, err := db.Get([]byte("with " + r.Name)); !ok || err != nil {
				t.Fatalf("what came with %s is there: %v, %v", r.Name, ok, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
