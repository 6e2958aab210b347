package state

import "github.com/tallydb/tallydb/stream/eventtime"

// Groups is a set of (window, group) with portable states, as columns: what a
// partition answers and what crosses nodes.
type Groups struct {
	Windows []eventtime.Time // start of each group's window
	Hashes  []uint64
	Keys    ByteColumn
	States  []ByteColumn // by kept aggregate; empty values where not needed
}

// ByteColumn is a column of byte strings.
type ByteColumn struct {
	Data    []byte
	Offsets []uint32
}

// At returns value i. It aliases the column.
func (c *ByteColumn) At(i int) []byte { return c.Data[c.Offsets[i]:c.Offsets[i+1]] }

func (c *ByteColumn) end() { c.Offsets = append(c.Offsets, uint32(len(c.Data))) }

// NewGroups returns an empty set with this number of kept aggregates.
func NewGroups(states int) *Groups {
	g := &Groups{Keys: ByteColumn{Offsets: []uint32{0}}, States: make([]ByteColumn, states)}
	for i := range g.States {
		g.States[i].Offsets = []uint32{0}
	}
	return g
}

// Len returns the number of groups.
func (g *Groups) Len() int { return len(g.Windows) }

// Add adds a stored group.
func (g *Groups) Add(window eventtime.Time, from *Group, needed []bool) {
	g.Windows = append(g.Windows, window)
	g.Hashes = append(g.Hashes, from.Hash)
	g.Keys.Data = append(g.Keys.Data, from.Key...)
	g.Keys.end()
	for i := range g.States {
		if needed == nil || needed[i] {
			g.States[i].Data = append(g.States[i].Data, from.States[i]...)
		}
		g.States[i].end()
	}
}

// AddFrom adds a group of an arena.
func (g *Groups) AddFrom(a *Arena, group int, needed []bool) {
	g.Windows = append(g.Windows, a.Window.Start)
	g.Hashes = append(g.Hashes, a.hashes[group])
	g.Keys.Data = append(g.Keys.Data, a.Key(group)...)
	g.Keys.end()
	for i := range g.States {
		if needed == nil || needed[i] {
			g.States[i].Data = a.States[i].Append(g.States[i].Data, uint32(group))
		}
		g.States[i].end()
	}
}

// MemoryBytes returns the bytes held.
func (g *Groups) MemoryBytes() int64 {
	n := 8*cap(g.Windows) + 8*cap(g.Hashes) + cap(g.Keys.Data) + 4*cap(g.Keys.Offsets)
	for i := range g.States {
		n += cap(g.States[i].Data) + 4*cap(g.States[i].Offsets)
	}
	return int64(n)
}
