package exec_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/exec"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// TestStatements runs the statements in testdata over tables and streams in
// memory. "exec" prints rows, "setup" only what went wrong; partitions=n says over
// how many partitions streams are folded. go test -rewrite renews the results.
func TestStatements(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		db := newDatabase()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			db.partitions, db.partial = 3, d.HasArg("partial")
			d.MaybeScanArgs(t, "partitions", &db.partitions)
			switch d.Cmd {
			case "exec":
				return db.script(d.Input)
			case "setup":
				out := db.script(d.Input)
				if strings.Contains(out, "ERROR") {
					return out
				}
				return "ok"
			case "analyze":
				return db.analyze(d.Input)
			}
			return "unknown command"
		})
	})
}

func (db *database) script(sql string) string {
	list, err := parse.Parse(sql)
	if err != nil {
		return errorText(err)
	}
	var b strings.Builder
	for _, p := range list {
		b.WriteString(db.run(p))
	}
	return b.String()
}

func (db *database) run(p parse.Parsed) string {
	q, err := bind.Bind(db.bind, p.Statement, nil)
	if err != nil {
		return errorText(err)
	}
	rows, affected, err := db.rows(q)
	if err != nil {
		return errorText(err)
	}
	if len(q.Output) == 0 {
		return fmt.Sprintf("%d rows written\n", affected)
	}
	return rows
}

