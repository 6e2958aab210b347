package server_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tallydb/tallydb/server"
	"github.com/tallydb/tallydb/storage/vfs"
)

// patience bounds everything that a test waits for.
const patience = 20 * time.Second

// startServer runs a node and returns its address.
func startServer(t testing.TB) string {
	t.Helper()
	return startServerOn(t, t.TempDir(), vfs.OS())
}

func startServerOn(t testing.TB, dir string, fs vfs.FS) string {
	t.Helper()
	node, err := server.Open(server.Config{DataDir: dir, FS: fs, SegmentBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	l, err := server.Listen(server.Addresses{PG: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, node.Close()); err != nil {
			t.Error(err)
		}
	})
	return l.PG.Addr().String()
}

func url(addr string) string { return "postgres://tally@" + addr + "/tally?sslmode=disable" }

// limited returns a context that ends the test's patience.
func limited(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func connect(t testing.TB, addr string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(limited(t), url(addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func mustExec(t testing.TB, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := c.Exec(limited(t), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func one[T any](t testing.TB, c *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := c.QueryRow(limited(t), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// code returns the SQLSTATE of an error of the server.
func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

// wantCode fails the test unless sql fails with a SQLSTATE.
func wantCode(t testing.TB, c *pgx.Conn, want, sql string, args ...any) *pgconn.PgError {
	t.Helper()
	_, err := c.Exec(limited(t), sql, args...)
	if code(err) != want {
		t.Fatalf("%.200s: got %v, want SQLSTATE %s", sql, err, want)
	}
	var pg *pgconn.PgError
	errors.As(err, &pg)
	return pg
}

func dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return c
}
