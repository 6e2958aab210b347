package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tallydb/tallydb/server/admin"
	"github.com/tallydb/tallydb/server/pgwire"
)

// drainTime is how long an ending server lets statements finish.
const drainTime = 10 * time.Second

// Listeners are where a server is reached.
type Listeners struct {
	PG   net.Listener
	HTTP net.Listener // may be nil
}

// Addresses of a server.
type Addresses struct{ PG, HTTP string }

// Listen opens the listeners; an empty address opens none.
func Listen(a Addresses) (Listeners, error) {
	var l Listeners
	var err error
	if l.PG, err = net.Listen("tcp", a.PG); err != nil {
		return l, fmt.Errorf("listen for PostgreSQL clients: %w", err)
	}
	if a.HTTP != "" {
		if l.HTTP, err = net.Listen("tcp", a.HTTP); err != nil {
			return l, errors.Join(fmt.Errorf("listen for HTTP: %w", err), l.PG.Close())
		}
	}
	return l, nil
}

// Run serves clients until ctx ends or the node fails, then drains.
func (n *Node) Run(ctx context.Context, l Listeners) error {
	pg := pgwire.NewServer(pgwire.Config{
		Backend: n.engine, Logger: n.cfg.Logger, MaxConnections: n.cfg.Access.MaxConnections, TLS: n.cfg.Access.TLS,
	})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return pg.Serve(ctx, l.PG, drainTime) })
	group.Go(func() error { return n.retainLoop(ctx) })
	if l.HTTP != nil {
		h := admin.NewHandler(NewCollector(n, pg.Connections), n.Ready)
		group.Go(func() error { return admin.Serve(ctx, l.HTTP, h) })
	}
	group.Go(func() error {
		select {
		case <-n.failed:
			return n.Ready()
		case <-ctx.Done():
			return nil
		}
	})
	err := group.Wait()
	if err != nil {
		n.cfg.Logger.Error("server ended", slog.String("error", err.Error()))
	}
	return err
}
