package exec_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/exec"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/spill"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/vfs"
)

// small is a budget that the statements of these tests exceed.
const small = 256 << 10

// spilling runs statements with a small budget and temporary files.
type spilling struct {
	t     *testing.T
	fs    vfs.FS
	dir   *spill.Dir
	quota spill.Quota
	limit int64
}

func newSpilling(t *testing.T, fs vfs.FS) *spilling {
	dir, err := spill.Open(fs, "temporary")
	if err != nil {
		t.Fatal(err)
	}
	return &spilling{t: t, fs: fs, dir: dir, limit: spill.Unlimited}
}

// run returns a statement's rows, one a string, and its plan with what it took.
func (s *spilling) run(ctx context.Context, sql string, budget int64) ([]string, string, error) {
	s.t.Helper()
	db := newDatabase()
	p, err := parse.ParseOne(sql)
	if err != nil {
		s.t.Fatal(err)
	}
	q, err := bind.Bind(db.bind, p.Statement, nil)
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	env := db.env()
	env.Clock = time.Now
	env.MemoryLimit = budget
	if budget == small {
		env.Spill = s.dir.NewSet(&s.quota, s.limit)
	}
	r, err := exec.Run(ctx, q, env)
	if err != nil {
		return nil, "", err
	}
	var out []string
	for {
		b, err := r.Next(ctx)
		if err != nil {
			return nil, "", errors.Join(err, r.Close())
		}
		if b == nil {
			break
		}
		for i := range b.Rows {
			var row []string
			for _, c := range b.Cols[:len(q.Output)] {
				d := c.Datum(i)
				if row = append(row, "NULL"); !d.Null {
					row[len(row)-1] = types.FormatDatum(d, &types.TextOptions{})
				}
			}
			out = append(out, strings.Join(row, "|"))
		}
	}
	explained := plan.Explain(q.Root, r.Stats)
	return out, explained, r.Close()
}

// empty checks that no file is left.
func (s *spilling) empty() {
	s.t.Helper()
	names, err := s.fs.List("temporary")
	if err != nil || len(names) > 0 {
		s.t.Errorf("%d temporary files are left: %v %v", len(names), names, err)
	}
	if s.quota.Used() != 0 {
		s.t.Errorf("%d bytes are still counted", s.quota.Used())
	}
}

// relation is a common table expression of random rows with a column of each kind of key.
func relation(name string, rng *rand.Rand, rows int) string {
	value := func() string { // of a row, with duplicates
		return fmt.Sprintf("((g * %d + %d) %% %d)", rng.IntN(1000)*2+1, rng.IntN(1000), 3+rng.IntN(2*rows))
	}
	null := func(e string) string {
		return fmt.Sprintf("CASE WHEN (g * %d) %% %d = 0 THEN NULL ELSE %s END", rng.IntN(100)*2+1, 3+rng.IntN(20), e)
	}
	return name + " AS (SELECT g AS id" +
		", " + null(value()) + " AS i" +
		", " + null(fmt.Sprintf("CASE %s %% 5 WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN '-0'::float8 WHEN 2 THEN '-Infinity'::float8 ELSE %s / 8.0 END", value(), value())) + " AS f" +
		", " + null("repeat('ä', "+value()+" % 9) || "+value()) + " AS t" +
		", " + null(value()+"::numeric / 4 - 20") + " AS n" +
		", " + null(value()+" % 2 = 0") + " AS b" +
		", " + null("date '2000-01-01' + "+value()) + " AS d" +
		", " + null("timestamp '2000-01-01' + "+value()+" * interval '1 hour'") + " AS ts" +
		", " + null(value()+" * interval '12 hours'") + " AS v" +
		", " + null("('x' || "+value()+")::bytea") + " AS y" +
		", " + null("md5(("+value()+")::text)::uuid") + " AS u" +
		", " + null(value()+"::text::char(6)") + " AS c" +
		", " + null("ARRAY["+value()+", 1]") + " AS a" +
		fmt.Sprintf(" FROM generate_series(1, %d) g)", rows)
}

