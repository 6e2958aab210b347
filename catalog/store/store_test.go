package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
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

// TestWhatIsOlderIsOpened: a descriptor of a version without privileges is open to every
// role. It keeps its owner or, where that is no role, belongs to the bootstrap role, also
// when a role gets the name later.
func TestWhatIsOlderIsOpened(t *testing.T) {
	db, err := kv.Open("data", kv.Config{FS: vfs.Memory()})
	if err != nil {
		t.Fatal(err)
	}
	batch := db.NewBatch()
	for key, value := range map[string]string{
		"c/counter":                  "\x00\x00\x00\x00\x00\x00\x50\x00\x00\x00\x00\x00\x00\x00\x00\x09",
		"c/database/tally":           "\x03" + `{"Name":"tally","Tenant":7}`,
		"c/role/ann":                 "\x01" + `{"Name":"ann","ID":20000,"Flags":{}}`,
		"c/schema/\x00\x00\x00\x07s": "\x02" + `{"ID":20001,"Name":"s","Owner":"ann"}`,
		"c/relation/\x00\x00\x00\x07\x00\x00\x4e\x22": "\x03" + `{"ID":20002,"Schema":"public","Name":"a","Kind":"table","Owner":"ann","Table":{}}`,
		"c/relation/\x00\x00\x00\x07\x00\x00\x4e\x23": "\x01" + `{"ID":20003,"Schema":"public","Name":"h","Kind":"table","Owner":"hugo","Table":{}}`,
		"c/relation/\x00\x00\x00\x07\x00\x00\x4e\x24": "\x03" + `{"ID":20004,"Schema":"public","Name":"q","Kind":"sequence","Owner":"","Sequence":{}}`,
	} {
		if err := batch.Set([]byte(key), []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Commit(true); err != nil {
		t.Fatal(err)
	}
	for run := range 2 {
		s, err := store.Open(db, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		snapshot := s.Snapshot(7)
		for name, want := range map[string]string{
			"a": "[=arwdDxt/ann ann=arwdDxt/ann]", "h": "[=arwdDxt/tally tally=arwdDxt/tally]", "q": "[=rwU/tally tally=rwU/tally]",
		} {
			r := snapshot.ByName("public", name)
			if got := fmt.Sprint(access.Items(r.ACL)); got != want || r.ACL[0].Grantor != r.Owner {
				t.Errorf("run %d: %s is %s of %s, want %s", run, name, got, r.Owner, want)
			}
		}
		for _, x := range []struct {
			acl  catalog.ACL
			want string
		}{
			{snapshot.Schema("s").ACL, "[=UC/ann ann=UC/ann]"}, {snapshot.Schema("public").ACL, "[=UC/tally tally=UC/tally]"}, {snapshot.ACL, "[=CTc/tally tally=CTc/tally]"},
		} {
			if got := fmt.Sprint(access.Items(x.acl)); got != x.want {
				t.Errorf("run %d: %s, want %s", run, got, x.want)
			}
		}
		if run == 0 {
			if err := s.CreateRole(store.Role{Name: "hugo", Flags: map[string]bool{}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
