package sqllogictest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tallydb/tallydb/server"
)

// TestComparison runs a small suite of mixed dialects with a node as the oracle and
// another as the target, which lacks a table.
func TestComparison(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.test": "require plugin\n\nstatement ok con1\nCREATE TABLE t (a int)\n\nloop i 0 3\n\nstatement ok\nINSERT INTO t VALUES (${i})\n\nendloop\n\n" +
			"query I\nSELECT a FROM t ORDER BY a\n----\n0\n1\n2\n\nquery II rowsort\nSELECT a, a FROM t\n----\n2\n2\n0\n0\n1\n1\n\n" +
			"query T\nSELECT 1 = 1\n----\n1\n\nquery R\nSELECT 1.5\n----\n1.500\n\nstatement error\nSELECT 1/0\n----\nsome other text\n\n" +
			"statement maybe\nSELECT nosuch\n\nquery I\nSELECT 1\n----\n2\n\nstatement ok\nPRAGMA nothing\n\nmode skip\n\nstatement ok\nSELECT 1\n\nmode unskip\n",
		"b.slt":            "include ./parts/*.slt.part\n\nsleep 1s\n",
		"parts/c.slt.part": "query TT\nselect 'a', 't'::bool;\n----\na t\n\nquery I\nselect count(*) from only_oracle\n----\n0\n\nstatement error db error: whatever\nselect * from nosuch\n\nsystem ok\ntouch nothing\n",
		"d.slt":            "endloop\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opener := func(setup string) Opener {
		return func(ctx context.Context) (Target, func() error, error) {
			l, err := OpenLocal(server.Config{DataDir: t.TempDir(), SegmentBytes: 1 << 20})
			if err == nil && setup != "" {
				err = (&Remote{admin: l.URL()}).exec(ctx, setup)
			}
			return l, l.Close, err
		}
	}
	c := &Comparison{Engine: "postgresql", Timeout: 30 * time.Second, Oracle: opener("CREATE TABLE only_oracle (a int)"), Target: opener("")}
	got, err := c.Run(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if got.Files != 3 || got.Unparsed != 1 || got.Records != 15 || got.Expected != 12 || got.Same != 11 || got.Skipped != 4 {
		t.Errorf("%+v", got)
	}
	if worst := got.Worst(); len(worst) != 1 || worst[0].Name != "42P01 relation … does not exist" {
		t.Errorf("%+v", worst)
	}
}

// TestForeignValues: what the dialects write for a value.
func TestForeignValues(t *testing.T) {
	for _, c := range []struct {
		want, got     string
		letter, asked byte
		fits          bool
	}{
		{"a", "a", 'T', 'T', true},
		{"", Empty, 'T', 'T', true},
		{"true", "t", 'B', 'T', true},
		{"0", "f", 'B', 'I', true},
		{"1", "f", 'B', 'I', false},
		{"2.000", "2", 'I', 'R', true},
		{"2", "2.7", 'R', 'I', true},
		{"0.1", "0.10000000000000001", 'R', 'R', true},
		{"0.1", "0.2", 'R', 'R', false},
		{"1", "1.0", 'T', 'T', false},
	} {
		if valueMeets(c.want, c.got, c.letter, c.asked) != c.fits {
			t.Errorf("%+v", c)
		}
	}
	r := &result{types: "IR", rows: [][]string{{"1", "2"}, {"3", Null}}}
	if rec := (&Record{Types: "IR"}); !meets(rec, r, []string{valueHash(&result{rows: [][]string{{"1", "2.000"}, {"3", Null}}}, "")}) {
		t.Error("a hash of numbers with three places")
	}
}
