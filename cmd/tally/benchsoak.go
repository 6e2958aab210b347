package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// benchSoakCommand is "tally bench soak".
func benchSoakCommand() *cobra.Command {
	b := &ingestBench{workload: workload{ids: "bigint", groups: 1000, perMilli: 1}, sketches: true, views: 1, dedup: true, partitions: 8, connections: 1}
	var minutes, rate float64
	cmd := &cobra.Command{
		Use:   "soak",
		Short: "Ingest at a steady rate, and print memory and CPU per event each half minute: both should be flat",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return b.soak(cmd.Context(), cmd.OutOrStdout(), time.Duration(minutes*float64(time.Minute)), rate)
		},
	}
	cmd.Flags().Float64Var(&minutes, "minutes", 10, "how long")
	cmd.Flags().Float64Var(&rate, "rate", 500_000, "events a second")
	return cmd
}

func (b *ingestBench) soak(ctx context.Context, out io.Writer, length time.Duration, rate float64) error {
	dir, err := os.MkdirTemp(b.dir, "tally-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := startChild(ctx, dir)
	if err != nil {
		return err
	}
	if err := b.load(ctx, server, b.schema(), nil); err != nil {
		return errors.Join(err, server.stop())
	}
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var sent, event atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	feed := newFeed(b.workload, 10_000, rate, 0)
	for range 2 {
		group.Go(func() error { return feed.send(ctx, server, &sent, &event) })
	}
	group.Go(func() error { return soakReport(ctx, out, server, &sent) })
	return errors.Join(group.Wait(), server.stop())
}

// soakReport prints a line each half minute.
func soakReport(ctx context.Context, out io.Writer, server *child, sent *atomic.Int64) error {
	began := time.Now()
	ticker := time.NewTicker(30 * time.Second)
	defer ticker.Stop()
	var lastSent int64
	lastCPU := time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		cpu, err := server.cpu(ctx)
		rss, failure := server.metric(ctx, "process_resident_memory_bytes")
		if ctx.Err() != nil {
			return nil // the time is over
		}
		if err = errors.Join(err, failure); err != nil {
			return err
		}
		n := sent.Load()
		fmt.Fprintf(out, "tally: %4.0fs  %d events  %.3f M/s  server CPU %.0f ns/event  RSS %.0f MiB\n", time.Since(began).Seconds(), n,
			float64(n-lastSent)/30/1e6, float64((cpu-lastCPU).Nanoseconds())/float64(max(n-lastSent, 1)), rss/(1<<20))
		lastSent, lastCPU = n, cpu
	}
}
