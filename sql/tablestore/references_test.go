package tablestore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/tablestore"
	"github.com/tallydb/tallydb/sql/types"
)

// referencing returns a table and a reference from it to another, by a key of two
// columns in another order, of which one has another type.
func referencing(number id.Relation) (*catalog.Relation, catalog.Reference) {
	to := &catalog.Relation{
		ID: number, Name: "to", Kind: catalog.KindTable,
		Columns: []types.Column{{Name: "n", Type: types.Of(types.Numeric)}, {Name: "s", Type: types.Of(types.Text)}},
		Table:   &catalog.Table{PrimaryKey: []int{0, 1}},
	}
	from := &catalog.Relation{
		ID: number + 1, Name: "from", Kind: catalog.KindTable,
		Columns: []types.Column{{Name: "s", Type: types.Of(types.Varchar)}, {Name: "i", Type: types.Of(types.Int4)}},
		Table: &catalog.Table{ForeignKeys: []catalog.ForeignKey{{
			ID: number + 2, Name: "k", Columns: []int{0, 1}, Target: to.ID, Index: to.ID, Places: []int{1, 0},
			KeyTypes: []types.Type{types.Of(types.Text), types.Of(types.Numeric)},
		}}},
	}
	return from, catalog.Reference{Key: &from.Table.ForeignKeys[0], From: from, To: to, Index: to.Indexes()[0]}
}

// pair makes a row of either table; a negative number is NULL.
func pair(rel *catalog.Relation, s string, n int64) *types.Batch {
	b := types.NewBatch(rel.RowSchema(), 1)
	for i, c := range rel.Columns {
		switch {
		case c.Name == "s":
			b.Cols[i].AppendString(s)
		case n < 0:
			b.Cols[i].AppendNull()
		case c.Type.OID == types.Numeric:
			d, err := types.Parse(c.Type, []byte(fmt.Sprintf("%d.0", n)), &types.TextOptions{})
			if err != nil {
				panic(err)
			}
			b.Cols[i].AppendDatum(d)
		default:
			b.Cols[i].AppendInt(n)
		}
	}
	b.Rows = 1
	return b
}

// TestReferencingIsWhatAScanFinds: whatever is written, rolled back to a savepoint, built
// and dropped, the index of a foreign key has the rows that reference, and no others.
func TestReferencingIsWhatAScanFinds(t *testing.T) {
	store, ctx := open(t), context.Background()
	next := id.Relation(0)
	rapid.Check(t, func(t *rapid.T) {
		next += 3
		from, ref := referencing(next)
		bare := *from
		bare.Table = &catalog.Table{}
		tx := store.Begin()
		defer tx.Rollback()
		held := map[int64]string{} // the key of each row that references
		check := func() {
			for n := range int64(3) {
				for _, s := range []string{"a", "ab"} {
					ids, _, err := tx.Referencing(ctx, &ref, pair(ref.To, s, n), 0, 0)
					if err != nil {
						t.Fatal(err)
					}
					var want []int64
					for row, key := range held {
						if key == fmt.Sprint(s, n) {
							want = append(want, row)
						}
					}
					slices.Sort(want)
					if got := slices.Sorted(slices.Values(ids.Ints)); !slices.Equal(got, want) {
						t.Fatalf("key (%s, %d): rows %v instead of %v", s, n, got, want)
					}
				}
			}
		}
		note := func(row int64, s string, n int64) {
			delete(held, row)
			if n >= 0 {
				held[row] = fmt.Sprint(s, n)
			}
		}
		var rows []int64
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			s, n := rapid.SampledFrom([]string{"a", "ab"}).Draw(t, "s"), rapid.Int64Range(-1, 2).Draw(t, "n")
			switch what := rapid.IntRange(0, 4).Draw(t, "what"); {
			case what <= 1 || len(rows) == 0:
				row, err := tx.Insert(ctx, from, pair(from, s, n))
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, row)
				note(row, s, n)
			case what == 2:
				row := rapid.SampledFrom(rows).Draw(t, "row")
				mark := tx.Savepoint()
				if err := tx.Update(ctx, from, one(row), pair(from, s, n)); err != nil {
					t.Fatal(err)
				}
				if rapid.Bool().Draw(t, "undo") {
					if err := tx.RollbackTo(mark); err != nil {
						t.Fatal(err)
					}
				} else {
					note(row, s, n)
				}
			case what == 3:
				row := rows[0]
				rows = rows[1:]
				if err := tx.Delete(ctx, from, one(row)); err != nil {
					t.Fatal(err)
				}
				delete(held, row)
			default:
				if err := tx.DropReferences(ctx, from, ref.Key); err != nil {
					t.Fatal(err)
				}
				if ids, _, err := tx.Referencing(ctx, &ref, pair(ref.To, "a", 1), 0, 0); err != nil || ids.Len() > 0 {
					t.Fatalf("after the drop: %v, %v", ids, err)
				}
				if err := tx.BuildReferences(ctx, &bare, ref.Key); err != nil {
					t.Fatal(err)
				}
			}
			check()
		}
	})
}

