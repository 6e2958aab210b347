package spill_test

import (
	"fmt"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/spill"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/vfs"
)

const folder = "temporary"

func open(t testing.TB, fs vfs.FS) *spill.Dir {
	d, err := spill.Open(fs, folder)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func schema() *types.Schema {
	return &types.Schema{Columns: []types.Column{{Name: "n", Type: types.Of(types.Int8)}, {Name: "t", Type: types.Of(types.Text)}}}
}

func batch(from, rows int) *types.Batch {
	b := types.NewBatch(schema(), rows)
	for i := from; i < from+rows; i++ {
		if i%7 == 0 {
			b.Cols[0].AppendNull()
		} else {
			b.Cols[0].AppendInt(int64(i))
		}
		b.Cols[1].AppendString(fmt.Sprint("text ", i))
	}
	b.Rows = rows
	return b
}

func files(t testing.TB, fs vfs.FS) []string {
	names, err := fs.List(folder)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestReadsWhatWasWritten: any batches, more than once.
func TestReadsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fs := vfs.Memory()
		d, err := spill.Open(fs, folder)
		if err != nil {
			t.Fatal(err)
		}
		var quota spill.Quota
		set := d.NewSet(&quota, spill.Unlimited)
		f, err := set.Create()
		if err != nil {
			t.Fatal(err)
		}
		sizes := rapid.SliceOfN(rapid.IntRange(1, 3000), 0, 8).Draw(t, "rows")
		total := 0
		for _, n := range sizes {
			if err := f.Write(batch(total, n)); err != nil {
				t.Fatal(err)
			}
			total += n
		}
		if err := f.Finish(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			b := types.NewBatch(schema(), 0)
			for {
				ok, err := r.Next(b)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				want := batch(at, b.Rows)
				for i := range b.Rows {
					for c := range b.Cols {
						if types.FormatDatum(b.Cols[c].Datum(i), nil) != types.FormatDatum(want.Cols[c].Datum(i), nil) {
							t.Fatalf("row %d differs", at+i)
						}
					}
				}
				at += b.Rows
			}
			if at != total || f.Rows() != int64(total) {
				t.Fatalf("%d rows of %d", at, total)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if quota.Used() != f.Bytes() {
			t.Fatalf("%d bytes are counted of %d", quota.Used(), f.Bytes())
		}
		if err := set.Close(); err != nil {
			t.Fatal(err)
		}
		if names, err := fs.List(folder); err != nil || len(names) != 0 || quota.Used() != 0 {
			t.Fatalf("left: %v, %d bytes, %v", names, quota.Used(), err)
		}
	})
}

// TestOpenRemovesWhatACrashLeft, and only that.
func TestOpenRemovesWhatACrashLeft(t *testing.T) {
	fs := vfs.Memory()
	set := open(t, fs).NewSet(&spill.Quota{}, spill.Unlimited)
	for range 3 {
		f, err := set.Create()
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Write(batch(0, 10)); err != nil {
			t.Fatal(err)
		}
	}
	other, err := fs.Create(fs.PathJoin(folder, "notes"), vfs.CategoryTemporary)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if n := files(t, fs); len(n) != 4 {
		t.Fatalf("files %v", n)
	}
	open(t, fs)
	if n := files(t, fs); len(n) != 1 || n[0] != "notes" {
		t.Errorf("left: %v", n)
	}
}

// TestQuotaIsOfAllFiles: files of several statements count together, and again less
// when they are removed.
func TestQuotaIsOfAllFiles(t *testing.T) {
	d := open(t, vfs.Memory())
	var quota spill.Quota
	a, b := d.NewSet(&quota, 6<<10), d.NewSet(&quota, 6<<10)
	write := func(s *spill.Set) error {
		f, err := s.Create()
		if err != nil {
			t.Fatal(err)
		}
		return f.Write(batch(0, 300))
	}
	if err := write(a); err != nil {
		t.Fatal(err)
	}
	if err := write(b); sqlerr.CodeOf(err) != sqlerr.ConfigurationLimitExceeded {
		t.Fatalf("got %v, want 53400", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := write(b); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamageIsNoticed: whichever byte is another, or missing, rows are not made up.
func TestDamageIsNoticed(t *testing.T) {
	fs := vfs.Memory()
	set := open(t, fs).NewSet(&spill.Quota{}, spill.Unlimited)
	f, err := set.Create()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(batch(0, 20)); err != nil {
		t.Fatal(err)
	}
	if err := f.Finish(); err != nil {
		t.Fatal(err)
	}
	name := fs.PathJoin(folder, files(t, fs)[0])
	in, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	good, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	rewrite := func(content []byte) {
		out, err := fs.Create(name, vfs.CategoryTemporary)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
	}
	read := func() error {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}()
		_, err = r.Next(types.NewBatch(schema(), 0))
		return err
	}
	for i := range good {
		bad := append([]byte(nil), good...)
		bad[i] ^= 0x10
		rewrite(bad)
		if code := sqlerr.CodeOf(read()); code != sqlerr.DataCorrupted {
			t.Errorf("byte %d of %d is another: got %s", i, len(good), code)
		}
	}
	rewrite(good[:len(good)/2])
	if code := sqlerr.CodeOf(read()); code != sqlerr.IOError {
		t.Errorf("half a file: got %s", code)
	}
}
