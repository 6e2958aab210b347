package topk

import (
	"bytes"
	"math"
	"unsafe"

	"github.com/tallydb/tallydb/sketchfn/selection"
	"github.com/tallydb/tallydb/sketchfn/slab"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// States is an array of sets of counters of one capacity. Counters live in tables; the
// bytes of values in one arena.
type States struct {
	shape
	typ    types.Type
	words  bool // values are words
	plain  bool // values are equal if their bytes are
	hasher *valuehash.Hasher
	groups []group
	tables *slab.Pool[counter]
	index  *slab.Pool[uint32]
	arena  []byte
	waste  int // bytes of the arena that no counter has
	key    []byte
	kept   []counter
	read   []portable

	selected []uint64 // limits or hashes, of prune
}

func newStates(typ types.Type, capacity int, seed keyhash.Seed) *States {
	s := &States{
		shape: newShape(capacity), typ: typ, words: typ.Kind() != types.KindBytes,
		plain: valuehash.PlainBytes(typ.OID), hasher: valuehash.New(seed, keyhash.UseDistinct),
	}
	var counters, indexes []int
	for class := uint8(firstClass); class <= s.fullClass; class++ {
		counters, indexes = append(counters, room(class)), append(indexes, places(class))
	}
	s.tables, s.index = slab.New[counter](counters...), slab.New[uint32](indexes...)
	return s
}

// table returns the table of a group. That of none has nothing.
func (s *States) table(g *group) table {
	if g.class == 0 {
		return table{index: noPlaces[:]}
	}
	class := int(g.class - firstClass)
	return table{s.index.Block(class, g.index), s.tables.Block(class, g.ref)}
}

// of returns the counters of a group.
func (s *States) of(g *group) []counter {
	if g.class == 0 {
		return nil
	}
	return s.tables.Block(int(g.class-firstClass), g.ref)[:g.n]
}

// Grow implements agg.States.
func (s *States) Grow(n int) { s.groups = slab.GrowTo(s.groups, n) }

// Update implements agg.States.
func (s *States) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	var hashes []uint64
	if s.words || s.plain {
		hashes = s.hasher.Hash(in, rows)
	}
	if s.words {
		s.updateWords(groups, rows, in, hashes)
		return nil
	}
	hasNulls := len(in.Nulls) > 0
	for i, g := range groups {
		r := int(rows[i])
		if hasNulls && in.Nulls.Has(r) {
			continue
		}
		var err error
		if s.plain {
			err = s.countBytes(&s.groups[g], hashes[i], in.Data[in.Offsets[r]:in.Offsets[r+1]])
		} else {
			s.key = types.AppendKey(s.key[:0], in, r)
			err = s.countBytes(&s.groups[g], s.hasher.Bytes(s.key), s.key)
		}
		if err != nil {
			return &agg.UpdateError{Index: i, Err: err}
		}
	}
	s.compactArena()
	return nil
}

// updateWords is Update of values that are words. The table of the last row's group is
// at hand for the next one.
func (s *States) updateWords(groups []uint32, rows []int32, in *types.Vector, hashes []uint64) {
	hasNulls := len(in.Nulls) > 0
	floats := in.Type.Kind() == types.KindFloat
	var t table
	var g *group
	for i, number := range groups {
		r := int(rows[i])
		if hasNulls && in.Nulls.Has(r) {
			continue
		}
		word := uint64(0)
		if floats {
			word = valuehash.FloatBits(in.Floats[r])
		} else {
			word = uint64(in.Ints[r])
		}
		if to := &s.groups[number]; to != g {
			g, t = to, s.table(to)
		}
		g.total++
		hash := hashes[i]
		c, at := t.word(hash, word)
		if c != nil {
			c.low++
			continue
		}
		if n := int(g.n); n >= s.limit || n >= len(t.counters) {
			s.prepare(g)
			t = s.table(g)
			at = t.free(hash)
		}
		t.put(at, int(g.n), counter{hash, word, 1, 0})
		g.n++
	}
}

// countBytes counts one occurrence of bytes.
func (s *States) countBytes(g *group, hash uint64, value []byte) error {
	if c, _ := s.findBytes(s.table(g), hash, value); c != nil {
		c.low++
		g.total++
		return nil
	}
	payload, err := s.keep(value)
	if err != nil {
		return err
	}
	g.total++
	s.prepare(g)
	t := s.table(g)
	t.put(t.free(hash), int(g.n), counter{hash, payload, 1, 0})
	g.n++
	return nil
}

// findBytes returns the counter of a value, or nil and the free place of the index
// where it goes.
func (s *States) findBytes(t table, hash uint64, value []byte) (c *counter, at int) {
	mask, tag := uint64(len(t.index)-1), uint32(hash>>tagShift)
	for i := hash & mask; ; i = (i + 1) & mask {
		e := t.index[i]
		if e == 0 {
			return nil, int(i)
		}
		if e>>16 == tag {
			if c := &t.counters[e&0xffff-1]; c.hash == hash && bytes.Equal(s.bytes(c.payload), value) {
				return c, 0
			}
		}
	}
}

