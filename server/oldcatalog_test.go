package server_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tallydb/tallydb/server/servertest"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/vfs"
)

// TestOldDescriptorsAreRead starts on the catalog and the tables that a version left
// whose descriptors were of version 1: all is there and can be changed, and what
// was changed is there after another start.
func TestOldDescriptorsAreRead(t *testing.T) {
	fs := vfs.Memory()
	if err := fs.MkdirAll("data", 0o755); err != nil {
		t.Fatal(err)
	}
	store, err := kv.Open("data/kv", kv.Config{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/descriptors-v1.txt")
	if err != nil {
		t.Fatal(err)
	}
	batch := store.NewBatch()
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		k, v, _ := strings.Cut(strings.TrimSpace(line), "\t")
		key, err := strconv.Unquote(k)
		if err != nil {
			t.Fatal(err)
		}
		value, err := strconv.Unquote(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := batch.Set([]byte(key), []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Commit(true); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	s := servertest.Start(t, servertest.Options{FS: fs})
	c := s.Connect()
	servertest.Expect(t, c, "SELECT id, v, n FROM t ORDER BY id", "1|one|5", "2|two|5")
	servertest.Expect(t, c, "SELECT * FROM w", "two")
	servertest.Exec(t, c, "INSERT INTO t (v) VALUES ('three')", "INSERT INTO s VALUES ('a', '2026-01-01')", "INSERT INTO other.u VALUES (1)")
	servertest.Expect(t, c, "SELECT who, n FROM c", "a|1")
	servertest.Expect(t, c, "SELECT count(*) FROM pg_roles WHERE rolname = 'reader'", "1")
	stillOpen(t, s, c)
	servertest.Exec(t, c, "BEGIN", "TRUNCATE other.u", "ALTER TABLE t ADD x int DEFAULT 1", "DELETE FROM t WHERE v = 'one'", "COMMIT")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	s = servertest.Start(t, servertest.Options{FS: fs})
	c = s.Connect()
	stillOpen(t, s, c)
	servertest.Expect(t, c, "SELECT id, v, n, x FROM t ORDER BY id", "2|two|5|1", "3|three|5|1")
	servertest.Expect(t, c, "SELECT count(*) FROM other.u", "0")
	for _, sql := range []string{"INSERT INTO t (v) VALUES ('two')", "INSERT INTO t (id, v) VALUES (3, 'four')"} {
		if _, err := servertest.Query(c, sql); servertest.Code(err) != "23505" {
			t.Errorf("%s: %v, want 23505", sql, err)
		}
	}
}

// stillOpen makes sure that what was made before there were privileges is open to every
// role, as it was then, and belongs to who it did, whoever gets a name later; what is made
// now is not open.
func stillOpen(t *testing.T, s *servertest.Server, c *pgx.Conn) {
	t.Helper()
	servertest.Expect(t, c, "SELECT DISTINCT has_table_privilege('public', oid, 'SELECT'), has_table_privilege('public', oid, 'INSERT'), pg_get_userbyid(relowner) FROM pg_class WHERE relname IN ('t', 'w', 's', 'c', 'u')",
		"t|t|tally")
	servertest.Expect(t, c, "SELECT has_schema_privilege('public', 'public', 'CREATE'), has_schema_privilege('public', 'other', 'CREATE, USAGE'), has_database_privilege('public', current_database(), 'CREATE')", "t|t|t")
	code, reader := logIn(t, s, "sslmode=disable user=reader", nil)
	if code != "" {
		t.Fatalf("log in: %s", code)
	}
	servertest.Exec(t, reader, "INSERT INTO t (v) VALUES ('reader')", "DELETE FROM t WHERE v = 'reader'", "SELECT * FROM w", "SELECT * FROM c", "SELECT nextval('t_id_seq')", "CREATE TABLE mine (a int)")
	servertest.ExpectCode(t, reader, "42501", "DROP TABLE t")
	servertest.Expect(t, c, "SELECT relacl, pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'mine'", "∅|reader")
	servertest.Exec(t, c, "DROP TABLE mine")
}
