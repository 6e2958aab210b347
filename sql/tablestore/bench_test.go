package tablestore

import (
	"context"
	"testing"

	"github.com/tallydb/tallydb/sql/types"
)

// BenchmarkScan reads 400,000 rows from their image, after a commit that changed one of
// them, and where there is no image.
func BenchmarkScan(b *testing.B) {
	const n = 400 * types.BatchRows
	s, rel, amounts := accounts(b, n)
	scan := func(b *testing.B) {
		b.Helper()
		st, err := s.Begin().Statement(rel.StorageID())
		if err != nil {
			b.Fatal(err)
		}
		defer st.Close()
		src, err := st.Scan(context.Background(), rel, []int{0})
		if err != nil {
			b.Fatal(err)
		}
		rows := 0
		for {
			batch, err := src.Next(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			if batch == nil {
				break
			}
			rows += batch.Rows
		}
		if rows != n {
			b.Fatalf("%d rows", rows)
		}
	}
	change := func(b *testing.B, i int) {
		b.Helper()
		row := i*7919%n + 1
		tx := s.Begin()
		if err := tx.Update(context.Background(), rel, vectorOf(int64(row)), accountRows(rel, amounts[row-1])); err != nil {
			b.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	scan(b)
	b.Run("image", func(b *testing.B) {
		for b.Loop() {
			scan(b)
		}
	})
	b.Run("after a change", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			change(b, i)
			scan(b)
		}
	})
	b.Run("no image", func(b *testing.B) {
		for b.Loop() {
			s.images.mu.Lock()
			s.images.drop(rel.StorageID())
			s.images.mu.Unlock()
			scan(b)
		}
	})
}
