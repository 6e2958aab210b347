package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/server"
	"github.com/tallydb/tallydb/server/servertest"
	"github.com/tallydb/tallydb/storage/vfs"
)

// small makes segments so short that retention has something to remove.
func small(cfg *server.Config) { cfg.SegmentBytes = 4 << 10 }

const clicks = `CREATE STREAM clicks (id bigint, key text, value bigint, at timestamptz, WATERMARK FOR at AS at - INTERVAL '5 seconds')
	WITH (partitions = 2, partition_key = 'key', dedup_key = 'id', dedup_horizon = '1 hour', idle_timeout = '10 seconds', retention = '1 hour')`

// at formats a time some seconds after the servers' clocks begin.
func at(seconds int) string {
	return servertest.Epoch.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339)
}

// insertClicks inserts events with these numbers, one second apart, with key k0.
func insertClicks(from, to int) string {
	var rows []string
	for n := from; n < to; n++ {
		rows = append(rows, fmt.Sprintf("(%d, 'k0', %d, '%s')", n, n, at(n)))
	}
	return "INSERT INTO clicks VALUES " + strings.Join(rows, ", ")
}

// TestWindowsCloseAfterRestartWithIdleInput: windows that were open before a
// restart close by ticks although nothing comes in any more.
func TestWindowsCloseAfterRestartWithIdleInput(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	servertest.Exec(t, s.Connect(), clicks, `CREATE CONTINUOUS VIEW v AS SELECT window_start, window_end, count(*) AS n
		FROM TUMBLE(clicks, at, INTERVAL '1 minute') GROUP BY window_start, window_end`, insertClicks(0, 30))
	s.Clock.Advance(40 * time.Second)
	s.Tick() // every source falls idle
	servertest.Expect(t, s.Connect(), "SELECT n, _status FROM v", "30|provisional")
	s = s.Reopen()
	s.Clock.Advance(time.Minute)
	c := s.Connect()
	servertest.Eventually(t, "the window is final", func() bool {
		s.Tick()
		rows, err := servertest.Query(c, "SELECT n, _status FROM v")
		return err == nil && len(rows) == 1 && rows[0] == "30|complete"
	})
}

// TestFailedLateRowDoesNotDegradeAClosedWindow: what comes after a window has
// closed is late, whether its expressions fail or not.
func TestFailedLateRowDoesNotDegradeAClosedWindow(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, clicks, `CREATE CONTINUOUS VIEW v AS SELECT key, window_start, window_end, sum(100 / value) AS n
		FROM TUMBLE(clicks, at, INTERVAL '10 seconds') GROUP BY key, window_start, window_end`,
		fmt.Sprintf("INSERT INTO clicks VALUES (1, 'k0', 10, '%s'), (2, 'k0', 0, '%s'), (3, 'k0', 10, '%s')", at(1), at(11), at(60)),
		fmt.Sprintf("INSERT INTO clicks VALUES (4, 'k0', 0, '%s')", at(2)))
	servertest.Expect(t, c, "SELECT id FROM v__late", "4")
	servertest.Expect(t, c, "SELECT id FROM v__errors", "2")
	servertest.Expect(t, c, fmt.Sprintf("SELECT n, _flags FROM v WHERE window_start = '%s'", at(0)), "10|8") // open in the other partition only
}

// TestViewOverTrimmedHistory: a view that is created when history was trimmed
// judges its rows the same after a crash as before it.
func TestViewOverTrimmedHistory(t *testing.T) {
	fs := vfs.NewCrashable()
	s := servertest.Start(t, servertest.Options{FS: fs, Config: small})
	c := s.Connect()
	servertest.Exec(t, c, clicks)
	for n := range 40 { // a late event in each statement
		servertest.Exec(t, c, insertClicks(n*10, n*10+10), fmt.Sprintf("INSERT INTO clicks VALUES (%d, 'k0', 1, '%s')", 1000+n, at(1)))
		s.Clock.Advance(2 * time.Minute)
	}
	if err := s.Node.Retain(context.Background()); err != nil {
		t.Fatal(err)
	}
	servertest.Exec(t, c, `CREATE CONTINUOUS VIEW v AS SELECT window_start, window_end, count(*) AS n
		FROM TUMBLE(clicks, at, INTERVAL '10 seconds') GROUP BY window_start, window_end`)
	// What was trimmed may have touched every window so far, and no later one (L-7).
	servertest.ExpectCode(t, c, "TY001", "SELECT sum(n) FROM v")
	servertest.Expect(t, c, "SELECT DISTINCT _status FROM v", "partial")
	servertest.Expect(t, c, "SELECT sum(n) FROM v WHERE window_start >= '2100-01-01'", "∅")
	servertest.Exec(t, c, "SET partial_results = 'label'")
	const query = "SELECT (SELECT sum(n) FROM v), (SELECT count(*) FROM v__late), (SELECT count(*) FROM clicks)"
	before, err := servertest.Query(c, query)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(before[0], "|440") {
		t.Fatal("nothing was trimmed")
	}
	s = servertest.Start(t, s.On(fs.Crash(0, nil)))
	c = s.Connect()
	servertest.Exec(t, c, "SET read_wait = '10s'", "SET partial_results = 'label'")
	servertest.Expect(t, c, query, before...)
}

