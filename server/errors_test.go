package server_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tallydb/tallydb/server"
	"github.com/tallydb/tallydb/server/servertest"
	"github.com/tallydb/tallydb/storage"
)

// TestSleepEndsWithItsStatement: pg_sleep waits, and a timeout ends it.
func TestSleepEndsWithItsStatement(t *testing.T) {
	c := connect(t, startServer(t))
	began := time.Now()
	servertest.Exec(t, c, "SELECT pg_sleep(0.05)", "SELECT pg_sleep(-1)", "SELECT pg_sleep(NULL)")
	if d := time.Since(began); d < 50*time.Millisecond {
		t.Errorf("slept %s", d)
	}
	servertest.Exec(t, c, "SET statement_timeout = '50ms'")
	servertest.ExpectCode(t, c, "57014", "SELECT pg_sleep(1000)")
	servertest.ExpectCode(t, c, "57014", "SELECT pg_sleep('Infinity')")
}

// TestLockedDirectory: a second node says what is wrong and no more.
func TestLockedDirectory(t *testing.T) {
	dir := t.TempDir()
	node, err := server.Open(server.Config{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := node.Close(); err != nil {
			t.Error(err)
		}
	}()
	_, err = server.Open(server.Config{DataDir: dir})
	if want := "data directory " + dir + " is in use by another process"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if !errors.Is(err, storage.ErrFenced) {
		t.Errorf("%v is not %v", err, storage.ErrFenced)
	}
}

// TestUnexpectedMessages: what the protocol does not expect is named as its
// documentation does.
func TestUnexpectedMessages(t *testing.T) {
	addr := startServer(t)
	r := newRaw(t, addr)
	r.send('F', []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0}) // oid, no formats, no arguments, text result
	if got := r.lastMessage(); got != "unexpected message FunctionCall" {
		t.Errorf("%q", got)
	}
	r = newRaw(t, addr)
	r.query("CREATE TABLE t (a int)")
	r.until('Z')
	r.query("COPY t FROM STDIN")
	r.until('G')
	r.query("SELECT 1")
	if got := r.lastMessage(); got != "unexpected message Query during COPY from stdin" {
		t.Errorf("%q", got)
	}
}

// lastMessage reads to the end and returns the text of the last error.
func (r *raw) lastMessage() string {
	last := ""
	for {
		k, body, err := r.read()
		if err != nil {
			return last
		}
		if k == 'E' {
			last = field(body, 'M')
		}
	}
}

// TestNarrowDedupKeyIsTold: where events are routed by something else than their
// dedup key, CREATE STREAM says what a duplicate is.
func TestNarrowDedupKeyIsTold(t *testing.T) {
	cfg, err := pgx.ParseConfig(url(startServer(t)))
	if err != nil {
		t.Fatal(err)
	}
	var notices []string
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices = append(notices, n.Severity+": "+n.Message) }
	c, err := pgx.ConnectConfig(limited(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(limited(t)) }()
	servertest.Exec(t, c, "CREATE STREAM same (a int, b int) WITH (dedup_key = 'a,b', partition_key = 'b')", "CREATE STREAM none (a int, b int) WITH (dedup_key = 'a')")
	if len(notices) > 0 {
		t.Error(notices)
	}
	servertest.Exec(t, c, "CREATE STREAM apart (a int, b int) WITH (dedup_key = 'a', partition_key = 'b')")
	want := `NOTICE: events of stream "apart" are duplicates only where dedup_key and partition_key are both the same`
	if len(notices) != 1 || notices[0] != want {
		t.Errorf("got %q, want %q", notices, want)
	}
}