// keep stores bytes in the arena and returns the payload that names them.
func (s *States) keep(value []byte) (uint64, error) {
	if len(s.arena)+len(value) > math.MaxUint32 {
		return 0, sqlerr.New(sqlerr.OutOfMemory, "the values of a top-k aggregate need more than 4 GiB")
	}
	at := len(s.arena)
	s.arena = append(s.arena, value...)
	return uint64(at)<<32 | uint64(len(value)), nil
}

func (s *States) bytes(payload uint64) []byte {
	at, size := payload>>32, payload&math.MaxUint32
	return s.arena[at : at+size]
}

// prepare makes room for one more counter.
func (s *States) prepare(g *group) {
	switch n := int(g.n) + 1; {
	case n > s.limit:
		s.prune(g, s.of(g), 0)
	case !fits(g.class, n):
		s.resize(g, g.class+1)
	}
}

// resize moves the counters of a group to a table of another class.
func (s *States) resize(g *group, class uint8) {
	old := *g
	g.index, g.ref, g.class = s.index.Alloc(int(class-firstClass)), s.tables.Alloc(int(class-firstClass)), class
	if old.class == 0 {
		return
	}
	t := s.table(g)
	copy(t.counters, s.of(&old))
	t.reindex(int(g.n))
	s.index.Free(int(old.class-firstClass), old.index)
	s.tables.Free(int(old.class-firstClass), old.ref)
}

// prune raises the floor of a group whose counters are more than limit, or are about
// to be; all are its own, or a copy of them behind some that it lacks. Counters at the new
// floor say little more than it does, so they go, but for those with the smallest hashes
// where few are above it.
// Which counters are at the floor and which above it no processor can guess, so the
// loops count instead of branching.
func (s *States) prune(g *group, all []counter, fresh int) {
	s.selected = slab.GrowTo(s.selected[:0], len(all))
	rise := s.rise(all, s.selected)
	g.floor += rise
	numbers, stay := s.selected, 0 // the numbers of counters that stay
	for i := range all {
		numbers[stay] = uint64(i)
		stay += one(all[i].excess() > rise)
	}
	if stay < s.least {
		lastHash := s.smallestAt(all, rise, s.least-stay)
		stay = 0
		for i, c := range all {
			numbers[stay] = uint64(i)
			stay += one(c.excess() > rise) | one(c.excess() == rise)&one(c.hash <= lastHash)
		}
	}
	s.reserve(g, stay)
	s.waste += s.sizes(all[fresh:])
	t := s.table(g)
	for n, number := range numbers[:stay] {
		c := all[number]
		c.known += rise
		if int(number) < fresh {
			c = s.own(c)
		} else {
			s.waste -= s.sizes(all[number : number+1])
		}
		t.counters[n] = c
	}
	g.n = uint32(stay)
	clear(t.index)
	t.reindex(stay)
}

// sizes returns how much of the arena some counters have.
func (s *States) sizes(counters []counter) int {
	if s.words {
		return 0
	}
	n := 0
	for _, c := range counters {
		n += int(c.payload & math.MaxUint32)
	}
	return n
}

// smallestAt returns the n-th smallest hash, from 1, of the counters with an excess, of
// which there are as many. Hashes of new values are evenly distributed, so it
// is sought among those below a likely bound first.
func (s *States) smallestAt(counters []counter, excess uint64, n int) uint64 {
	bound := uint64(math.MaxUint64)
	if likely := bound / uint64(len(counters)) * uint64(2*n+16); 2*n+16 < len(counters) {
		bound = likely
	}
	for {
		ties := 0
		for i := range counters {
			s.selected[ties] = counters[i].hash
			ties += one(counters[i].excess() == excess) & one(counters[i].hash <= bound)
		}
		if ties >= n {
			return selection.Nth(s.selected[:ties], n-1)
		}
		bound = math.MaxUint64
	}
}

// one is 1 for true.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// leastWaste is the number of unused bytes of an arena that are let be.
const leastWaste = 1 << 16

// compactArena rewrites the arena where more than half of it is unused, with room
// for the values until it is so again.
func (s *States) compactArena() {
	if s.waste < leastWaste || s.waste < len(s.arena)/2 {
		return
	}
	live := len(s.arena) - s.waste
	fresh := make([]byte, 0, live+max(live, leastWaste)+leastWaste/2)
	for i := range s.groups {
		list := s.of(&s.groups[i])
		for j := range list {
			b := s.bytes(list[j].payload)
			list[j].payload = uint64(len(fresh))<<32 | uint64(len(b))
			fresh = append(fresh, b...)
		}
	}
	s.arena, s.waste = fresh, 0
}

// MemoryBytes implements agg.States.
func (s *States) MemoryBytes() int64 {
	return int64(cap(s.groups))*int64(unsafe.Sizeof(group{})) + s.tables.MemoryBytes() + s.index.MemoryBytes() +
		int64(cap(s.arena)+cap(s.key)+8*cap(s.selected)) + int64(cap(s.kept))*int64(unsafe.Sizeof(counter{})) +
		int64(cap(s.read))*int64(unsafe.Sizeof(portable{})) + s.hasher.MemoryBytes()
}
