package server_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tallydb/tallydb/server"
	"github.com/tallydb/tallydb/server/servertest"
)

// statementKinds returns the kinds of statements that sql/ast has.
func statementKinds(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../sql/ast/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			m, ok := d.(*ast.FuncDecl)
			if !ok || m.Recv == nil || m.Name.Name != "statement" || len(m.Type.Params.List) > 0 {
				continue
			}
			if p, ok := m.Recv.List[0].Type.(*ast.StarExpr); ok {
				out = append(out, p.X.(*ast.Ident).Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// refused are, for every kind of statement, those that a role without privileges must
// not get through; open are the kinds that it may use, with the reason.
var (
	refused = map[string][]string{
		"Select": {
			"SELECT * FROM t", "SELECT 1 FROM t", "TABLE t", "SELECT count(*) FROM t WHERE false", "SELECT * FROM v", "SELECT * FROM vv",
			"SELECT * FROM m", "SELECT * FROM e", "SELECT count(*) FROM e", "SELECT * FROM c", "SELECT k FROM TUMBLE(e, at, INTERVAL '1 minute') GROUP BY k, window_start",
			"SELECT * FROM e__rejected", "SELECT * FROM e__late", "SELECT * FROM c__late", "SELECT * FROM c__errors",
			"SELECT * FROM s.x", "SELECT (SELECT max(a) FROM t)", "SELECT 1 WHERE EXISTS (SELECT 1 FROM t)", "SELECT 1 WHERE 1 IN (SELECT a FROM t)",
			"SELECT 1 WHERE 1 = ANY (SELECT a FROM t)", "SELECT ARRAY(SELECT a FROM t)",
			"SELECT * FROM generate_series(1, 2) AS g, LATERAL (SELECT * FROM t WHERE a = g) AS x", "SELECT * FROM (SELECT * FROM t) AS x",
			"SELECT * FROM generate_series(1, 2) AS g LEFT JOIN t ON t.a = g", "SELECT 1 UNION ALL SELECT a FROM t", "SELECT 1 EXCEPT SELECT a FROM t",
			"WITH x AS (SELECT * FROM t) SELECT * FROM x", "WITH RECURSIVE x AS (SELECT a FROM t UNION ALL SELECT a + 1 FROM x WHERE a < 3) SELECT * FROM x",
			"WITH x AS (DELETE FROM t RETURNING a) SELECT * FROM x", "WITH x AS (INSERT INTO t VALUES (9, 9) RETURNING a) SELECT * FROM x",
			"WITH x AS (UPDATE t SET b = 1 RETURNING a) SELECT 1", "VALUES ((SELECT max(a) FROM t))", "SELECT 1 ORDER BY (SELECT max(a) FROM t)",
			"SELECT 1 LIMIT (SELECT max(a) FROM t)", "SELECT * FROM pg_authid", "SELECT * FROM pg_shadow", "SELECT (SELECT rolpassword FROM pg_authid LIMIT 1)",
			"SELECT 'sad'::s.mood", "SELECT nextval('q')", "SELECT currval('q')", "SELECT setval('q', 1)", "SELECT set_config('role', 'tally', false)",
			"SELECT set_config('session_authorization', 'tally', false)", "SELECT set_config('temp_file_limit', '1', false)",
			"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'tally'", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tally'",
		},
		"Insert": {
			"INSERT INTO t VALUES (1, 1)", "INSERT INTO t DEFAULT VALUES", "INSERT INTO e (id, k, at) VALUES (1, 'a', now())", "INSERT INTO s.x VALUES (1)",
			"INSERT INTO mine SELECT a FROM t", "INSERT INTO mine VALUES ((SELECT max(a) FROM t))", "WITH x AS (SELECT a FROM t) INSERT INTO mine SELECT a FROM x",
			"INSERT INTO mine VALUES (1) RETURNING nextval('q')",
		},
		"Update": {"UPDATE t SET b = 1", "UPDATE mine SET a = (SELECT max(a) FROM t)", "UPDATE mine SET a = 1 FROM t", "UPDATE mine SET a = 1 WHERE a IN (SELECT a FROM t)"},
		"Delete": {"DELETE FROM t", "DELETE FROM mine USING t", "DELETE FROM mine WHERE a IN (SELECT a FROM t)"},
		"Merge": {
			"MERGE INTO t USING mine ON t.a = mine.a WHEN MATCHED THEN DELETE", "MERGE INTO mine USING t ON t.a = mine.a WHEN MATCHED THEN DELETE",
			"MERGE INTO mine USING (SELECT a FROM v) AS x ON x.a = mine.a WHEN NOT MATCHED THEN INSERT VALUES (x.a)", "MERGE INTO t USING mine ON t.a = mine.a WHEN MATCHED THEN DO NOTHING",
		},
		"Copy":     {"COPY t TO STDOUT", "COPY t (a) TO STDOUT", "COPY (SELECT * FROM t) TO STDOUT", "COPY e TO STDOUT", "COPY (DELETE FROM t RETURNING a) TO STDOUT", "COPY v TO STDOUT"},
		"Truncate": {"TRUNCATE t", "TRUNCATE mine, t"},
		"Explain": {
			"EXPLAIN SELECT * FROM t", "EXPLAIN ANALYZE SELECT * FROM t", "EXPLAIN ANALYZE DELETE FROM t", "EXPLAIN INSERT INTO t VALUES (1, 1)", "EXPLAIN (FORMAT JSON) SELECT * FROM v",
			"EXPLAIN CREATE TABLE x AS SELECT * FROM t", "EXPLAIN EXECUTE p",
		},
		"Execute":              {"EXECUTE p"},
		"DeclareCursor":        {"DECLARE k CURSOR WITH HOLD FOR SELECT * FROM t"},
		"LockTable":            {"LOCK TABLE t", "LOCK TABLE t IN ACCESS SHARE MODE", "LOCK TABLE v IN ACCESS SHARE MODE"},
		"CreateTable":          {"CREATE TABLE x (a int)", "CREATE TABLE s.x2 (a int)", "CREATE TABLE x AS SELECT 1", "CREATE MATERIALIZED VIEW x AS SELECT 1", "CREATE TABLE own.x (a int REFERENCES t)", "CREATE TABLE own.x AS SELECT * FROM t", "CREATE TABLE own.x AS EXECUTE p", "CREATE MATERIALIZED VIEW own.x AS SELECT * FROM t"},
		"CreateView":           {"CREATE VIEW x AS SELECT 1", "CREATE OR REPLACE VIEW v AS SELECT 1 AS a, 1 AS b"},
		"CreateEnum":           {"CREATE TYPE x AS ENUM ('a')", "CREATE TYPE s.x2 AS ENUM ('a')"},
		"AlterType":            {"ALTER TYPE mood ADD VALUE 'x'", "ALTER TYPE mood RENAME VALUE 'glad' TO 'x'", "ALTER TYPE mood RENAME TO x", "ALTER TYPE mood OWNER TO intruder", "ALTER TYPE mood SET SCHEMA own"},
		"CreateDomain":         {"CREATE DOMAIN x AS int", "CREATE DOMAIN s.x2 AS int"},
		"AlterDomain":          {"ALTER DOMAIN whole SET NOT NULL", "ALTER DOMAIN whole DROP CONSTRAINT positive", "ALTER DOMAIN whole OWNER TO intruder"},
		"CreateSequence":       {"CREATE SEQUENCE x", "CREATE SEQUENCE s.x2"},
		"CreateIndex":          {"CREATE INDEX ON t (b)"},
		"CreateSchema":         {"CREATE SCHEMA x", "CREATE SCHEMA AUTHORIZATION tally"},
		"CreateDatabase":       {"CREATE DATABASE x"},
		"AlterDatabase":        {"ALTER DATABASE tally RENAME TO x", "ALTER DATABASE tally OWNER TO intruder"},
		"AlterSettings":        {"ALTER DATABASE tally SET timezone = 'UTC'", "ALTER DATABASE tally RESET ALL", "ALTER ROLE tally SET timezone = 'UTC'", "ALTER ROLE bystander SET timezone = 'UTC'", "ALTER ROLE ALL IN DATABASE tally SET timezone = 'UTC'", "ALTER ROLE CURRENT_USER SET temp_file_limit = -1"},
		"Reindex":              {"REINDEX TABLE t", "REINDEX INDEX t_pkey", "REINDEX SCHEMA public", "REINDEX DATABASE tally", "REINDEX SYSTEM tally"},
		"DropDatabase":         {"DROP DATABASE tally", "DROP DATABASE tally WITH (FORCE)"},
		"CreateStream":         {"CREATE STREAM x (id bigint)", "CREATE STREAM s.x2 (id bigint)"},
		"CreateContinuousView": {"CREATE CONTINUOUS VIEW x AS SELECT count(*) FROM e", "CREATE CONTINUOUS VIEW own.x AS SELECT count(*) FROM e"},
		"CreateRole":           {"CREATE ROLE x", "CREATE USER x SUPERUSER"},
		"AlterRole":            {"ALTER ROLE tally PASSWORD 'x'", "ALTER ROLE intruder SUPERUSER", "ALTER ROLE CURRENT_USER CREATEROLE", "ALTER ROLE bystander PASSWORD 'x'"},
		"DropRole":             {"DROP ROLE bystander", "DROP ROLE IF EXISTS bystander"},
		"Grant":                {"GRANT SELECT ON t TO intruder", "GRANT ALL ON ALL TABLES IN SCHEMA public TO intruder", "GRANT USAGE ON SCHEMA s TO intruder", "REVOKE SELECT ON t FROM bystander", "GRANT USAGE ON SEQUENCE q TO PUBLIC"},
		"GrantRole":            {"GRANT tally TO intruder", "GRANT bystander TO intruder", "REVOKE bystander FROM member"},
		"AlterTable": {
			"ALTER TABLE t ADD c int", "ALTER TABLE t DROP COLUMN b", "ALTER TABLE t RENAME TO x", "ALTER TABLE t OWNER TO intruder", "ALTER TABLE t SET SCHEMA own", "ALTER VIEW v RENAME TO x",
			"ALTER MATERIALIZED VIEW m RENAME TO x", "ALTER SEQUENCE q RESTART", "ALTER INDEX t_b RENAME TO x", "ALTER TABLE mine ADD FOREIGN KEY (a) REFERENCES t", "ALTER TABLE mine OWNER TO tally", "ALTER TABLE mine SET SCHEMA public",
		},
		"AlterSchema":         {"ALTER SCHEMA s RENAME TO x", "ALTER SCHEMA s OWNER TO intruder", "ALTER SCHEMA own OWNER TO tally"},
		"AlterStream":         {"ALTER STREAM e PARTITION 0 OFFLINE"},
		"AlterContinuousView": {"ALTER CONTINUOUS VIEW c SET (max_staleness = '1 s')"},
		"Drop":                {"DROP TABLE t", "DROP VIEW vv", "DROP MATERIALIZED VIEW m", "DROP STREAM e CASCADE", "DROP CONTINUOUS VIEW c", "DROP SEQUENCE q", "DROP INDEX t_b", "DROP TYPE mood", "DROP DOMAIN whole", "DROP SCHEMA s CASCADE", "DROP TABLE mine, t"},
		"CommentOn":           {"COMMENT ON TABLE t IS 'x'", "COMMENT ON COLUMN t.a IS 'x'", "COMMENT ON VIEW v IS 'x'", "COMMENT ON STREAM e IS 'x'", "COMMENT ON INDEX t_b IS 'x'", "COMMENT ON TYPE mood IS 'x'", "COMMENT ON DOMAIN whole IS 'x'", "COMMENT ON CONSTRAINT positive ON DOMAIN whole IS 'x'", "COMMENT ON SCHEMA s IS 'x'"},
		"Refresh":             {"REFRESH MATERIALIZED VIEW m", "REFRESH MATERIALIZED VIEW m WITH NO DATA"},
		"Checkpoint":          {"CHECKPOINT"},
		"SetStmt":             {"SET ROLE tally", "SET SESSION AUTHORIZATION tally", "SET LOCAL ROLE tally", "SET temp_file_limit = 1", "SET role TO tally"},
		"Show":                {},
	}
	open = map[string]string{
		"Prepare":        "binds only; EXECUTE is looked at",
		"Fetch":          "reads a cursor that was looked at when it was declared",
		"CloseCursor":    "of the session",
		"Deallocate":     "of the session",
		"Discard":        "of the session",
		"Listen":         "as in PostgreSQL, channels are everyone's",
		"Notify":         "as in PostgreSQL, channels are everyone's",
		"Unlisten":       "of the session",
		"Reset":          "goes back to who the client came as",
		"SetConstraints": "of the transaction",
		"SetTransaction": "of the transaction",
		"Transaction":    "of the session",
		"Show":           "shows settings, and catalogs that everyone reads",
		"Vacuum":         "does nothing",
		"CreateSink":     "not supported",
		"Subscribe":      "not supported",
	}
)

// intrude starts a server with things of the bootstrap role, and connects a role that
// may do nothing with them. It has a schema and a table of its own.
func intrude(t *testing.T) (s *servertest.Server, owner, intruder *pgx.Conn) {
	t.Helper()
	s = servertest.Start(t, servertest.Options{})
	owner = s.Connect()
	servertest.Exec(
		t, owner,
		"CREATE ROLE intruder LOGIN", "CREATE ROLE bystander", "CREATE ROLE member", "GRANT bystander TO member",
		"CREATE TABLE t (a int PRIMARY KEY, b int)", "INSERT INTO t VALUES (1, 10), (2, 20)", "CREATE INDEX t_b ON t (b)",
		"CREATE VIEW v AS SELECT * FROM t", "CREATE VIEW vv AS SELECT * FROM v", "CREATE MATERIALIZED VIEW m AS SELECT * FROM t", "CREATE SEQUENCE q",
		"CREATE STREAM e (id bigint, k text, at timestamptz, WATERMARK FOR at AS at) WITH (partitions = 1)", "INSERT INTO e VALUES (1, 'a', '2026-01-01')",
		"CREATE CONTINUOUS VIEW c AS SELECT k, count(*) AS n FROM e GROUP BY k", "CREATE SCHEMA s", "CREATE TABLE s.x (a int)", "CREATE TYPE mood AS ENUM ('glad')", "CREATE TYPE s.mood AS ENUM ('sad')",
		"CREATE DOMAIN whole AS int CONSTRAINT positive CHECK (value >= 0)",
		"CREATE SCHEMA own AUTHORIZATION intruder",
	)
	code, c := logIn(t, s, "sslmode=disable user=intruder", nil)
	if code != "" {
		t.Fatalf("log in: %s", code)
	}
	servertest.Exec(t, c, "CREATE TABLE own.mine (a int)", "SET search_path = public, own", "PREPARE p AS SELECT * FROM t")
	return s, owner, c
}

// TestEveryStatementLooksAtPrivileges: what a role without privileges must not do it does
// not get through by any kind of statement, in either protocol, and nothing changes. A
// new kind of statement has to be listed here.
func TestEveryStatementLooksAtPrivileges(t *testing.T) {
	_, owner, c := intrude(t)
	for _, kind := range statementKinds(t) {
		if len(refused[kind]) == 0 && open[kind] == "" {
			t.Errorf("no statement of the kind %s is listed", kind)
		}
		for _, sql := range refused[kind] {
			for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeDescribeExec} {
				if err := runIn(c, mode, kind, sql); servertest.Code(err) != "42501" {
					t.Errorf("%s (%v): %v, want 42501", sql, mode, err)
				}
			}
		}
	}
	// Who has a privilege but may not grant it is told so by a warning, as in PostgreSQL.
	servertest.Exec(t, c, "GRANT CREATE ON SCHEMA public TO intruder", "GRANT CREATE ON DATABASE tally TO intruder")
	servertest.Expect(t, c, "SELECT has_schema_privilege('public', 'CREATE'), has_database_privilege('tally', 'CREATE')", "f|f")
	servertest.Expect(t, owner, "SELECT count(*), sum(b) FROM t", "2|30")
	servertest.Expect(t, owner, "SELECT count(*) FROM e", "1")
	servertest.Expect(t, owner, "SELECT relname, pg_get_userbyid(relowner) FROM pg_class WHERE relnamespace IN ('public'::regnamespace, 'own'::regnamespace) AND relkind <> 'i' ORDER BY 1",
		"c|tally", "c__errors|tally", "c__late|tally", "e|tally", "e__late|tally", "e__rejected|tally", "m|tally", "mine|intruder", "q|tally", "t|tally", "v|tally", "vv|tally")
	servertest.Expect(t, owner, "SELECT rolname FROM pg_roles WHERE rolsuper OR rolcreaterole OR rolname = 'x'", "tally")
	servertest.ExpectCode(t, owner, "55000", "SELECT currval('q')")
}

// runIn runs a statement, in a block where it needs one.
func runIn(c *pgx.Conn, mode pgx.QueryExecMode, kind, sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), servertest.Patience)
	defer cancel()
	if kind == "LockTable" || strings.HasPrefix(sql, "SET LOCAL") {
		if _, err := c.Exec(ctx, "BEGIN"); err != nil {
			return err
		}
		defer func() { _, _ = c.Exec(ctx, "ROLLBACK") }() // the answer is that of the statement
	}
	if kind == "Copy" {
		_, err := c.PgConn().CopyTo(ctx, &strings.Builder{}, sql)
		return err
	}
	rows, err := c.Query(ctx, sql, mode)
	if err != nil {
		return err
	}
	for rows.Next() {
		continue
	}
	return rows.Err()
}

