package server_test

import (
	"strings"
	"testing"

	"github.com/tallydb/tallydb/server/servertest"
)

// TestWritingWithOfASuspendedPortal: a statement whose WITH writes runs to its end when a
// client asks for its first row, and counts though the others are never fetched.
func TestWritingWithOfASuspendedPortal(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, "CREATE TABLE t (a int PRIMARY KEY)")
	r := newRaw(t, s.PG())
	r.write(message('P', []byte("\x00WITH x AS (INSERT INTO t SELECT generate_series(1, 5000) RETURNING a) SELECT a FROM x\x00\x00\x00")))
	r.write(message('B', []byte("p\x00\x00\x00\x00\x00\x00\x00\x00")))
	r.write(message('E', []byte("p\x00\x00\x00\x00\x01")))
	r.write(message('H', nil))
	if kinds := r.kinds('s'); kinds != "12Ds" {
		t.Errorf("the first row: %s", kinds)
	}
	servertest.Expect(t, c, "SELECT count(*) FROM t", "0") // not before the Sync
	r.send('S', nil)
	if kinds := r.kinds('Z'); kinds != "Z" {
		t.Errorf("the end: %s", kinds)
	}
	servertest.Expect(t, c, "SELECT count(*) FROM t", "5000")

	// One that fails in a part that nobody reads sends no row.
	r.write(message('P', []byte("\x00WITH x AS (INSERT INTO t VALUES (1)) SELECT 1\x00\x00\x00")))
	r.write(message('B', []byte("\x00\x00\x00\x00\x00\x00\x00\x00")))
	r.write(message('E', []byte("\x00\x00\x00\x00\x00")))
	r.send('S', nil)
	if kinds := r.kinds('Z'); strings.Contains(kinds, "D") || !strings.Contains(kinds, "E") {
		t.Errorf("a duplicate key: %s", kinds)
	}
}

// kinds reads messages up to one of a kind and returns the kinds of all.
func (r *raw) kinds(last byte) string {
	r.t.Helper()
	kinds := ""
	for {
		k, _, err := r.read()
		if err != nil {
			r.t.Fatal(err)
		}
		if kinds += string(k); k == last {
			return kinds
		}
	}
}

// TestDeferredChecksOfAPipeline: a deferred foreign key is checked at the Sync.
func TestDeferredChecksOfAPipeline(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, "CREATE TABLE p (id int PRIMARY KEY)", "CREATE TABLE c (p int REFERENCES p DEFERRABLE INITIALLY DEFERRED)")
	send := func(statements ...string) string {
		p := c.PgConn().StartPipeline(t.Context())
		for _, sql := range statements {
			p.SendQueryParams(sql, nil, nil, nil, nil)
		}
		err := p.Sync()
		if closing := p.Close(); err == nil {
			err = closing
		}
		return servertest.Code(err)
	}
	if code := send("INSERT INTO c VALUES (1)", "INSERT INTO p VALUES (1)"); code != "" {
		t.Errorf("a row and then its parent: %s", code)
	}
	if code := send("INSERT INTO c VALUES (2)", "INSERT INTO p VALUES (3)"); code != "23503" {
		t.Errorf("a row without its parent: %q", code)
	}
	servertest.ExpectCode(t, c, "23503", "INSERT INTO c VALUES (2); INSERT INTO p VALUES (3)")
	servertest.Expect(t, c, "SELECT (SELECT count(*) FROM c), (SELECT count(*) FROM p)", "1|1")
}
