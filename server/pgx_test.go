package server_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

const typesTable = `CREATE TABLE types (id int PRIMARY KEY, b bool, i2 smallint, i4 int, i8 bigint, f4 real, f8 double precision,
n numeric, t text, v varchar(10), by bytea, u uuid, d date, tm time, ts timestamp, tz timestamptz, iv interval, j json, jb jsonb, ai int[], at text[], vb varbit)`

// typeValues are two rows of values of every type, and one of NULLs.
func typeValues(t *testing.T) [][]any {
	numeric := func(s string) pgtype.Numeric {
		var n pgtype.Numeric
		if err := n.Scan(s); err != nil {
			t.Fatal(err)
		}
		return n
	}
	at := time.Date(2024, 2, 29, 12, 34, 56, 789012000, time.UTC)
	row1 := []any{
		int32(1), true, int16(-2), int32(3), int64(1) << 40, float32(1.5), -2.25, numeric("12345678901234567890.123"), "héllo", "v",
		[]byte{0, 1, 255},
		pgtype.UUID{Bytes: [16]byte{1, 2, 3}, Valid: true},
		pgtype.Date{Time: at.Truncate(24 * time.Hour), Valid: true},
		pgtype.Time{Microseconds: 3_600_000_001, Valid: true},
		pgtype.Timestamp{Time: at, Valid: true},
		pgtype.Timestamptz{Time: at, Valid: true},
		pgtype.Interval{Microseconds: 7, Days: 2, Months: 1, Valid: true},
		`{"a": 1}`, `{"b": [1, 2]}`,
		[]int32{1, 2, 3},
		[]string{"x", "y z", `q"`},
		pgtype.Bits{Bytes: []byte{0xa5, 0x80}, Len: 10, Valid: true},
	}
	row2 := []any{
		int32(2), false, int16(math.MinInt16), int32(math.MaxInt32), int64(math.MinInt64), float32(0), 1e300, numeric("-0.5"), "", "",
		[]byte{},
		pgtype.UUID{Valid: true},
		pgtype.Date{Time: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), Valid: true},
		pgtype.Time{Valid: true},
		pgtype.Timestamp{Time: at, Valid: true},
		pgtype.Timestamptz{Time: at, Valid: true},
		pgtype.Interval{Valid: true},
		`null`, `{}`,
		[]int32{},
		[]string{},
		pgtype.Bits{Bytes: []byte{}, Valid: true},
	}
	nulls := make([]any, len(row1))
	nulls[0] = int32(3)
	return [][]any{row1, row2, nulls}
}

var typeColumns = strings.Split("id b i2 i4 i8 f4 f8 n t v by u d tm ts tz iv j jb ai at vb", " ")

// TestTypesRoundTrip sends values of every type as parameters and by binary COPY
// and reads them back, in both formats.
func TestTypesRoundTrip(t *testing.T) {
	addr := startServer(t)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			conn := connect(t, addr)
			mustExec(t, conn, "DROP TABLE IF EXISTS types")
			mustExec(t, conn, typesTable)
			marks := make([]string, len(typeColumns))
			for i := range marks {
				marks[i] = fmt.Sprintf("$%d", i+1)
			}
			insert := "INSERT INTO types VALUES (" + strings.Join(marks, ",") + ")"
			rows := typeValues(t)
			for _, r := range rows {
				mustExec(t, conn, insert, append([]any{mode}, r...)...)
			}
			checkTypes(t, conn, mode, rows)
		})
	}
	t.Run("binary COPY", func(t *testing.T) {
		conn := connect(t, addr)
		mustExec(t, conn, "DROP TABLE IF EXISTS types")
		mustExec(t, conn, typesTable)
		rows := typeValues(t)
		n, err := conn.CopyFrom(limited(t), pgx.Identifier{"types"}, typeColumns, pgx.CopyFromRows(rows))
		if err != nil || n != 3 {
			t.Fatal(n, err)
		}
		checkTypes(t, conn, pgx.QueryExecModeCacheStatement, rows)
	})
}

func checkTypes(t *testing.T, conn *pgx.Conn, mode pgx.QueryExecMode, want [][]any) {
	t.Helper()
	for _, w := range want {
		got := make([]any, len(w))
		for i := range got {
			if w[i] == nil {
				got[i] = new(any)
				continue
			}
			got[i] = reflect.New(reflect.TypeOf(w[i])).Interface()
		}
		if err := conn.QueryRow(limited(t), "SELECT * FROM types WHERE id = $1", mode, w[0]).Scan(got...); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			g := reflect.ValueOf(got[i]).Elem().Interface()
			if !sameValue(g, w[i]) {
				t.Errorf("row %v, column %s: got %#v, want %#v", w[0], typeColumns[i], g, w[i])
			}
		}
	}
}

func sameValue(a, b any) bool {
	switch x := a.(type) {
	case pgtype.Numeric:
		av, _ := x.Value()
		bv, _ := b.(pgtype.Numeric).Value()
		return av == bv
	case pgtype.Timestamptz:
		return x.Time.Equal(b.(pgtype.Timestamptz).Time)
	case []byte:
		return bytes.Equal(x, b.([]byte))
	}
	return reflect.DeepEqual(a, b)
}

