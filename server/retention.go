package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/server/session"
	"github.com/tallydb/tallydb/stream"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// retainLoop trims the logs of what is older than each stream's retention and
// that every state has taken in, once a minute.
func (n *Node) retainLoop(ctx context.Context) error {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := n.Retain(ctx); err != nil && ctx.Err() == nil {
			n.cfg.Logger.Warn("retention", slog.String("error", err.Error()))
		}
	}
}

// Retain trims now what the streams need to retain no longer; a running server
// does so once a minute.
func (n *Node) Retain(ctx context.Context) error {
	var errs []error
	for _, t := range n.openTenants() {
		if err := n.retain(ctx, t); err != nil {
			errs = append(errs, fmt.Errorf("database %s: %w", t.Database.Name, err))
		}
	}
	return errors.Join(errs...)
}

// retain makes a durable checkpoint of each partition and trims below it. A
// partition that fails keeps no other from being trimmed.
func (n *Node) retain(ctx context.Context, t *session.Tenant) error {
	var errs []error
	for _, rel := range n.catalog.Snapshot(t.Database.Tenant).Relations() {
		if rel.Stream == nil || rel.Stream.Options.Retention == 0 {
			continue
		}
		for _, p := range rel.Stream.Partitions() {
			if err := n.retainPartition(ctx, t, rel, p); err != nil {
				errs = append(errs, fmt.Errorf("stream %s, partition %d: %w", rel.Name, p, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (n *Node) retainPartition(ctx context.Context, t *session.Tenant, rel *catalog.Relation, p id.Partition) error {
	w, err := t.Streams.Worker(rel.ID, p)
	if errors.Is(err, stream.ErrUnknownStream) {
		return nil // dropped meanwhile
	}
	if err != nil {
		return err
	}
	if w.Offline() {
		return nil // it holds everything
	}
	sp := id.StreamPartition{Tenant: t.Database.Tenant, Stream: rel.ID, Partition: p}
	oldest := n.cfg.Now().Add(-rel.Stream.Options.Retention).UnixMicro()
	base, head := n.log.Base(sp), n.log.Head(sp)
	if base == head || n.log.AppendedAt(sp, base) >= oldest {
		return nil
	}
	release, ok := t.Streams.LockHistory()
	if !ok {
		return nil // a new view reads it; the next minute will do
	}
	defer release()
	limit, err := w.Checkpoint(ctx) // not what is applied: a crash goes back to the checkpoint
	if err != nil {
		return err
	}
	to := base
	for to < limit && n.log.AppendedAt(sp, to) < oldest {
		to++
	}
	return n.log.Trim(sp, to)
}

// eventSeconds converts a watermark to seconds since 1970; nil if it is infinite.
func eventSeconds(w eventtime.Watermark) *float64 {
	if !eventtime.Time(w).Finite() {
		return nil
	}
	s := float64(eventtime.Time(w).UnixMicro()) / 1e6
	return &s
}

func boolNumber(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