// rows runs a query and prints its output columns.
func (db *database) rows(q *plan.Query) (string, int64, error) {
	ctx := context.Background()
	r, err := exec.Run(ctx, q, db.env())
	if err != nil {
		return "", 0, err
	}
	var b strings.Builder
	for i, c := range q.Output {
		b.WriteString(map[bool]string{true: " | "}[i > 0] + c.Name)
	}
	b.WriteByte('\n')
	for {
		batch, err := r.Next(ctx)
		if err != nil {
			return "", 0, err
		}
		if batch == nil {
			break
		}
		for i := range batch.Rows {
			for c := range q.Output {
				b.WriteString(map[bool]string{true: " | "}[c > 0])
				if v := batch.Cols[c]; v.Nulls.Has(i) {
					b.WriteString("NULL")
				} else {
					b.WriteString(types.FormatDatum(v.Datum(i), nil))
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String(), r.Affected(), r.Close()
}

func (db *database) analyze(sql string) string {
	p, err := parse.ParseOne(sql)
	if err != nil {
		return errorText(err)
	}
	q, err := bind.Bind(db.bind, p.Statement, nil)
	if err != nil {
		return errorText(err)
	}
	env := db.env()
	env.Clock = func() time.Time { return time.Time{} }
	ctx := context.Background()
	r, err := exec.Run(ctx, q, env)
	if err != nil {
		return errorText(err)
	}
	for {
		b, err := r.Next(ctx)
		if err != nil {
			return errorText(err)
		}
		if b == nil {
			break
		}
	}
	return plan.Explain(q.Root, r.Stats)
}

func errorText(err error) string {
	e := sqlerr.From(err)
	return fmt.Sprintf("ERROR %s: %s\n", e.Code, e.Message)
}

func TestCancelledStatementEnds(t *testing.T) {
	db := newDatabase()
	p, err := parse.ParseOne("SELECT count(*) FROM generate_series(1, 1000000000) a, generate_series(1, 10) b")
	if err != nil {
		t.Fatal(err)
	}
	q, err := bind.Bind(db.bind, p.Statement, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	r, err := exec.Run(ctx, q, db.env())
	if err == nil {
		_, err = r.Next(ctx)
	}
	if sqlerr.CodeOf(err) != sqlerr.QueryCanceled {
		t.Fatalf("got %v", err)
	}
}

// TestL7PartialRowsAreNotWritten: the gate runs after reading, before writing.
func TestL7PartialRowsAreNotWritten(t *testing.T) {
	db := withEvents(t)
	p, err := parse.ParseOne("INSERT INTO nums (b) SELECT clicks FROM campaign_minute")
	if err != nil {
		t.Fatal(err)
	}
	q, err := bind.Bind(db.bind, p.Statement, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !q.StreamDerived || q.StatusShown {
		t.Fatalf("derived %t, shown %t", q.StreamDerived, q.StatusShown)
	}
	env := db.env()
	env.BeforeWrite = func(context.Context) error { return sqlerr.New(sqlerr.PartialResult, "partition 1 is missing") }
	before := db.script("SELECT count(*) FROM nums")
	r, err := exec.Run(context.Background(), q, env)
	if err == nil {
		_, err = r.Next(context.Background())
	}
	if sqlerr.CodeOf(err) != sqlerr.PartialResult {
		t.Fatalf("got %v", err)
	}
	if after := db.script("SELECT count(*) FROM nums"); after != before {
		t.Fatal("rows were written")
	}
}

func TestL11BudgetIsHard(t *testing.T) {
	db := newDatabase()
	for _, sql := range []string{
		"SELECT g FROM generate_series(1, 10000000) g ORDER BY g",
		"SELECT g, count(*) FROM generate_series(1, 10000000) g GROUP BY g",
		"SELECT array_agg(g) FROM generate_series(1, 10000000) g",
		"SELECT count(*) FROM generate_series(1, 10000000) a JOIN generate_series(1, 10000000) b ON a = b",
	} {
		p, err := parse.ParseOne(sql)
		if err != nil {
			t.Fatal(err)
		}
		q, err := bind.Bind(db.bind, p.Statement, nil)
		if err != nil {
			t.Fatal(err)
		}
		env := db.env()
		env.MemoryLimit = 1 << 20
		r, err := exec.Run(context.Background(), q, env)
		if err == nil {
			_, err = r.Next(context.Background())
		}
		if sqlerr.CodeOf(err) != sqlerr.OutOfMemory {
			t.Errorf("%s: got %v", sql, err)
		}
	}
}

// TestLargeValuesAreTakenInParts: values that together are far more than a batch
// may hold are worked on in parts, and what a statement keeps of them is charged.
func TestLargeValuesAreTakenInParts(t *testing.T) {
	db := newDatabase()
	for _, c := range []struct{ sql, want string }{
		{"SELECT octet_length(max(repeat('x', 1000000))) FROM generate_series(1, 100) g", "1000000\n"},
		{"SELECT octet_length(max(repeat('x', g * 5000))) FROM generate_series(1, 300) g", "1500000\n"},
		{"SELECT count(*), count(DISTINCT octet_length(x)) FROM (SELECT repeat('x', g * 5000) AS x FROM generate_series(1, 300) g) a", "300 | 300\n"},
		{"SELECT count(*) FROM generate_series(1, 300) g WHERE octet_length(repeat('x', g * 5000)) > 1000000", "100\n"},
		{"SELECT sum(octet_length(x)) FROM (SELECT repeat('x', 1000000) AS x) a, generate_series(1, 100) g WHERE octet_length(x) > g", "100000000\n"},
		{"SELECT count(*) FROM (SELECT 1 FROM generate_series(1, 20) g GROUP BY repeat('x', g * 500000)) a", "20\n"},
		{"SELECT max(repeat('x', g * 5000)) FROM generate_series(1, 300) g HAVING false", ""},
		{"SELECT array_agg(repeat('x', 1000000)) FROM generate_series(1, 2000) g", "53200"},
		{"SELECT array_agg(repeat('x', 1000000) ORDER BY g) FROM generate_series(1, 2000) g", "53200"},
		{"SELECT count(*) FROM (SELECT 1 FROM generate_series(1, 2000) g GROUP BY repeat('x', 1000000 + g)) a", "53200"},
		{"SELECT g FROM generate_series(1, 2000) g ORDER BY repeat('x', 1000000 + g)", "53200"},
		{"SELECT length(replace(repeat('x', 1000000), 'x', repeat('y', 1000000)))", "54000"},
		{"SELECT cardinality(string_to_array(repeat('x', 100000000), NULL))", "54000"},
		{"SELECT length(array_to_string(string_to_array(repeat('x', 100000), NULL), repeat('y', 100000)))", "54000"},
	} {
		p, err := parse.ParseOne(c.sql)
		if err != nil {
			t.Fatal(err)
		}
		q, err := bind.Bind(db.bind, p.Statement, nil)
		got := ""
		if err == nil {
			got, _, err = db.rows(q)
		}
		if err != nil {
			got = string(sqlerr.CodeOf(err))
		}
		if !strings.HasSuffix(got, c.want) || c.want == "" && strings.Count(got, "\n") > 1 {
			t.Errorf("%s: got %.60q %v, want %q", c.sql, got, err, c.want)
		}
	}
}
