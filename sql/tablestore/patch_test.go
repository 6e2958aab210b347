package tablestore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/vfs"
)

// accounts is a table of amounts and notes, of which few differ.
func accounts(t testing.TB, n int) (*Store, *catalog.Relation, []int64) {
	store, err := kv.Open("data", kv.Config{FS: vfs.Memory()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	rel := &catalog.Relation{
		ID: 7, Name: "accounts", Schema: "public", Kind: catalog.KindTable, Table: &catalog.Table{},
		Columns: []types.Column{{Name: "amount", Type: types.Of(types.Int8)}, {Name: "note", Type: types.Of(types.Text)}},
	}
	s := New(store, 1)
	tx := s.Begin()
	amounts := make([]int64, n)
	for i := range amounts {
		amounts[i] = int64(i)
	}
	if _, err := tx.Insert(context.Background(), rel, accountRows(rel, amounts...)); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return s, rel, amounts
}

func accountRows(rel *catalog.Relation, amounts ...int64) *types.Batch {
	b := types.NewBatch(rel.RowSchema(), len(amounts))
	for _, a := range amounts {
		b.Cols[0].AppendInt(a)
		b.Cols[1].AppendString(fmt.Sprintf("note %d", a%7))
		b.Rows++
	}
	return b
}

func vectorOf(rows ...int64) *types.Vector {
	v := types.NewVector(types.Of(types.Int8), len(rows))
	for _, r := range rows {
		v.AppendInt(r)
	}
	return v
}

// scanAll returns the rows in the order of the scan: identity and amount.
func scanAll(tx *Tx, rel *catalog.Relation) (out [][2]int64, err error) {
	st, err := tx.Statement(rel.StorageID())
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return scanStatement(st, rel)
}

func scanStatement(st *Statement, rel *catalog.Relation) (out [][2]int64, err error) {
	src, err := st.Scan(context.Background(), rel, []int{0, 1, plan.RowID})
	if err != nil {
		return nil, err
	}
	for {
		b, err := src.Next(context.Background())
		if err != nil || b == nil {
			return out, errors.Join(err, src.Close())
		}
		notes := b.Cols[1].Flat()
		for i := range b.Rows {
			amount := b.Cols[0].Ints[i]
			if string(notes.Bytes(i)) != fmt.Sprintf("note %d", amount%7) {
				return nil, fmt.Errorf("note %q of %d", notes.Bytes(i), amount)
			}
			out = append(out, [2]int64{b.Cols[2].Ints[i], amount})
		}
	}
}

// TestImagesArePatched: a change takes out of an image what has its rows and nothing
// else, and the next scan puts that back; whatever was inserted, updated, deleted and
// rolled back, scans yield what is committed, in the order of identities.
func TestImagesArePatched(t *testing.T) {
	const n = 8 * types.BatchRows
	s, rel, _ := accounts(t, n)
	model := map[int64]int64{}
	last := int64(n)
	for i := range int64(n) {
		model[i+1] = i
	}
	rng := rand.New(rand.NewPCG(3, 4))
	check := func(step int) {
		t.Helper()
		tx := s.Begin()
		got, err := scanAll(tx, rel)
		if err != nil {
			t.Fatal(err)
		}
		before := int64(0)
		for _, r := range got {
			if amount, ok := model[r[0]]; !ok || amount != r[1] || r[0] <= before {
				t.Fatalf("step %d: row %d has %d, want %d, %v; after row %d", step, r[0], r[1], amount, ok, before)
			}
			before = r[0]
		}
		if len(got) != len(model) {
			t.Fatalf("step %d: %d rows, want %d", step, len(got), len(model))
		}
	}
	check(0)
	patches := 0
	for step := range 120 {
		tx := s.Begin()
		undone := rng.IntN(5) == 0
		next := map[int64]*int64{}
		for range 1 + rng.IntN(3) {
			amount := rng.Int64N(1000)
			row := 1 + rng.Int64N(last)
			var err error
			switch _, there := model[row]; {
			case rng.IntN(3) == 0:
				var first int64
				first, err = tx.Insert(context.Background(), rel, accountRows(rel, amount))
				next[first] = &amount
			case !there || next[row] != nil:
				continue
			case rng.IntN(2) == 0:
				err = tx.Update(context.Background(), rel, vectorOf(row), accountRows(rel, amount))
				next[row] = &amount
			default: // a run of rows
				for r := row; r < row+rng.Int64N(100) && err == nil; r++ {
					if _, there := model[r]; there && next[r] == nil {
						err = tx.Delete(context.Background(), rel, vectorOf(r))
						gone := int64(-1)
						next[r] = &gone
					}
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		checkOwn(t, tx, rel, model, next)
		if undone {
			tx.Rollback()
		} else {
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			for row, amount := range next {
				if last = max(last, row); *amount < 0 {
					delete(model, row)
				} else {
					model[row] = *amount
				}
			}
		}
		if held := s.images.held[rel.StorageID()]; held != nil && !held.complete() {
			patches++
			missing := 0
			for _, c := range held.chunks {
				if c.batch == nil {
					missing++
				}
			}
			if missing > 9 {
				t.Errorf("step %d: %d of %d chunks are out after small changes", step, missing, len(held.chunks))
			}
		}
		if rng.IntN(3) > 0 {
			check(step)
		}
		if held := s.images.held[rel.StorageID()]; held != nil {
			checkSums(t, held)
		}
	}
	if patches < 40 {
		t.Errorf("only %d changes left a part of an image", patches)
	}
}

// checkOwn checks that a transaction sees its own changes.
func checkOwn(t *testing.T, tx *Tx, rel *catalog.Relation, model map[int64]int64, own map[int64]*int64) {
	t.Helper()
	got, err := scanAll(tx, rel)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int64]bool{}
	for _, r := range got {
		want, ok := model[r[0]]
		if amount := own[r[0]]; amount != nil {
			want, ok = *amount, *amount >= 0
		}
		if !ok || want != r[1] || seen[r[0]] {
			t.Fatalf("within: row %d has %d, want %d, %v, seen %v", r[0], r[1], want, ok, seen[r[0]])
		}
		seen[r[0]] = true
	}
	count := len(model)
	for row, amount := range own {
		switch _, there := model[row]; {
		case there && *amount < 0:
			count--
		case !there:
			count++
		}
	}
	if len(got) != count {
		t.Fatalf("within: %d rows, want %d", len(got), count)
	}
}

func checkSums(t *testing.T, i *image) {
	t.Helper()
	rows := 0
	for _, c := range i.chunks {
		if c.batch != nil {
			rows += c.batch.Rows
		}
	}
	if rows != i.rows || i.bytes <= 0 {
		t.Fatalf("an image of %d rows says %d rows, %d bytes", rows, i.rows, i.bytes)
	}
}

// TestPatchedImagesAreOneState: readers beside a writer, which moves amounts between rows
// that are far apart, always see the same sum, and never a transaction in part.
func TestPatchedImagesAreOneState(t *testing.T) {
	const n = 4 * types.BatchRows
	s, rel, amounts := accounts(t, n)
	sum := int64(0)
	for _, a := range amounts {
		sum += a
	}
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for reads := 0; reads < 10 || !done.Load(); reads++ {
				got, err := scanAll(s.Begin(), rel)
				total := int64(0)
				for _, r := range got {
					total += r[1]
				}
				if err != nil || total != sum || len(got) != n {
					t.Errorf("%d rows, sum %d, want %d: %v", len(got), total, sum, err)
					return
				}
			}
		}()
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 120 {
		from, to := rng.IntN(n), rng.IntN(n)
		if from == to {
			continue
		}
		amounts[from], amounts[to] = amounts[from]+1, amounts[to]-1
		tx := s.Begin()
		if err := tx.Update(context.Background(), rel, vectorOf(int64(from)+1, int64(to)+1), accountRows(rel, amounts[from], amounts[to])); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	done.Store(true)
	wg.Wait()
}

// TestStatementsAreOfOneMoment: a statement that reads two tables, one after the other,
// sees every transaction in both or in neither, while a writer moves amounts between them.
func TestStatementsAreOfOneMoment(t *testing.T) {
	const n = 3 * types.BatchRows
	s, first, amounts := accounts(t, n)
	second := *first
	second.ID, second.Name = 8, "others"
	ctx := context.Background()
	tx := s.Begin()
	if _, err := tx.Insert(ctx, &second, accountRows(&second, amounts...)); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	others := slices.Clone(amounts)
	sum := int64(0)
	for _, a := range amounts {
		sum += 2 * a
	}
	var done atomic.Bool
	var wg sync.WaitGroup
	for known := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for reads := 0; reads < 10 || !done.Load(); reads++ {
				st, err := s.Begin().Statement([]id.Relation{7, 8}[:known%3]...)
				total := int64(0)
				for _, rel := range []*catalog.Relation{first, &second} {
					var got [][2]int64
					if err == nil {
						got, err = scanStatement(st, rel)
					}
					for _, r := range got {
						total += r[1]
					}
				}
				st.Close()
				if err != nil || total != sum {
					t.Errorf("sum %d, want %d: %v", total, sum, err)
					return
				}
			}
		}()
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 120 {
		from, to := rng.IntN(n), rng.IntN(n)
		amounts[from], others[to] = amounts[from]+1, others[to]-1
		tx := s.Begin()
		err := tx.Update(ctx, first, vectorOf(int64(from)+1), accountRows(first, amounts[from]))
		if err == nil {
			err = tx.Update(ctx, &second, vectorOf(int64(to)+1), accountRows(&second, others[to]))
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	done.Store(true)
	wg.Wait()
	if n := len(s.images.changedAt); n != 0 {
		t.Errorf("%d changes are remembered that no moment is older than", n)
	}
}

// TestStatementsDoNotSeeLaterWrites: what a transaction writes after a statement began is
// not seen by the statement, nor what it rolls back to a savepoint; after the end of the
// transaction it reads nothing.
func TestStatementsDoNotSeeLaterWrites(t *testing.T) {
	ctx := context.Background()
	for _, wrote := range []bool{false, true} {
		s, rel, _ := accounts(t, 10)
		tx := s.Begin()
		want := 10
		if wrote {
			if _, err := tx.Insert(ctx, rel, accountRows(rel, 100)); err != nil {
				t.Fatal(err)
			}
			want++
		}
		mark := tx.Savepoint()
		st, err := tx.Statement(rel.StorageID())
		if err != nil {
			t.Fatal(err)
		}
		check := func(st *Statement, want int) {
			t.Helper()
			if got, err := scanStatement(st, rel); err != nil || len(got) != want {
				t.Fatalf("wrote %v: %d rows, want %d: %v", wrote, len(got), want, err)
			}
		}
		for _, a := range []int64{101, 102} {
			if _, err := tx.Insert(ctx, rel, accountRows(rel, a)); err != nil {
				t.Fatal(err)
			}
			if err := tx.Delete(ctx, rel, vectorOf(a-100)); err != nil {
				t.Fatal(err)
			}
			check(st, want)
		}
		later, err := tx.Statement(rel.StorageID())
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.RollbackTo(mark); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Insert(ctx, rel, accountRows(rel, 103)); err != nil {
			t.Fatal(err)
		}
		check(st, want)
		check(later, want)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		src, err := later.Scan(ctx, rel, []int{0})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := src.Next(ctx); err == nil {
			t.Error("a statement reads after the end of its transaction")
		}
		st.Close()
		later.Close()
		if got, err := scanAll(s.Begin(), rel); err != nil || len(got) != want+1 {
			t.Fatalf("%d rows are committed, want %d: %v", len(got), want+1, err)
		}
	}
}
