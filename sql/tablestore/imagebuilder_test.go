package tablestore_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/types"
)

// TestImagesHaveDictionaries: a second scan yields the rows of the first; texts with few
// values have a dictionary then, one for all batches, others have none.
func TestImagesHaveDictionaries(t *testing.T) {
	store := open(t)
	rel := &catalog.Relation{
		ID: 7, Name: "t7", Schema: "public", Kind: catalog.KindTable,
		Columns: []types.Column{{Name: "few", Type: types.Of(types.Text)}, {Name: "many", Type: types.Of(types.Text)}, {Name: "n", Type: types.Of(types.Int8)}},
		Table:   &catalog.Table{},
	}
	const n = 10_000
	in := types.NewBatch(rel.RowSchema(), n)
	for i := range n {
		if i%11 == 0 {
			in.Cols[0].AppendNull()
		} else {
			in.Cols[0].AppendString(fmt.Sprint("value ", i%5))
		}
		in.Cols[1].AppendString(fmt.Sprint("text ", i))
		in.Cols[2].AppendInt(int64(i))
	}
	in.Rows = n
	tx := store.Begin()
	if _, err := tx.Insert(context.Background(), rel, in); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for scan := range 2 {
		src, err := statement(t, store.Begin()).Scan(context.Background(), rel, []int{0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		var dict *types.Dict
		for {
			b, err := src.Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				break
			}
			if few := b.Cols[0].Dict; (few != nil) != (scan > 0) || dict != nil && few != dict || b.Cols[1].Dict != nil {
				t.Fatalf("scan %d: dictionaries %p and %p", scan, few, b.Cols[1].Dict)
			}
			dict = b.Cols[0].Dict
			for i := range b.Rows {
				for c, v := range b.Cols {
					if types.FormatDatum(v.Datum(i), nil) != types.FormatDatum(in.Cols[c].Datum(at+i), nil) || v.IsNull(i) != in.Cols[c].IsNull(at+i) {
						t.Fatalf("scan %d: row %d, column %d is another", scan, at+i, c)
					}
				}
			}
			at += b.Rows
		}
		if at != n {
			t.Fatalf("scan %d: %d rows", scan, at)
		}
		if err := src.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
