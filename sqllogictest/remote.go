package sqllogictest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/jackc/pgx/v5"
)

// Remote is a server that runs already, such as a PostgreSQL. Every script gets
// a database of its own; the server cannot be restarted.
type Remote struct {
	admin string
	name  string
	url   string
}

var remotes int

// OpenRemote makes an empty database on the server at a postgres:// URL, in the place
// of one that an earlier run left there.
func OpenRemote(ctx context.Context, server string) (*Remote, error) {
	r, err := newRemote(server)
	if err != nil {
		return nil, err
	}
	return r, r.exec(ctx, "DROP DATABASE IF EXISTS "+r.name, "CREATE DATABASE "+r.name)
}

// OpenDatabase makes an empty database on a server that is thrown away with all its
// databases.
func OpenDatabase(ctx context.Context, server string) (*Remote, error) {
	r, err := newRemote(server)
	if err != nil {
		return nil, err
	}
	return r, r.exec(ctx, "CREATE DATABASE "+r.name)
}

// Ping reports whether a server answers.
func Ping(ctx context.Context, server string) error {
	return (&Remote{admin: server}).exec(ctx, "SELECT 1")
}

func newRemote(server string) (*Remote, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	remotes++
	r := &Remote{admin: server, name: fmt.Sprintf("slt_%d_%d", os.Getpid(), remotes)}
	u.Path = "/" + r.name
	r.url = u.String()
	return r, nil
}

func (r *Remote) exec(ctx context.Context, statements ...string) error {
	conn, err := pgx.Connect(ctx, r.admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// URL implements Target.
func (r *Remote) URL() string { return r.url }

// Restart implements Target: it is refused.
func (r *Remote) Restart(context.Context) error {
	return errors.New("a server that others started is not restarted")
}

// Close drops the database.
func (r *Remote) Close(ctx context.Context) error {
	return r.exec(ctx, "DROP DATABASE "+r.name+" WITH (FORCE)")
}
