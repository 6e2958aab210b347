// Package servertest runs whole servers inside tests: a node on any file system
// with a clock that the test moves, its listeners on the loopback, PostgreSQL
// connections to it, and the ways it can end: stopped, or cut off by a crash.
//
// Goroutines: those of the server and its connections, ended by Stop, Crash or
// the test's end.
package servertest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tallydb/tallydb/server"
	"github.com/tallydb/tallydb/server/session"
	"github.com/tallydb/tallydb/storage/vfs"
)

// Patience bounds every wait for a condition.
const Patience = 60 * time.Second

// Epoch is what a Clock shows at first.
var Epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Clock is a wall clock that moves when it is told to.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock at Epoch.
func NewClock() *Clock { return &Clock{now: Epoch} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Options of a server. Its ticker does not run
// (see Server.Tick), and rows that are given back are overwritten. The zero value of a field means its default.
type Options struct {
	FS     vfs.FS // default: an empty one in memory
	Dir    string // default "data"
	Clock  *Clock // default: NewClock()
	Config func(*server.Config)
}

// Server is a running server.
type Server struct {
	Node  *server.Node
	Clock *Clock
	FS    vfs.FS

	t       testing.TB
	opts    Options
	pg      string
	http    string
	cancel  context.CancelFunc
	ended   chan struct{}
	failure error // of Run and Close, after ended

	mu    sync.Mutex
	conns []*pgx.Conn
}

// Start opens a node and serves it. The test's end stops it.
func Start(t testing.TB, opts Options) *Server {
	t.Helper()
	s, err := Open(t, opts)
	if err != nil {
		t.Fatalf("start server: %v", err)
	}
	return s
}

// Open is Start that returns the error of a node that does not open.
func Open(t testing.TB, opts Options) (*Server, error) {
	t.Helper()
	if opts.FS == nil {
		opts.FS = vfs.Memory()
	}
	if opts.Dir == "" {
		opts.Dir = "data"
	}
	if opts.Clock == nil {
		opts.Clock = NewClock()
	}
	cfg := server.Config{DataDir: opts.Dir, FS: opts.FS, Now: opts.Clock.Now, SegmentBytes: 128 << 10, TickEvery: time.Hour, ScribbleRows: true}
	if opts.Config != nil {
		opts.Config(&cfg)
	}
	node, err := server.Open(cfg)
	if err != nil {
		return nil, err
	}
	l, err := server.Listen(server.Addresses{PG: "127.0.0.1:0", HTTP: "127.0.0.1:0"})
	if err != nil {
		return nil, errors.Join(err, node.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		Node: node, Clock: opts.Clock, FS: opts.FS, t: t, opts: opts, cancel: cancel, ended: make(chan struct{}),
		pg: l.PG.Addr().String(), http: l.HTTP.Addr().String(),
	}
	go func() {
		defer close(s.ended)
		s.failure = errors.Join(node.Run(ctx, l), node.Close())
	}()
	t.Cleanup(func() { _ = s.Stop() }) // a test that wants the error stops the server itself
	return s, nil
}

// Stop ends the server as an operator would and returns how it ended.
func (s *Server) Stop() error {
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	s.mu.Unlock()
	for _, c := range conns {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = c.Close(ctx) // it may be closed, or its server gone
		cancel()
	}
	s.cancel()
	<-s.ended
	return s.failure
}

// Ended is closed when the server has ended, by itself or by Stop.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Reopen stops the server and starts it again on what it left.
func (s *Server) Reopen() *Server {
	s.t.Helper()
	if err := s.Stop(); err != nil {
		s.t.Fatalf("stop server: %v", err)
	}
	return Start(s.t, s.opts)
}

// On returns the server's options with another file system.
func (s *Server) On(fs vfs.FS) Options {
	o := s.opts
	o.FS = fs
	return o
}

// Connect opens a connection, which ends with the server.
func (s *Server) Connect() *pgx.Conn {
	s.t.Helper()
	c, err := s.TryConnect()
	if err != nil {
		s.t.Fatalf("connect: %v", err)
	}
	return c
}

// TryConnect is Connect for a server that may refuse.
func (s *Server) TryConnect() (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	c, err := pgx.Connect(ctx, "postgres://tally@"+s.pg+"/tally?sslmode=disable")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, c)
	return c, nil
}

// PG returns the address for PostgreSQL clients.
func (s *Server) PG() string { return s.pg }

// Ready asks /readyz: the status code and the body.
func (s *Server) Ready() (int, string, error) {
	client := http.Client{Timeout: Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + s.http + "/readyz")
	if err != nil {
		return 0, "", err
	}
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), errors.Join(err, resp.Body.Close())
}

// Tenant returns the default database, for tests that look below SQL.
func (s *Server) Tenant() *session.Tenant {
	s.t.Helper()
	t, err := s.Node.Engine().Tenant("tally")
	if err != nil {
		s.t.Fatal(err)
	}
	return t
}

// Tick appends the ticks that are due by the clock, as the server does now and then.
func (s *Server) Tick() {
	s.t.Helper()
	if err := s.Tenant().Streams.Tick(context.Background()); err != nil {
		s.t.Fatalf("tick: %v", err)
	}
}

// Exec runs statements and fails the test at the first error.
func Exec(t testing.TB, c *pgx.Conn, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	for _, sql := range statements {
		if _, err := c.Exec(ctx, sql); err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
	}
}

// Query returns a result as text: rows of values joined by |, NULL as ∅, and the error.
func Query(c *pgx.Conn, sql string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	results, err := c.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range results {
		for _, row := range r.Rows {
			values := make([]string, len(row))
			for i, v := range row {
				values[i] = string(v)
				if v == nil {
					values[i] = "∅"
				}
			}
			out = append(out, strings.Join(values, "|"))
		}
	}
	return out, nil
}

// Expect runs a query and compares its rows, in order.
func Expect(t testing.TB, c *pgx.Conn, sql string, want ...string) {
	t.Helper()
	got, err := Query(c, sql)
	if err != nil {
		t.Fatalf("%s\n%v", sql, err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\ngot  %q\nwant %q", sql, got, want)
	}
}

// Code returns the SQLSTATE of an error, or what it says if it has none.
func Code(err error) string {
	var e *pgconn.PgError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	default:
		return err.Error()
	}
}

// ExpectCode runs a statement that has to fail with this SQLSTATE.
func ExpectCode(t testing.TB, c *pgx.Conn, code, sql string) {
	t.Helper()
	rows, err := Query(c, sql)
	if got := Code(err); got != code {
		t.Errorf("%s\ngot rows %q and error %v, want SQLSTATE %s", sql, rows, err, code)
	}
}

// Copy sends rows in COPY's text format.
func Copy(c *pgx.Conn, relation, rows string) error {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	_, err := c.PgConn().CopyFrom(ctx, strings.NewReader(rows), "COPY "+relation+" FROM STDIN")
	return err
}

// Eventually waits until a condition holds.
func Eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain until %s", Patience, what)
		}
		<-time.After(time.Millisecond)
	}
}
