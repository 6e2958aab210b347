package server_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tallydb/tallydb/server/servertest"
)

// startupOf is a startup message of a protocol version with more parameters.
func startupOf(version uint32, parameters ...string) []byte {
	body := binary.BigEndian.AppendUint32(nil, version)
	for _, p := range append([]string{"user", "tally", "database", "tally"}, parameters...) {
		body = append(append(body, p...), 0)
	}
	body = append(body, 0)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
}

// TestProtocolVersions: which versions are spoken, what is negotiated down, and
// that the secret for cancelling is as long as the version says.
func TestProtocolVersions(t *testing.T) {
	addr := startServer(t)
	for name, c := range map[string]struct {
		version    uint32
		parameters []string
		negotiated string // version and options of NegotiateProtocolVersion
		secret     int
		failure    string
	}{
		"3.0":         {version: 3 << 16, secret: 4},
		"3.2":         {version: 3<<16 | 2, secret: 32},
		"3.9999":      {version: 3<<16 | 9999, negotiated: "3.2", secret: 32},
		"3.0 options": {version: 3 << 16, parameters: []string{"_pq_.b", "x", "_pq_.a", ""}, negotiated: "3.2 _pq_.a _pq_.b", secret: 4},
		"2.0":         {version: 2 << 16, failure: "0A000"},
		"4.0":         {version: 4 << 16, failure: "0A000"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &raw{t: t, net: dial(t, addr)}
			r.write(startupOf(c.version, c.parameters...))
			if c.failure != "" {
				if state := r.closed(); state != c.failure {
					t.Errorf("%q", state)
				}
				return
			}
			negotiated, secret := "", 0
			for kind := byte(0); kind != 'Z'; {
				var body []byte
				var err error
				if kind, body, err = r.read(); err != nil {
					t.Fatal(err)
				}
				switch kind {
				case 'v':
					v := binary.BigEndian.Uint32(body)
					options := bytes.FieldsFunc(body[8:], func(r rune) bool { return r == 0 })
					negotiated = strings.TrimSpace(fmt.Sprintf("%d.%d %s", v>>16, v&0xffff, bytes.Join(options, []byte(" "))))
				case 'K':
					secret = len(body) - 4
				}
			}
			if negotiated != c.negotiated || secret != c.secret {
				t.Errorf("negotiated %q, a secret of %d bytes", negotiated, secret)
			}
		})
	}
}

// TestCancelRequest32 cancels with the long secret of protocol 3.2, and not with a
// part of it.
func TestCancelRequest32(t *testing.T) {
	addr := startServer(t)
	r := &raw{t: t, net: dial(t, addr)}
	r.write(startupOf(3<<16 | 2))
	var key []byte
	for kind := byte(0); kind != 'Z'; {
		var body []byte
		var err error
		if kind, body, err = r.read(); err != nil {
			t.Fatal(err)
		}
		if kind == 'K' {
			key = body
		}
	}
	cancel := func(key []byte) {
		b := binary.BigEndian.AppendUint32(nil, uint32(8+len(key)))
		b = append(binary.BigEndian.AppendUint32(b, 80877102), key...)
		c := dial(t, addr)
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Error("a CancelRequest was answered")
		}
	}
	r.query("SELECT pg_sleep(0.2)")
	cancel(key[:8])
	cancel(append(bytes.Clone(key[:35]), key[35]^1))
	if states := r.until('Z'); len(states) > 0 {
		t.Errorf("a wrong secret cancelled: %v", states)
	}
	r.query("SELECT pg_sleep(60)")
	watcher := connect(t, addr)
	servertest.Eventually(t, "the statement runs", func() bool {
		rows, err := servertest.Query(watcher, "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)' AND state = 'active'")
		return err == nil && slices.Equal(rows, []string{"1"})
	})
	cancel(key)
	if states := r.until('Z'); !slices.Equal(states, []string{"57014"}) {
		t.Errorf("cancelled: %v", states)
	}
}

// notified waits for notifications and returns them as channel=payload.
func notified(t *testing.T, c *pgx.Conn, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
	defer cancel()
	var out []string
	for range n {
		x, err := c.WaitForNotification(ctx)
		if err != nil {
			t.Fatalf("after %q: %v", out, err)
		}
		out = append(out, x.Channel+"="+x.Payload)
	}
	return out
}

