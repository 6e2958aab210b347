package server_test

import (
	"context"
	"sync"
	"testing"

	"github.com/tallydb/tallydb/server/servertest"
)

// TestAlterTableUnderLoad: while a column comes and goes, readers and writers see the table as it
// was before or after.
func TestAlterTableUnderLoad(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	owner := s.Connect()
	servertest.Exec(t, owner, "CREATE TABLE t (a int, b text)", "INSERT INTO t SELECT g, 'b' || g FROM generate_series(1, 2000) g")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	load := func(sql string) {
		c := s.Connect()
		wg.Go(func() {
			for ctx.Err() == nil {
				rows, err := servertest.Query(c, sql)
				switch {
				case err != nil:
					t.Errorf("%s: %v", sql, err)
					return
				case len(rows) == 1 && rows[0] != "2000|b2000":
					t.Errorf("%s: %s", sql, rows)
					return
				}
			}
		})
	}
	load("SELECT count(*), max(b) FILTER (WHERE a = 2000) FROM t")
	load("UPDATE t SET a = a WHERE a < 10")
	for range 20 {
		servertest.Exec(t, owner, "ALTER TABLE t ADD COLUMN c int DEFAULT 7", "ALTER TABLE t DROP COLUMN c")
	}
	stop()
	wg.Wait()
	servertest.Expect(t, owner, "SELECT count(*), sum(a), count(DISTINCT b) FROM t", "2000|2001000|2000")
}
