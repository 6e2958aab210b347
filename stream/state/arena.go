package state

import (
	"bytes"
	"math/bits"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// ChunkGroups is the number of groups in a chunk, the unit of checkpoints.
const ChunkGroups = 256

// Arena is the groups of one (view, window): an open-addressing index over
// group keys, and one array of states per kept aggregate. Keys and index hold no
// pointers.
type Arena struct {
	Window eventtime.Window
	States []agg.States
	// LastUse orders arenas for eviction; its owner sets it.
	LastUse uint64

	index      []uint64 // high 32 bits: of the hash; low 32: group + 1; 0 is free
	hashes     []uint64
	keyData    []byte
	keyOffsets []uint32
	dirty      types.Bitmap // chunks changed since the last checkpoint
}

// NewArena returns an arena without groups.
func NewArena(w eventtime.Window, specs []agg.StateSpec, cfg agg.Config) *Arena {
	a := &Arena{Window: w, index: make([]uint64, 16), keyOffsets: []uint32{0}}
	for _, s := range specs {
		a.States = append(a.States, s.New(cfg))
	}
	return a
}

// Groups returns the number of groups.
func (a *Arena) Groups() int { return len(a.hashes) }

// Key returns the encoded key of a group. It aliases the arena.
func (a *Arena) Key(group int) []byte { return a.keyData[a.keyOffsets[group]:a.keyOffsets[group+1]] }

const tagMask = 0xFFFF_FFFF_0000_0000

// Find returns the group of a key, adding it if it is new. hash is a function of
// the key and of the tenant's seed.
func (a *Arena) Find(hash uint64, key []byte) (group uint32, added bool) {
	mask := uint64(len(a.index) - 1)
	tag := hash & tagMask
	i := hash & mask
	for ; a.index[i] != 0; i = (i + 1) & mask {
		if a.index[i]&tagMask != tag {
			continue
		}
		g := uint32(a.index[i]) - 1
		if a.hashes[g] == hash && bytes.Equal(a.Key(int(g)), key) {
			return g, false
		}
	}
	g := uint32(len(a.hashes))
	a.index[i] = tag | uint64(g+1)
	a.hashes = append(a.hashes, hash)
	a.keyData = append(a.keyData, key...)
	a.keyOffsets = append(a.keyOffsets, uint32(len(a.keyData)))
	if 3*len(a.index) < 4*(len(a.hashes)+1) {
		a.rehash()
	}
	return g, true
}

// Lookup returns the group of a key if it is there.
func (a *Arena) Lookup(hash uint64, key []byte) (group uint32, ok bool) {
	mask := uint64(len(a.index) - 1)
	tag := hash & tagMask
	for i := hash & mask; a.index[i] != 0; i = (i + 1) & mask {
		g := uint32(a.index[i]) - 1
		if a.index[i]&tagMask == tag && a.hashes[g] == hash && bytes.Equal(a.Key(int(g)), key) {
			return g, true
		}
	}
	return 0, false
}

func (a *Arena) rehash() {
	size := 1 << bits.Len(uint(2*len(a.hashes)))
	a.index = make([]uint64, size)
	mask := uint64(size - 1)
	for g, h := range a.hashes {
		i := h & mask
		for a.index[i] != 0 {
			i = (i + 1) & mask
		}
		a.index[i] = h&tagMask | uint64(g+1)
	}
}

// Grow makes the states of all groups exist. Call it after Find added some.
func (a *Arena) Grow() {
	for _, s := range a.States {
		s.Grow(len(a.hashes))
	}
}

// MarkDirty notes that a group changed.
func (a *Arena) MarkDirty(group uint32) { a.dirty.Set(int(group / ChunkGroups)) }

// Dirty reports whether the arena changed since its chunks were last taken.
func (a *Arena) Dirty() bool { return a.dirty.Any() }

// MemoryBytes returns the bytes held.
func (a *Arena) MemoryBytes() int64 {
	n := int64(8*cap(a.index) + 8*cap(a.hashes) + cap(a.keyData) + 4*cap(a.keyOffsets))
	for _, s := range a.States {
		n += s.MemoryBytes()
	}
	return n
}
