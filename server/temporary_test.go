package server_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tallydb/tallydb/server/servertest"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/vfs"
)

// makingTemporary makes temporary objects of every kind, with rows.
var makingTemporary = []string{
	"CREATE TEMP TABLE tt (a int PRIMARY KEY, s serial, i int GENERATED ALWAYS AS IDENTITY, b text UNIQUE)",
	"INSERT INTO tt (a, b) SELECT g, 'b' || g FROM generate_series(1, 500) g",
	"CREATE TEMP TABLE refers (a int REFERENCES tt)", "INSERT INTO refers VALUES (1), (2)", "CREATE INDEX ON refers (a)",
	"CREATE TEMP SEQUENCE ts", "SELECT nextval('ts')", "CREATE VIEW tv AS SELECT count(*) AS n FROM tt", "TRUNCATE refers",
	"CREATE TEMP TABLE deletes (a int) ON COMMIT DELETE ROWS", "INSERT INTO deletes VALUES (1)",
	"ALTER TABLE tt ADD COLUMN c int DEFAULT 4",
}

const countTemporary = "SELECT (SELECT count(*) FROM pg_class WHERE relpersistence = 't'), (SELECT count(*) FROM pg_namespace WHERE nspname ~ '^pg_temp')"

// nothingLeft stops a server and makes sure that no table is left in its data directory.
func nothingLeft(t *testing.T, s *servertest.Server, fs vfs.FS) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if tables, descriptors := leftInStore(t, fs); tables != 0 || descriptors != 0 {
		t.Errorf("%d keys of tables and %d of descriptors are left", tables, descriptors)
	}
}

