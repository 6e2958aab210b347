package sqllogictest

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/server"
)

// Local is a node in this process. Its data directory outlives a Restart.
type Local struct {
	config server.Config
	node   *server.Node
	url    string
	cancel context.CancelFunc
	ended  chan error
}

// OpenLocal starts a node.
func OpenLocal(cfg server.Config) (*Local, error) {
	l := &Local{config: cfg}
	return l, l.start()
}

func (l *Local) start() error {
	node, err := server.Open(l.config)
	if err != nil {
		return err
	}
	listeners, err := server.Listen(server.Addresses{PG: "127.0.0.1:0"})
	if err != nil {
		return errors.Join(err, node.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.node, l.cancel, l.ended = node, cancel, make(chan error, 1)
	l.url = "postgres://tally@" + listeners.PG.Addr().String() + "/tally?sslmode=disable"
	go func() { l.ended <- node.Run(ctx, listeners) }()
	return nil
}

// URL implements Target.
func (l *Local) URL() string { return l.url }

// Restart implements Target.
func (l *Local) Restart(context.Context) error {
	if err := l.Close(); err != nil {
		return err
	}
	return l.start()
}

// Node is the running node.
func (l *Local) Node() *server.Node { return l.node }

// Close ends the node as SIGTERM does.
func (l *Local) Close() error {
	l.cancel()
	return errors.Join(<-l.ended, l.node.Close())
}