func one(row int64) *types.Vector {
	v := types.NewVector(types.Of(types.Int8), 1)
	v.AppendInt(row)
	return v
}

// TestPresent: a referenced row is found by a key of another type and order.
func TestPresent(t *testing.T) {
	from, ref := referencing(1)
	store, ctx := open(t), context.Background()
	tx := store.Begin()
	defer tx.Rollback()
	if _, err := tx.Insert(ctx, ref.To, pair(ref.To, "a", 7)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s    string
		n    int64
		want bool
	}{{"a", 7, true}, {"a", 8, false}, {"b", 7, false}} {
		if got, err := tx.Present(ctx, &ref, pair(from, c.s, c.n), 0); err != nil || got != c.want {
			t.Errorf("(%s, %d): %v, %v", c.s, c.n, got, err)
		}
	}
	found, rows, err := tx.Fetch(ctx, ref.To, one(1))
	if err != nil || found.Len() != 1 || string(rows.Cols[1].Bytes(0)) != "a" {
		t.Errorf("fetched %v %v %v", found, rows, err)
	}
	if found, _, err = tx.Fetch(ctx, ref.To, one(2)); err != nil || found.Len() != 0 {
		t.Errorf("fetched what is not there: %v %v", found, err)
	}
}

// TestDroppedReferences: a dropped table leaves no keys behind that another with its
// number would find.
func TestDroppedReferences(t *testing.T) {
	from, ref := referencing(1)
	store, ctx := open(t), context.Background()
	tx := store.Begin()
	if _, err := tx.Insert(ctx, from, pair(from, "a", 1)); err != nil {
		t.Fatal(err)
	}
	if err := tx.Free(from.ID); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	tx = store.Begin()
	defer tx.Rollback()
	ids, _, err := tx.Referencing(ctx, &ref, pair(ref.To, "a", 1), 0, 1)
	if err != nil || ids.Len() != 0 {
		t.Errorf("found %v, %v", ids, err)
	}
}

// TestConstraintModes: SET CONSTRAINTS is for a transaction, and a savepoint takes it back.
func TestConstraintModes(t *testing.T) {
	_, ref := referencing(1)
	ref.Key.Deferrable = true
	tx := open(t).Begin()
	expect := func(what string, deferred bool) {
		t.Helper()
		if got := tx.Deferred(ref.Key); got != deferred {
			t.Errorf("%s: deferred is %v", what, got)
		}
	}
	expect("as declared", false)
	mark := tx.Savepoint()
	tx.SetConstraints(nil, true)
	expect("all", true)
	tx.SetConstraints([]id.Relation{ref.Key.ID}, false)
	expect("this one", false)
	tx.SetConstraints(nil, true)
	expect("all again", true)
	if err := tx.RollbackTo(mark); err != nil {
		t.Fatal(err)
	}
	expect("undone", false)
	ref.Key.Deferred = true
	expect("declared otherwise", true)
}

// TestSameKeys: types of one family have equal keys for equal values.
func TestSameKeys(t *testing.T) {
	for _, c := range []struct {
		a, b types.OID
		want bool
	}{
		{types.Int2, types.Int8, true},
		{types.Text, types.Varchar, true},
		{types.Float4, types.Float8, true},
		{types.Date, types.Date, true},
		{types.Int4, types.Numeric, false},
		{types.Date, types.Timestamp, false},
		{types.Bpchar, types.Text, false},
	} {
		if got := tablestore.SameKeys(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %v", types.Of(c.a), types.Of(c.b), got)
		}
	}
}
