package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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
		{"42701", "CREATE STREAM x (id int) WITH (dedup_key = 'id,id')"},
		{"42701", "CREATE STREAM x (id int, k int) WITH (partition_key = 'k, id, k')"},
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
	mustExec(t, conn, "CREATE CONTINUOUS VIEW sv AS SELECT k, approx_distinct(id) AS users FROM s GROUP BY k")
	for sql, hint := range map[string]string{
		"SELECT approx_distint(k) FROM s":               "approx_distinct", //nolint:misspell // what the hint is for
		"SELECT kk FROM s":                              "s.k",
		"SELECT * FROM t":                               "s",
		"CREATE STREAM x (id int) WITH (partitons = 4)": "partitions",
		"SELECT cuont(*) FROM s":                        "count",
		"SELECT count(*) FROM TUMBEL(s, at, INTERVAL '1 minute') GROUP BY window_start": "TUMBLE",
		"CREATE CONTINUOUS VIEW over AS SELECT users, count(*) FROM sv GROUP BY users":  "Create it over the stream",
	} {
		_, err := conn.Exec(limited(t), sql)
		pg := wantCode(t, conn, code(err), sql)
		if pg == nil || !strings.Contains(pg.Hint, hint) {
			t.Errorf("%s: hint %q does not name %s", sql, pg.Hint, hint)
		}
	}
}