func TestQueryForms(t *testing.T) {
	conn := connect(t, startServer(t))
	ctx := limited(t)
	mustExec(t, conn, "CREATE TABLE t (id int PRIMARY KEY, name text)")
	for i := range 10 {
		mustExec(t, conn, "INSERT INTO t VALUES ($1, $2)", i, fmt.Sprint("n", i))
	}
	rows, err := conn.Query(ctx, "SELECT id, name FROM t WHERE id >= $1 ORDER BY id", 7)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		ID   int32
		Name string
	}
	got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil || !slices.Equal(got, []row{{7, "n7"}, {8, "n8"}, {9, "n9"}}) {
		t.Fatal(got, err)
	}
	if n := one[int64](t, conn, "SELECT count(*) FROM t WHERE id = ANY($1)", []int32{1, 2, 99}); n != 2 {
		t.Fatal(n)
	}
	if err := conn.QueryRow(ctx, "SELECT id FROM t WHERE id = 1000").Scan(new(int)); err != pgx.ErrNoRows { //nolint:errorlint // pgx returns it bare
		t.Fatal(err)
	}
	tag, err := conn.Exec(ctx, "UPDATE t SET name = 'x' WHERE id < 3")
	if err != nil || tag.String() != "UPDATE 3" {
		t.Fatal(tag, err)
	}
	if s := one[string](t, conn, "SELECT $1::text || $2", "a", "b"); s != "ab" {
		t.Fatal(s)
	}
}

func TestNamedStatements(t *testing.T) {
	conn := connect(t, startServer(t))
	ctx := limited(t)
	sd, err := conn.Prepare(ctx, "add", "SELECT $1::int + $2::int")
	if err != nil || len(sd.ParamOIDs) != 2 || sd.Fields[0].DataTypeOID != pgtype.Int4OID {
		t.Fatal(sd, err)
	}
	if n := one[int32](t, conn, "add", 2, 3); n != 5 {
		t.Fatal(n)
	}
	if _, err := conn.PgConn().Prepare(ctx, "add", "SELECT 1", nil); code(err) != "42P05" {
		t.Fatal(err)
	}
	if err := conn.Deallocate(ctx, "add"); err != nil {
		t.Fatal(err)
	}
	if r := conn.PgConn().ExecPrepared(ctx, "add", nil, nil, nil).Read(); code(r.Err) != "26000" {
		t.Fatal(r.Err)
	}
	// The plan of a prepared statement follows the catalog.
	mustExec(t, conn, "CREATE TABLE t (a int)")
	if _, err := conn.Prepare(ctx, "q", "SELECT count(*) FROM t"); err != nil {
		t.Fatal(err)
	}
	mustExec(t, conn, "DROP TABLE t")
	if _, err := conn.Exec(ctx, "q"); code(err) != "42P01" {
		t.Fatal(err)
	}
	mustExec(t, conn, "CREATE TABLE t (a int)")
	if n := one[int64](t, conn, "q"); n != 0 {
		t.Fatal(n)
	}
}

func TestBatch(t *testing.T) {
	conn := connect(t, startServer(t))
	ctx := limited(t)
	mustExec(t, conn, "CREATE TABLE t (id int PRIMARY KEY)")
	b := &pgx.Batch{}
	for i := range 100 {
		b.Queue("INSERT INTO t VALUES ($1)", i)
	}
	b.Queue("SELECT count(*) FROM t")
	res := conn.SendBatch(ctx, b)
	for range 100 {
		if _, err := res.Exec(); err != nil {
			t.Fatal(err)
		}
	}
	var n int
	if err := res.QueryRow().Scan(&n); err != nil || n != 100 {
		t.Fatal(n, err)
	}
	if err := res.Close(); err != nil {
		t.Fatal(err)
	}
	// An error in the middle skips the rest up to Sync.
	b = &pgx.Batch{}
	b.Queue("INSERT INTO t VALUES (1000)")
	b.Queue("SELECT 1/$1::int", 0)
	b.Queue("INSERT INTO t VALUES (1001)")
	res = conn.SendBatch(ctx, b)
	_, _ = res.Exec()
	if _, err := res.Exec(); code(err) != "22012" {
		t.Fatal(err)
	}
	if err := res.Close(); code(err) != "22012" {
		t.Fatal(err)
	}
	if n := one[int](t, conn, "SELECT count(*) FROM t WHERE id = 1001"); n != 0 {
		t.Fatal("a statement after the error was run")
	}
}