// TestL8ExactBeyondBoundCountsWhatTheViewCounted: values that break the accuracy
// contract of a view are counted again from the log without what the view found late
// or failed on, in every window that the log still has all of; the others say that
// they are estimates.
func TestL8ExactBeyondBoundCountsWhatTheViewCounted(t *testing.T) {
	s := servertest.Start(t, servertest.Options{Config: small})
	c := s.Connect()
	servertest.Exec(t, c, clicks, `CREATE CONTINUOUS VIEW v WITH (max_error = 0.001, on_bound_exceeded = 'exact') AS
		SELECT key, window_start, window_end, count(*) AS n, approx_distinct(100 / value, 4) AS users
		FROM TUMBLE(clicks, at, INTERVAL '1 hour') GROUP BY key, window_start, window_end`,
		`CREATE CONTINUOUS VIEW total WITH (max_error = 0.001, on_bound_exceeded = 'exact') AS SELECT approx_distinct(value, 4) AS users FROM clicks`)
	hour := func(n int) {
		s.Clock.Advance(time.Hour)
		var rows []string
		for i := range 60 { // 100 / 0 fails
			rows = append(rows, fmt.Sprintf("(%d, 'k%d', %d, '%s')", n*1000+i, i%2, i, at(n*3600+i)))
		}
		servertest.Exec(t, c, "INSERT INTO clicks VALUES "+strings.Join(rows, ", "))
		if n > 1 { // late in a window that has closed
			servertest.Exec(t, c, fmt.Sprintf("INSERT INTO clicks VALUES (%d, 'k0', 1000, '%s'), (%d, 'k1', 1000, '%s')", n*1000+900, at(n*3600-600), n*1000+901, at(n*3600-600)))
		}
		s.Tick()
	}
	hour(1)
	hour(2)
	// 100 / 2, 4 … 58 are 13 numbers, 100 / 1, 3 … 59 are 13.
	window := func(n int, columns string) string {
		return fmt.Sprintf("SELECT %s FROM v WHERE window_start = '%s' ORDER BY key", columns, at(n*3600))
	}
	servertest.Expect(t, c, window(1, "key, n, users, users_lo, users_hi, _error, _err_kind, _status"), "k0|29|13|13|13|0|exact|degraded", "k1|30|13|13|13|0|exact|degraded")
	servertest.Expect(t, c, "SELECT users, _status FROM total", "61|complete")
	s = s.Reopen()
	c = s.Connect()
	servertest.Expect(t, c, window(2, "key, n, users, _error"), "k0|29|13|0", "k1|30|13|0")
	for n := 3; n < 8; n++ {
		hour(n)
	}
	if err := s.Node.Retain(context.Background()); err != nil {
		t.Fatal(err)
	}
	// The first windows and the total reach behind what is left; the last ones do not.
	servertest.Expect(t, c, window(1, "users_lo < users_hi, _error > 0.001, _flags & 32"), "t|t|32", "t|t|32")
	servertest.Expect(t, c, "SELECT users_lo < users_hi, _error > 0.001, _flags & 32, _status FROM total", "t|t|32|degraded")
	servertest.Expect(t, c, window(7, "key, n, users, _error, _flags & 32"), "k0|29|13|0|0", "k1|30|13|0|0")
}

// TestL11RecountsHaveABudget: values whose recount takes more memory than a statement may
// stay estimates, say so in a warning and in their rows, and those that fit are counted.
func TestL11RecountsHaveABudget(t *testing.T) {
	s := servertest.Start(t, servertest.Options{Config: func(cfg *server.Config) { cfg.StatementMemory = 1 << 20 }})
	c := s.Connect()
	servertest.Exec(t, c, "CREATE STREAM events (k text, v bigint) WITH (partitions = 3)",
		`CREATE CONTINUOUS VIEW v WITH (max_error = 0.001, on_bound_exceeded = 'exact') AS SELECT k, approx_distinct(v, 10) AS d FROM events GROUP BY k`,
		"INSERT INTO events SELECT 'large', g FROM generate_series(1, 30000) g", "INSERT INTO events SELECT 'small', g % 900 FROM generate_series(1, 2000) g")
	servertest.Expect(t, c, "SELECT k, d BETWEEN 20000 AND 40000, _error > 0.01, _err_kind, _status FROM v WHERE k = 'large'", "large|t|t|asymptotic|degraded")
	servertest.Expect(t, c, "SELECT k, d, _error, _err_kind, _status FROM v WHERE k = 'small'", "small|900|0|exact|complete")
	const warning = `WARNING: 1 rows of "v" stay estimates: to count them again takes more than the 1 MiB of a statement`
	if got := noticed(t, s, "SELECT d, _status FROM v WHERE k = 'large'"); len(got) != 1 || got[0] != warning {
		t.Errorf("notices %q", got)
	}
	if got := noticed(t, s, "SELECT d FROM v WHERE k = 'large'"); len(got) != 2 || got[0] != warning || !strings.Contains(got[1], `"v" is degraded`) {
		t.Errorf("notices %q", got)
	}
	if got := noticed(t, s, "SELECT d FROM v WHERE k = 'small'"); len(got) != 0 {
		t.Errorf("notices %q", got)
	}
}

