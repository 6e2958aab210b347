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

// AddArena adds the chosen groups of an arena; nil chooses all.
func (g *Groups) AddArena(a *Arena, chosen []int32) error {
	n := g.Len()
	if chosen == nil {
		for group := range a.Groups() {
			g.Add(a.Window.Start, a.hashes[group], a.Key(group))
		}
	} else {
		for _, group := range chosen {
			g.Add(a.Window.Start, a.hashes[group], a.Key(int(group)))
		}
	}
	g.Grow()
	for i, s := range g.States {
		if s == nil {
			continue
		}
		for to := n; to < g.Len(); to++ {
			from := to - n
			if chosen != nil {
				from = int(chosen[from])
			}
			if err := s.MergeFrom(uint32(to), a.States[i], uint32(from)); err != nil {
				return err
			}
		}
	}
	return nil
}
