package server_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tallydb/tallydb/server"
	"github.com/tallydb/tallydb/server/servertest"
	"github.com/tallydb/tallydb/storage/vfs"
)

// TestL1FailedDiskEndsInErrors: the disk under the log goes away at any write.
// Clients get I/O errors from then on, never a hang or a false acknowledgement;
// the server says that it is not ready; and what was acknowledged is there when
// the disk is back.
func TestL1FailedDiskEndsInErrors(t *testing.T) {
	for n := int64(8); n < 120; n += 3 {
		fs := vfs.NewCrashable()
		s, err := servertest.Open(t, servertest.Options{FS: vfs.FailFrom(fs, "data/log", n), Config: small})
		if err != nil {
			if !vfs.Injected(err) {
				t.Fatalf("write %d fails: open: %v", n, err)
			}
			continue
		}
		acked, failed := failingLoad(t, s, n)
		expectRowsBack(t, s, "clicks")
		if failed {
			if code, body, err := s.Ready(); code != http.StatusServiceUnavailable || !strings.Contains(body, "injected") {
				t.Errorf("write %d fails: /readyz says %d %q %v, want 503 and the reason", n, code, body, err)
			}
		}
		_ = s.Stop() // says that the disk failed
		r := servertest.Start(t, servertest.Options{FS: fs.Crash(0, nil), Clock: s.Clock, Config: small})
		c := r.Connect()
		servertest.Exec(t, c, "SET read_wait = '10s'")
		there, err := servertest.Query(c, "SELECT id FROM clicks ORDER BY id")
		if err != nil {
			t.Fatalf("write %d failed: %v", n, err)
		}
		if len(there) < acked || acked > 0 && there[acked-1] != strconv.Itoa(acked-1) {
			t.Errorf("write %d failed: %d events are there after reopening, %d were acknowledged", n, len(there), acked)
		}
		servertest.Expect(t, c, "SELECT coalesce(sum(n), 0) FROM v", strconv.Itoa(len(there)))
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// failingLoad inserts events until well after the first failure.
func failingLoad(t *testing.T, s *servertest.Server, n int64) (acked int, failed bool) {
	t.Helper()
	c := s.Connect()
	servertest.Exec(t, c, clicks, "CREATE CONTINUOUS VIEW v AS SELECT key, count(*) AS n FROM clicks GROUP BY key")
	for i := range 40 {
		_, err := servertest.Query(c, fmt.Sprintf("INSERT INTO clicks VALUES (%d, 'k%d', 1, '%s')", i, i%5, at(i)))
		switch code := servertest.Code(err); {
		case code == "" && failed:
			t.Fatalf("write %d fails: event %d was acknowledged after a failure", n, i)
		case code == "":
			acked++
		case code == "58030":
			failed = true
		default:
			t.Fatalf("write %d fails: event %d: %v, want SQLSTATE 58030", n, i, err)
		}
	}
	return acked, failed
}

// TestFailedLogEndsTheServer: a server whose log has failed ends by itself at its
// next tick, with the reason, so that a supervisor starts it again.
func TestFailedLogEndsTheServer(t *testing.T) {
	s := servertest.Start(t, servertest.Options{FS: vfs.FailFrom(vfs.Memory(), "data/log", 40), Config: func(cfg *server.Config) {
		small(cfg)
		cfg.TickEvery = time.Millisecond
	}})
	c := s.Connect()
	servertest.Exec(t, c, clicks, "CREATE CONTINUOUS VIEW v AS SELECT key, window_start, window_end, count(*) AS n FROM TUMBLE(clicks, at, INTERVAL '1 minute') GROUP BY 1, 2, 3")
	servertest.Exec(t, c, insertClicks(0, 10))
	s.Clock.Advance(20 * time.Second) // ticks go on until the window has closed
	select {
	case <-s.Ended():
	case <-time.After(servertest.Patience):
		t.Fatal("the server still runs")
	}
	if err := s.Stop(); !vfs.Injected(err) {
		t.Errorf("the server ended with %v, want the injected error", err)
	}
}

// TestFailedStoreEndsInErrors: a definition whose commit fails is an I/O error,
// takes no other client with it, and everything acknowledged is there afterwards.
func TestFailedStoreEndsInErrors(t *testing.T) {
	for n := range int64(12) {
		fs := vfs.NewCrashable()
		var armed atomic.Bool
		var seen atomic.Int64
		s := servertest.Start(t, servertest.Options{FS: vfs.FailWhen(fs, "data/kv", func() bool { return armed.Load() && seen.Add(1) > n })})
		c := s.Connect()
		armed.Store(true)
		var made []string
		failed := false
		for i := range 30 {
			name := fmt.Sprintf("t%02d", i)
			_, err := servertest.Query(c, "CREATE TABLE "+name+" (a int)")
			if err == nil && failed {
				t.Fatalf("write %d fails: %s was created after a failure", n, name)
			}
			if failed = err != nil; !failed {
				made = append(made, name)
			} else if code := servertest.Code(err); code != "58030" {
				t.Fatalf("write %d fails: CREATE TABLE: %v, want SQLSTATE 58030", n, err)
			}
		}
		if code, body, err := s.Ready(); failed && (code != http.StatusServiceUnavailable || !strings.Contains(body, "injected")) {
			t.Errorf("write %d fails: /readyz says %d %q %v, want 503 and the reason", n, code, body, err)
		}
		_ = s.Stop() // says that the disk failed
		r := servertest.Start(t, servertest.Options{FS: fs.Crash(0, nil)})
		for _, name := range made {
			servertest.Expect(t, r.Connect(), "SELECT count(*) FROM "+name, "0")
		}
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRowsAreGivenBackOnEveryError: a statement that fails before, while or after
// its rows are collected gives their memory back.
func TestRowsAreGivenBackOnEveryError(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, clicks)
	good := fmt.Sprintf("1\tk1\t1\t%s\n", at(1))
	for what, rows := range map[string]string{
		"a row that cannot be parsed": strings.Repeat(good, 5000) + "x\tk\t1\t" + at(1) + "\n",
		"NULL event time":             strings.Repeat(good, 5000) + "1\tk\t1\t\\N\n",
		"too few columns":             strings.Repeat(good, 20) + "1\n",
	} {
		if err := servertest.Copy(c, "clicks", rows); err == nil {
			t.Errorf("%s: COPY succeeded, want an error", what)
		}
	}
	servertest.ExpectCode(t, c, "22012", fmt.Sprintf("INSERT INTO clicks SELECT n, 'k', 1 / (4000 - n), '%s' FROM generate_series(1, 5000) g(n)", at(1)))
	servertest.Exec(t, c, "BEGIN", insertClicks(0, 10), "ROLLBACK", "BEGIN", insertClicks(0, 10))
	servertest.ExpectCode(t, c, "22012", "SELECT 1/0")
	servertest.Exec(t, c, "COMMIT") // rolls back
	expectRowsBack(t, s, "clicks")
	servertest.Expect(t, c, "SELECT count(*) FROM clicks", "0")
	servertest.Exec(t, c, "BEGIN", insertClicks(0, 10))
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectRowsBack(t, s, "clicks")
}

// TestFullDisk fills the disk under a running server: appends, definitions and
// checkpoints fail with 53100 and are told as long as it lasts, readers go on, and
// everything works again when there is space; nothing acknowledged is lost or counted
// twice, whether the server was stopped, cut off, or had recovered.
func TestFullDisk(t *testing.T) {
	for _, end := range []string{"stopped full", "cut off full", "recovered"} {
		t.Run(end, func(t *testing.T) {
			fs := vfs.NewCrashable()
			disk := vfs.NewDisk(fs, 1<<40)
			s := servertest.Start(t, servertest.Options{FS: disk, Config: func(cfg *server.Config) {
				small(cfg)
				cfg.CheckpointEvery = 10 * time.Millisecond
			}})
			c := s.Connect()
			servertest.Exec(t, c, clicks, "CREATE CONTINUOUS VIEW v AS SELECT key, count(*) AS n FROM clicks GROUP BY key", "SET read_wait = '10s'")
			acked := 0
			insert := func() string {
				_, err := servertest.Query(c, fmt.Sprintf("INSERT INTO clicks VALUES (%d, 'k%d', 1, '%s')", acked, acked%5, at(0)))
				code := servertest.Code(err)
				if code == "" {
					acked++
				}
				return code
			}
			for range 20 {
				if code := insert(); code != "" {
					t.Fatal(code)
				}
			}
			disk.SetFree(1 << 20)
			code := ""
			for i := 0; i < 100_000 && code == ""; i++ {
				code = insert()
			}
			if code != "53100" {
				t.Fatalf("appends end with %q, want 53100", code)
			}
			servertest.ExpectCode(t, c, "53100", "CREATE TABLE t (a int)")
			servertest.Eventually(t, "a partition tells that its checkpoint waits", func() bool { return s.Tenant().Streams.Stalled() != nil })
			if code, body, err := s.Ready(); err != nil || code != http.StatusServiceUnavailable || !strings.Contains(body, "free") {
				t.Errorf("/readyz says %d %q %v, want 503 and the reason", code, body, err)
			}
			servertest.Expect(t, c, "SELECT sum(n) FROM v", strconv.Itoa(acked))
			opts := s.On(fs)
			switch end {
			case "stopped full":
				if err := s.Stop(); err != nil {
					t.Fatalf("the server ends with %v", err)
				}
			case "cut off full":
				opts = s.On(fs.Crash(0, nil))
			default:
				disk.SetFree(1 << 40)
				for range 20 {
					if code := insert(); code != "" {
						t.Fatalf("an append with space again: %s", code)
					}
				}
				servertest.Exec(t, c, "CREATE TABLE t (a int)")
				servertest.Eventually(t, "the server is ready again", func() bool {
					code, _, err := s.Ready()
					return err == nil && code == http.StatusOK
				})
				servertest.Expect(t, c, "SELECT sum(n) FROM v", strconv.Itoa(acked))
				if err := s.Stop(); err != nil {
					t.Fatal(err)
				}
			}
			r := servertest.Start(t, opts)
			c = r.Connect()
			servertest.Exec(t, c, "SET read_wait = '10s'")
			servertest.Expect(t, c, "SELECT sum(n) FROM v", strconv.Itoa(acked))
			servertest.Expect(t, c, "SELECT count(*), count(DISTINCT id) FROM clicks", fmt.Sprintf("%d|%d", acked, acked))
		})
	}
}

// TestDropsOnAFullDisk: what waits to be written of a view or a stream goes with it,
// and the rest is written when there is space.
func TestDropsOnAFullDisk(t *testing.T) {
	disk := vfs.NewDisk(vfs.NewCrashable(), 1<<40)
	s := servertest.Start(t, servertest.Options{FS: disk, Config: func(cfg *server.Config) {
		small(cfg)
		cfg.CheckpointEvery = 10 * time.Millisecond
	}})
	c := s.Connect()
	servertest.Exec(t, c, clicks, "CREATE CONTINUOUS VIEW v AS SELECT key, count(*) AS n FROM clicks GROUP BY key",
		"CREATE CONTINUOUS VIEW w AS SELECT key, sum(id) AS n FROM clicks GROUP BY key", "SET read_wait = '10s'")
	disk.SetFree(1 << 20)
	servertest.Exec(t, c, insertClicks(0, 50))
	servertest.Eventually(t, "a checkpoint waits", func() bool { return s.Tenant().Streams.Stalled() != nil })
	disk.SetFree(1 << 40)
	servertest.Exec(t, c, "DROP VIEW w")
	servertest.Eventually(t, "it was written", func() bool { return s.Tenant().Streams.Stalled() == nil })
	servertest.Expect(t, c, "SELECT sum(n) FROM v", "50")
	disk.SetFree(1 << 20)
	servertest.Exec(t, c, insertClicks(50, 60))
	servertest.Eventually(t, "a checkpoint waits", func() bool { return s.Tenant().Streams.Stalled() != nil })
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	disk.SetFree(1 << 40)
	servertest.Expect(t, servertest.Start(t, s.On(disk)).Connect(), "SELECT sum(n) FROM v", "60")
}
