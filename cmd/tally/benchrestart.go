package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
)

// benchRestartCommand is "tally bench restart".
func benchRestartCommand() *cobra.Command {
	b := &ingestBench{workload: workload{ids: "bigint", perMilli: 10}, sketches: true, views: 1, dedup: true}
	cmd := &cobra.Command{
		Use:   "restart",
		Short: "Kill a server with events in its log that no checkpoint holds, and time until it is complete again",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.restart(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&b.rows, "rows", 10_000_000, "events to send")
	f.IntVar(&b.copyRows, "copy-rows", 50_000, "events in one COPY")
	f.IntVar(&b.connections, "connections", 4, "clients")
	f.IntVar(&b.partitions, "partitions", 8, "partitions of the stream")
	f.IntVar(&b.workload.groups, "groups", 1000, "distinct group keys")
	return cmd
}

// restart sends half of the events with checkpoints and half without, kills the
// server, and measures.
func (b *ingestBench) restart(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp(b.dir, "tally-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	data := newGenerator(b.workload).copies(b.rows/b.copyRows, b.copyRows)
	half := len(data) / 2
	server, err := startChild(ctx, dir)
	if err != nil {
		return err
	}
	if err := b.load(ctx, server, b.schema(), data[:half]); err != nil {
		return errors.Join(err, server.stop())
	}
	if err := server.stop(); err != nil {
		return err
	}
	if server, err = startChild(ctx, dir, "--checkpoint-interval", "1h", "--checkpoint-rows", "1000000000"); err != nil {
		return err
	}
	if err := b.load(ctx, server, nil, data[half:]); err != nil {
		return errors.Join(err, server.stop())
	}
	server.kill()
	began := time.Now()
	if server, err = startChild(ctx, dir); err != nil {
		return err
	}
	ready := time.Since(began)
	c, err := server.connect(ctx)
	if err != nil {
		return errors.Join(err, server.stop())
	}
	n := int64(len(data) * b.copyRows)
	err = awaitApplied(ctx, c, n)
	complete := time.Since(began)
	if err == nil {
		fmt.Fprintf(out, "tally: %d events in the log, %d of them in no checkpoint; ready %.2fs after the start, complete at the head before the kill after %.2fs\n",
			n, (len(data)-half)*b.copyRows, ready.Seconds(), complete.Seconds())
	}
	return errors.Join(err, c.Close(ctx), server.stop())
}

// load runs statements and sends data.
func (b *ingestBench) load(ctx context.Context, server *child, schema []string, data [][]byte) error {
	conns := make([]*pgx.Conn, b.connections)
	for i := range conns {
		c, err := server.connect(ctx)
		if err != nil {
			return err
		}
		defer c.Close(context.WithoutCancel(ctx))
		conns[i] = c
	}
	for _, sql := range schema {
		if _, err := conns[0].Exec(ctx, sql); err != nil {
			return err
		}
	}
	_, err := copyAll(ctx, conns, "COPY events FROM STDIN", data)
	return err
}
