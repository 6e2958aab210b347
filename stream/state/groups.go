package state

import (
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// Groups is a set of (window, group) with their states, as columns: what a
// partition answers. It shares nothing with where they were copied from, and is
// used by one goroutine at a time.
type Groups struct {
	Windows []eventtime.Time // start of each group's window
	Hashes  []uint64
	Keys    ByteColumn
	States  []agg.States // by kept aggregate; nil where not needed
}

// ByteColumn is a column of byte strings.
type ByteColumn struct {
	Data    []byte
	Offsets []uint32
}

// At returns value i. It aliases the column.
func (c *ByteColumn) At(i int) []byte { return c.Data[c.Offsets[i]:c.Offsets[i+1]] }

func (c *ByteColumn) end() { c.Offsets = append(c.Offsets, uint32(len(c.Data))) }

// NewGroups returns an empty set that holds the needed ones of these states; nil
// needs all.
func NewGroups(specs []agg.StateSpec, needed []bool, cfg agg.Config) *Groups {
	g := &Groups{Keys: ByteColumn{Offsets: []uint32{0}}, States: make([]agg.States, len(specs))}
	for i, s := range specs {
		if needed == nil || needed[i] {
			g.States[i] = s.New(cfg)
		}
	}
	return g
}

// Len returns the number of groups.
func (g *Groups) Len() int { return len(g.Windows) }

// Add adds a group and returns its number. Call Grow before its states are used.
func (g *Groups) Add(window eventtime.Time, hash uint64, key []byte) int {
	g.Windows = append(g.Windows, window)
	g.Hashes = append(g.Hashes, hash)
	g.Keys.Data = append(g.Keys.Data, key...)
	g.Keys.end()
	return len(g.Windows) - 1
}

// Grow makes the states of all groups exist.
func (g *Groups) Grow() {
	for _, s := range g.States {
		if s != nil {
			s.Grow(g.Len())
		}
	}
}

// AddStored adds a stored group. The error is that its states are corrupt.
func (g *Groups) AddStored(window eventtime.Time, from *Group) error {
	n := g.Add(window, from.Hash, from.Key)
	g.Grow()
	for i, s := range g.States {
		if s == nil {
			continue
		}
		if err := s.Merge(uint32(n), from.States[i]); err != nil {
			return err
		}
	}
	return nil
}

// Without takes the groups that a function chooses by their keys out of g and returns
// them; nil if there are none. g is not used any more: the others are in rest.
func (g *Groups) Without(chosen func(key []byte) bool, fresh func() *Groups) (rest, taken *Groups, err error) {
	var places []*Groups // where each group goes
	rest, taken = fresh(), fresh()
	for i := range g.Len() {
		to := rest
		if chosen(g.Keys.At(i)) {
			to = taken
		}
		to.Add(g.Windows[i], g.Hashes[i], g.Keys.At(i))
		places = append(places, to)
	}
	if taken.Len() == 0 {
		return g, nil, nil
	}
	rest.Grow()
	taken.Grow()
	for st, from := range g.States {
		if from == nil {
			continue
		}
		next := map[*Groups]uint32{}
		for i, to := range places {
			if err := to.States[st].MergeFrom(next[to], from, uint32(i)); err != nil {
				return nil, nil, err
			}
			next[to]++
		}
	}
	return rest, taken, nil
}

// AddArena adds all groups of an arena.
func (g *Groups) AddArena(a *Arena) error { return g.addRange(a, 0, a.Groups()) }

func (g *Groups) addRange(a *Arena, first, last int) error {
	return g.add(a, last-first, func(i int) int { return first + i })
}

// AddChosen adds some groups of an arena.
func (g *Groups) AddChosen(a *Arena, chosen []int32) error {
	return g.add(a, len(chosen), func(i int) int { return int(chosen[i]) })
}

// add adds count groups of an arena, of which from gives the numbers.
func (g *Groups) add(a *Arena, count int, from func(i int) int) error {
	n := g.Len()
	for i := range count {
		group := from(i)
		g.Add(a.Window.Start, a.hashes[group], a.Key(group))
	}
	g.Grow()
	for st, s := range g.States {
		if s == nil {
			continue
		}
		for i := range count {
			if err := s.MergeFrom(uint32(n+i), a.States[st], uint32(from(i))); err != nil {
				return err
			}
		}
	}
	return nil
}