// TestCopyFromNeedsInsert: producers' COPY needs INSERT, and SELECT for what its WHERE reads.
func TestCopyFromNeedsInsert(t *testing.T) {
	_, owner, c := intrude(t)
	copyIn := func(sql, rows string) string {
		_, err := c.PgConn().CopyFrom(t.Context(), strings.NewReader(rows), sql)
		return servertest.Code(err)
	}
	for _, sql := range []string{"COPY t FROM STDIN", "COPY t (a) FROM STDIN", "COPY e FROM STDIN", "COPY s.x FROM STDIN", "COPY v FROM STDIN"} {
		if code := copyIn(sql, ""); code != "42501" && sql != "COPY v FROM STDIN" || code == "" {
			t.Errorf("%s: %q", sql, code)
		}
	}
	servertest.Exec(t, owner, "GRANT INSERT ON t, e TO intruder")
	for sql, rows := range map[string]string{"COPY t FROM STDIN": "3\t30\n", "COPY e FROM STDIN": "2\tb\t2026-01-01\n"} {
		if code := copyIn(sql, rows); code != "" {
			t.Errorf("%s: %q", sql, code)
		}
	}
	if code := copyIn("COPY t FROM STDIN WHERE a > 3", "4\t40\n"); code != "42501" {
		t.Errorf("a WHERE that reads: %q", code)
	}
	servertest.Expect(t, owner, "SELECT count(*) FROM t", "3")
	servertest.Expect(t, owner, "SELECT count(*) FROM e", "2")
}

