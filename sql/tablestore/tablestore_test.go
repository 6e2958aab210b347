package tablestore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/tablestore"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/vfs"
)

func open(t testing.TB) *tablestore.Store {
	store, err := kv.Open("data", kv.Config{FS: vfs.Memory()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return tablestore.New(store, 1)
}

func table(number id.Relation) *catalog.Relation {
	return &catalog.Relation{
		ID: number, Name: fmt.Sprintf("t%d", number), Schema: "public", Kind: catalog.KindTable,
		Columns: []types.Column{{Name: "k", Type: types.Of(types.Int8), NotNull: true}, {Name: "v", Type: types.Of(types.Text)}},
		Table:   &catalog.Table{PrimaryKey: []int{0}},
	}
}

func rows(t *catalog.Relation, of map[int64]string) *types.Batch {
	b := types.NewBatch(t.RowSchema(), 0)
	for _, k := range slices.Sorted(maps.Keys(of)) {
		b.Cols[0].AppendInt(k)
		b.Cols[1].AppendString(of[k])
		b.Rows++
	}
	return b
}

// statement begins a statement, to the end of the test.
func statement(t *testing.T, tx *tablestore.Tx) *tablestore.Statement {
	st := &tablestore.Statement{Tx: tx}
	t.Cleanup(st.Close)
	return st
}

// read scans a table: its values by key, and the identities of their rows.
func read(t *rapid.T, tx *tablestore.Tx, rel *catalog.Relation) (values map[int64]string, ids map[int64]int64) {
	st := &tablestore.Statement{Tx: tx}
	defer st.Close()
	src, err := st.Scan(context.Background(), rel, []int{1, plan.RowID, 0})
	if err != nil {
		t.Fatal(err)
	}
	values, ids = map[int64]string{}, map[int64]int64{}
	for {
		b, err := src.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		for i := range b.Rows {
			k := b.Cols[2].Ints[i]
			values[k], ids[k] = string(b.Cols[0].Bytes(i)), b.Cols[1].Ints[i]
		}
	}
	if err := src.Close(); err != nil {
		t.Fatal(err)
	}
	return values, ids
}

// TestScansSeeWhatWasCommitted: whatever is written, committed and rolled back, a
// scan sees what a map would hold, from an image or from the rows.
func TestScansSeeWhatWasCommitted(t *testing.T) {
	store := open(t)
	next := id.Relation(0)
	rapid.Check(t, func(t *rapid.T) {
		next += 2
		tables := []*catalog.Relation{table(next), table(next + 1)}
		twins := []map[int64]string{{}, {}}
		ctx := context.Background()
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			n := rapid.IntRange(0, 1).Draw(t, "table")
			rel, twin := tables[n], maps.Clone(twins[n])
			tx := store.Begin()
			for range rapid.IntRange(0, 3).Draw(t, "writes") {
				values, ids := read(t, tx, rel)
				if !maps.Equal(values, twin) {
					t.Fatalf("within: %v instead of %v", values, twin)
				}
				k := rapid.Int64Range(0, 5).Draw(t, "key")
				v := fmt.Sprint(step)
				row := rows(rel, map[int64]string{k: v})
				found, old, err := tx.Find(ctx, rel, rel.Indexes(), row)
				if err != nil {
					t.Fatal(err)
				}
				if was, ok := twin[k]; ok != !found.Nulls.Has(0) || ok && (found.Ints[0] != ids[k] || string(old.Cols[1].Bytes(0)) != was) {
					t.Fatalf("found %v for key %d of %v", found, k, twin)
				}
				_, taken := twin[k]
				switch {
				case !taken:
					twin[k] = v
					_, err = tx.Insert(ctx, rel, row)
				case rapid.Bool().Draw(t, "delete"):
					delete(twin, k)
					err = tx.Delete(ctx, rel, found)
				default:
					twin[k] = v
					err = tx.Update(ctx, rel, found, row)
				}
				if err != nil {
					t.Fatal(err)
				}
				if values, _ = read(t, tx, rel); !maps.Equal(values, twin) {
					t.Fatalf("after a write: %v instead of %v", values, twin)
				}
			}
			if rapid.Bool().Draw(t, "commit") {
				if err := tx.Commit(); err != nil {
					t.Fatal(err)
				}
				twins[n] = twin
			} else {
				tx.Rollback()
			}
			for i := range tables {
				if values, _ := read(t, store.Begin(), tables[i]); !maps.Equal(values, twins[i]) {
					t.Fatalf("table %d: %v instead of %v", i, values, twins[i])
				}
			}
		}
	})
}

// TestScanIsOfOneMoment: a scan that has begun does not see what is committed
// meanwhile, and leaves no image of it behind.
func TestScanIsOfOneMoment(t *testing.T) {
	store, rel, ctx := open(t), table(1), context.Background()
	insert := func(from, to int64) {
		t.Helper()
		values := map[int64]string{}
		for k := from; k < to; k++ {
			values[k] = "v"
		}
		tx := store.Begin()
		if _, err := tx.Insert(ctx, rel, rows(rel, values)); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	count := func(next func() (*types.Batch, error)) (n int) {
		t.Helper()
		for {
			b, err := next()
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				return n
			}
			n += b.Rows
		}
	}
	const first = 2 * types.BatchRows
	insert(0, first)
	src, err := statement(t, store.Begin()).Scan(ctx, rel, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	begun, err := src.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	insert(first, first+10)
	if n := begun.Rows + count(func() (*types.Batch, error) { return src.Next(ctx) }); n != first {
		t.Fatalf("%d rows, of which %d were there", n, first)
	}
	if err := src.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // from the rows, then from their image
		src, err := statement(t, store.Begin()).Scan(ctx, rel, []int{0})
		if err != nil {
			t.Fatal(err)
		}
		if n := count(func() (*types.Batch, error) { return src.Next(ctx) }); n != first+10 {
			t.Fatalf("%d rows instead of %d", n, first+10)
		}
		if err := src.Close(); err != nil {
			t.Fatal(err)
		}
	}
	tx := store.Begin()
	defer tx.Rollback()
	if _, err := tx.Insert(ctx, rel, rows(rel, map[int64]string{5: "x"})); sqlerr.CodeOf(err) != sqlerr.UniqueViolation {
		t.Fatalf("a key twice: %v", err)
	}
}

// TestL11TransactionsAreBounded: whatever a transaction writes, it fails with 54000
// before it takes more memory than it may, and the next one can write.
func TestL11TransactionsAreBounded(t *testing.T) {
	rel := table(1)
	long := map[int64]string{}
	for k := range int64(100) {
		long[k] = strings.Repeat("x", 1000)
	}
	ids := types.NewVector(types.Of(types.Int8), 0)
	for i := range int64(100) {
		ids.AppendInt(i + 1)
	}
	ctx := context.Background()
	for name, write := range map[string]func(tx *tablestore.Tx, i int64) error{
		"inserts": func(tx *tablestore.Tx, i int64) error {
			_, err := tx.Insert(ctx, rel, rows(rel, map[int64]string{1000 + i: strings.Repeat("x", 1000)}))
			return err
		},
		"updates": func(tx *tablestore.Tx, _ int64) error { return tx.Update(ctx, rel, ids, rows(rel, long)) },
		"updates after a savepoint": func(tx *tablestore.Tx, _ int64) error {
			mark := tx.Savepoint()
			if err := tx.Update(ctx, rel, ids, rows(rel, long)); err != nil {
				return err
			}
			return tx.RollbackTo(mark)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			first := s.Begin()
			_, err := first.Insert(ctx, rel, rows(rel, long))
			if err = errors.Join(err, first.Commit()); err != nil {
				t.Fatal(err)
			}
			s.TransactionBytes = 1 << 20
			tx := s.Begin()
			for i := int64(0); i < 5000 && err == nil; i++ {
				err = write(tx, i)
			}
			if sqlerr.CodeOf(err) != sqlerr.ProgramLimitExceeded {
				t.Errorf("ends with %v, want 54000", err)
			}
			tx.Rollback()
			next := s.Begin()
			if err := errors.Join(write(next, 0), next.Commit()); err != nil {
				t.Errorf("the next transaction: %v", err)
			}
		})
	}
}