func TestNotifications(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	listener, sender := s.Connect(), s.Connect()
	servertest.Exec(t, listener, "LISTEN news", `LISTEN "Other"`, "LISTEN gone", "UNLISTEN gone", "LISTEN news")
	servertest.Expect(t, listener, "SELECT * FROM pg_listening_channels()", "Other", "news")

	// An idle client is told at once; in the order of COMMIT, once per transaction.
	servertest.Exec(t, sender, "NOTIFY news", "NOTIFY gone", "NOTIFY other", `NOTIFY "Other", 'x'`)
	servertest.Exec(t, sender, "BEGIN", "NOTIFY news, 'b'", "SAVEPOINT p", "NOTIFY news, 'undone'", "ROLLBACK TO p", "NOTIFY news, 'a'", "NOTIFY news, 'b'", "COMMIT")
	servertest.Exec(t, sender, "BEGIN", "NOTIFY news, 'rolled back'", "ROLLBACK")
	servertest.Exec(t, sender, "SELECT pg_notify('news', 'from a function')")
	if got, want := notified(t, listener, 5), []string{"news=", "Other=x", "news=b", "news=a", "news=from a function"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}

	// In a transaction a client is told after it, and its own are told too.
	servertest.Exec(t, listener, "BEGIN", "NOTIFY news, 'own'")
	servertest.Exec(t, sender, "NOTIFY news, 'while in a transaction'")
	servertest.Expect(t, listener, "SELECT 1", "1")
	if n := listener.PgConn(); n.TxStatus() != 'T' {
		t.Error(n.TxStatus())
	}
	servertest.Exec(t, listener, "COMMIT")
	if got, want := notified(t, listener, 2), []string{"news=while in a transaction", "news=own"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}

	// LISTEN takes effect at COMMIT only.
	servertest.Exec(t, listener, "BEGIN", "LISTEN later", "UNLISTEN news", "ROLLBACK")
	servertest.Expect(t, listener, "SELECT * FROM pg_listening_channels()", "Other", "news")
	servertest.Exec(t, listener, "DISCARD ALL")
	servertest.Expect(t, listener, "SELECT count(*) FROM pg_listening_channels()", "0")
	servertest.ExpectCode(t, sender, "22023", "SELECT pg_notify('', 'x')")
	servertest.ExpectCode(t, sender, "22023", "SELECT pg_notify(repeat('x', 64), 'x')")
	servertest.ExpectCode(t, sender, "22023", "SELECT pg_notify('x', repeat('x', 8000))")
}

// TestNotificationsAreBounded: a client that listens and does not read makes
// NOTIFY fail in the end, and not the server grow.
func TestNotificationsAreBounded(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	listener, sender := s.Connect(), s.Connect()
	servertest.Exec(t, listener, "LISTEN news", "BEGIN")
	sent := 0
	for ; sent < 10_000; sent++ {
		_, err := servertest.Query(sender, fmt.Sprintf("SELECT pg_notify('news', repeat('x', 7990) || %d)", sent))
		if err != nil {
			if servertest.Code(err) != "54000" {
				t.Fatal(err)
			}
			break
		}
	}
	if sent < 500 || sent > 3000 {
		t.Errorf("%d notifications were kept", sent)
	}
	servertest.Exec(t, listener, "COMMIT")
	notified(t, listener, sent)
	servertest.Exec(t, sender, "NOTIFY news")
}

