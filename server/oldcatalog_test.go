package server_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

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
	servertest.Exec(t, c, "BEGIN", "TRUNCATE other.u", "ALTER TABLE t ADD x int DEFAULT 1", "DELETE FROM t WHERE v = 'one'", "COMMIT")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	c = servertest.Start(t, servertest.Options{FS: fs}).Connect()
	servertest.Expect(t, c, "SELECT id, v, n, x FROM t ORDER BY id", "2|two|5|1", "3|three|5|1")
	servertest.Expect(t, c, "SELECT count(*) FROM other.u", "0")
	for _, sql := range []string{"INSERT INTO t (v) VALUES ('two')", "INSERT INTO t (id, v) VALUES (3, 'four')"} {
		if _, err := servertest.Query(c, sql); servertest.Code(err) != "23505" {
			t.Errorf("%s: %v, want 23505", sql, err)
		}
	}
}
