package server_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tallydb/tallydb/server/servertest"
)

// TestPipelineIsOneTransaction: what comes up to a Sync is durable together or, after
// an error, not at all; a COMMIT within ends what came before it.
func TestPipelineIsOneTransaction(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, "CREATE TABLE t (a int)", "CREATE STREAM s (a int)")
	send := func(statements ...string) error {
		var b pgx.Batch
		for _, sql := range statements {
			b.Queue(sql)
		}
		return c.SendBatch(t.Context(), &b).Close()
	}
	if err := send("INSERT INTO t VALUES (1)", "INSERT INTO s VALUES (1)", "SELECT 1/0"); servertest.Code(err) != "22012" {
		t.Fatalf("the failing batch: %v", err)
	}
	servertest.Expect(t, c, "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM s)", "0|0")
	if err := send("INSERT INTO t VALUES (2)", "INSERT INTO s VALUES (2)", "SELECT count(*) FROM t"); err != nil {
		t.Fatal(err)
	}
	servertest.Expect(t, c, "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM s)", "1|1")
	if err := send("INSERT INTO t VALUES (3)", "COMMIT", "INSERT INTO t VALUES (4)", "SELECT 1/0"); servertest.Code(err) != "22012" {
		t.Fatalf("the batch with a COMMIT: %v", err)
	}
	servertest.Expect(t, c, "SELECT a FROM t ORDER BY a", "2", "3")
}

// TestPipelineDefines: definitions in a pipeline are seen by what follows them, and go
// with the pipeline that fails.
func TestPipelineDefines(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	send := func(statements ...string) string {
		p := c.PgConn().StartPipeline(t.Context())
		for _, sql := range statements {
			p.SendQueryParams(sql, nil, nil, nil, nil)
		}
		return servertest.Code(errors.Join(p.Sync(), p.Close()))
	}
	for _, rounds := range []struct {
		last, want string
		left       string
	}{{"SELECT 1/0", "22012", "0"}, {"SELECT * FROM made", "", "2"}} {
		if got := send("CREATE TABLE made (a int)", "INSERT INTO made VALUES (1)", "ALTER TABLE made ADD b int DEFAULT 2", "CREATE VIEW seen AS SELECT b FROM made", rounds.last); got != rounds.want {
			t.Fatalf("ends with %q, not %q", got, rounds.want)
		}
		servertest.Expect(t, c, "SELECT count(*) FROM pg_class WHERE relname IN ('made', 'seen')", rounds.left)
	}
	servertest.Expect(t, c, "SELECT * FROM made, seen", "1|2|2")
}