// statements are what spills; ordered ones have a total order.
var statements = []struct {
	sql     string
	ordered bool
	shows   string // in the plan
}{
	{"SELECT * FROM p ORDER BY i, id", true, "external merge"},
	{"SELECT * FROM p ORDER BY f DESC, id", true, "external merge"},
	{"SELECT * FROM p ORDER BY t DESC NULLS LAST, d, id", true, "external merge"},
	{"SELECT * FROM p ORDER BY n NULLS FIRST, id DESC", true, "external merge"},
	{"SELECT id, b, v, y FROM p ORDER BY b, v, y DESC, id", true, "external merge"},
	{"SELECT id, ts, u, c, a FROM p ORDER BY c, a, u, ts, id", true, "external merge"},
	{"SELECT id, t FROM p ORDER BY t, id LIMIT 100 OFFSET 6000", true, "external merge"},
	{"SELECT DISTINCT ON (i) i, id, t FROM p ORDER BY i, id", true, "external merge"},
	{"SELECT i, t, count(*), sum(id), min(n), max(d), count(DISTINCT b) FROM p GROUP BY i, t", false, "Batches"},
	{"SELECT f, count(*), avg(id) FROM p GROUP BY f, id / 2", false, "Batches"},
	{"SELECT DISTINCT n, ts, v, y, c FROM p", false, "Batches"},
	{"SELECT u, a, count(*) FROM p GROUP BY ROLLUP (u, a)", false, "Batches"},
	{"SELECT count(*) FROM (SELECT DISTINCT id, u FROM p) s", true, "Batches"},
	{"SELECT p.id, q.id FROM p JOIN q ON p.u = q.u", false, "Batches"},
	{"SELECT p.id, q.id, q.t FROM p JOIN q ON p.id = q.id AND p.i <= q.i + 1000", false, "Batches"},
	{"SELECT p.id, q.id FROM p LEFT JOIN q ON p.t = q.t AND p.id < q.id", false, "Batches"},
	{"SELECT p.id, q.id FROM p RIGHT JOIN q ON p.n = q.n AND p.id = q.id", false, "Batches"},
	{"SELECT p.id, q.id FROM p FULL JOIN q ON p.ts = q.ts AND p.id = q.id", false, "Batches"},
	{"SELECT id FROM p WHERE EXISTS (SELECT FROM q WHERE q.d = p.d AND q.id = p.id + 1)", false, ""},
	{"SELECT id FROM p WHERE NOT EXISTS (SELECT FROM q WHERE q.c = p.c AND q.id <> p.id)", false, ""},
	{"SELECT id, row_number() OVER w, sum(id) OVER w, lag(t) OVER w FROM p WINDOW w AS (PARTITION BY i ORDER BY id)", false, "external merge"},
	{"SELECT id, rank() OVER (PARTITION BY t ORDER BY n), count(*) OVER (PARTITION BY t) FROM p", false, "external merge"},
	{"SELECT count(*), sum(p.id), min(q.t) FROM p, q WHERE p.id = q.id AND EXISTS (SELECT FROM p r WHERE r.id = q.id AND r.i > 3)", true, ""},
}

// TestSpilledIsAsInMemory: what a statement answers does not depend on its memory.
func TestSpilledIsAsInMemory(t *testing.T) {
	seeds := 3
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		with := "WITH " + relation("p", rng, 7000) + ", " + relation("q", rng, 5000) + " "
		for _, c := range statements {
			s := newSpilling(t, vfs.Memory())
			want, _, err := s.run(context.Background(), with+c.sql, 1<<30)
			if err != nil {
				t.Fatalf("%s: %v", c.sql, err)
			}
			got, explained, err := s.run(context.Background(), with+c.sql, small)
			if err != nil {
				t.Errorf("seed %d, %s: %v", seed, c.sql, err)
				continue
			}
			if !c.ordered {
				slices.Sort(want)
				slices.Sort(got)
			}
			if !slices.Equal(got, want) {
				t.Errorf("seed %d, %s: %d rows, want %d, or other ones", seed, c.sql, len(got), len(want))
			}
			if !strings.Contains(explained, c.shows) {
				t.Errorf("seed %d, %s: did not spill:\n%s", seed, c.sql, explained)
			}
			s.empty()
		}
	}
}

// TestSortOfManyFiles: more sorted files than are merged at a time.
func TestSortOfManyFiles(t *testing.T) {
	s := newSpilling(t, vfs.Memory())
	rows, explained, err := s.run(context.Background(), "SELECT g, repeat('x', 100) FROM generate_series(1, 120000) g ORDER BY g % 1000, g DESC", small)
	if err != nil || len(rows) != 120000 || !strings.Contains(explained, "external merge  Disk: ") {
		t.Fatalf("%d rows, %v\n%s", len(rows), err, explained)
	}
	last := [2]int{-1, 0}
	for _, r := range rows {
		var g int
		if _, err := fmt.Sscanf(r, "%d|", &g); err != nil {
			t.Fatal(err)
		}
		next := [2]int{g % 1000, -g}
		if slices.Compare(last[:], next[:]) >= 0 {
			t.Fatalf("%v before %v", last, next)
		}
		last = next
	}
	s.empty()
}

// spillers have each a way to use files.
var spillers = []string{
	"SELECT g, repeat('x', 50) FROM generate_series(1, 30000) g ORDER BY g DESC",
	"SELECT g, repeat('x', 50) FROM generate_series(1, 30000) g GROUP BY g",
	"SELECT a, b FROM generate_series(1, 30000) a JOIN generate_series(1, 30000) b ON a = b",
	"WITH c AS MATERIALIZED (SELECT g, repeat('x', 50) FROM generate_series(1, 30000) g) SELECT count(*) FROM c, (SELECT count(*) FROM c) d",
	"SELECT x, row_number() OVER (PARTITION BY g / 10 ORDER BY g DESC) FROM (SELECT g, repeat('x', 50) AS x FROM generate_series(1, 30000) g) s",
}