// TestStreamsAndViewsOfOthers: whoever may read a continuous view need not read its
// stream, but does for what shows the stream's events; the view is read as its owner.
func TestStreamsAndViewsOfOthers(t *testing.T) {
	_, owner, c := intrude(t)
	servertest.Exec(t, owner, "GRANT SELECT ON c TO intruder")
	servertest.Expect(t, c, "SELECT k, n FROM c", "a|1")
	for _, sql := range []string{"SELECT * FROM e", "SELECT * FROM c__late", "SELECT * FROM c__errors", "SELECT * FROM e__rejected", "INSERT INTO e (id) VALUES (3)"} {
		servertest.ExpectCode(t, c, "42501", sql)
	}
	servertest.Exec(t, owner, "GRANT SELECT ON e TO intruder")
	servertest.Expect(t, c, "SELECT count(*) FROM c__late", "0")
	servertest.Exec(t, c, "CREATE CONTINUOUS VIEW own.mine2 AS SELECT k, count(*) AS n FROM e GROUP BY k")
	servertest.Expect(t, c, "SELECT k, n FROM own.mine2", "a|1")
	servertest.Exec(t, owner, "REVOKE SELECT ON e FROM intruder")
	servertest.ExpectCode(t, c, "42501", "SELECT k, n FROM own.mine2")
	servertest.ExpectCode(t, owner, "42501", "SELECT k, n FROM own.mine2") // read as its owner, whoever asks
}

