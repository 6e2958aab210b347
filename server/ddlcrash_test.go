package server_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tallydb/tallydb/server/servertest"
)

// defining is a transaction of definitions and rows, which replaces what before made.
var (
	before = []string{
		"CREATE TABLE gone (a int)", "INSERT INTO gone VALUES (1)",
		"CREATE TABLE kept (id serial PRIMARY KEY, v text)", "INSERT INTO kept (v) SELECT 'old ' || g FROM generate_series(1, 2000) g",
		"CREATE TABLE emptied (a int UNIQUE)", "INSERT INTO emptied SELECT generate_series(1, 2000)",
		"CREATE STREAM events (who text, at timestamptz, WATERMARK FOR at AS at) WITH (partitions = 2)",
		"CREATE TYPE mood AS ENUM ('sad', 'ok')", "CREATE TABLE moods (m mood)", "INSERT INTO moods VALUES ('sad'), ('ok')",
		"CREATE CONTINUOUS VIEW per_who AS SELECT who, count(*) AS n FROM events GROUP BY who",
	}
	defining = []string{
		"BEGIN", "CREATE SCHEMA made", "CREATE TABLE made.rows (n int PRIMARY KEY, t text)",
		"INSERT INTO made.rows SELECT g, 'row ' || g FROM generate_series(1, 2000) g",
		"DROP TABLE gone", "ALTER TABLE kept ADD w int DEFAULT 3", "INSERT INTO kept (v) VALUES ('new')",
		"SAVEPOINT s", "CREATE TABLE never (a int)", "INSERT INTO never VALUES (1)", "TRUNCATE kept", "ROLLBACK TO s",
		"TRUNCATE emptied", "INSERT INTO emptied VALUES (1)", "CREATE VIEW seen AS SELECT count(*) AS n FROM made.rows",
		"ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'", "ALTER TYPE mood ADD VALUE 'meh' BEFORE 'ok'", "CREATE TYPE made.size AS ENUM ('s', 'm')",
		"CREATE TABLE made.sizes AS SELECT 'm'::made.size AS s",
		"CREATE SEQUENCE made.counter START 7", "SELECT nextval('made.counter')", "DROP CONTINUOUS VIEW per_who",
	}
)

// expectUndefined makes sure that nothing of the transaction is there.
func expectUndefined(t *testing.T, c *pgx.Conn) {
	t.Helper()
	servertest.Expect(t, c, "SELECT count(*) FROM pg_class WHERE relname IN ('rows', 'never', 'seen', 'counter')", "0")
	servertest.Expect(t, c, "SELECT count(*) FROM pg_namespace WHERE nspname = 'made'", "0")
	servertest.Expect(t, c, "SELECT count(*) FROM gone", "1")
	servertest.Expect(t, c, "SELECT count(*), count(DISTINCT v) FROM kept", "2000|2000")
	servertest.Expect(t, c, "SELECT sum(a) FROM emptied", "2001000")
	servertest.Expect(t, c, "SELECT count(*) FROM per_who", "0")
	servertest.Expect(t, c, "SELECT enum_range(NULL::mood), min(m), max(m) FROM moods", "{sad,ok}|sad|ok")
	servertest.Expect(t, c, "SELECT count(*) FROM pg_type WHERE typname = 'size'", "0")
}

// expectDefined makes sure that all of it is.
func expectDefined(t *testing.T, c *pgx.Conn) {
	t.Helper()
	servertest.Expect(t, c, "SELECT count(*) FROM pg_class WHERE relname IN ('gone', 'never', 'per_who')", "0")
	servertest.Expect(t, c, "SELECT count(*), sum(n) FROM made.rows", "2000|2001000")
	servertest.Expect(t, c, "SELECT n FROM seen", "2000")
	servertest.Expect(t, c, "SELECT count(*), sum(w) FROM kept", "2001|6003")
	servertest.Expect(t, c, "SELECT sum(a) FROM emptied", "1")
	servertest.Expect(t, c, "SELECT enum_range(NULL::mood), min(m), max(m) FROM moods", "{blue,meh,ok}|blue|ok")
	servertest.Expect(t, c, "SELECT s, s > 's' FROM made.sizes", "m|t")
	servertest.Expect(t, c, "SELECT nextval('made.counter') > 7", "t")
}

// TestDefinitionsAreWholeAfterACrash cuts the power at every write of a transaction of
// definitions and rows: afterwards all of it is there, or nothing, and work goes on.
func TestDefinitionsAreWholeAfterACrash(t *testing.T) {
	s, cuts := startCut(t, 3, 1, 40)
	c := s.Connect()
	servertest.Exec(t, c, before...)
	cuts.arm(true)
	servertest.Exec(t, c, defining...)
	cuts.now()
	servertest.Exec(t, c, "COMMIT")
	cuts.arm(false)
	expectDefined(t, c)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	cuts.now()
	whole := 0
	for i, fs := range cuts.left {
		r := servertest.Start(t, servertest.Options{FS: fs})
		c := r.Connect()
		_, err := servertest.Query(c, "SELECT 1 FROM made.rows LIMIT 1")
		switch servertest.Code(err) {
		case "":
			whole++
		case "42P01":
			expectUndefined(t, c)
			servertest.Exec(t, c, defining...)
			servertest.Exec(t, c, "COMMIT")
		default:
			t.Fatalf("crash %d: %v", i, err)
		}
		expectDefined(t, c)
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if whole == 0 || whole == len(cuts.left) {
		t.Errorf("%d of %d crashes left the definitions: the test saw one side only", whole, len(cuts.left))
	}
}

// TestDefinitionsThatEndWithTheirConnection: a connection that goes away in the middle
// of its transaction leaves nothing, and others can define at once.
func TestDefinitionsThatEndWithTheirConnection(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c, other := s.Connect(), s.Connect()
	servertest.Exec(t, c, before...)
	servertest.Exec(t, c, defining...)
	servertest.Expect(t, other, "SELECT count(*) FROM gone", "1")
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	servertest.Exec(t, other, "ALTER TABLE gone ADD b int", "ALTER TABLE gone DROP b") // waits until the session has ended
	expectUndefined(t, other)
	servertest.Exec(t, other, defining...)
	servertest.Exec(t, other, "COMMIT")
	expectDefined(t, other)
}
