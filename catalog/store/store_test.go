package store_test

import (
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
// once, and what came in a relation's batch is there with it and not without.
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
			batch := db.NewBatch()
			if i%3 != 0 {
				r.ID = s.Reserve()
			}
			if i%3 == 2 {
				batch.Discard()
				continue // reserved and left
			}
			if err := batch.Set([]byte("with "+r.Name), nil); err != nil {
				t.Fatal(err)
			}
			made, err := s.CreateWith(d, r, batch)
			if err != nil {
				t.Fatal(err)
			}
			if other, taken := owner[made.ID]; taken {
				t.Fatalf("%s and %s are both relation %d", other, made.Name, made.ID)
			}
			owner[made.ID] = made.Name
			again := db.NewBatch()
			if err := again.Set([]byte("again "+r.Name), nil); err != nil {
				t.Fatal(err)
			}
			if _, err := s.CreateWith(d, r, again); sqlerr.CodeOf(err) != sqlerr.DuplicateTable {
				t.Fatalf("the same name again: %v, want 42P07", err)
			}
			for key, want := range map[string]bool{"with ": true, "again ": false} {
				if _, ok, err := db.Get([]byte(key + r.Name)); ok != want || err != nil {
					t.Fatalf("%s%s is there: %v, %v", key, r.Name, ok, err)
				}
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
