package partition

import (
	"context"
	"errors"
	"maps"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/state"
)

// FoldRequest asks for the groups of a view.
type FoldRequest struct {
	View id.Relation
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

// Fold answers for views, all as they are at one batch boundary: once the log is
// applied up to cut, the head at the statement's start, or when stop is closed; then
// with a shorter prefix. Windows in memory are read on the worker's goroutine, others
// from a snapshot taken at the same moment.
func (w *Worker) Fold(ctx context.Context, cut id.Offset, stop <-chan struct{}, reqs ...FoldRequest) ([]*FoldAnswer, error) {
	if w.Offline() {
		return nil, ErrOffline
	}
	var snapshot *kv.Snapshot
	var err error
	folding := make([]*folding, len(reqs))
	callErr := w.callAt(ctx, cut, stop, func() {
		if w.offline.Load() {
			err = ErrOffline
			return
		}
		stored := false
		for i, req := range reqs {
			if folding[i], err = w.fold(req); err != nil {
				return
			}
			stored = stored || !folding[i].whole
		}
		if stored {
			snapshot = w.cfg.Store.Snapshot()
		}
	})
	if callErr != nil {
		return nil, callErr
	}
	if snapshot != nil {
		for _, f := range folding {
			if err == nil && !f.whole {
				err = f.addStored(snapshot)
			}
		}
		err = errors.Join(err, snapshot.Close())
	}
	if err != nil {
		return nil, err
	}
	out := make([]*FoldAnswer, len(reqs))
	for i, f := range folding {
		out[i] = f.answer
	}
	return out, nil
}

// folding is an answer in the making.
type folding struct {
	view   *view
	req    FoldRequest
	answer *FoldAnswer
	loaded map[eventtime.Time]bool // windows that were in memory
	whole  bool                    // nothing is to be read from the store
}

// fold takes from memory what there is.
func (w *Worker) fold(req FoldRequest) (*folding, error) {
	v := w.view(req.View)
	if v == nil {
		return nil, ErrUnknownView
	}
	req.WindowFrom, req.WindowTo = v.windowBounds(req.WindowFrom, req.WindowTo)
	f := &folding{
		view: v, req: req, loaded: map[eventtime.Time]bool{}, whole: v.inMemory(req.WindowFrom, req.WindowTo),
		answer: &FoldAnswer{
			Identity: v.identity, Birth: v.birth, Applied: v.applied, Watermark: v.watermark(),
			Degraded: maps.Clone(v.degraded), Groups: v.program.NewGroups(req.Needed),
		},
	}
	add := func(a *state.Arena) error { return v.selector(req).AddArena(f.answer.Groups, a) }
	if f.whole {
		if a := v.arenas[req.WindowFrom]; a != nil {
			return f, add(a)
		}
		return f, nil
	}
	for start, a := range v.arenas {
		f.loaded[start] = true
		if start < req.WindowFrom || start > req.WindowTo {
			continue
		}
		if err := add(a); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (v *view) selector(req FoldRequest) *Selector {
	return NewSelector(v.fold, v.program, req.Admit)
}

// addStored adds the groups of windows that were not in memory.
func (f *folding) addStored(snapshot *kv.Snapshot) error {
	s := f.view.selector(f.req)
	from, to := f.view.keys.WindowRange(f.req.WindowFrom, f.req.WindowTo)
	return snapshot.Scan(from, to, func(key, chunk []byte) error {
		start, err := f.view.keys.WindowOf(key)
		if err != nil || f.loaded[start] {
			return err
		}
		return s.AddChunk(f.answer.Groups, start, chunk)
	})
}