func TestActivity(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	watcher, worker := s.Connect(), s.Connect()
	servertest.Exec(t, worker, "SET application_name = 'worker'", "BEGIN", "SELECT 1 AS in_block")
	servertest.Expect(t, watcher, "SELECT usename, datname, state, query, wait_event, xact_start IS NOT NULL FROM pg_stat_activity WHERE application_name = 'worker'",
		"tally|tally|idle in transaction|SELECT 1 AS in_block|ClientRead|t")
	servertest.ExpectCode(t, worker, "42703", "SELECT nosuch")
	servertest.Expect(t, watcher, "SELECT state FROM pg_stat_activity WHERE application_name = 'worker'", "idle in transaction (aborted)")
	servertest.Exec(t, worker, "ROLLBACK")
	servertest.Expect(t, watcher, "SELECT state, xact_start FROM pg_stat_activity WHERE application_name = 'worker'", "idle|∅")
	servertest.Expect(t, watcher, "SELECT state FROM pg_stat_activity WHERE pid = pg_backend_pid()", "active")
	servertest.Expect(t, watcher, "SELECT numbackends FROM pg_stat_database WHERE datname = 'tally'", "2")
	servertest.Expect(t, watcher, "SELECT pg_cancel_backend(1234567), pg_terminate_backend(-1)", "f|f")

	// One session cancels another's statement, then ends it.
	pid := worker.PgConn().PID()
	ended := make(chan error, 1)
	go func() {
		_, err := worker.Exec(context.Background(), "SELECT pg_sleep(60)")
		ended <- err
	}()
	running := fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND state = 'active'", pid)
	servertest.Eventually(t, "the statement runs", func() bool {
		rows, err := servertest.Query(watcher, running)
		return err == nil && slices.Equal(rows, []string{"1"})
	})
	servertest.Expect(t, watcher, fmt.Sprintf("SELECT pg_cancel_backend(%d)", pid), "t")
	if err := <-ended; servertest.Code(err) != "57014" {
		t.Error(err)
	}
	servertest.Expect(t, watcher, fmt.Sprintf("SELECT pg_terminate_backend(%d)", pid), "t")
	_, err := worker.Exec(context.Background(), "SELECT 1")
	if code := servertest.Code(err); code != "57P01" && !worker.PgConn().IsClosed() {
		t.Error(err)
	}
	servertest.Eventually(t, "the session is gone", func() bool {
		rows, err := servertest.Query(watcher, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d", pid))
		return err == nil && slices.Equal(rows, []string{"0"})
	})
}

// TestTerminateWhileCopying ends a session that waits for the data of a COPY.
func TestTerminateWhileCopying(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	watcher, worker := s.Connect(), s.Connect()
	servertest.Exec(t, worker, "CREATE TABLE t (a int)")
	worker.PgConn().Frontend().SendQuery(&pgproto3.Query{String: "COPY t FROM STDIN"})
	if err := worker.PgConn().Frontend().Flush(); err != nil {
		t.Fatal(err)
	}
	pid := worker.PgConn().PID()
	servertest.Eventually(t, "the COPY waits", func() bool {
		rows, err := servertest.Query(watcher, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND state = 'active'", pid))
		return err == nil && slices.Equal(rows, []string{"1"})
	})
	servertest.Expect(t, watcher, fmt.Sprintf("SELECT pg_terminate_backend(%d)", pid), "t")
	servertest.Eventually(t, "the session is gone", func() bool {
		rows, err := servertest.Query(watcher, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d", pid))
		return err == nil && slices.Equal(rows, []string{"0"})
	})
}

// TestIdleTimeouts: a client that is silent too long is told so and cut off, in a
// transaction and outside, and not before.
func TestIdleTimeouts(t *testing.T) {
	addr := startServer(t)
	for _, c := range []struct{ set, code string }{
		{"SET idle_session_timeout = '50ms'", "57P05"},
		{"SET idle_in_transaction_session_timeout = '50ms'; BEGIN", "25P03"},
	} {
		r := newRaw(t, addr)
		r.query(c.set)
		r.until('Z')
		r.query("SELECT pg_sleep(0.1)") // a statement may take longer
		if states := r.until('Z'); len(states) > 0 {
			t.Errorf("%s: %v", c.set, states)
		}
		if code := r.closed(); code != c.code {
			t.Errorf("%s: %q", c.set, code)
		}
	}
	r := newRaw(t, addr) // no limit outside of transactions
	r.query("SET idle_in_transaction_session_timeout = '1ms'")
	r.until('Z')
	r.query("SELECT pg_sleep(0.05)")
	r.until('Z')
	r.query("SELECT 1")
	r.until('Z')
}

// TestMessageLevel: client_min_messages keeps notices and warnings from a client.
func TestMessageLevel(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	var got []string
	_, c := logIn(t, s, "user=tally sslmode=disable", func(cfg *pgx.ConnConfig) {
		cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { got = append(got, n.Severity) }
	})
	for level, want := range map[string][]string{"notice": {"NOTICE", "WARNING"}, "warning": {"WARNING"}, "error": nil} {
		got = nil
		servertest.Exec(t, c, "SET client_min_messages = "+level, "DROP TABLE IF EXISTS nosuch", "COMMIT")
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v", level, got)
		}
	}
}
