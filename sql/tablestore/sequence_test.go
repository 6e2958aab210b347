package tablestore_test

import (
	"context"
	"testing"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/tablestore"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/vfs"
)

// TestSequencesOutliveTheProcess: no number comes twice; a crash skips a bounded number
// of them, an orderly end none.
func TestSequencesOutliveTheProcess(t *testing.T) {
	store, err := kv.Open("data", kv.Config{FS: vfs.Memory()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	rel := &catalog.Relation{ID: 20_000, Name: "s", Kind: catalog.KindSequence, Sequence: &catalog.Sequence{
		Type: types.Int8, Start: 1, Increment: 3, Min: 1, Max: 1000,
	}}
	take := func(tables *tablestore.Store, n int) (last int64) {
		for range n {
			v, err := tables.Begin().NextValue(context.Background(), rel)
			if err != nil {
				t.Fatal(err)
			}
			last = v
		}
		return last
	}
	tables := tablestore.New(store, id.Tenant(1))
	if v := take(tables, 5); v != 13 {
		t.Fatalf("the fifth is %d", v)
	}
	tables = tablestore.New(store, id.Tenant(1)) // as after a crash
	after := take(tables, 1)
	if after <= 13 || after > 13+3*33 {
		t.Fatalf("%d after a crash", after)
	}
	if err := tables.Close(); err != nil {
		t.Fatal(err)
	}
	if v := take(tablestore.New(store, id.Tenant(1)), 1); v != after+3 {
		t.Fatalf("%d after an orderly end, not %d", v, after+3)
	}
}
