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
