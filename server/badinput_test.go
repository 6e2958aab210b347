package server_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

const goodStream = `CREATE STREAM s (id bigint NOT NULL, k text, v int, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 minute')
WITH (partitions = 2, partition_key = 'k', dedup_key = 'id')`

// TestBadStatements sends what cannot be done: each is refused with its SQLSTATE
// on a connection that goes on, and what was acknowledged before is still there.
func TestBadStatements(t *testing.T) {
	conn := connect(t, startServer(t))
	mustExec(t, conn, goodStream)
	mustExec(t, conn, "INSERT INTO s VALUES (1, 'a', 1, '2024-01-01 00:00:00Z')")
	long := strings.Repeat("x", 1<<20)
	for _, x := range []struct{ code, sql string }{
		{"22P02", "INSERT INTO s VALUES ('one', 'a', 1, now())"},
		{"22P02", "INSERT INTO s VALUES (2, 'a', '" + long + "', now())"},
		{"22003", "INSERT INTO s VALUES (99999999999999999999, 'a', 1, now())"},
		{"22007", "INSERT INTO s VALUES (2, 'a', 1, 'tomorrow-ish')"},
		{"22008", "INSERT INTO s VALUES (2, 'a', 1, '2024-13-45')"},
		{"42703", "INSERT INTO s (nosuch) VALUES (1)"},
		{"42601", "INSERT INTO s VALUES (1, 'a', 1, now(), 5)"},
		{"23502", "INSERT INTO s VALUES (NULL, 'a', 1, now())"},
		{"22023", "CREATE STREAM x (id int) WITH (partitions = 0)"},
		{"22023", "CREATE STREAM x (id int) WITH (partitions = 99999999)"},
		{"22023", "CREATE CONTINUOUS VIEW x AS SELECT count(*) FROM TUMBLE(s, at, INTERVAL '-1 minute') GROUP BY window_start"},
		{"22023", "CREATE CONTINUOUS VIEW x AS SELECT count(*) FROM TUMBLE(s, at, INTERVAL '0 seconds') GROUP BY window_start"},
		{"53400", "CREATE CONTINUOUS VIEW x WITH (max_groups = 999999999) AS SELECT k, count(*) FROM s GROUP BY k"},
		{"42883", "SELECT nosuch(1)"},
		{"42P01", "SELECT * FROM " + strings.Repeat("y", 1000)},
		{"42601", "SELECT " + strings.Repeat("(", 100)},
		{"42601", "\x01\x02\x03"},
		{"42601", "SELECT 'unterminated"},
		{"54001", "SELECT " + strings.Repeat("(", 50_000) + "1" + strings.Repeat(")", 50_000)},
		{"54001", "SELECT " + strings.Repeat("-(", 50_000) + "1" + strings.Repeat(")", 50_000)},
		{"54001", "SELECT " + strings.Repeat("NOT ", 100_000) + "true"},
		{"54001", "SELECT " + strings.Repeat("(SELECT ", 20_000) + "1" + strings.Repeat(")", 20_000)},
		{"54001", "SELECT " + strings.Repeat("abs(", 20_000) + "1" + strings.Repeat(")", 20_000)},
		{"54001", "SELECT " + strings.Repeat("CASE WHEN true THEN ", 20_000) + "1" + strings.Repeat(" END", 20_000)},
		{"54001", "SELECT " + strings.Repeat("ARRAY[", 20_000) + "1" + strings.Repeat("]", 20_000)},
	} {
		t.Run(fmt.Sprintf("%s %.40s", x.code, x.sql), func(t *testing.T) {
			_, err := conn.PgConn().Exec(limited(t), x.sql).ReadAll()
			if code(err) != x.code {
				t.Errorf("%.80s: got %.300v, want SQLSTATE %s", x.sql, err, x.code)
			}
			if n := one[int](t, conn, "SELECT count(*) FROM s"); n != 1 {
				t.Errorf("%d rows afterwards", n)
			}
		})
	}
}

