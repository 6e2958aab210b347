package partition

import (
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/fold"
	"github.com/tallydb/tallydb/stream/state"
	"github.com/tallydb/tallydb/stream/window"
)

// Choice admits groups. Each function, if set, gets a batch of the columns of
// Fold.Layout() up to the keys and returns the rows to keep.
type Choice struct {
	Windows func(windows *types.Batch) ([]int32, error) // gets one row, without keys
	Groups  func(keys *types.Batch) ([]int32, error)
}

// Selector chooses groups by their keys and copies their states.
type Selector struct {
	fold     *plan.Fold
	assigner window.Assigner
	choice   Choice
	schema   *types.Schema // window columns and keys
	windowed int           // window columns: 0 or 2
}

// NewSelector returns a selector for groups of a fold.
func NewSelector(f *plan.Fold, p *fold.Program, choice Choice) *Selector {
	s := p.KeySchema()
	return &Selector{fold: f, assigner: p.Assigner(), choice: choice, schema: s, windowed: len(s.Columns) - len(f.Keys)}
}

// admits reports whether groups of a window may be admitted.
func (s *Selector) admits(w eventtime.Window) (bool, error) {
	if s.choice.Windows == nil {
		return true, nil
	}
	b := s.keyBatch()
	s.addWindow(b, w)
	b.Rows = 1
	sel, err := s.choice.Windows(b)
	return len(sel) > 0, err
}

// keyBatch starts a batch of window columns and keys.
func (s *Selector) keyBatch() *types.Batch { return types.NewBatch(s.schema, 0) }

func (s *Selector) addKey(b *types.Batch, w eventtime.Window, key []byte) error {
	s.addWindow(b, w)
	var err error
	for _, c := range b.Cols[s.windowed:] {
		if key, err = types.ReadKey(key, c); err != nil {
			return err
		}
	}
	b.Rows++
	return nil
}

func (s *Selector) addWindow(b *types.Batch, w eventtime.Window) {
	if s.windowed > 0 {
		b.Cols[0].AppendInt(int64(w.Start))
		b.Cols[1].AppendInt(int64(w.End))
	}
}

// AddArena adds the admitted groups of a window in memory.
func (s *Selector) AddArena(out *state.Groups, a *state.Arena) error {
	chosen, all, err := s.choose(a)
	switch {
	case err != nil:
		return err
	case all:
		return out.AddArena(a)
	}
	return out.AddChosen(a, chosen)
}

// choose returns the admitted groups of a window in memory, or that all are.
func (s *Selector) choose(a *state.Arena) (chosen []int32, all bool, err error) {
	if ok, err := s.admits(a.Window); !ok || err != nil {
		return nil, false, err
	}
	if s.choice.Groups == nil {
		return nil, true, nil
	}
	b := s.keyBatch()
	for g := range a.Groups() {
		if err := s.addKey(b, a.Window, a.Key(g)); err != nil {
			return nil, false, err
		}
	}
	chosen, err = s.choice.Groups(b)
	return chosen, len(chosen) == a.Groups(), err
}

// AddChunk adds the admitted groups of a stored chunk.
func (s *Selector) AddChunk(out *state.Groups, start eventtime.Time, chunk []byte) error {
	w := s.assigner.FromStart(start)
	if ok, err := s.admits(w); !ok || err != nil {
		return err
	}
	var sel []int32
	if s.choice.Groups != nil {
		b := s.keyBatch()
		err := state.ReadChunk(chunk, len(s.fold.States), func(g *state.Group) error { return s.addKey(b, w, g.Key) })
		if err != nil {
			return err
		}
		if sel, err = s.choice.Groups(b); err != nil || len(sel) == 0 {
			return err
		}
	}
	n, next := 0, 0
	return state.ReadChunk(chunk, len(s.fold.States), func(g *state.Group) error {
		take := s.choice.Groups == nil
		if next < len(sel) && int(sel[next]) == n {
			take = true
			next++
		}
		n++
		if !take {
			return nil
		}
		return out.AddStored(start, g)
	})
}
