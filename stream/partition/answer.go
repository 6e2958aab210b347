package partition

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/state"
)

// FoldRequest asks for the groups of a view.
type FoldRequest struct {
	View id.Relation
	Cut  id.Offset       // the log's head at the statement's start
	Stop <-chan struct{} // ends the wait for the cut; the answer then has a shorter prefix
	// Windows bounds the starts of windows, inclusive.
	WindowFrom, WindowTo eventtime.Time
	// Admit, if set, chooses groups by their keys: it gets a batch of the columns
	// of Fold.Layout() up to the keys and returns the rows to keep.
	Admit func(keys *types.Batch) ([]int32, error)
	// Needed says which states travel, by number; others are empty.
	Needed []bool
}

// FoldAnswer is a partition's part of a view, at one batch boundary.
type FoldAnswer struct {
	Identity       string    // of the fold and the seed: only equal ones merge
	Birth, Applied id.Offset // the coverage is [Birth, Applied)
	Watermark      eventtime.Watermark
	Degraded       map[eventtime.Time]int64 // rows that failed, by window
	Groups         *state.Groups
}

// Fold answers for a view. Windows in memory are read at a batch boundary on the
// worker's goroutine; others from a snapshot taken at the same moment.
func (w *Worker) Fold(ctx context.Context, req FoldRequest) (*FoldAnswer, error) {
	if w.Offline() {
		return nil, ErrOffline
	}
	var (
		out      *FoldAnswer
		v        *view
		snapshot *kv.Snapshot
		err      error
		loaded   map[eventtime.Time]bool
	)
	callErr := w.callAt(ctx, req.Cut, req.Stop, func() {
		if w.offline.Load() {
			err = ErrOffline
			return
		}
		if v = w.view(req.View); v == nil {
			err = ErrUnknownView
			return
		}
		out = &FoldAnswer{Identity: v.identity, Birth: v.birth, Applied: v.applied, Watermark: v.watermark(), Degraded: map[eventtime.Time]int64{}}
		for start, n := range v.degraded {
			out.Degraded[start] = n
		}
		out.Groups = v.program.NewGroups(req.Needed)
		req.WindowFrom, req.WindowTo = v.windowBounds(req.WindowFrom, req.WindowTo)
		if v.inMemory(req.WindowFrom, req.WindowTo) {
			if a := v.arenas[req.WindowFrom]; a != nil {
				err = v.selector(req).AddArena(out.Groups, a)
			}
			return
		}
		loaded = map[eventtime.Time]bool{}
		for start, a := range v.arenas {
			loaded[start] = true
			if start >= req.WindowFrom && start <= req.WindowTo && err == nil {
				err = v.selector(req).AddArena(out.Groups, a)
			}
		}
		snapshot = w.cfg.Store.Snapshot()
	})
	if callErr != nil {
		return nil, callErr
	}
	if snapshot != nil {
		if err == nil {
			err = v.addStored(out.Groups, snapshot, req, loaded)
		}
		err = errors.Join(err, snapshot.Close())
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (v *view) selector(req FoldRequest) *Selector {
	return NewSelector(v.fold, v.program, req.Admit)
}

// addStored adds the groups of windows that are not in memory.
func (v *view) addStored(out *state.Groups, snapshot *kv.Snapshot, req FoldRequest, loaded map[eventtime.Time]bool) error {
	s := v.selector(req)
	from, to := v.keys.WindowRange(req.WindowFrom, req.WindowTo)
	return snapshot.Scan(from, to, func(key, chunk []byte) error {
		start, err := v.keys.WindowOf(key)
		if err != nil || loaded[start] {
			return err
		}
		return s.AddChunk(out, start, chunk)
	})
}
