package exec

import (
	"bytes"
	"hash/maphash"
)

// keyTable numbers distinct keys, encoded as types.AppendKey does, from 0 in the
// order in which they come. Keys lie in one arena, so that many of them are no work
// for the garbage collector.
type keyTable struct {
	seed   maphash.Seed
	slots  []keySlot // a power of two, at most half of them taken
	starts []int     // of each key in keys, then their end
	keys   []byte
}

type keySlot struct {
	hash   uint32
	number uint32 // of the key, from 1; 0 is empty
}

const minKeySlots = 64

func newKeyTable() *keyTable {
	return &keyTable{seed: maphash.MakeSeed(), slots: make([]keySlot, minKeySlots), starts: []int{0}}
}

// len is the number of keys.
func (t *keyTable) len() int { return len(t.starts) - 1 }

// memory is the bytes held.
func (t *keyTable) memory() int64 {
	return int64(8*len(t.slots) + 8*cap(t.starts) + cap(t.keys))
}

// place returns the slot of a key, or the empty one where it belongs.
func (t *keyTable) place(hash uint64, key []byte) *keySlot {
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.number == 0 {
			return s
		}
		if s.hash == uint32(hash>>32) && bytes.Equal(t.key(s.number-1), key) {
			return s
		}
	}
}

func (t *keyTable) key(n uint32) []byte { return t.keys[t.starts[n]:t.starts[n+1]] }

// find returns the number of a key.
func (t *keyTable) find(key []byte) (n uint32, ok bool) {
	s := t.place(maphash.Bytes(t.seed, key), key)
	return s.number - 1, s.number != 0
}

// add returns the number of a key, and whether it is new.
func (t *keyTable) add(key []byte) (n uint32, fresh bool) {
	hash := maphash.Bytes(t.seed, key)
	s := t.place(hash, key)
	if s.number != 0 {
		return s.number - 1, false
	}
	if 2*(t.len()+1) > len(t.slots) {
		t.grow()
		s = t.place(hash, key)
	}
	t.keys = append(t.keys, key...)
	t.starts = append(t.starts, len(t.keys))
	*s = keySlot{uint32(hash >> 32), uint32(t.len())}
	return s.number - 1, true
}

// grow doubles the slots.
func (t *keyTable) grow() {
	t.slots = make([]keySlot, 2*len(t.slots))
	mask := uint64(len(t.slots) - 1)
	for n := range uint32(t.len()) {
		hash := maphash.Bytes(t.seed, t.key(n))
		i := hash & mask
		for t.slots[i].number != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = keySlot{uint32(hash >> 32), n + 1}
	}
}
