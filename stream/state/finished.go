package state

import (
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// Finished is a set of (window, group) with the values of aggregates instead of
// their states. It shares nothing with where the states are.
type Finished struct {
	Windows []eventtime.Time // start of each group's window
	Keys    ByteColumn
	Values  []*types.Vector // by aggregate; nil where not needed
	Bounds  []*agg.Bounds   // by aggregate; nil where it is exact or not needed
}

// NewFinished returns an empty set of these aggregates, of which nil ones are not
// needed.
func NewFinished(finals []agg.Finaliser) *Finished {
	f := &Finished{Keys: ByteColumn{Offsets: []uint32{0}}, Values: make([]*types.Vector, len(finals)), Bounds: make([]*agg.Bounds, len(finals))}
	for i, final := range finals {
		if final == nil {
			continue
		}
		t := final.Type()
		f.Values[i] = types.NewVector(t, 0)
		if final.Approximate() {
			f.Bounds[i] = &agg.Bounds{Lo: types.NewVector(t, 0), Hi: types.NewVector(t, 0), Error: types.NewVector(types.Of(types.Float8), 0)}
		}
	}
	return f
}

// Len returns the number of groups.
func (f *Finished) Len() int { return len(f.Windows) }

// AddArena adds the keys of all groups of an arena.
func (f *Finished) AddArena(a *Arena) {
	for g := range a.Groups() {
		f.add(a.Window.Start, a.Key(g))
	}
}

// AddGroups adds the keys of groups.
func (f *Finished) AddGroups(from *Groups) {
	for g := range from.Len() {
		f.add(from.Windows[g], from.Keys.At(g))
	}
}

func (f *Finished) add(window eventtime.Time, key []byte) {
	f.Windows = append(f.Windows, window)
	f.Keys.Data = append(f.Keys.Data, key...)
	f.Keys.end()
}