// TestRightsOfOpenSessions: what is granted and revoked counts at once for sessions that
// are open and statements that are prepared; a role that is dropped leaves nothing to
// those that came as it, also where another role gets its name.
func TestRightsOfOpenSessions(t *testing.T) {
	_, owner, c := intrude(t)
	ctx := t.Context()
	if _, err := c.Prepare(ctx, "read", "SELECT count(*) FROM public.t WHERE a > $1"); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		var n int
		return servertest.Code(c.QueryRow(ctx, "read", 0).Scan(&n))
	}
	for _, step := range []struct{ change, want string }{
		{"CHECKPOINT", "42501"},
		{"GRANT SELECT ON t TO intruder", ""},
		{"REVOKE SELECT ON t FROM intruder", "42501"},
		{"GRANT SELECT ON t TO bystander", "42501"},
		{"GRANT bystander TO intruder", ""},
		{"ALTER ROLE intruder NOINHERIT", "42501"},
		{"ALTER ROLE intruder INHERIT", ""},
		{"REVOKE bystander FROM intruder", "42501"},
		{"GRANT SELECT ON t TO PUBLIC", ""},
		{"ALTER TABLE t OWNER TO intruder", ""},
		{"ALTER TABLE t OWNER TO tally", ""},
		{"REVOKE SELECT ON t FROM PUBLIC", "42501"},
		{"ALTER ROLE intruder SUPERUSER", ""},
		{"ALTER ROLE intruder NOSUPERUSER", "42501"},
	} {
		servertest.Exec(t, owner, step.change)
		if got := read(); got != step.want {
			t.Errorf("after %s: %q, want %q", step.change, got, step.want)
		}
	}
	servertest.ExpectCode(t, owner, "2BP01", "DROP ROLE intruder")
	servertest.Exec(t, owner, "DROP SCHEMA own CASCADE", "GRANT CREATE ON SCHEMA public TO PUBLIC", "DROP ROLE intruder", "CREATE ROLE intruder SUPERUSER")
	for _, sql := range []string{"SELECT * FROM public.t", "CREATE VIEW public.x AS SELECT * FROM public.t", "CREATE TABLE public.x (a int)", "SET SESSION AUTHORIZATION tally", "CREATE ROLE x"} {
		servertest.ExpectCode(t, c, "42501", sql)
	}
}

