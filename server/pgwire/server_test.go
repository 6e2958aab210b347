package pgwire_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tallydb/tallydb/server/pgwire"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// slow is a session whose statements run until they are cancelled.
type slow struct {
	pgwire.Session // what is not called
	started        chan struct{}
}

func (s *slow) Open(context.Context, pgwire.Startup) (pgwire.Session, error) { return s, nil }
func (s *slow) IdleLimit() (time.Duration, *sqlerr.Error)                    { return 0, nil }
func (s *slow) Notifications() []pgwire.Notification                         { return nil }
func (s *slow) Credentials(context.Context, pgwire.Startup) (*pgwire.Credentials, error) {
	return nil, nil
}
func (s *slow) Parameters() [][2]string { return nil }
func (s *slow) TransactionStatus() byte { return 'I' }
func (s *slow) Close()                  {}

func (s *slow) Query(ctx context.Context, sql string, w *pgwire.Writer) error {
	s.started <- struct{}{}
	if sql == "COPY" {
		in, err := w.CopyIn(1, pgwire.TextFormat)
		for err == nil {
			_, err = in.Next()
		}
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// startSlow serves sessions that never end; stop ends the server, which waits for
// them as long as drain.
func startSlow(t *testing.T, drain time.Duration) (s *slow, addr string, stop func()) {
	t.Helper()
	s = &slow{started: make(chan struct{}, 1)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- pgwire.NewServer(pgwire.Config{Backend: s}).Serve(ctx, l, drain) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s, l.Addr().String(), cancel
}

// TestShutdownCancelsStatements: a statement that outlives the drain ends with
// 57P01, not with a connection that is cut.
func TestShutdownCancelsStatements(t *testing.T) {
	for _, sql := range []string{"SELECT", "COPY"} {
		t.Run(sql, func(t *testing.T) {
			s, addr, stop := startSlow(t, time.Millisecond)
			c, err := pgx.Connect(t.Context(), "postgres://tally@"+addr+"/tally?sslmode=disable")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close(context.Background()) }()
			c.PgConn().Frontend().Send(&pgproto3.Query{String: sql})
			if err := c.PgConn().Frontend().Flush(); err != nil {
				t.Fatal(err)
			}
			<-s.started
			stop()
			for {
				m, err := c.PgConn().ReceiveMessage(t.Context())
				var pe *pgconn.PgError
				if errors.As(err, &pe) {
					if pe.Code != "57P01" || pe.Severity != "FATAL" {
						t.Errorf("%s %s", pe.Severity, pe.Code)
					}
					return
				}
				if e, ok := m.(*pgproto3.ErrorResponse); ok {
					if e.Code != "57P01" || e.Severity != "FATAL" {
						t.Errorf("%s %s", e.Severity, e.Code)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestShutdownTellsWhoComes: while a statement is let finish, a new client is told
// 57P03, as PostgreSQL tells it, and not that nobody listens.
func TestShutdownTellsWhoComes(t *testing.T) {
	s, addr, stop := startSlow(t, time.Hour)
	connect := func() (*pgx.Conn, error) {
		return pgx.Connect(t.Context(), "postgres://tally@"+addr+"/tally?sslmode=disable")
	}
	c, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	c.PgConn().Frontend().Send(&pgproto3.Query{String: "SELECT"})
	if err := c.PgConn().Frontend().Flush(); err != nil {
		t.Fatal(err)
	}
	<-s.started
	stop()
	var late *pgx.Conn
	for err = nil; err == nil; { // until the server has noticed
		if late, err = connect(); err == nil {
			err = late.Close(t.Context())
		}
	}
	var pe *pgconn.PgError
	if !errors.As(err, &pe) || pe.Code != "57P03" || pe.Severity != "FATAL" {
		t.Errorf("a client that comes while the server drains: %v", err)
	}
	if err := c.PgConn().CancelRequest(t.Context()); err != nil {
		t.Error("a statement cannot be cancelled meanwhile:", err)
	}
}