// TestRetentionTrimsOnlyWhatACheckpointCovers: after a crash, a partition finds
// everything that it has to replay.
func TestRetentionTrimsOnlyWhatACheckpointCovers(t *testing.T) {
	fs := vfs.NewCrashable()
	s := servertest.Start(t, servertest.Options{FS: fs, Config: small})
	c := s.Connect()
	servertest.Exec(t, c, clicks, "CREATE CONTINUOUS VIEW v AS SELECT count(*) AS n FROM clicks")
	for n := range 60 {
		servertest.Exec(t, c, insertClicks(n*5, n*5+5))
		s.Clock.Advance(2 * time.Minute)
		if err := s.Node.Retain(context.Background()); err != nil {
			t.Fatal(err)
		}
		if n%10 == 9 {
			r := servertest.Start(t, s.On(fs.Crash(0, nil)))
			rc := r.Connect()
			servertest.Exec(t, rc, "SET read_wait = '10s'")
			servertest.Expect(t, rc, "SELECT n FROM v", fmt.Sprint(n*5+5))
			if err := r.Stop(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestDroppedStreamsLeaveNothing: neither a restart nor a crash makes a dropped
// stream or view keep its state or its part of the log.
func TestDroppedStreamsLeaveNothing(t *testing.T) {
	fs := vfs.NewCrashable()
	s := servertest.Start(t, servertest.Options{FS: fs, Config: small})
	c := s.Connect()
	servertest.Exec(t, c, clicks, strings.Replace(clicks, "clicks", "other", 1), "CREATE CONTINUOUS VIEW v AS SELECT count(*) AS n FROM clicks")
	for n := range 20 {
		servertest.Exec(t, c, insertClicks(n*5, n*5+5))
	}
	dropped := id.StreamPartition{Tenant: s.Tenant().Database.Tenant, Stream: streamOf(t, s, "clicks").ID}
	for _, p := range []id.Partition{0, 1} {
		worker, err := s.Tenant().Streams.Worker(dropped.Stream, p)
		if err == nil {
			_, err = worker.Checkpoint(context.Background())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	servertest.Exec(t, c, "DROP STREAM clicks CASCADE")
	s = servertest.Start(t, s.On(fs.Crash(0, nil))) // the deletion of the state was not durable
	servertest.Exec(t, s.Connect(), strings.Replace(insertClicks(0, 40), "clicks", "other", 1), strings.Replace(insertClicks(40, 80), "clicks", "other", 1))
	s.Clock.Advance(3 * time.Hour)
	if err := s.Node.Retain(context.Background()); err != nil {
		t.Fatal(err)
	}
	s = s.Reopen()
	log := s.Tenant().Streams.Log()
	for _, sp := range log.Partitions() {
		if sp.Stream == dropped.Stream && log.Base(sp) != log.Head(sp) {
			t.Errorf("the log keeps records %d to %d of partition %d of a dropped stream", log.Base(sp), log.Head(sp), sp.Partition)
		}
	}
}

// TestRetentionGoesOnPastAFailure: a partition that cannot be trimmed is named,
// and so is every other; none keeps the next from its turn.
func TestRetentionGoesOnPastAFailure(t *testing.T) {
	var broken atomic.Bool
	s := servertest.Start(t, servertest.Options{Config: small, FS: vfs.FailWhen(vfs.Memory(), "data/kv", broken.Load)})
	c := s.Connect()
	servertest.Exec(t, c, clicks)
	for n := range 40 {
		servertest.Exec(t, c, insertClicks(n*10, n*10+10), fmt.Sprintf("INSERT INTO clicks VALUES (%d, 'k%d', 1, '%s')", 1000+n, n, at(n)))
		s.Clock.Advance(4 * time.Minute)
	}
	broken.Store(true)
	err := s.Node.Retain(context.Background())
	for _, p := range []string{"partition 0", "partition 1"} {
		if err == nil || !strings.Contains(err.Error(), p) {
			t.Errorf("retention says %v, want it to name %s", err, p)
		}
	}
	_ = s.Stop() // says that the disk failed
}
