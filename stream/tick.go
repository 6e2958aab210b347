package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/partition"
)

// tickLoop appends ticks to the logs of partitions that need to know that time
// has passed. It is the only place where a clock reaches the streams.
func (m *Manager) tickLoop() error {
	ticker := time.NewTicker(m.cfg.TickEvery)
	defer ticker.Stop()
	for {
		select {
		case <-m.ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := m.Tick(m.ctx); err != nil && m.ctx.Err() == nil {
			return err
		}
	}
}

// Tick appends the ticks that are due by the clock now. The ticker calls it;
// tests that move the clock call it too.
func (m *Manager) Tick(ctx context.Context) error {
	m.mu.RLock()
	streams := make([]*liveStream, 0, len(m.streams))
	for _, s := range m.streams {
		streams = append(streams, s)
	}
	m.mu.RUnlock()
	for _, s := range streams {
		entries := s.ticks(m.cfg.Tenant, m.cfg.Now().UnixMicro())
		if len(entries) == 0 {
			continue
		}
		err := s.ingest.Control(ctx, entries)
		if errors.Is(err, storage.ErrStalled) {
			continue // they are due at the next time too
		}
		if err != nil {
			return fmt.Errorf("append ticks: %w", err)
		}
	}
	return nil
}

// ticks returns the control records that a stream's partitions need at this wall
// time: a silent source may be idle, or an idle partition has windows to close.
func (s *liveStream) ticks(tenant id.Tenant, now int64) []ingestlog.Entry {
	timeout := s.relation.Stream.Options.IdleTimeout.Microseconds()
	if timeout == 0 || s.relation.Stream.TimeColumn < 0 {
		return nil
	}
	pulses := make([]partition.Pulse, len(s.workers))
	for i, w := range s.workers {
		pulses[i] = w.Pulse()
	}
	floor, open := floorOf(pulses)
	var out []ingestlog.Entry
	for i, sp := range s.partitions(tenant) {
		p := pulses[i]
		fellSilent := p.Quietest > 0 && now-p.Quietest >= timeout // and holds the others back
		waiting := p.AllIdle && p.LastHeard > 0 && (p.OpenWindows || open)
		lagging := p.AllIdle && p.Watermark < floor
		if p.Offline || !fellSilent && !waiting && !lagging {
			continue
		}
		out = append(out, ingestlog.Entry{Partition: sp, Record: ingestlog.Record{
			Kind: ingestlog.Control, Payload: partition.EncodeTick(floor),
		}})
	}
	return out
}

// floorOf returns the watermark that partitions without active sources may
// advance to: the lowest of those that have one, or, when all are idle, the
// highest that ticks brought about. An offline partition holds the stream back.
func floorOf(pulses []partition.Pulse) (floor eventtime.Watermark, open bool) {
	low, high := eventtime.Watermark(eventtime.Max), eventtime.Watermark(eventtime.Min)
	active := false
	for _, p := range pulses {
		open = open || p.OpenWindows
		high = max(high, p.Watermark)
		if !p.AllIdle || p.Offline {
			active = true
			low = min(low, p.Watermark)
		}
	}
	if active {
		return low, open
	}
	return high, open
}