// TestRolesThatSessionsTook: a role that SET ROLE or SET SESSION AUTHORIZATION took is that
// role, not another one that gets its name: neither at once nor after a rollback, and also
// where the session may not take the new one.
func TestRolesThatSessionsTook(t *testing.T) {
	s, owner, c := intrude(t)
	servertest.Exec(t, owner, "GRANT bystander TO intruder")
	setting := s.Connect()
	servertest.Exec(t, setting, "SET SESSION AUTHORIZATION bystander")
	rolledBack := s.Connect()
	servertest.Exec(t, rolledBack, "SET ROLE member", "BEGIN", "SET LOCAL ROLE bystander")
	servertest.Exec(t, c, "SET ROLE bystander")
	const read = "SELECT count(*) FROM public.t"
	for _, conn := range []*pgx.Conn{c, setting, rolledBack} {
		servertest.ExpectCode(t, conn, "42501", read)
	}
	servertest.Exec(t, rolledBack, "ROLLBACK")
	servertest.Exec(t, owner, "DROP ROLE bystander", "CREATE ROLE bystander SUPERUSER", "DROP ROLE member", "CREATE ROLE member SUPERUSER")
	for _, conn := range []*pgx.Conn{c, setting, rolledBack} {
		servertest.ExpectCode(t, conn, "42501", read)
		servertest.ExpectCode(t, conn, "42501", "CREATE ROLE x")
		servertest.Expect(t, conn, "SELECT current_setting('is_superuser')", "off")
	}
	servertest.ExpectCode(t, c, "42501", "SET ROLE bystander")
	servertest.Exec(t, c, "RESET ROLE")
	servertest.Exec(t, rolledBack, "RESET ROLE")
	servertest.Expect(t, rolledBack, read, "2")
	servertest.Exec(t, owner, "GRANT bystander TO intruder")
	servertest.Exec(t, c, "SET ROLE bystander")
	servertest.Expect(t, c, read, "2")
	servertest.Exec(t, setting, "RESET SESSION AUTHORIZATION", "SET SESSION AUTHORIZATION bystander")
	servertest.Expect(t, setting, read, "2")
}

