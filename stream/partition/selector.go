package partition

import (
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/fold"
	"github.com/tallydb/tallydb/stream/state"
	"github.com/tallydb/tallydb/stream/window"
)

// Selector chooses groups by their keys and copies their states.
type Selector struct {
	fold     *plan.Fold
	assigner window.Assigner
	admit    func(*types.Batch) ([]int32, error)
	schema   *types.Schema // window columns and keys
	windowed int           // window columns: 0 or 2
}

// NewSelector returns a selector for groups of a fold. admit is as in FoldRequest.
func NewSelector(f *plan.Fold, p *fold.Program, admit func(*types.Batch) ([]int32, error)) *Selector {
	s := p.KeySchema()
	return &Selector{fold: f, assigner: p.Assigner(), admit: admit, schema: s, windowed: len(s.Columns) - len(f.Keys)}
}

// keyBatch starts a batch of window columns and keys.
func (s *Selector) keyBatch() *types.Batch { return types.NewBatch(s.schema, 0) }

func (s *Selector) addKey(b *types.Batch, w eventtime.Window, key []byte) error {
	if s.windowed > 0 {
		b.Cols[0].AppendInt(int64(w.Start))
		b.Cols[1].AppendInt(int64(w.End))
	}
	var err error
	for _, c := range b.Cols[s.windowed:] {
		if key, err = types.ReadKey(key, c); err != nil {
			return err
		}
	}
	b.Rows++
	return nil
}

// AddArena adds the admitted groups of a window in memory.
func (s *Selector) AddArena(out *state.Groups, a *state.Arena) error {
	if s.admit == nil {
		return out.AddArena(a)
	}
	b := s.keyBatch()
	for g := range a.Groups() {
		if err := s.addKey(b, a.Window, a.Key(g)); err != nil {
			return err
		}
	}
	sel, err := s.admit(b)
	if err != nil {
		return err
	}
	return out.AddChosen(a, sel)
}

// AddChunk adds the admitted groups of a stored chunk.
func (s *Selector) AddChunk(out *state.Groups, start eventtime.Time, chunk []byte) error {
	w := s.assigner.FromStart(start)
	var sel []int32
	if s.admit != nil {
		b := s.keyBatch()
		err := state.ReadChunk(chunk, len(s.fold.States), func(g *state.Group) error { return s.addKey(b, w, g.Key) })
		if err != nil {
			return err
		}
		if sel, err = s.admit(b); err != nil || len(sel) == 0 {
			return err
		}
	}
	n, next := 0, 0
	return state.ReadChunk(chunk, len(s.fold.States), func(g *state.Group) error {
		take := s.admit == nil
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
