package pgcatalog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/bind/bindtest"
	"github.com/tallydb/tallydb/sql/exec"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/pgcatalog"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// TestQueries runs what clients ask of the catalogs. go test -rewrite renews the
// answers, which are to be compared with PostgreSQL's by eye.
func TestQueries(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
			return answer(newStatement(), d.Input)
		})
	})
}

// statement is what one statement is bound against.
type statement struct {
	env     *bind.Env
	catalog *pgcatalog.Catalog
}

var fixture = bindtest.Env()

func newStatement() statement {
	env := *fixture
	c := pgcatalog.New(pgcatalog.Config{
		Snapshot: env.Snapshot, Registry: env.Registry, Databases: func() []pgcatalog.Database {
			return []pgcatalog.Database{{Name: "other", ID: 5}, {Name: "tally", ID: 6, Settings: map[string]string{"TimeZone": "UTC"}}}
		}, User: "tester", Runtime: partitions{},
		Settings: func() []pgcatalog.Setting {
			return []pgcatalog.Setting{
				{Name: "DateStyle", Value: "ISO, MDY", Initial: "ISO, MDY", About: "Display format of dates."},
				{Name: "envelope", Value: "off", Initial: "on", About: "Whether SELECT * shows the envelope."},
				{Name: "max_identifier_length", Value: "63", Initial: "63", About: "Maximum length of a name.", ReadOnly: true},
			}
		},
		Activity: func() []pgcatalog.Activity {
			return []pgcatalog.Activity{{Database: "tally", User: "tester", Application: "test", ProcessID: 7, State: "active", Query: "SELECT 1"}}
		},
		View: func(v *catalog.Relation) (*bind.ViewPlan, error) { return bind.ViewOf(fixture, v) },
	})
	env.Virtual = c
	ec := *env.Expr
	ec.Catalog = c
	env.Expr = &ec
	return statement{&env, c}
}

// partitions is a stream of two partitions: one up to date, one offline.
type partitions struct{}

func (partitions) Partitions(_ context.Context, stream *catalog.Relation) ([]pgcatalog.PartitionStatus, error) {
	at := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	up := pgcatalog.PartitionStatus{
		Partition: 0, Head: 12, Applied: 12, Answered: true, Watermark: &at, Sources: 1, Received: 100, Admitted: 97, Duplicates: 2,
		Rejected: 1, DedupIDs: 97, MemoryBytes: 4096, LogBytes: -1, Checkpoint: at,
		Views: map[id.Relation]pgcatalog.ViewStatus{17000: {Applied: 12, Live: true, Rows: 97, OpenGroups: 3, OpenWindows: 2}},
	}
	if len(stream.Stream.Partitions()) == 1 {
		return []pgcatalog.PartitionStatus{up}, nil
	}
	down := pgcatalog.PartitionStatus{Partition: 1, Base: 2, Head: 9, Offline: true, LogBytes: -1, StalenessMillis: -1}
	return []pgcatalog.PartitionStatus{up, down}, nil
}

func answer(s statement, sql string) string {
	p, err := parse.ParseOne(sql)
	if err != nil {
		return failure(err)
	}
	q, err := bind.Bind(s.env, p.Statement, nil)
	if err != nil {
		return failure(err)
	}
	r, err := exec.Run(context.Background(), q, &exec.Env{Expr: s.env.Expr})
	if err != nil {
		return failure(err)
	}
	defer func() { _ = r.Close() }() // reads memory only
	var b strings.Builder
	names := make([]string, len(q.Output))
	for i, c := range q.Output {
		names[i] = c.Name
	}
	fmt.Fprintln(&b, strings.Join(names, " | "))
	rows := 0
	for {
		batch, err := r.Next(context.Background())
		if err != nil {
			return failure(err)
		}
		if batch == nil {
			break
		}
		for i := range batch.Rows {
			values := make([]string, len(q.Output))
			for k := range values {
				if d := batch.Cols[k].Datum(i); d.Null {
					values[k] = "~"
				} else {
					values[k] = types.FormatDatum(d, s.env.Expr.TextOptions())
				}
			}
			fmt.Fprintln(&b, strings.TrimRight(strings.Join(values, " | "), " "))
			rows++
		}
	}
	fmt.Fprintf(&b, "(%d rows)\n", rows)
	return b.String()
}

func failure(err error) string {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("ERROR %s: %s\n", sqlerr.CodeOf(err), e.Message)
	}
	return "ERROR: " + err.Error() + "\n"
}

// TestEveryTable reads all columns of all tables: every filler fits its table.
func TestEveryTable(t *testing.T) {
	s := newStatement()
	for _, name := range s.catalog.Names() {
		if out := answer(newStatement(), "SELECT * FROM "+name); strings.HasPrefix(out, "ERROR") {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// BenchmarkDescribe is the longest query of psql's \d name.
func BenchmarkDescribe(b *testing.B) {
	const sql = `SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
		(SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
		 WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),
		a.attnotnull,
		(SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
		 WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation
		FROM pg_catalog.pg_attribute a WHERE a.attrelid = '16500' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`
	for b.Loop() {
		if out := answer(newStatement(), sql); strings.HasPrefix(out, "ERROR") {
			b.Fatal(out)
		}
	}
}
