package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
)

// crashTest is one run of "tally crash": it kills a real server under load again
// and again, and compares what it holds with what it acknowledged.
type crashTest struct {
	kills       int
	dir         string
	seed        uint64
	connections int

	ledger *ledger
	out    io.Writer
}

// crashCommand is "tally crash".
func crashCommand() *cobra.Command {
	k := &crashTest{}
	cmd := &cobra.Command{
		Use:   "crash",
		Short: "Kill a server under load again and again: nothing acknowledged is lost, nothing counts twice",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			k.out = cmd.OutOrStdout()
			return k.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.IntVar(&k.kills, "kills", 20, "times to kill the server")
	f.StringVar(&k.dir, "dir", "", "folder for the data directory (default: a temporary one)")
	f.Uint64Var(&k.seed, "seed", 1, "of the random choices; the moments of the kills vary all the same")
	f.IntVar(&k.connections, "connections", 4, "clients that write")
	return cmd
}

// crashDDL makes a stream whose rows name the statement that sent them, and a
// view that counts each statement.
var crashDDL = []string{
	`CREATE STREAM crash_events (id bigint, statement bigint, key text, at timestamptz, WATERMARK FOR at AS at - INTERVAL '10 seconds')
		WITH (partitions = 4, partition_key = 'key', dedup_key = 'id', dedup_horizon = '12 hours')`,
	`CREATE CONTINUOUS VIEW crash_counts AS SELECT statement, count(*) AS n, sum(id) AS ids FROM crash_events GROUP BY statement`,
}

func (k *crashTest) run(ctx context.Context) error {
	dir, err := os.MkdirTemp(k.dir, "tally-crash-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rng := rand.New(rand.NewPCG(k.seed, 1))
	k.ledger = newLedger()
	writers := make([]*crashWriter, k.connections)
	for i := range writers {
		writers[i] = &crashWriter{number: int64(i), ledger: k.ledger, rng: rand.New(rand.NewPCG(k.seed, uint64(i)+2))}
	}
	server, err := k.start(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { server.kill() }()
	if err := define(ctx, server); err != nil {
		return err
	}
	for n := 1; n <= k.kills; n++ {
		open := loadUntilKilled(ctx, server, writers, time.Duration(20+rng.IntN(400))*time.Millisecond)
		if server, err = k.start(ctx, dir); err != nil {
			return fmt.Errorf("after kill %d: %w", n, err)
		}
		if rng.IntN(8) == 0 { // once more, while it catches up
			server.kill()
			if server, err = k.start(ctx, dir); err != nil {
				return fmt.Errorf("after kill %d, again: %w", n, err)
			}
		}
		survived, err := k.verify(ctx, server)
		if err != nil {
			return fmt.Errorf("after kill %d: %w", n, err)
		}
		fmt.Fprintf(k.out, "kill %d of %d: %d statements were open, %d of them are there whole; %d events acknowledged so far, all there once\n",
			n, k.kills, open, survived, k.ledger.acknowledged())
	}
	if err := server.stop(); err != nil {
		return fmt.Errorf("the server did not end in order: %w", err)
	}
	fmt.Fprintf(k.out, "ok: %d kills, %d events acknowledged, 0 lost, 0 counted twice\n", k.kills, k.ledger.acknowledged())
	return nil
}

// start starts the server with checkpoints so frequent that kills meet them.
func (k *crashTest) start(ctx context.Context, dir string) (*child, error) {
	return startChild(ctx, dir, "--checkpoint-interval", "50ms", "--checkpoint-rows", "2000")
}

func define(ctx context.Context, server *child) error {
	c, err := server.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	for _, sql := range crashDDL {
		if _, err := c.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// loadUntilKilled writes over all connections, kills the server after a while and
// returns how many statements were open then.
func loadUntilKilled(ctx context.Context, server *child, writers []*crashWriter, after time.Duration) (open int) {
	var group sync.WaitGroup
	for _, w := range writers {
		group.Go(func() { w.write(ctx, server) })
	}
	<-time.After(after)
	server.kill()
	group.Wait()
	for _, w := range writers {
		if w.open != nil {
			open++
		}
	}
	return open
}

// verify compares the stream and its view with the ledger. It returns how many
// statements are there that were not acknowledged.
func (k *crashTest) verify(ctx context.Context, server *child) (survived int, err error) {
	c, err := server.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close(ctx)) }()
	if _, err := c.Exec(ctx, "SET read_wait = '60s'"); err != nil {
		return 0, err
	}
	adHoc, err := countStatements(ctx, c, "SELECT statement, count(*), sum(id)::bigint FROM crash_events GROUP BY statement")
	if err != nil {
		return 0, err
	}
	view, err := countStatements(ctx, c, "SELECT statement, n, ids::bigint FROM crash_counts")
	if err != nil {
		return 0, err
	}
	if err := errors.Join(k.ledger.compare("the stream", adHoc), k.ledger.compare("the view", view)); err != nil {
		return 0, err
	}
	if len(view) != len(adHoc) {
		return 0, fmt.Errorf("the stream holds %d statements, the view %d", len(adHoc), len(view))
	}
	return k.ledger.settle(adHoc), nil
}

func countStatements(ctx context.Context, c *pgx.Conn, sql string) (map[int64]tallied, error) {
	rows, err := c.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64]tallied{}
	for rows.Next() {
		var statement int64
		var t tallied
		if err := rows.Scan(&statement, &t.events, &t.ids); err != nil {
			return nil, err
		}
		out[statement] = t
	}
	return out, rows.Err()
}
