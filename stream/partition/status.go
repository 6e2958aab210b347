package partition

import (
	"context"
	"sync"
	"time"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// Counters count events since the stream's birth.
type Counters struct {
	Received, Admitted, Duplicates, Rejected int64
}

// Status is what a partition says of itself.
type Status struct {
	Applied     id.Offset
	Watermark   eventtime.Watermark
	AllIdle     bool
	Sources     int
	DedupIDs    int
	MemoryBytes int64
	Checkpoint  time.Time
	Counters    Counters
	Views       map[id.Relation]ViewStatus
}

// ViewStatus is what a partition says of a view.
type ViewStatus struct {
	Applied     id.Offset
	Live        bool
	Counters    ViewCounters
	OpenGroups  int64
	OpenWindows int
	MemoryBytes int64
}

// Status asks the worker.
func (w *Worker) Status(ctx context.Context) (Status, error) {
	var s Status
	err := w.call(ctx, func() {
		s = Status{
			Applied: w.applied, Watermark: w.tracker.Current(), AllIdle: w.tracker.AllIdle(), Sources: w.tracker.Sources(),
			DedupIDs: w.dedup.Len(), MemoryBytes: w.dedup.MemoryBytes(), Checkpoint: w.checkpointed, Counters: w.counters,
			Views: map[id.Relation]ViewStatus{},
		}
		for _, v := range w.views {
			vs := ViewStatus{Applied: v.applied, Live: v.tracker == nil, Counters: v.counters, OpenWindows: len(v.arenas), OpenGroups: v.Groups()}
			for _, a := range v.arenas {
				vs.MemoryBytes += a.MemoryBytes()
			}
			s.MemoryBytes += vs.MemoryBytes
			s.Views[v.rel.ID] = vs
		}
	})
	return s, err
}

// statusBoard holds what other goroutines may read without asking the worker.
type statusBoard struct {
	mu        sync.Mutex
	applied   id.Offset
	watermark eventtime.Watermark
	allIdle   bool
	lastHeard int64
	quietest  int64
	open      bool // there are groups in open windows
	counters  Counters
}

// publishStatus copies the cheap part of the status after each record.
func (w *Worker) publishStatus() {
	open := false
	for _, v := range w.views {
		open = open || v.hasOpen()
	}
	b := &w.status
	b.mu.Lock()
	defer b.mu.Unlock()
	b.applied, b.watermark, b.allIdle = w.applied, w.tracker.Current(), w.tracker.AllIdle()
	b.quietest = w.tracker.QuietestActive()
	b.lastHeard, b.counters, b.open = w.tracker.LastHeard(), w.counters, open
}

// Applied returns the offset up to which the log was admitted and folded into
// every live view.
func (w *Worker) Applied() id.Offset {
	w.status.mu.Lock()
	defer w.status.mu.Unlock()
	return w.status.applied
}

// Pulse is what the ticker needs to know of a partition.
type Pulse struct {
	Watermark   eventtime.Watermark
	AllIdle     bool
	LastHeard   int64 // append time of the last event
	Quietest    int64 // of the active source silent longest; 0 if none is active
	OpenWindows bool
	Offline     bool
}

// Pulse returns it without asking the worker.
func (w *Worker) Pulse() Pulse {
	w.status.mu.Lock()
	defer w.status.mu.Unlock()
	return Pulse{
		Watermark: w.status.watermark, AllIdle: w.status.allIdle, LastHeard: w.status.lastHeard,
		Quietest: w.status.quietest, OpenWindows: w.status.open, Offline: w.offline.Load(),
	}
}
