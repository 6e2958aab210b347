package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage/ingestlog"
)

// appendTogether appends everything that the appenders collected as one frame:
// durable all or none, in all streams.
func appendTogether(ctx context.Context, appenders []*Appender) error {
	ordered := slices.SortedFunc(slices.Values(appenders), func(a, b *Appender) int {
		return cmp.Compare(a.stream.Relation.ID, b.stream.Relation.ID) // so that locks are taken in one order
	})
	var entries []ingestlog.Entry
	var failure error
	for _, a := range ordered {
		collected := a.collect()
		if len(collected) > 0 && a.stream.Admit != nil && failure == nil {
			failure = a.stream.Admit(ctx)
		}
		entries = append(entries, collected...)
	}
	if failure == nil && len(entries) > 0 {
		failure = appendLive(ctx, ordered, entries)
	}
	for _, a := range ordered {
		a.settle(failure)
	}
	var own *sqlerr.Error
	if failure != nil && !errors.As(failure, &own) && ctx.Err() == nil {
		failure = sqlerr.New(sqlerr.OfIO(failure), "could not append to stream %q: %w", ordered[0].stream.Relation.Name, failure)
	}
	if failure != nil {
		return ordered[0].Prefix(failure)
	}
	return nil
}

// appendLive appends unless a stream was dropped meanwhile: what nobody will read
// must not be acknowledged.
func appendLive(ctx context.Context, appenders []*Appender, entries []ingestlog.Entry) error {
	for _, a := range appenders {
		a.stream.life.RLock()
		defer a.stream.life.RUnlock()
		if a.stream.dropped {
			return sqlerr.New(sqlerr.UndefinedTable, "stream %q was dropped while rows for it were open", a.stream.Relation.Name)
		}
	}
	for _, a := range appenders {
		a.tally.add(len(a.full))
	}
	return appenders[0].stream.Log.Append(ctx, entries)
}

// Commit appends what is left of all the appenders of a transaction, durable all
// or none, and ends them. wait bounds how long it then waits for the partitions
// to report; results are in the order of the appenders.
func Commit(ctx context.Context, appenders []*Appender, wait <-chan struct{}) ([]Result, error) {
	if len(appenders) == 0 {
		return nil, nil
	}
	err := appendTogether(ctx, appenders)
	results := make([]Result, len(appenders))
	for i, a := range appenders {
		a.free()
		if err == nil {
			a.awaitOutcome(ctx, wait)
		}
		results[i] = a.result
	}
	return results, err
}

// awaitOutcome waits until the partitions have reported on every record, or for
// as long as it may.
func (a *Appender) awaitOutcome(ctx context.Context, wait <-chan struct{}) {
	select {
	case <-a.tally.finish():
		a.result.Applied = true
	case <-wait:
	case <-ctx.Done():
	}
	a.tally.mu.Lock()
	defer a.tally.mu.Unlock()
	a.result.Outcome = a.tally.outcome
}

// Control appends control records of the stream's partitions, or nothing if it was
// dropped: no worker would trim them again.
func (s *Stream) Control(ctx context.Context, entries []ingestlog.Entry) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.dropped {
		return nil
	}
	return s.Log.Append(ctx, entries)
}
