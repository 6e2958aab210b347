package partition

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/agg"
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
	Choice
	// Needed says which states travel, by number; others are empty.
	Needed []bool
	// Finish, if set, asks for values instead of states.
	Finish *Finish
}

// Finish asks for the values of aggregates. Only of a fold whose groups lie in one
// partition each are they the values of the whole.
type Finish struct {
	Needed     []bool // by number of the aggregate; nil: all
	Confidence float64
}

// FoldAnswer is a partition's part of a view, at one batch boundary.
type FoldAnswer struct {
	Identity       string    // of the fold and the seed: only equal ones merge
	Birth, Applied id.Offset // the coverage is [Birth, Applied)
	Watermark      eventtime.Watermark
	Degraded       map[eventtime.Time]int64 // rows that failed, by window
	Groups         *state.Groups            // if it was asked to finish, those that others may have too; or nil
	Finished       *state.Finished          // nil if not
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
		if out[i], err = f.end(); err != nil {
			return nil, err
		}
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
			Degraded: v.degradedWithin(req.WindowFrom, req.WindowTo),
		},
	}
	if req.Finish != nil {
		f.answer.Finished = state.NewFinished(v.finals(req.Finish))
	} else {
		f.groups()
	}
	if f.whole {
		if a := v.arenas[req.WindowFrom]; a != nil {
			return f, f.add(a)
		}
		return f, nil
	}
	for start, a := range v.arenas {
		f.loaded[start] = true
		if start < req.WindowFrom || start > req.WindowTo {
			continue
		}
		if err := f.add(a); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// degradedWithin returns how many rows failed in the windows that start then.
func (v *view) degradedWithin(from, to eventtime.Time) map[eventtime.Time]int64 {
	var out map[eventtime.Time]int64
	for start, n := range v.degraded {
		if start < from || start > to {
			continue
		}
		if out == nil {
			out = map[eventtime.Time]int64{}
		}
		out[start] = n
	}
	return out
}

// groups returns where states are copied to.
func (f *folding) groups() *state.Groups {
	if f.answer.Groups == nil {
		f.answer.Groups = f.view.program.NewGroups(f.req.Needed)
	}
	return f.answer.Groups
}

// finishGroups is how many groups of a window are finished on the worker's
// goroutine. More are copied, which takes less of its time.
const finishGroups = 4096

// add adds the groups of a window in memory. Those of a closed one may be read by a
// checkpoint meanwhile, so only an open one is finished where it is.
func (f *folding) add(a *state.Arena) error {
	s := f.view.selector(f.req)
	if f.req.Finish == nil || a.Groups() > finishGroups || f.view.closed(a.Window) {
		return s.AddArena(f.groups(), a)
	}
	chosen, all, err := s.choose(a)
	switch {
	case err != nil:
		return err
	case !all:
		return f.groups().AddChosen(a, chosen)
	case f.view.hasScattered(a):
		return f.groups().AddArena(a)
	}
	f.answer.Finished.AddArena(a)
	return f.finish(a.States, a.Groups())
}

// finish appends the values of n groups.
func (f *folding) finish(states []agg.States, n int) error {
	to := f.answer.Finished
	for i, value := range to.Values {
		if value == nil {
			continue
		}
		a := &f.view.fold.Aggs[i]
		if err := a.Final.Finalise(states[a.State], n, f.req.Finish.Confidence, value, to.Bounds[i]); err != nil {
			return err
		}
	}
	return nil
}

// end finishes the groups that were copied.
func (f *folding) end() (*FoldAnswer, error) {
	groups := f.answer.Groups
	if f.req.Finish == nil || groups == nil {
		return f.answer, nil
	}
	f.answer.Groups = nil
	if f.view.fold.Scattered() >= 0 {
		var err error
		fresh := func() *state.Groups { return f.view.program.NewGroups(f.req.Needed) }
		if groups, f.answer.Groups, err = groups.Without(f.view.scattered, fresh); err != nil {
			return nil, err
		}
	}
	f.answer.Finished.AddGroups(groups)
	return f.answer, f.finish(groups.States, groups.Len())
}

// hasScattered reports whether a window in memory has groups that other partitions may
// have too.
func (v *view) hasScattered(a *state.Arena) bool {
	if v.fold.Scattered() < 0 {
		return false
	}
	for g := range a.Groups() {
		if v.scattered(a.Key(g)) {
			return true
		}
	}
	return false
}

// scattered reports whether the key of a group is NULL where that makes it lie in
// several partitions.
func (v *view) scattered(key []byte) bool {
	for _, k := range v.fold.Keys[:v.fold.Scattered()] {
		rest, err := types.ReadKey(key, types.NewVector(k.Type(), 1))
		if err != nil {
			return true // as it is then for who reads it
		}
		key = rest
	}
	return types.IsNullKey(key)
}

// finals returns how to finish what is needed.
func (v *view) finals(r *Finish) []agg.Finaliser {
	out := make([]agg.Finaliser, len(v.fold.Aggs))
	for i, a := range v.fold.Aggs {
		if r.Needed == nil || r.Needed[i] {
			out[i] = a.Final
		}
	}
	return out
}

func (v *view) selector(req FoldRequest) *Selector {
	return NewSelector(v.fold, v.program, req.Choice)
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
		return s.AddChunk(f.groups(), start, chunk)
	})
}