// TestSpillingIsLimited: temp_file_limit ends a statement, and nothing is left of it.
func TestSpillingIsLimited(t *testing.T) {
	for _, sql := range spillers {
		s := newSpilling(t, vfs.Memory())
		s.limit = 40 << 10
		if _, _, err := s.run(context.Background(), sql, small); sqlerr.CodeOf(err) != sqlerr.ConfigurationLimitExceeded {
			t.Errorf("%s: got %v, want 53400", sql, err)
		}
		s.empty()
	}
}

// TestSpillingMeetsAFullDisk: 53100 wherever it comes, and nothing is left of the
// statement.
func TestSpillingMeetsAFullDisk(t *testing.T) {
	for _, sql := range spillers {
		for n := 0; n < 40; n += 3 {
			s := newSpilling(t, vfs.FullFrom(vfs.Memory(), "temporary", int64(n)))
			_, _, err := s.run(context.Background(), sql, small)
			if err == nil {
				if n == 0 {
					t.Errorf("%s: did not write", sql)
				}
				break
			}
			if code := sqlerr.CodeOf(err); code != sqlerr.DiskFull {
				t.Errorf("%s, %d: got %v, want 53100", sql, n, err)
			}
			s.empty()
		}
	}
}

// TestSpillingMeetsABrokenDisk: an error of the disk is an error of the statement,
// wherever it comes, and nothing is left of it.
func TestSpillingMeetsABrokenDisk(t *testing.T) {
	for _, sql := range spillers {
		for n := 1; n < 40; n += 3 {
			fs := vfs.Memory()
			s := newSpilling(t, fs)
			dir, err := spill.Open(vfs.FailFrom(fs, "temporary", int64(n)), "temporary")
			if err != nil {
				t.Fatal(err)
			}
			s.dir = dir
			_, _, err = s.run(context.Background(), sql, small)
			if err == nil {
				if n == 1 {
					t.Errorf("%s: did not write", sql)
				}
				break
			}
			if code := sqlerr.CodeOf(err); code != sqlerr.IOError {
				t.Errorf("%s: got %v, want 58030", sql, err)
			}
			s.closed(fs)
		}
	}
}

// closed checks that the files are gone or, where the disk refuses even that, not counted.
func (s *spilling) closed(fs vfs.FS) {
	s.t.Helper()
	if s.quota.Used() != 0 {
		s.t.Errorf("%d bytes are still counted", s.quota.Used())
	}
	if _, err := spill.Open(fs, "temporary"); err != nil {
		s.t.Error(err)
	}
	s.empty()
}

// TestSpillingIsCancelled: a statement ends soon after it is cancelled, and takes its
// files along.
func TestSpillingIsCancelled(t *testing.T) {
	for _, sql := range spillers {
		for n := range int64(8) {
			ctx, cancel := context.WithCancel(context.Background())
			writes := int64(0)
			fs := vfs.Memory()
			s := newSpilling(t, vfs.Watch(fs, func() {
				if writes++; writes > n {
					cancel()
				}
			}))
			if _, _, err := s.run(ctx, sql, small); err != nil && sqlerr.CodeOf(err) != sqlerr.QueryCanceled {
				t.Errorf("%s: got %v, want 57014", sql, err)
			}
			cancel()
			s.empty()
		}
	}
}

// TestWhatCannotSpillIsRefused: 53200 stays where no file helps.
func TestWhatCannotSpillIsRefused(t *testing.T) {
	for _, sql := range []string{
		"SELECT array_agg(repeat('x', 100)) FROM generate_series(1, 30000) g",
		"SELECT a FROM generate_series(1, 2) a LEFT JOIN (SELECT g, repeat('x', 100) AS x FROM generate_series(1, 30000) g) b ON a < b.g",
		"SELECT a FROM generate_series(1, 30000) a JOIN (SELECT 1 AS one, repeat('x', 100) AS x FROM generate_series(1, 30000) g) b ON a % 2 = b.one AND b.x < a::text",
		"SELECT g, sum(length(x)) OVER () FROM (SELECT g, repeat('x', 100) AS x FROM generate_series(1, 30000) g) b",
		"SELECT count(*) FROM generate_series(1, 3) a WHERE repeat('x', a) NOT IN (SELECT repeat('x', 100) || g FROM generate_series(1, 30000) g)",
	} {
		s := newSpilling(t, vfs.Memory())
		if _, _, err := s.run(context.Background(), sql, small); sqlerr.CodeOf(err) != sqlerr.OutOfMemory {
			t.Errorf("%s: got %v, want 53200", sql, err)
		}
		s.empty()
	}
}
