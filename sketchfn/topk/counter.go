package topk

import "github.com/tallydb/tallydb/sketchfn/selection"

// counter counts one value, by how much more it occurred than the floor says of every value:
// so counters of two groups add up whatever their floors are. low is never 0.
type counter struct {
	hash    uint64
	payload uint64 // the word of a value of KindInt or KindFloat, or where its bytes are
	low     uint64 // occurrences since the counter exists
	known   uint64 // of the floor, how much is in low: what is not may have been before
}

// excess is by how much the upper limit is above the floor.
func (c *counter) excess() uint64 { return c.low - c.known }

// limits returns how often the value occurred, at least and at most.
func (c *counter) limits(floor uint64) (low, high uint64) { return c.low, c.excess() + floor }

// group is the state of a group: its table of counters, of a class, 0 for none, and
// what they sum up to.
type group struct {
	total uint64 // values seen
	floor uint64 // most occurrences of a value without a counter
	index uint32 // block of the table's index
	ref   uint32 // block of its counters
	n     uint32 // counters
	class uint8
}

// firstClass has the smallest table, of three counters.
const firstClass = 1

// room returns how many counters a table of this class takes: those that stay at the floor
// take no room from others.
func room(class uint8) int { return 3<<class/2 + 1<<class/16 }

// places returns the size of the index of a table of this class. It is small, and
// little more than a third of it is taken, so that to look a value up takes one line of
// the cache and hardly ever a second guess.
func places(class uint8) int { return 4 << class }

// fits reports whether a table of this class takes n counters.
func fits(class uint8, n int) bool { return class > 0 && n <= room(class) }

// bytesOf returns the memory of a table of this class.
func bytesOf(class uint8) int64 { return 32*int64(room(class)) + 4*int64(places(class)) }

// table is the counters of a group, and an index of them by open addressing: 16 bits of
// the hash and the number of the counter, from 1; 0 is a free place.
type table struct {
	index    []uint32
	counters []counter
}

const tagShift = 48 // of the bits of a hash that stand in the index

// word returns the counter of a word, or nil and the free place of the index where it
// goes.
func (t table) word(hash, word uint64) (c *counter, at int) {
	mask, tag := uint64(len(t.index)-1), uint32(hash>>tagShift)
	for i := hash & mask; ; i = (i + 1) & mask {
		e := t.index[i]
		if e == 0 {
			return nil, int(i)
		}
		if e>>16 == tag {
			if c := &t.counters[e&0xffff-1]; c.hash == hash && c.payload == word {
				return c, 0
			}
		}
	}
}

// put makes c the n-th counter, from 0, which place at of the index names.
func (t table) put(at, n int, c counter) {
	t.counters[n] = c
	t.index[at] = uint32(c.hash>>tagShift)<<16 | uint32(n+1)
}

// free returns the free place of the index where a hash goes.
func (t table) free(hash uint64) int {
	mask := uint64(len(t.index) - 1)
	i := hash & mask
	for t.index[i] != 0 {
		i = (i + 1) & mask
	}
	return int(i)
}

// reindex names the first n counters in the index, which is empty.
func (t table) reindex(n int) {
	for number, c := range t.counters[:n] {
		t.index[t.free(c.hash)] = uint32(c.hash>>tagShift)<<16 | uint32(number+1)
	}
}

// noPlaces is the index of no counters.
var noPlaces [1]uint32

// shape holds what follows from the capacity.
type shape struct {
	capacity  int
	fullClass uint8 // of the largest table
	limit     int   // counters of a full table
	least     int   // that stay in it, if there are so many
}

func newShape(capacity int) shape {
	s := shape{capacity: capacity, fullClass: firstClass}
	for 2<<s.fullClass < 2*capacity {
		s.fullClass++
	}
	s.limit = room(s.fullClass)
	s.least = min(capacity, max(16, capacity/8))
	return s
}

// nearFloor is up to where an excess is counted instead of compared.
const nearFloor = 64

// rise returns by how much the floor rises: the (capacity+1)-th largest excess. Most
// are small, so they are counted, in two rows so that equal ones do not wait for each
// other. tmp is scratch memory, as long as counters.
func (s shape) rise(counters []counter, tmp []uint64) uint64 {
	var counts [2][nearFloor + 1]int32
	for i := range counters {
		counts[i&1][min(counters[i].excess(), nearFloor)]++
	}
	left := int32(s.capacity)
	for excess := nearFloor; excess >= 0; excess-- {
		n := counts[0][excess] + counts[1][excess]
		if left < n && excess < nearFloor {
			return uint64(excess)
		}
		if left -= n; left < 0 {
			break // it is larger
		}
	}
	for i := range counters {
		tmp[i] = counters[i].excess()
	}
	return selection.Nth(tmp, len(counters)-1-s.capacity)
}