// leftInStore counts the keys of tables and of descriptors of the data directory of a server
// that has ended.
func leftInStore(t *testing.T, fs vfs.FS) (tables, descriptors int) {
	t.Helper()
	store, err := kv.Open(fs.PathJoin("data", "kv"), kv.Config{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	count := func(prefix string, n *int) {
		err := store.Scan([]byte(prefix), kv.PrefixEnd([]byte(prefix)), func(_, _ []byte) error { *n++; return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	count("t", &tables)
	count("c/relation/", &descriptors)
	count("c/schema/", &descriptors)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return tables, descriptors
}

func closed(t *testing.T, c *pgx.Conn) {
	t.Helper()
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// gone waits until no temporary object is there, and its schema is not either.
func gone(t *testing.T, c *pgx.Conn) {
	t.Helper()
	servertest.Eventually(t, "the temporary objects are dropped", func() bool {
		rows, err := servertest.Query(c, countTemporary)
		return err == nil && rows[0] == "0|0"
	})
}

// TestTemporaryObjectsEndWithTheirSession however it ends, and nothing of them is left, not
// even where another session keeps all writers waiting.
func TestTemporaryObjectsEndWithTheirSession(t *testing.T) {
	fs := vfs.NewCrashable()
	s := servertest.Start(t, servertest.Options{FS: fs})
	watcher, writer := s.Connect(), s.Connect()
	servertest.Exec(t, watcher, "CREATE TABLE permanent (a int)")
	ends := map[string]func(c *pgx.Conn){
		"close": func(c *pgx.Conn) { closed(t, c) },
		"cut":   func(c *pgx.Conn) { _ = c.PgConn().Conn().Close() },
		"terminated": func(c *pgx.Conn) {
			servertest.Exec(t, watcher, fmt.Sprintf("SELECT pg_terminate_backend(%d)", c.PgConn().PID()))
		},
		"discard temp": func(c *pgx.Conn) { servertest.Exec(t, c, "DISCARD TEMP"); closed(t, c) },
		"discard all":  func(c *pgx.Conn) { servertest.Exec(t, c, "DISCARD ALL"); closed(t, c) },
		"in a transaction": func(c *pgx.Conn) {
			servertest.Exec(t, c, "BEGIN", "INSERT INTO tt (a) VALUES (1000)", "CREATE TEMP TABLE more (a serial)", "DROP TABLE refers", "DECLARE c CURSOR FOR SELECT * FROM tt", "FETCH c")
			_ = c.PgConn().Conn().Close()
		},
		"in a failed one": func(c *pgx.Conn) {
			servertest.Exec(t, c, "BEGIN", "SAVEPOINT s", "CREATE TEMP TABLE more (a serial)")
			servertest.ExpectCode(t, c, "42P07", "CREATE TEMP TABLE more (a serial)")
			_ = c.PgConn().Conn().Close()
		},
	}
	for name, end := range ends {
		c := s.Connect()
		servertest.Exec(t, c, makingTemporary...)
		servertest.Expect(t, watcher, countTemporary, "10|1")
		end(c)
		gone(t, watcher)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	c := s.Connect()
	servertest.Exec(t, c, makingTemporary...)
	servertest.Exec(t, writer, "BEGIN", "CREATE TABLE other (a int)", "INSERT INTO permanent VALUES (1)")
	closed(t, c)
	gone(t, watcher)
	servertest.Exec(t, writer, "ROLLBACK")

	servertest.Exec(t, s.Connect(), makingTemporary...) // for the server's end
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	tables, descriptors := leftInStore(t, fs)
	if tables != 0 || descriptors != 1 {
		t.Errorf("%d keys of tables and %d of descriptors are left", tables, descriptors)
	}
}

// TestTemporaryObjectsThatACrashLeft are dropped before the next client is served.
func TestTemporaryObjectsThatACrashLeft(t *testing.T) {
	fs := vfs.NewCrashable()
	s := servertest.Start(t, servertest.Options{FS: fs})
	a, b := s.Connect(), s.Connect()
	servertest.Exec(t, a, "CREATE TABLE permanent (a int)", "CREATE TABLE hidden (a int)", "INSERT INTO hidden VALUES (1)")
	servertest.Exec(t, a, makingTemporary...)
	servertest.Exec(t, b, makingTemporary...)
	servertest.Exec(t, b, "CREATE TEMP TABLE hidden (a int)", "BEGIN", "CREATE TEMP TABLE open (a int)")
	left := fs.Crash(100, rand.New(rand.NewPCG(5, 6)))
	r := servertest.Start(t, servertest.Options{FS: left})
	c := r.Connect()
	servertest.Expect(t, c, countTemporary, "0|0")
	servertest.Expect(t, c, "SELECT * FROM hidden", "1")
	servertest.Exec(t, c, makingTemporary...)
	servertest.Expect(t, c, "SELECT count(*) FROM pg_namespace WHERE nspname = 'pg_temp_1'", "1")
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	if tables, descriptors := leftInStore(t, left); descriptors != 2 || tables != 2 {
		t.Errorf("%d keys of tables and %d of descriptors are left", tables, descriptors)
	}
}

// namingTemporary makes permanent tables whose defaults and checks name temporary sequences.
var namingTemporary = []string{
	"CREATE TABLE named (a int, b int CHECK (b < 9))", "CREATE TEMP SEQUENCE dq", "ALTER TABLE named ALTER a SET DEFAULT nextval('dq') + 1",
	"ALTER TABLE named ADD CONSTRAINT counted CHECK (currval('dq') > 0)", "CREATE TEMP TABLE sst (s serial)",
	"CREATE TABLE likes (LIKE sst INCLUDING DEFAULTS, b int)", "ALTER TABLE likes ALTER s DROP NOT NULL",
	"INSERT INTO named VALUES (DEFAULT, 1)", "INSERT INTO likes VALUES (DEFAULT, 1)",
}

// namesNothing makes sure that those tables do not name the sequences any more, and another
// session that makes ones of their names in their schema does not give them numbers.
func namesNothing(t *testing.T, c *pgx.Conn) {
	t.Helper()
	servertest.Exec(t, c, "CREATE TEMP SEQUENCE dq", "CREATE TEMP TABLE sst (s serial)", "INSERT INTO named VALUES (DEFAULT, 2)", "INSERT INTO likes VALUES (DEFAULT, 2)")
	servertest.Expect(t, c, "SELECT pg_my_temp_schema()::regnamespace", "pg_temp_1")
	servertest.Expect(t, c, "SELECT a, b FROM named ORDER BY b", "2|1", "∅|2")
	servertest.Expect(t, c, "SELECT s, b FROM likes ORDER BY b", "1|1", "∅|2")
	servertest.ExpectCode(t, c, "23514", "INSERT INTO named VALUES (1, 10)")
}

// TestDefaultsOfTemporarySequences end with them: with the session, also where another one
// has changed their table in a transaction that goes on, and after a crash.
func TestDefaultsOfTemporarySequences(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	watcher, c := s.Connect(), s.Connect()
	servertest.Exec(t, c, namingTemporary...)
	closed(t, c)
	gone(t, watcher)
	namesNothing(t, watcher)

	s = servertest.Start(t, servertest.Options{})
	c, writer, watcher := s.Connect(), s.Connect(), s.Connect()
	servertest.Exec(t, c, namingTemporary...)
	servertest.Exec(t, writer, "BEGIN", "ALTER TABLE named ADD c int", "CREATE TABLE copied (LIKE named INCLUDING DEFAULTS)")
	closed(t, c)
	servertest.Exec(t, writer, "COMMIT")
	gone(t, watcher)
	namesNothing(t, watcher)
	servertest.Exec(t, watcher, "INSERT INTO copied DEFAULT VALUES")
	servertest.Expect(t, watcher, "SELECT a FROM copied", "∅")

	fs := vfs.NewCrashable()
	s = servertest.Start(t, servertest.Options{FS: fs})
	servertest.Exec(t, s.Connect(), namingTemporary...)
	s = servertest.Start(t, servertest.Options{FS: fs.Crash(100, rand.New(rand.NewPCG(5, 6)))})
	namesNothing(t, s.Connect())
}

// TestTemporaryObjectsOfOthers: another session finds them by the name of their schema, at
// most, and may do nothing with them, superuser or not.
func TestTemporaryObjectsOfOthers(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	owner, other := s.Connect(), s.Connect()
	servertest.Exec(t, owner, makingTemporary...)
	servertest.Exec(t, owner, "CREATE ROLE someone", "CREATE TABLE permanent (a int)")
	for _, name := range []string{"tt", "refers", "tv"} {
		servertest.ExpectCode(t, other, "42P01", "SELECT * FROM "+name)
		servertest.ExpectCode(t, other, "42P01", "SELECT * FROM pg_temp."+name)
	}
	refused := []string{
		"SELECT * FROM TT", "TABLE TMP.tv", "INSERT INTO TT (a) VALUES (9)", "UPDATE TT SET a = 9", "DELETE FROM TT", "TRUNCATE TT", "COPY TT TO STDOUT",
		"COPY TT FROM STDIN", "SELECT nextval('TMP.ts')", "SELECT setval('TMP.ts', 9)", "SELECT currval('TMP.ts')", "ALTER TABLE TT ADD z int", "ALTER TABLE TT RENAME TO z",
		"ALTER TABLE TT OWNER TO someone", "ALTER TABLE TT SET SCHEMA public", "ALTER INDEX TMP.tt_pkey RENAME TO z", "CREATE INDEX ON TT (b)",
		"CREATE VIEW z AS SELECT * FROM TT", "CREATE VIEW z AS SELECT * FROM TMP.tv", "CREATE TABLE z AS SELECT * FROM TT", "CREATE TABLE z (a int REFERENCES TT)",
		"CREATE TEMP TABLE z (a int REFERENCES TT)", "CREATE MATERIALIZED VIEW z AS SELECT * FROM TT", "MERGE INTO TT USING permanent ON true WHEN NOT MATCHED THEN INSERT (a) VALUES (1)",
		"ALTER SEQUENCE TMP.ts RESTART", "COMMENT ON TABLE TT IS 'z'", "COMMENT ON SCHEMA TMP IS 'z'", "GRANT SELECT ON TT TO PUBLIC",
		"GRANT USAGE ON SCHEMA TMP TO PUBLIC", "GRANT ALL ON ALL TABLES IN SCHEMA TMP TO someone", "ALTER SCHEMA TMP RENAME TO z", "ALTER SCHEMA TMP OWNER TO someone",
		"DROP SCHEMA TMP", "DROP SCHEMA TMP CASCADE", "DROP INDEX TMP.refers_a_idx", "ALTER TABLE permanent SET SCHEMA TMP", "CREATE TYPE TMP.z AS ENUM ('a')",
		"CREATE STREAM TMP.z (a int)", "BEGIN; LOCK TABLE TT", "SELECT (SELECT max(a) FROM TT)", "WITH w AS (DELETE FROM TT RETURNING a) SELECT * FROM w", "EXPLAIN ANALYZE SELECT * FROM TT",
		"PREPARE z AS SELECT * FROM TT; EXECUTE z", "DECLARE z CURSOR WITH HOLD FOR SELECT * FROM TT",
	}
	for _, sql := range refused {
		sql = strings.NewReplacer("TT", "pg_temp_1.tt", "TMP", "pg_temp_1").Replace(sql)
		_, err := servertest.Query(other, sql)
		if got := servertest.Code(err); got != "0A000" {
			t.Errorf("%s: got %q, want 0A000", sql, err)
		}
		servertest.Exec(t, other, "ROLLBACK")
	}
	for _, sql := range []string{"CREATE TABLE pg_temp_1.z (a int)", "CREATE TEMP TABLE pg_temp_1.z (a int)", "CREATE VIEW pg_temp_1.z AS SELECT 1", "CREATE SEQUENCE pg_temp_1.z"} {
		servertest.ExpectCode(t, other, "42P16", sql)
	}
	servertest.Exec(t, other, "SET search_path = pg_temp_1, public")
	servertest.ExpectCode(t, other, "0A000", "SELECT * FROM tt")
	servertest.ExpectCode(t, other, "42P16", "CREATE TABLE z (a int)")
	servertest.Exec(t, other, "RESET search_path", "SET ROLE someone")
	servertest.ExpectCode(t, other, "42501", "SELECT * FROM pg_temp_1.tt")
	servertest.Expect(t, other, "SELECT count(*) FROM information_schema.tables WHERE table_type = 'LOCAL TEMPORARY'", "0")
	servertest.Expect(t, other, "SELECT count(*) FROM information_schema.columns WHERE table_schema ~ '^pg_temp'", "0")
	servertest.Exec(t, other, "RESET ROLE")
	servertest.Expect(t, other, "SELECT count(*) FROM information_schema.columns WHERE table_schema ~ '^pg_temp'", "0")
	servertest.Expect(t, owner, "SELECT count(*), sum(c) FROM tt", "500|2000")
	servertest.Exec(t, other, "DROP TABLE pg_temp_1.deletes") // as in PostgreSQL, to who may
	servertest.ExpectCode(t, owner, "42P01", "SELECT * FROM deletes")
}

// TestTemporaryObjectsNeedTheirPrivilege on the database, and no other.
func TestTemporaryObjectsNeedTheirPrivilege(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, "CREATE ROLE someone", "CREATE TABLE permanent (a int)", "SET ROLE someone")
	servertest.ExpectCode(t, c, "42501", "CREATE TABLE mine (a int)")
	servertest.Exec(t, c, "CREATE TEMP TABLE mine (a serial)", "INSERT INTO mine DEFAULT VALUES", "SELECT * FROM mine", "CREATE TEMP VIEW over AS SELECT * FROM mine", "SELECT * FROM over")
	servertest.ExpectCode(t, c, "42501", "SELECT * FROM permanent")
	servertest.Expect(t, c, "SELECT has_schema_privilege(pg_my_temp_schema(), 'CREATE'), has_schema_privilege(pg_my_temp_schema(), 'USAGE')", "t|t")
	servertest.Exec(t, c, "RESET ROLE", "REVOKE TEMP ON DATABASE tally FROM PUBLIC", "SET ROLE someone")
	servertest.ExpectCode(t, c, "42501", "CREATE TEMP TABLE second (a int)")
	servertest.Expect(t, c, "SELECT has_schema_privilege(pg_my_temp_schema(), 'CREATE'), has_schema_privilege(pg_my_temp_schema(), 'USAGE')", "f|t")
	servertest.Expect(t, c, "SELECT count(*) FROM mine", "1")
	other := s.Connect()
	servertest.Exec(t, other, "SET ROLE someone")
	_, err := servertest.Query(other, "CREATE TEMP TABLE second (a int)")
	if err == nil || !strings.Contains(err.Error(), `permission denied to create temporary tables in database "tally"`) {
		t.Errorf("got %v", err)
	}
	servertest.Expect(t, other, "SELECT pg_my_temp_schema()", "0")
	servertest.Exec(t, other, "RESET ROLE", "GRANT TEMPORARY ON DATABASE tally TO someone", "SET ROLE someone", "CREATE TEMP TABLE second (a int)")
	servertest.Exec(t, other, "RESET ROLE") // what is in the schema keeps its owner's privileges
	servertest.Exec(t, other, "CREATE ROLE third", "SET ROLE third")
	servertest.ExpectCode(t, other, "42501", "SELECT * FROM second")
	servertest.ExpectCode(t, other, "42501", "DROP TABLE second")
}

// TestTypeOfATemporaryTable: what others do with what temporary objects depend on, and the
// end of their session meanwhile, leave nothing.
func TestTypeOfATemporaryTable(t *testing.T) {
	fs := vfs.NewCrashable()
	s := servertest.Start(t, servertest.Options{FS: fs})
	owner, other := s.Connect(), s.Connect()
	servertest.Exec(t, other, "CREATE TYPE mood AS ENUM ('sad', 'ok')", "CREATE TABLE permanent (a int)")
	servertest.Exec(t, owner, "CREATE TEMP TABLE tt (a int, m mood, n mood)", "INSERT INTO tt VALUES (1, 'ok', 'sad')", "CREATE TEMP VIEW tv AS SELECT * FROM permanent")
	servertest.Exec(t, other, "BEGIN", "DROP TYPE mood CASCADE", "DROP TABLE permanent CASCADE")
	closed(t, owner)
	servertest.Exec(t, other, "COMMIT")
	gone(t, other)
	nothingLeft(t, s, fs)
}

// TestManyTemporaryTables: a session that makes and drops them again and again does not
// make the catalog or the store grow.
func TestManyTemporaryTables(t *testing.T) {
	fs := vfs.NewCrashable()
	s := servertest.Start(t, servertest.Options{FS: fs})
	c := s.Connect()
	for i := range 300 {
		switch i % 3 {
		case 0:
			servertest.Exec(t, c, "CREATE TEMP TABLE again (a serial PRIMARY KEY, b text)", "INSERT INTO again (b) VALUES ('x')", "SELECT * FROM again", "DROP TABLE again")
		case 1:
			servertest.Exec(t, c, "BEGIN", "CREATE TEMP TABLE again ON COMMIT DROP AS SELECT generate_series(1, 9) AS a", "SELECT * FROM again", "COMMIT")
		case 2:
			servertest.Exec(t, c, "BEGIN", "CREATE TEMP TABLE again (a serial)", "INSERT INTO again DEFAULT VALUES", "ROLLBACK")
		}
	}
	servertest.Expect(t, c, countTemporary, "0|1")
	nothingLeft(t, s, fs)
}

// TestTemporaryTablesOfOneName: sessions that come, use tables of one name and go, at the
// same time, see their own rows.
func TestTemporaryTablesOfOneName(t *testing.T) {
	fs := vfs.NewCrashable()
	s := servertest.Start(t, servertest.Options{FS: fs})
	servertest.Exec(t, s.Connect(), "CREATE TABLE same (a int)", "INSERT INTO same VALUES (-1)")
	var group sync.WaitGroup
	for k := range 6 {
		group.Go(func() {
			for round := range 8 {
				if err := ownRows(s, 100*k+round); err != nil {
					t.Errorf("session %d: %v", k, err)
					return
				}
			}
		})
	}
	group.Wait()
	c := s.Connect()
	gone(t, c)
	servertest.Expect(t, c, "SELECT * FROM same", "-1")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if tables, descriptors := leftInStore(t, fs); tables != 2 || descriptors != 1 {
		t.Errorf("%d keys of tables and %d of descriptors are left", tables, descriptors)
	}
}

// ownRows makes a temporary table in a session of its own, and looks for its row there.
func ownRows(s *servertest.Server, value int) error {
	c, err := s.TryConnect()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	const read = "SELECT sum(a) FROM same"
	var before, within, after int
	if err := c.QueryRow(ctx, read).Scan(&before); err != nil {
		return err
	}
	for _, sql := range []string{"CREATE TEMP TABLE same (a int, n serial)", fmt.Sprintf("INSERT INTO same VALUES (%d)", value)} {
		if _, err := c.Exec(ctx, sql); err != nil {
			return err
		}
	}
	if err := c.QueryRow(ctx, read).Scan(&within); err != nil {
		return err
	}
	if _, err := c.Exec(ctx, "DROP TABLE same"); err != nil {
		return err
	}
	if err := c.QueryRow(ctx, read).Scan(&after); err != nil {
		return err
	}
	if before != -1 || within != value || after != -1 {
		return fmt.Errorf("got %d, %d and %d of %d", before, within, after, value)
	}
	if value%2 == 0 {
		if _, err := c.Exec(ctx, "CREATE TEMP TABLE left_behind AS SELECT 1 AS a"); err != nil {
			return err
		}
	}
	return c.Close(ctx)
}
