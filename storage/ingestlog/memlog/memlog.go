// Package memlog is an ingest log in memory: a fake for tests of what stands on
// the log. It keeps the contract except that nothing survives the process.
package memlog

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/ingestlog"
)

// Log is a log in memory.
type Log struct {
	now func() time.Time

	mu         sync.Mutex
	partitions map[id.StreamPartition]*partition
	lastTime   int64
	nextSub    int
	closed     bool
}

type partition struct {
	base    id.Offset
	records []ingestlog.Record
	deliver map[int]func(*ingestlog.Record)
}

var _ ingestlog.Log = (*Log)(nil)

// New returns an empty log; now is its clock.
func New(now func() time.Time) *Log {
	return &Log{now: now, partitions: map[id.StreamPartition]*partition{}}
}

func (l *Log) partition(sp id.StreamPartition) *partition {
	p := l.partitions[sp]
	if p == nil {
		p = &partition{deliver: map[int]func(*ingestlog.Record){}}
		l.partitions[sp] = p
	}
	return p
}

func (p *partition) head() id.Offset { return p.base + id.Offset(len(p.records)) }

// Append implements ingestlog.Log.
func (l *Log) Append(_ context.Context, entries []ingestlog.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return storage.ErrClosed
	}
	l.lastTime = max(l.lastTime, l.now().UnixMicro())
	for i := range entries {
		p, r := l.partition(entries[i].Partition), &entries[i].Record
		r.Offset, r.AppendTime = p.head(), l.lastTime
		stored := *r
		stored.Payload, stored.Attached = slices.Clone(r.Payload), nil
		p.records = append(p.records, stored)
		for _, deliver := range p.deliver {
			deliver(ingestlog.Delivered(r))
		}
	}
	return nil
}

// Partitions implements ingestlog.Log.
func (l *Log) Partitions() []id.StreamPartition {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.partitions))
}

// Head implements ingestlog.Log.
func (l *Log) Head(sp id.StreamPartition) id.Offset {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.partition(sp).head()
}

// Base implements ingestlog.Log.
func (l *Log) Base(sp id.StreamPartition) id.Offset {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.partition(sp).base
}

// AppendedAt implements ingestlog.Log.
func (l *Log) AppendedAt(sp id.StreamPartition, at id.Offset) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.partition(sp)
	if at < p.base || at >= p.head() {
		return 0
	}
	return p.records[at-p.base].AppendTime
}

// Read implements ingestlog.Log.
func (l *Log) Read(ctx context.Context, sp id.StreamPartition, from, to id.Offset, fn func(*ingestlog.Record) error) error {
	for ; from < to; from++ {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		l.mu.Lock()
		p := l.partition(sp)
		if from < p.base {
			l.mu.Unlock()
			return storage.ErrTrimmed
		}
		if from >= p.head() {
			l.mu.Unlock()
			return nil
		}
		rec := p.records[from-p.base]
		l.mu.Unlock()
		if err := fn(&rec); err != nil {
			return err
		}
	}
	return nil
}

// Rows implements ingestlog.Log.
func (l *Log) Rows(sp id.StreamPartition, from, to id.Offset) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.partition(sp)
	var n int64
	for o := max(from, p.base); o < min(to, p.head()); o++ {
		n += int64(p.records[o-p.base].Rows)
	}
	return n
}

// Subscribe implements ingestlog.Log.
func (l *Log) Subscribe(sp id.StreamPartition, deliver func(*ingestlog.Record)) (id.Offset, func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, n := l.partition(sp), l.nextSub
	l.nextSub++
	p.deliver[n] = deliver
	return p.head(), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(p.deliver, n)
	}
}

// Trim implements ingestlog.Log.
func (l *Log) Trim(sp id.StreamPartition, to id.Offset) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.partition(sp)
	if to = min(to, p.head()); to > p.base {
		p.records = slices.Clone(p.records[to-p.base:])
		p.base = to
	}
	return nil
}

// Close implements ingestlog.Log.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}