func TestCopyFromStream(t *testing.T) {
	conn := connect(t, startServer(t))
	mustExec(t, conn, `CREATE STREAM s (id bigint, k text, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 minute') WITH (partitions = 4, partition_key = 'k', dedup_key = 'id')`)
	mustExec(t, conn, `CREATE CONTINUOUS VIEW c AS SELECT k, count(*) AS n FROM s GROUP BY k`)
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 2 { // the second time, all are duplicates
		n, err := conn.CopyFrom(limited(t), pgx.Identifier{"s"}, []string{"id", "k", "at"}, pgx.CopyFromSlice(10_000, func(i int) ([]any, error) {
			return []any{int64(i), fmt.Sprint("k", i%10), at.Add(time.Duration(i) * time.Millisecond)}, nil
		}))
		if err != nil || n != 10_000 {
			t.Fatal(n, err)
		}
		if n := one[int64](t, conn, "SELECT count(*) FROM s"); n != 10_000 {
			t.Fatal(n)
		}
		if n := one[int64](t, conn, "SELECT n FROM c WHERE k = $1", "k3"); n != 1000 {
			t.Fatal(n)
		}
	}
	var out bytes.Buffer
	tag, err := conn.PgConn().CopyTo(limited(t), &out, "COPY (SELECT k, n FROM c ORDER BY k LIMIT 2) TO STDOUT (FORMAT csv, HEADER)")
	if err != nil || tag.RowsAffected() != 2 || out.String() != "k,n\nk0,1000\nk1,1000\n" {
		t.Fatal(tag, err, out.String())
	}
}

func TestPortalsWithRowLimit(t *testing.T) {
	conn := connect(t, startServer(t))
	ctx := limited(t)
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "DECLARE c CURSOR FOR SELECT x FROM generate_series(1, 2500) x"); err != nil {
		t.Fatal(err)
	}
	total := 0
	for {
		rows, err := tx.Query(ctx, "FETCH 1000 FROM c")
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[int32])
		if err != nil {
			t.Fatal(err)
		}
		total += len(got)
		if len(got) == 0 {
			break
		}
	}
	if err := tx.Commit(ctx); err != nil || total != 2500 {
		t.Fatal(total, err)
	}
}

func TestTransactions(t *testing.T) {
	addr := startServer(t)
	conn, other := connect(t, addr), connect(t, addr)
	ctx := limited(t)
	mustExec(t, conn, "CREATE STREAM s (id int)")
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "INSERT INTO s VALUES ($1)", 1); err != nil {
		t.Fatal(err)
	}
	if n := one[int](t, other, "SELECT count(*) FROM s"); n != 0 {
		t.Fatal("rows of an open transaction are seen")
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if n := one[int](t, other, "SELECT count(*) FROM s"); n != 1 {
		t.Fatal(n)
	}
	tx, err = conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "INSERT INTO s VALUES (2)"); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "SELECT nosuch"); code(err) != "42703" {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "SELECT 1"); code(err) != "25P02" {
		t.Fatal(err)
	}
	if err := tx.Commit(ctx); err == nil {
		t.Fatal("the commit of a failed transaction must say that it rolled back")
	}
	if n := one[int](t, conn, "SELECT count(*) FROM s"); n != 1 {
		t.Fatal(n)
	}
}

func TestCancel(t *testing.T) {
	conn := connect(t, startServer(t))
	ctx, cancel := context.WithCancel(limited(t))
	defer cancel()
	pg := conn.PgConn()
	// The first rows say that the query runs.
	res := pg.Exec(ctx, "SELECT a, b FROM generate_series(1, 100000) a, generate_series(1, 100000) b")
	if !res.NextResult() || !res.ResultReader().NextRow() {
		t.Fatal("no rows")
	}
	began := time.Now()
	if err := pg.CancelRequest(limited(t)); err != nil {
		t.Fatal(err)
	}
	_, err := res.ResultReader().Close()
	took := time.Since(began)
	if code(err) != "57014" {
		t.Fatal(err)
	}
	if took > 5*time.Second { // 100 ms on an idle machine; this only catches a query that runs on
		t.Fatalf("cancelled after %s", took)
	}
	if err := res.Close(); code(err) != "57014" {
		t.Fatal(err)
	}
	if n := one[int](t, conn, "SELECT 1"); n != 1 {
		t.Fatal(n)
	}
	// A query that computes without sending anything is cancelled too.
	mustExec(t, conn, "SET statement_timeout = '50ms'")
	began = time.Now()
	wantCode(t, conn, "57014", "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b WHERE a <> b")
	if took := time.Since(began); took > 5*time.Second {
		t.Fatalf("timed out after %s", took)
	}
}

func TestNotices(t *testing.T) {
	cfg, err := pgx.ParseConfig(url(startServer(t)))
	if err != nil {
		t.Fatal(err)
	}
	var notices []string
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices = append(notices, n.Severity+" "+n.Code) }
	conn, err := pgx.ConnectConfig(limited(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	mustExec(t, conn, "CREATE TABLE t (a int)")
	mustExec(t, conn, "CREATE TABLE IF NOT EXISTS t (a int)")
	mustExec(t, conn, "COMMIT")
	if !slices.Equal(notices, []string{"NOTICE 42P07", "WARNING 25P01"}) {
		t.Fatal(notices)
	}
}
