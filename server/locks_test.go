package server_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/tallydb/tallydb/server/servertest"
)

// TestNoLostUpdates: transactions that change one row at the same time all count.
func TestNoLostUpdates(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, "CREATE TABLE counters (id int PRIMARY KEY, n int)", "INSERT INTO counters VALUES (1, 0), (2, 0)")
	const clients, rounds = 8, 50
	var group sync.WaitGroup
	for k := range clients {
		conn := s.Connect()
		group.Go(func() {
			for i := range rounds {
				sql := "UPDATE counters SET n = n + 1 WHERE id = 1"
				if i%2 == k%2 { // in a block, with something before it
					sql = "BEGIN; SELECT * FROM counters; UPDATE counters SET n = n + 1 WHERE id = 1; COMMIT"
				}
				if _, err := servertest.Query(conn, sql); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	servertest.Expect(t, c, "SELECT n FROM counters ORDER BY id", fmt.Sprint(clients*rounds), "0")
}

// TestWaitForWriters: a writer that waits for another transaction can be
// cancelled, and gives up by itself after lock_timeout or statement_timeout.
func TestWaitForWriters(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	holder, waiter := s.Connect(), s.Connect()
	servertest.Exec(t, holder, "CREATE TABLE t (a int)", "BEGIN", "INSERT INTO t VALUES (1)")
	servertest.Exec(t, waiter, "SET lock_timeout = '20ms'")
	servertest.ExpectCode(t, waiter, "55P03", "INSERT INTO t VALUES (2)")
	servertest.ExpectCode(t, waiter, "55P03", "DELETE FROM t")
	servertest.Exec(t, waiter, "SET lock_timeout = 0", "SET statement_timeout = '20ms'")
	servertest.ExpectCode(t, waiter, "57014", "UPDATE t SET a = 3")
	servertest.Exec(t, waiter, "SET statement_timeout = 0")
	ended := make(chan error, 1)
	go func() {
		_, err := waiter.Exec(context.Background(), "INSERT INTO t VALUES (2)")
		ended <- err
	}()
	watcher := s.Connect()
	pid := waiter.PgConn().PID()
	servertest.Eventually(t, "the writer waits", func() bool {
		rows, err := servertest.Query(watcher, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND state = 'active'", pid))
		return err == nil && slices.Equal(rows, []string{"1"})
	})
	servertest.Expect(t, watcher, fmt.Sprintf("SELECT pg_cancel_backend(%d)", pid), "t")
	if err := <-ended; servertest.Code(err) != "57014" {
		t.Error(err)
	}
	servertest.Exec(t, holder, "COMMIT")
	servertest.Exec(t, s.Connect(), "INSERT INTO t VALUES (4)")
	servertest.Expect(t, holder, "SELECT a FROM t ORDER BY a", "1", "4")
}

// TestAdvisoryLocks: what one session locks another waits for, until it is given
// back, the transaction or the session ends.
func TestAdvisoryLocks(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a, b, watcher := s.Connect(), s.Connect(), s.Connect()
	servertest.Exec(t, a, "SELECT pg_advisory_lock(1)", "SELECT pg_advisory_lock_shared(2)")
	servertest.Expect(t, b, "SELECT pg_try_advisory_lock(1), pg_try_advisory_lock(2), pg_try_advisory_lock_shared(2), pg_try_advisory_lock(3)", "f|f|t|t")
	servertest.Exec(t, b, "SET lock_timeout = '20ms'")
	servertest.ExpectCode(t, b, "55P03", "SELECT pg_advisory_lock(1)")
	servertest.Exec(t, b, "SET lock_timeout = 0", "SET statement_timeout = '20ms'")
	servertest.ExpectCode(t, b, "57014", "SELECT pg_advisory_lock(1)")
	servertest.Exec(t, b, "SET statement_timeout = 0")

	waits := func() chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := b.Exec(context.Background(), "SELECT pg_advisory_lock(1)")
			ended <- err
		}()
		servertest.Eventually(t, "the session waits", func() bool {
			rows, err := servertest.Query(watcher, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND state = 'active'", b.PgConn().PID()))
			return err == nil && slices.Equal(rows, []string{"1"})
		})
		return ended
	}
	for name, release := range map[string]func(){
		"unlock":             func() { servertest.Expect(t, a, "SELECT pg_advisory_unlock(1)", "t") },
		"COMMIT":             func() { servertest.Exec(t, a, "COMMIT") },
		"ROLLBACK TO":        func() { servertest.Exec(t, a, "ROLLBACK TO p") },
		"a failed COMMIT":    func() { servertest.ExpectCode(t, a, "22012", "SELECT 1/0"); servertest.Exec(t, a, "COMMIT") },
		"end of the session": func() { _ = a.Close(context.Background()) },
	} {
		servertest.Exec(t, a, "ROLLBACK", "SELECT pg_advisory_unlock_all()")
		switch name {
		case "unlock", "end of the session":
			servertest.Exec(t, a, "SELECT pg_advisory_lock(1)")
		default:
			servertest.Exec(t, a, "BEGIN", "SAVEPOINT p", "SELECT pg_advisory_xact_lock(1)")
		}
		ended := waits()
		release()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		servertest.Exec(t, b, "SELECT pg_advisory_unlock_all()")
		if a.IsClosed() {
			a = s.Connect()
		}
	}
}