// TestLongExpressions are not nested deeply and have to work.
func TestLongExpressions(t *testing.T) {
	conn := connect(t, startServer(t))
	for name, sql := range map[string]string{
		"sum": "SELECT 1" + strings.Repeat(" + 1", 999),
		"and": "SELECT count(*) WHERE true" + strings.Repeat(" AND true", 999),
		"in":  "SELECT 1 IN (0" + strings.Repeat(", 2", 20_000) + ")",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := conn.PgConn().Exec(limited(t), sql).ReadAll(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestHints(t *testing.T) {
	conn := connect(t, startServer(t))
	mustExec(t, conn, goodStream)
	for sql, hint := range map[string]string{
		"SELECT approx_distint(k) FROM s":               "approx_distinct", //nolint:misspell // what the hint is for
		"SELECT kk FROM s":                              "s.k",
		"SELECT * FROM t":                               "s",
		"CREATE STREAM x (id int) WITH (partitons = 4)": "partitions",
	} {
		_, err := conn.Exec(limited(t), sql)
		pg := wantCode(t, conn, code(err), sql)
		if pg == nil || !strings.Contains(pg.Hint, hint) {
			t.Errorf("%s: hint %q does not name %s", sql, pg.Hint, hint)
		}
	}
}

// TestBadCopy loads what is no good: nothing of it is seen.
func TestBadCopy(t *testing.T) {
	conn := connect(t, startServer(t))
	mustExec(t, conn, goodStream)
	mustExec(t, conn, "CREATE TABLE tab (id int PRIMARY KEY, t text)")
	mustExec(t, conn, "INSERT INTO s VALUES (1, 'a', 1, '2024-01-01 00:00:00Z')")
	good := "2,a,1,2024-01-01 00:00:00Z\n"
	for _, x := range []struct{ name, code, sql, data string }{
		{"type", "22P02", "COPY s FROM STDIN CSV", good + "x,a,1,2024-01-01 00:00:00Z\n"},
		{"too few", "22P04", "COPY s FROM STDIN CSV", good + "3,a\n"},
		{"too many", "22P04", "COPY s FROM STDIN CSV", good + "3,a,1,2024-01-01 00:00:00Z,7\n"},
		{"open quote", "22P04", "COPY s FROM STDIN CSV", good + "3,\"a,1,2024-01-01 00:00:00Z\n"},
		{"null", "23502", "COPY s FROM STDIN CSV", good + ",a,1,2024-01-01 00:00:00Z\n"},
		{"not UTF-8", "22021", "COPY s FROM STDIN CSV", good + "3,\xff\xfe,1,2024-01-01 00:00:00Z\n"},
		{"zero byte", "22021", "COPY s FROM STDIN CSV", good + "3,a\x00b,1,2024-01-01 00:00:00Z\n"},
		{"text format", "22P04", "COPY s FROM STDIN", "2\ta\n"},
		{"binary garbage", "22P04", "COPY s FROM STDIN BINARY", "this is not the signature of it"},
		{"binary truncated", "22P04", "COPY s FROM STDIN BINARY", "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00"},
		{"unknown column", "42703", "COPY s (nosuch) FROM STDIN", ""},
		{"unknown relation", "42P01", "COPY nosuch FROM STDIN", ""},
		{"unknown option", "42601", "COPY s FROM STDIN (FORMAT csv, NOSUCH 1)", ""},
		{"unknown format", "22023", "COPY s FROM STDIN (FORMAT parquet)", ""},
		{"duplicate key", "23505", "COPY tab FROM STDIN CSV", "1,a\n1,b\n"},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, err := conn.PgConn().CopyFrom(limited(t), strings.NewReader(x.data), x.sql)
			if code(err) != x.code {
				t.Errorf("got %v, want SQLSTATE %s", err, x.code)
			}
			if n := one[int](t, conn, "SELECT count(*) FROM s"); n != 1 {
				t.Errorf("%d rows afterwards", n)
			}
			if n := one[int](t, conn, "SELECT count(*) FROM tab"); n != 0 {
				t.Errorf("%d rows of the table afterwards", n)
			}
		})
	}
}

// TestRejectedRows are set aside where the stream says so.
func TestRejectedRows(t *testing.T) {
	conn := connect(t, startServer(t))
	mustExec(t, conn, "CREATE STREAM lax (id bigint NOT NULL, t varchar(3)) WITH (partitions = 2, on_bad_row = 'reject')")
	tag, err := conn.PgConn().CopyFrom(limited(t), strings.NewReader("1,abc\nx,abc\n,abc\n4,abcd\n5,ok\n"), "COPY lax FROM STDIN CSV")
	if err != nil {
		t.Fatal(err)
	}
	if n := one[int](t, conn, "SELECT count(*) FROM lax"); n != 2 {
		t.Errorf("%d rows (%s)", n, tag)
	}
	if n := one[int](t, conn, "SELECT count(*) FROM lax__rejected"); n != 3 {
		t.Errorf("%d rejected", n)
	}
}

// failing gives some rows, then fails.
type failing struct {
	rows string
	then error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.rows == "" {
		return 0, f.then
	}
	n := copy(p, f.rows)
	f.rows = f.rows[n:]
	return n, nil
}

// TestAbortedCopy ends a COPY in the middle, by CopyFail and by going away.
func TestAbortedCopy(t *testing.T) {
	addr := startServer(t)
	conn := connect(t, addr)
	mustExec(t, conn, goodStream)
	rows := strings.Repeat("2,a,1,2024-01-01 00:00:00Z\n", 1000)
	_, err := conn.PgConn().CopyFrom(limited(t), &failing{rows, io.ErrNoProgress}, "COPY s FROM STDIN CSV")
	if code(err) != "57014" {
		t.Fatal(err)
	}
	if n := one[int](t, conn, "SELECT count(*) FROM s"); n != 0 {
		t.Fatalf("%d rows of an aborted COPY", n)
	}
	gone := newRaw(t, addr)
	gone.query("COPY s FROM STDIN CSV")
	gone.until('G')
	gone.send('d', []byte(rows))
	gone.net.Close()
	if n := one[int](t, conn, "SELECT count(*) FROM s"); n != 0 {
		t.Fatalf("%d rows of an aborted COPY", n)
	}
}

func TestTwoStatementsAtOnce(t *testing.T) {
	conn := connect(t, startServer(t))
	mustExec(t, conn, goodStream)
	// The simple protocol runs both; the first error ends the rest.
	_, err := conn.PgConn().Exec(limited(t), "INSERT INTO s VALUES (1, 'a', 1, '2024-01-01 00:00:00Z'); SELECT 1/0; INSERT INTO s VALUES (2, 'a', 1, '2024-01-01 00:00:00Z')").ReadAll()
	if code(err) != "22012" {
		t.Fatal(err)
	}
	if n := one[int](t, conn, "SELECT count(*) FROM s WHERE id = 2"); n != 0 {
		t.Fatal("a statement after the error was run")
	}
	// The extended protocol takes one.
	if _, err := conn.Prepare(limited(t), "two", "SELECT 1; SELECT 2"); code(err) != "42601" {
		t.Fatal(err)
	}
	mustExec(t, conn, "")
}

func TestBadParameters(t *testing.T) {
	conn := connect(t, startServer(t))
	ctx := limited(t)
	pg := conn.PgConn()
	if _, err := pg.Prepare(ctx, "p", "SELECT $1::int, $2::timestamptz", nil); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		code    string
		values  [][]byte
		formats []int16
		results []int16
	}{
		{"08P01", [][]byte{[]byte("1")}, nil, nil},
		{"08P01", [][]byte{[]byte("1"), nil, nil}, nil, nil},
		{"22P02", [][]byte{[]byte("one"), nil}, nil, nil},
		{"22P03", [][]byte{{1, 2}, nil}, []int16{1, 1}, nil},
		{"22P03", [][]byte{nil, {1, 2}}, []int16{1, 1}, nil},
		{"08P01", [][]byte{nil, nil}, []int16{1, 1, 1}, nil},
		{"22023", [][]byte{nil, nil}, []int16{7, 7}, nil},
		{"08P01", [][]byte{nil, nil}, nil, []int16{1, 1, 1, 1}},
		{"22021", [][]byte{[]byte("\xff"), nil}, nil, nil},
	} {
		r := pg.ExecPrepared(ctx, "p", x.values, x.formats, x.results).Read()
		if code(r.Err) != x.code {
			t.Errorf("%q %v %v: got %v, want SQLSTATE %s", x.values, x.formats, x.results, r.Err, x.code)
		}
		if n := one[int](t, conn, "SELECT 7"); n != 7 {
			t.Fatal("the connection is lost")
		}
	}
	if _, err := conn.Exec(ctx, "SELECT $1::int", pgx.QueryExecModeExec, "x"); code(err) != "22P02" {
		t.Error(err)
	}
	// PostgreSQL has 65,535 parameters.
	var marks strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&marks, ",$%d", i+1)
	}
	if _, err := pg.Prepare(ctx, "", "SELECT 1 WHERE 1 IN ("+marks.String()[1:]+")", nil); err != nil {
		t.Error(err)
	}
	if _, err := pg.Prepare(ctx, "", "SELECT $99999999", nil); code(err) == "" || code(err) == "XX000" {
		t.Error(err)
	}
	if _, err := pg.Prepare(ctx, "", "SELECT $0", nil); code(err) == "" || code(err) == "XX000" {
		t.Error(err)
	}
}

func TestUnknownDatabaseAndUser(t *testing.T) {
	addr := startServer(t)
	_, err := pgx.Connect(context.Background(), "postgres://tally@"+addr+"/nosuch?sslmode=disable")
	if code(err) != "3D000" {
		t.Fatal(err)
	}
}