// TestTrustedNames: a client of this machine whose name is no role is trusted as before
// and acts as the bootstrap role, to which belongs what it makes. One that proved a
// password is its role only.
func TestTrustedNames(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	_, hugo := logIn(t, s, "sslmode=disable user=hugo", nil)
	servertest.Exec(t, hugo, "CREATE TABLE t (a int)", "CREATE ROLE alice", "GRANT SELECT ON t TO alice", "GRANT INSERT ON t TO hugo", "SET ROLE alice")
	servertest.Expect(t, hugo, "SELECT current_user, session_user, current_setting('is_superuser')", "alice|hugo|off")
	servertest.ExpectCode(t, hugo, "42501", "INSERT INTO t VALUES (1)")
	servertest.Exec(t, hugo, "RESET ROLE")
	servertest.Expect(t, hugo, "SELECT current_user, has_table_privilege('t', 'DELETE'), has_table_privilege('hugo', 't', 'DELETE')", "hugo|t|t")
	servertest.Expect(t, hugo, "SELECT tableowner FROM pg_tables WHERE tablename = 't'", "tally")
	servertest.Exec(t, hugo, "CREATE ROLE hugo LOGIN", "SELECT * FROM t")
	_, later := logIn(t, s, "sslmode=disable user=hugo", nil)
	servertest.ExpectCode(t, later, "42501", "SELECT * FROM t")
}

