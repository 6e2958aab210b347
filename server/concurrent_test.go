package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/server"
	"github.com/tallydb/tallydb/server/servertest"
)

// numbered inserts n events whose ids begin at from.
func numbered(from, n int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, 'k%d', 1, '%s')", from+i, (from+i)%13, at(0))
	}
	return "INSERT INTO clicks VALUES " + strings.Join(rows, ", ")
}

// TestDefinitionsWhileEventsArrive: views come and go, partitions go offline and
// come back, and checkpoints are made while events arrive; every view that is
// there counts every event once.
func TestDefinitionsWhileEventsArrive(t *testing.T) {
	s := servertest.Start(t, servertest.Options{Config: func(cfg *server.Config) { cfg.CheckpointRows = 50 }})
	servertest.Exec(t, s.Connect(), clicks, "CREATE CONTINUOUS VIEW always AS SELECT count(*) AS n FROM clicks")
	const writers, statements, perStatement = 3, 40, 7
	var group sync.WaitGroup
	var writing atomic.Int64
	for w := range writers {
		c := s.Connect()
		writing.Add(1)
		group.Go(func() {
			defer writing.Add(-1)
			for i := range statements {
				if _, err := c.Exec(context.Background(), numbered((w*statements+i)*perStatement, perStatement)); err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	run := func(c *pgx.Conn, sql string) {
		if _, err := servertest.Query(c, sql); err != nil && servertest.Code(err) != "TY001" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, loop := range [][]string{
		{"CREATE CONTINUOUS VIEW a AS SELECT key, count(*) AS n FROM clicks GROUP BY key", "SELECT sum(n) FROM a", "DROP CONTINUOUS VIEW a"},
		{"ALTER STREAM clicks PARTITION 1 OFFLINE", "SELECT count(*), max(_status) FROM clicks", "ALTER STREAM clicks PARTITION 1 ONLINE"},
	} {
		c := s.Connect()
		group.Go(func() {
			for writing.Load() > 0 {
				for _, sql := range loop {
					run(c, sql)
				}
			}
		})
	}
	group.Wait()
	c := s.Connect()
	total := fmt.Sprint(writers * statements * perStatement)
	servertest.Exec(t, c, "SET read_wait = '20s'", "CREATE CONTINUOUS VIEW after AS SELECT count(*) AS n FROM clicks")
	servertest.Expect(t, c, "SELECT (SELECT n FROM always), (SELECT n FROM after), (SELECT count(*) FROM clicks)", total+"|"+total+"|"+total)
	compareWithCleanRun(t, s, "clicks", "at the end")
}

// TestDropStreamWhileEventsArrive: writers of a dropped stream get an error, and
// the server goes on.
func TestDropStreamWhileEventsArrive(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	for round := range 5 {
		servertest.Exec(t, c, clicks, "CREATE CONTINUOUS VIEW v AS SELECT count(*) AS n FROM clicks")
		var group sync.WaitGroup
		started := make(chan struct{}, 2)
		for w := range 2 {
			wc := s.Connect()
			group.Go(func() {
				for i := 0; ; i++ {
					_, err := servertest.Query(wc, numbered((w*1000+i)*3, 3))
					if i == 3 {
						started <- struct{}{}
					}
					if err != nil {
						if code := servertest.Code(err); code != "42P01" && code != "58030" {
							t.Errorf("round %d: a writer of a dropped stream got %v, want 42P01 or 58030", round, err)
						}
						return
					}
				}
			})
		}
		<-started
		servertest.Exec(t, c, "DROP STREAM clicks CASCADE")
		group.Wait()
	}
	servertest.Exec(t, c, clicks, numbered(0, 10))
	servertest.Expect(t, c, "SELECT count(*) FROM clicks", "10")
	s = s.Reopen()
	servertest.Expect(t, s.Connect(), "SELECT count(*) FROM clicks", "10")
}

// TestBacklogOfAnOfflinePartition: what was appended meanwhile, far more than a
// worker's queue holds, is applied once and in order when the partition is back,
// also after a restart in between.
func TestBacklogOfAnOfflinePartition(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, clicks, "CREATE CONTINUOUS VIEW v AS SELECT count(*) AS n FROM clicks", "ALTER STREAM clicks PARTITION 0 OFFLINE", "ALTER STREAM clicks PARTITION 1 OFFLINE")
	for n := range 150 {
		servertest.Exec(t, c, numbered(n*4, 5)) // one is a duplicate
		s.Clock.Advance(1)
		s.Tick() // nothing is due while all is offline
		if n == 75 {
			s = s.Reopen()
			c = s.Connect()
		}
	}
	log, stream := s.Tenant().Streams.Log(), streamOf(t, s, "clicks")
	for p := range id.Partition(2) {
		w, err := s.Tenant().Streams.Worker(stream.ID, p)
		if err != nil {
			t.Fatal(err)
		}
		head := log.Head(id.StreamPartition{Tenant: s.Tenant().Database.Tenant, Stream: stream.ID, Partition: p})
		if w.Applied() != 0 || head == 0 {
			t.Errorf("partition %d: applied %d of %d although it is offline, want 0", p, w.Applied(), head)
		}
	}
	servertest.Exec(t, c, "SET read_wait = '20s'", "ALTER STREAM clicks PARTITION 0 ONLINE", "ALTER STREAM clicks PARTITION 1 ONLINE")
	servertest.Expect(t, c, "SELECT (SELECT n FROM v), (SELECT count(*) FROM clicks)", "601|601")
	compareWithCleanRun(t, s, "clicks", "with the backlog applied")
}
