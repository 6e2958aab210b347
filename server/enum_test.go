package server_test

import (
	"context"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tallydb/tallydb/server/servertest"
)

// TestEnumsOfPgx: pgx finds an enum and its arrays in the catalogs, sends values in
// binary form, and reads them.
func TestEnumsOfPgx(t *testing.T) {
	ctx := context.Background()
	c := servertest.Start(t, servertest.Options{}).Connect()
	servertest.Exec(t, c, "CREATE SCHEMA app", "CREATE TYPE app.mood AS ENUM ('sad', 'ok', 'happy')",
		"CREATE TABLE people (id int PRIMARY KEY, m app.mood, past app.mood[])")
	for _, name := range []string{"app.mood", "app._mood"} {
		typ, err := c.LoadType(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		c.TypeMap().RegisterType(typ)
	}
	binary := pgx.QueryResultFormats{pgx.BinaryFormatCode, pgx.BinaryFormatCode}
	for id, row := range []struct {
		m    string
		past []string
	}{{"happy", []string{"sad", "ok"}}, {"sad", []string{}}} {
		if _, err := c.Exec(ctx, "INSERT INTO people VALUES ($1, $2, $3)", id, row.m, row.past); err != nil {
			t.Fatal(err)
		}
		var m string
		var past []string
		err := c.QueryRow(ctx, "SELECT m, past FROM people WHERE m = $1 AND past = $2", binary, row.m, row.past).Scan(&m, &past)
		if err != nil || m != row.m || !slices.Equal(past, row.past) {
			t.Errorf("%s, %v, %v instead of %v", m, past, err, row)
		}
	}
	raw := c.PgConn().ExecParams(ctx, "SELECT $1::app.mood", [][]byte{[]byte("ok")}, nil, []int16{pgx.BinaryFormatCode}, []int16{pgx.BinaryFormatCode}).Read()
	if raw.Err != nil || string(raw.Rows[0][0]) != "ok" {
		t.Errorf("in binary form: %q, %v", raw.Rows, raw.Err)
	}
	raw = c.PgConn().ExecParams(ctx, "SELECT $1::app.mood", [][]byte{[]byte("nope")}, nil, []int16{pgx.BinaryFormatCode}, nil).Read()
	if servertest.Code(raw.Err) != "22P02" {
		t.Errorf("a label that there is not: %v, want 22P02", raw.Err)
	}
	if _, err := c.CopyFrom(ctx, pgx.Identifier{"people"}, []string{"id", "m"}, pgx.CopyFromRows([][]any{{7, "ok"}})); err != nil {
		t.Errorf("COPY in binary form: %v", err)
	}
	servertest.Expect(t, c, "SELECT id, m FROM people ORDER BY m", "1|sad", "7|ok", "0|happy")
}

// TestDomainsOfPgx: clients see the base type of a domain, and its constraints hold for
// what they send, in COPY as well.
func TestDomainsOfPgx(t *testing.T) {
	ctx := context.Background()
	c := servertest.Start(t, servertest.Options{}).Connect()
	servertest.Exec(t, c, "CREATE DOMAIN posint AS int CHECK (VALUE > 0)", "CREATE DOMAIN code AS varchar(3) NOT NULL DEFAULT 'abc'",
		"CREATE TABLE things (id posint PRIMARY KEY, c code)")
	rows, err := c.Query(ctx, "SELECT id, c, $1::posint FROM things", 7)
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
	for i, want := range []uint32{pgtype.Int4OID, pgtype.VarcharOID, pgtype.Int4OID} {
		if got := rows.FieldDescriptions()[i].DataTypeOID; got != want {
			t.Errorf("column %d has type %d, want %d", i, got, want)
		}
	}
	if typ, err := c.LoadType(ctx, "posint"); err != nil || typ.Codec != (pgtype.Int4Codec{}) {
		t.Errorf("the type is %+v, %v", typ, err)
	}
	copied := func(columns []string, values ...any) error {
		_, err := c.CopyFrom(ctx, pgx.Identifier{"things"}, columns, pgx.CopyFromRows([][]any{values}))
		return err
	}
	for code, err := range map[string]error{
		"":      copied([]string{"id"}, 1),
		"23514": copied([]string{"id", "c"}, 0, "x"),
		"23502": copied([]string{"c", "id"}, nil, 3),
		"22001": copied([]string{"id", "c"}, 3, "long"),
	} {
		if servertest.Code(err) != code {
			t.Errorf("COPY: %v, want %q", err, code)
		}
	}
	if _, err := c.Exec(ctx, "INSERT INTO things VALUES ($1, $2)", -1, "x"); servertest.Code(err) != "23514" {
		t.Errorf("a parameter: %v, want 23514", err)
	}
	servertest.Expect(t, c, "SELECT * FROM things", "1|abc")
}

// TestConstraintsThatComeMeanwhile: a row that was on its way when another session gave
// the domain a constraint keeps it.
func TestConstraintsThatComeMeanwhile(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c, other := s.Connect(), s.Connect()
	servertest.Exec(t, c, "CREATE DOMAIN posint AS int", "CREATE TABLE things (a posint)", "BEGIN", "ALTER DOMAIN posint ADD CHECK (VALUE > 0)")
	done := make(chan error)
	go func() {
		_, err := servertest.Query(other, "INSERT INTO things VALUES (0)")
		done <- err
	}()
	servertest.Eventually(t, "the other session inserts", func() bool {
		rows, err := servertest.Query(c, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO things%' AND state = 'active'")
		return err == nil && rows[0] == "1"
	})
	servertest.Exec(t, c, "COMMIT")
	if err := <-done; servertest.Code(err) != "23514" {
		t.Errorf("the row came in: %v", err)
	}
	servertest.Expect(t, c, "SELECT count(*) FROM things", "0")
}

// TestEnumsOfTransactions: what a transaction does to an enum is for itself until it
// commits.
func TestEnumsOfTransactions(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c, other := s.Connect(), s.Connect()
	servertest.Exec(t, c, "CREATE TYPE mood AS ENUM ('sad', 'ok')", "CREATE TABLE people (m mood)", "INSERT INTO people VALUES ('sad'), ('ok')")
	servertest.Exec(t, c, "BEGIN", "ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'", "ALTER TYPE mood ADD VALUE 'happy'", "CREATE TYPE made AS ENUM ('x')")
	const list = "SELECT array_agg(m ORDER BY m) FROM people"
	servertest.Expect(t, c, list, "{blue,ok}")
	servertest.Expect(t, other, list, "{sad,ok}")
	servertest.Expect(t, other, "SELECT enum_range(NULL::mood), 'sad'::mood, count(*) FROM pg_enum", "{sad,ok}|sad|2")
	if _, err := servertest.Query(other, "SELECT 'x'::made"); servertest.Code(err) != "42704" {
		t.Errorf("a type that is not committed: %v, want 42704", err)
	}
	servertest.Exec(t, c, "COMMIT")
	for _, conn := range []*pgx.Conn{c, other} {
		servertest.Expect(t, conn, list, "{blue,ok}")
		servertest.Expect(t, conn, "SELECT enum_range(NULL::mood), 'x'::made", "{blue,ok,happy}|x")
		if _, err := servertest.Query(conn, "SELECT 'sad'::mood"); servertest.Code(err) != "22P02" {
			t.Errorf("a label's old name: %v, want 22P02", err)
		}
	}
}