// TestConnectNeedsAPrivilege: a role may be kept out of a database.
func TestConnectNeedsAPrivilege(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, "CREATE ROLE alice LOGIN", "REVOKE CONNECT ON DATABASE tally FROM PUBLIC")
	if code, _ := logIn(t, s, "sslmode=disable user=alice", nil); code != "42501" {
		t.Errorf("without CONNECT: %q", code)
	}
	servertest.Exec(t, c, "GRANT CONNECT, CREATE ON DATABASE tally TO alice")
	code, alice := logIn(t, s, "sslmode=disable user=alice", nil)
	if code != "" {
		t.Fatalf("with CONNECT: %q", code)
	}
	servertest.Exec(t, alice, "CREATE SCHEMA mine", "CREATE TABLE mine.t (a int)")
	s = s.Reopen() // and it is kept
	_, alice = logIn(t, s, "sslmode=disable user=alice", nil)
	servertest.Expect(t, alice, "SELECT has_database_privilege(current_database(), 'CREATE'), pg_get_userbyid(relowner) FROM pg_class WHERE relname = 't'", "t|alice")
}

// TestOthersStatementsAreHidden: the text of what others run is for superusers, members
// and themselves.
func TestOthersStatementsAreHidden(t *testing.T) {
	s, _, c := intrude(t)
	_, member := logIn(t, s, "sslmode=disable user=tally", nil)
	servertest.Exec(t, member, "SELECT 'a secret'")
	servertest.Expect(t, c, "SELECT DISTINCT query, state IS NULL, client_addr IS NULL FROM pg_stat_activity WHERE usename = 'tally'", "<insufficient privilege>|t|t")
	servertest.Expect(t, c, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'intruder' AND query LIKE 'SELECT count%'", "1")
	servertest.Expect(t, member, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'intruder' AND query LIKE 'SELECT count%'", "1")
}

// TestFirstRoleOfARemoteClient: the bootstrap role can be given a password, and is then
// what it is here for clients that have to prove who they are.
func TestFirstRoleOfARemoteClient(t *testing.T) {
	require := false
	s := servertest.Start(t, servertest.Options{Config: func(c *server.Config) { c.Access.RequirePassword = require }})
	c := s.Connect()
	servertest.Exec(t, c, "ALTER ROLE tally PASSWORD 'x'")
	servertest.ExpectCode(t, c, "42710", "CREATE ROLE tally")
	servertest.ExpectCode(t, c, "0A000", "ALTER ROLE tally NOSUPERUSER")
	servertest.ExpectCode(t, c, "55006", "DROP ROLE tally")
	require = true
	s = s.Reopen()
	code, c := logIn(t, s, "sslmode=disable user=tally password=x", nil)
	if code != "" {
		t.Fatalf("log in: %q", code)
	}
	servertest.Expect(t, c, "SELECT rolname, rolsuper FROM pg_roles", "tally|t")
	servertest.Exec(t, c, "CREATE ROLE alice")
}

// TestGrantLeavesWritersAlone: who waits for a transaction that grants goes on as planned,
// and so does who reads meanwhile.
func TestGrantLeavesWritersAlone(t *testing.T) {
	s, owner, _ := intrude(t)
	writer := s.Connect()
	servertest.Exec(t, owner, "BEGIN", "GRANT SELECT ON t TO intruder")
	ended := make(chan error, 1)
	go func() {
		_, err := writer.Exec(context.Background(), "INSERT INTO t VALUES (3, 30)")
		ended <- err
	}()
	watcher := s.Connect()
	pid := writer.PgConn().PID()
	servertest.Eventually(t, "the writer waits", func() bool {
		rows, err := servertest.Query(watcher, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND state = 'active'", pid))
		return err == nil && slices.Equal(rows, []string{"1"})
	})
	servertest.Exec(t, owner, "COMMIT")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestNothingIsReadAfterRevoke: while roles and ACLs change beside readers, no statement
// that begins after a REVOKE has ended reads, and none fails otherwise.
func TestNothingIsReadAfterRevoke(t *testing.T) {
	s, owner, _ := intrude(t)
	var group sync.WaitGroup
	stop := make(chan struct{})
	var granted atomic.Int64 // odd while something may be granted
	for range 3 {
		_, c := logIn(t, s, "sslmode=disable user=intruder", nil)
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				before := granted.Load()
				_, err := servertest.Query(c, "SELECT count(*) FROM public.t")
				switch code := servertest.Code(err); {
				case err == nil && before%2 == 0 && granted.Load() == before:
					t.Error("read without a privilege")
				case err != nil && code != "42501":
					t.Error(err)
				}
			}
		})
	}
	for i := range 40 {
		granted.Add(1)
		if i%2 == 0 {
			servertest.Exec(t, owner, "GRANT SELECT ON t TO intruder", "REVOKE SELECT ON t FROM intruder")
		} else {
			servertest.Exec(t, owner, "GRANT SELECT ON t TO bystander", "GRANT bystander TO intruder", "REVOKE bystander FROM intruder", "REVOKE ALL ON t FROM bystander")
		}
		granted.Add(1)
		servertest.Exec(t, owner, "SELECT 1")
	}
	close(stop)
	group.Wait()
}

// TestDatabaseOfARole: who makes a database owns it and its schema public, and others may
// connect but make nothing there.
func TestDatabaseOfARole(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	servertest.Exec(t, s.Connect(), "CREATE ROLE maker LOGIN CREATEDB", "CREATE ROLE other LOGIN")
	_, maker := logIn(t, s, "sslmode=disable user=maker", nil)
	servertest.Exec(t, maker, "CREATE DATABASE theirs")
	into := func(c *pgx.ConnConfig) { c.Database = "theirs" }
	_, maker = logIn(t, s, "sslmode=disable user=maker", into)
	servertest.Exec(t, maker, "CREATE TABLE t (a int)", "CREATE SCHEMA s", "GRANT USAGE ON SCHEMA s TO other")
	servertest.Expect(t, maker, "SELECT pg_get_userbyid(datdba), pg_get_userbyid(nspowner) FROM pg_database, pg_namespace WHERE datname = current_database() AND nspname = 'public'", "maker|maker")
	_, other := logIn(t, s, "sslmode=disable user=other", into)
	for _, sql := range []string{"SELECT * FROM t", "CREATE TABLE u (a int)", "CREATE SCHEMA u", "CREATE TABLE s.u (a int)"} {
		servertest.ExpectCode(t, other, "42501", sql)
	}
}