// TestViewsOfConstantsThatFail: a view that no query could read is not created.
func TestViewsOfConstantsThatFail(t *testing.T) {
	conn := connect(t, startServer(t))
	mustExec(t, conn, goodStream)
	for sql, want := range map[string]string{
		"SELECT k, 1/0 AS x, count(*) FROM s GROUP BY k":                          "22012",
		"SELECT k, ('a' || 'b')::int AS x, count(*) FROM s GROUP BY k":            "22P02",
		"SELECT k, 7 AS x, count(*) FROM s GROUP BY k":                            "",
		"SELECT k, CASE WHEN false THEN 1/0 END AS x, count(*) FROM s GROUP BY k": "",
	} {
		_, err := conn.Exec(limited(t), "CREATE CONTINUOUS VIEW c AS "+sql)
		if got := code(err); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
		if err == nil {
			mustExec(t, conn, "DROP VIEW c")
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
	// A client that leaves between two messages has not said that the data is complete.
	gone := newRaw(t, addr)
	gone.query("COPY s FROM STDIN CSV")
	gone.until('G')
	gone.send('d', []byte(rows))
	if c, ok := gone.net.(*net.TCPConn); !ok || c.CloseWrite() != nil {
		t.Fatal("the connection cannot be closed by half")
	}
	gone.closed()
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

// TestInvalidBytesNeverReachAClient sends bytes that are no UTF-8 into a column of
// each type, in each text format: 22021 names them as PostgreSQL does, whatever is
// sent back can be decoded, and rows that are set aside for it have a reason that
// can be grouped by.
func TestInvalidBytesNeverReachAClient(t *testing.T) {
	conn := connect(t, startServer(t))
	valid := func(what, s string) {
		t.Helper()
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			t.Errorf("%s is not UTF-8: %q", what, s)
		}
	}
	for n, typ := range []string{"int", "bigint", "float8", "numeric", "boolean", "text", "varchar(3)", "date", "timestamptz", "interval", "uuid", "json", "int[]", "text[]", "bytea"} {
		for _, format := range []string{"text", "csv"} {
			mustExec(t, conn, fmt.Sprintf("CREATE STREAM e%d_%s (v %s)", n, format, typ))
			mustExec(t, conn, fmt.Sprintf("CREATE STREAM r%d_%s (v %s) WITH (on_bad_row = 'reject')", n, format, typ))
			for bytes, shown := range map[string]string{"\xff": "0xff", "ab\xe2\x28\xa1": "0xe2 0x28 0xa1", "\x00": "0x00"} {
				_, err := conn.PgConn().CopyFrom(limited(t), strings.NewReader(bytes+"\n"), fmt.Sprintf("COPY e%d_%s FROM STDIN (FORMAT %s)", n, format, format))
				var pg *pgconn.PgError
				if !errors.As(err, &pg) || pg.Code != "22021" || !strings.HasSuffix(pg.Message, `"UTF8": `+shown) {
					t.Errorf("%s, %s: %q gives %v", typ, format, bytes, err)
					continue
				}
				valid("message", pg.Message)
				valid("context", pg.Where)
				if _, err := conn.PgConn().CopyFrom(limited(t), strings.NewReader(bytes+"\n"), fmt.Sprintf("COPY r%d_%s FROM STDIN (FORMAT %s)", n, format, format)); err != nil {
					t.Errorf("%s, %s: %q is not set aside: %v", typ, format, bytes, err)
				}
			}
			reasons := fmt.Sprintf("SELECT count(DISTINCT reason) FROM r%d_%s__rejected WHERE reason = 'invalid byte sequence for encoding \"UTF8\" in column \"v\"'", n, format)
			if n := one[int](t, conn, reasons); n != 1 {
				t.Errorf("%s, %s: %d reasons", typ, format, n)
			}
			valid("detail", one[string](t, conn, fmt.Sprintf("SELECT string_agg(detail, ',') FROM r%d_%s__rejected", n, format)))
		}
	}
	for _, v := range []string{"\xff", "1\x00"} {
		_, err := conn.PgConn().ExecParams(limited(t), "SELECT $1::int", [][]byte{[]byte(v)}, nil, nil, nil).Close()
		var pg *pgconn.PgError
		if !errors.As(err, &pg) {
			t.Fatal(err)
		}
		valid("message", pg.Message)
	}
}

// TestReasonsCanBeGrouped: rows that are bad for one reason have one reason, whatever
// their values and lines; the detail tells them apart.
func TestReasonsCanBeGrouped(t *testing.T) {
	conn := connect(t, startServer(t))
	mustExec(t, conn, `CREATE STREAM r (id int NOT NULL, at timestamptz, u uuid, a int[], t varchar(3)) WITH (on_bad_row = 'reject')`)
	var data strings.Builder
	for i := range 20 {
		fmt.Fprintf(&data, "x%d,,,,\n9%012d,,,,\n1,day %d,,,\n1,,no %d,,\n1,,,\"{1,x%d}\",\n1,,,,long%d\n1\n,,,,\n", i, i, i, i, i, i)
	}
	if _, err := conn.PgConn().CopyFrom(limited(t), strings.NewReader(data.String()), "COPY r FROM STDIN CSV"); err != nil {
		t.Fatal(err)
	}
	if n := one[int](t, conn, "SELECT count(*) FROM r__rejected"); n != 160 {
		t.Errorf("%d rows were set aside, want 160", n)
	}
	rows, err := conn.Query(limited(t), "SELECT reason, count(*) FROM r__rejected GROUP BY reason")
	if err != nil {
		t.Fatal(err)
	}
	var reason string
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&reason, &n}, func() error {
		if n != 20 {
			t.Errorf("%d rows for %q, want 20 of each kind", n, reason)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if n := one[int](t, conn, "SELECT count(DISTINCT detail) FROM r__rejected WHERE detail LIKE 'COPY r, line %row: %'"); n != 140 {
		t.Errorf("%d details, want one for each row that could not be parsed", n)
	}
}

// TestTagAndNoticeAddUp: the tag counts what the stream took, the NOTICE what was set
// aside, and together they are what was sent.
func TestTagAndNoticeAddUp(t *testing.T) {
	addr := startServer(t)
	cfg, err := pgx.ParseConfig(url(addr))
	if err != nil {
		t.Fatal(err)
	}
	var notice string
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notice = n.Message }
	conn, err := pgx.ConnectConfig(limited(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(limited(t)) }()
	mustExec(t, conn, "CREATE STREAM lax (id bigint, v int NOT NULL) WITH (partitions = 2, dedup_key = 'id', on_bad_row = 'reject')")
	send := func(data, tag, want string) {
		t.Helper()
		notice = ""
		got, err := conn.PgConn().CopyFrom(limited(t), strings.NewReader(data), "COPY lax FROM STDIN CSV")
		if err != nil || got.String() != tag || notice != want {
			t.Errorf("%v %v, NOTICE %q; want %s, %q", got, err, notice, tag, want)
		}
	}
	send("1,1\n2,2\n", "COPY 2", "")
	send("3,1\nx,1\ny,1\nz,1\n4,\n5,\n6,\n7,\n8,\n9,1\n", "COPY 2", "lax: of 10 rows, 2 taken, 8 rejected (see lax__rejected)")
	send("x,1\n", "COPY 0", "lax: of 1 row, 0 taken, 1 rejected (see lax__rejected)")
	got, err := conn.Exec(limited(t), "INSERT INTO lax VALUES (20, 1), (21, NULL)")
	if err != nil || got.String() != "INSERT 0 1" {
		t.Errorf("%v %v, want INSERT 0 1", got, err)
	}
	many := func(from int) string {
		var b strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&b, "%d,1\n", from+i)
		}
		return b.String()
	}
	send(many(100), "COPY 50000", "")
	send(many(100), "COPY 50000", "lax: of 50000 rows, 50000 duplicates not counted again")
	send(many(101), "COPY 50000", "lax: of 50000 rows, 49999 duplicates not counted again")
}
