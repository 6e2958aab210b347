package store_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/vfs"
)

func begin(t *testing.T) (*kv.Store, *store.Store, store.Database) {
	t.Helper()
	db, err := kv.Open("data", kv.Config{FS: vfs.Memory()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := store.Open(db, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Database(store.DefaultDatabase)
	if err != nil {
		t.Fatal(err)
	}
	return db, s, d
}

// held returns what a snapshot holds: relations by name with their owners, and schemas.
func held(s *catalog.Snapshot) map[string]string {
	out := map[string]string{}
	for _, r := range s.Relations() {
		if s.ByID(r.ID) != r || s.ByName(r.Schema, r.Name) != r {
			panic("a snapshot of two minds")
		}
		out[r.Name] = r.Owner
	}
	for _, schema := range s.Schemas {
		out["schema "+schema.Name] = schema.Owner
	}
	for _, typ := range s.Types {
		if found, array := s.TypeByName(typ.Schema, typ.Name); found != typ || array || s.TypeByOID(typ.OID.ArrayOf()) != typ {
			panic("a snapshot of two minds")
		}
		out["type "+typ.Name] = typ.Labels[0].Text
	}
	return out
}

// expectLabels compares how values of the types are written with what they should be:
// everyone sees what is committed, and who has changed them what they are now.
func expectLabels(t *rapid.T, committed *catalog.Snapshot, tx *store.Tx) {
	for opts, snapshot := range map[*types.TextOptions]*catalog.Snapshot{nil: committed, {Enums: tx.Types()}: tx.Snapshot()} {
		for _, typ := range snapshot.Types {
			value := types.Datum{Type: types.Of(typ.OID), Int: typ.Labels[0].Position}
			if got := types.FormatDatum(value, opts); got != typ.Labels[0].Text {
				t.Fatalf("label %s of %s instead of %s", got, typ.Name, typ.Labels[0].Text)
			}
			if d, err := types.Parse(value.Type, []byte(typ.Labels[0].Text), nil); err != nil || d.Int != value.Int {
				t.Fatalf("%s is %d, %v", typ.Labels[0].Text, d.Int, err)
			}
		}
	}
}

// named returns the type of a name, or nil.
func named(tx *store.Tx, name string) *catalog.Type {
	typ, _ := tx.Snapshot().TypeByName("public", name)
	return typ
}

// TestTransactionsOnTheCatalog: whatever a transaction does and undoes, its snapshot is
// what a map would hold; the committed one changes with the commit only, and what was
// committed is there after another start. No two different snapshots have one version.
func TestTransactionsOnTheCatalog(t *testing.T) {
	db, s, d := begin(t)
	twin, versions := map[string]string{}, map[uint64]map[string]string{}
	see := func(t *rapid.T, snapshot *catalog.Snapshot, want map[string]string) {
		got := held(snapshot)
		if !maps.Equal(got, want) {
			t.Fatalf("%v instead of %v", got, want)
		}
		if before, ok := versions[snapshot.Version]; ok && !maps.Equal(before, got) {
			t.Fatalf("version %d was %v and is %v", snapshot.Version, before, got)
		}
		versions[snapshot.Version] = got
	}
	rapid.Check(t, func(t *rapid.T) {
		tx, now := s.Begin(d), maps.Clone(twin)
		var marks []int
		var were []map[string]string
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
			rel := tx.Snapshot().ByName("public", name)
			owner := rapid.StringN(1, 3, 3).Draw(t, "owner")
			typ := named(tx, name)
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case what == 7 && typ == nil:
				o, err := s.ReserveType(types.FirstEnum, types.LastEnum)
				if err != nil {
					t.Fatal(err)
				}
				tx.SetType(&catalog.Type{OID: o, Schema: "public", Name: name, Array: "_" + name, Labels: []catalog.EnumLabel{{Position: 1, Text: owner}}})
				now["type "+name] = owner
			case what <= 8 && what >= 7 && typ != nil:
				next := *typ
				next.Labels = []catalog.EnumLabel{{Position: 1, Text: owner}}
				tx.SetType(&next)
				now["type "+name] = owner
			case what == 9 && typ != nil:
				tx.DropType(typ.OID)
				delete(now, "type "+name)
			case what == 0 && rel == nil:
				if err := tx.Create(&catalog.Relation{Name: name, Owner: owner, Kind: catalog.KindTable, Table: &catalog.Table{}}); err != nil {
					t.Fatal(err)
				}
				now[name] = owner
			case what <= 1 && rel != nil:
				if err := tx.Update(rel.ID, func(r *catalog.Relation) error { r.Owner = owner; return nil }); err != nil {
					t.Fatal(err)
				}
				now[name] = owner
			case what == 2 && rel != nil:
				if err := tx.Drop(rel.ID); err != nil {
					t.Fatal(err)
				}
				delete(now, name)
			case what == 3:
				tx.CreateSchema(name, owner, time.Unix(0, 0))
				now["schema "+name] = owner
			case what == 4 && tx.Snapshot().HasSchema(name):
				if err := tx.DropSchema(name); err != nil {
					t.Fatal(err)
				}
				delete(now, "schema "+name)
			case what == 5:
				marks, were = append(marks, tx.Savepoint()), append(were, maps.Clone(now))
			case what == 6 && len(marks) > 0:
				n := rapid.IntRange(0, len(marks)-1).Draw(t, "mark")
				tx.RollbackTo(marks[n])
				now = maps.Clone(were[n])
				marks, were = marks[:n+1], were[:n+1]
			}
			see(t, tx.Snapshot(), now)
			see(t, s.Snapshot(d.Tenant), twin)
			expectLabels(t, s.Snapshot(d.Tenant), tx)
		}
		if !rapid.Bool().Draw(t, "commit") {
			tx.Rollback()
			see(t, tx.Snapshot(), twin)
			return
		}
		if err := tx.Commit(db.NewBatch()); err != nil {
			t.Fatal(err)
		}
		twin = now
		see(t, s.Snapshot(d.Tenant), twin)
		again, err := store.Open(db, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		if got := held(again.Snapshot(d.Tenant)); !maps.Equal(got, twin) {
			t.Fatalf("%v after a start instead of %v", got, twin)
		}
	})
}

// TestWhatTakesEffectAtOnce is refused where it meets a transaction that has not ended,
// and nowhere else.
func TestWhatTakesEffectAtOnce(t *testing.T) {
	_, s, d := begin(t)
	made := map[string]id.Relation{}
	for _, name := range []string{"stream", "dropped", "changed"} {
		r, err := s.Create(d, catalog.Relation{Name: name, Kind: catalog.KindStream, Stream: &catalog.Stream{}})
		if err != nil {
			t.Fatal(err)
		}
		made[name] = r.ID
	}
	tx := s.Begin(d)
	tx.CreateSchema("fresh", "", time.Unix(0, 0))
	err := tx.Create(&catalog.Relation{Name: "table", Kind: catalog.KindTable, Table: &catalog.Table{}})
	if err == nil {
		err = tx.Drop(made["dropped"])
	}
	if err == nil {
		err = tx.Update(made["changed"], func(r *catalog.Relation) error { r.Name = "renamed"; return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	create := func(schema, name, of string) func() error {
		return func() error {
			r := catalog.Relation{Schema: schema, Name: name, Kind: catalog.KindStream, Stream: &catalog.Stream{}}
			if of != "" {
				r = catalog.Relation{Schema: schema, Name: name, Kind: catalog.KindContinuousView, ContinuousView: &catalog.ContinuousView{Stream: made[of]}}
			}
			_, err := s.Create(d, r)
			return err
		}
	}
	update := func(name string) func() error {
		return func() error {
			_, err := s.Update(d, made[name], func(*catalog.Relation) error { return nil })
			return err
		}
	}
	clashes := map[string]func() error{
		"the name of a new table":            create("", "table", ""),
		"the name of what was dropped":       create("", "dropped", ""),
		"the name that was given up":         create("", "changed", ""),
		"the name that was given":            create("", "renamed", ""),
		"in a new schema":                    create("fresh", "x", ""),
		"a view of what was dropped":         create("", "view", "dropped"),
		"a change of what was changed":       update("changed"),
		"a change of what was dropped":       update("dropped"),
		"another drop of what was dropped":   func() error { return s.Drop(d, made["dropped"]) },
		"another drop of what was renamed":   func() error { return s.Drop(d, made["changed"]) },
		"a view of what was renamed, at all": create("", "view", "changed"),
	}
	for what, do := range clashes {
		if err := do(); sqlerr.CodeOf(err) != sqlerr.LockNotAvailable {
			t.Errorf("%s: %v, want 55P03", what, err)
		}
	}
	for n, do := range []func() error{create("", "other", ""), create("", "other_view", "stream"), update("stream")} {
		if err := do(); err != nil {
			t.Errorf("what does not meet it, %d: %v", n, err)
		}
	}
	if err := tx.Drop(made["stream"]); sqlerr.CodeOf(err) != sqlerr.DependentObjectsStillExist {
		t.Errorf("a stream of which another has made a view: %v, want 2BP01", err)
	}
	tx.Rollback()
	for _, what := range []string{"in a new schema", "the name of a new table", "a change of what was changed", "a view of what was dropped"} {
		if err := clashes[what](); err != nil {
			t.Errorf("after the rollback, %s: %v", what, err)
		}
	}
	if got := fmt.Sprint(len(s.Snapshot(d.Tenant).Relations())); got != "8" {
		t.Errorf("%s relations at the end", got)
	}
}
