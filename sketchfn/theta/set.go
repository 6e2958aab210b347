package theta

import (
	"math/bits"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/hashset"
)

// set is a set of hashes below some limit. Merges make it an array of them in order;
// what is updated is an ordered hash table (Amble, Knuth: Ordered hash tables, 1974):
// a hash belongs to the place that is its share of the limit, and probing keeps the
// order. So the table, too, is read in order, and up to any hash without those above;
// and it is a function of the set and the limit.
type set struct {
	words []uint64 // the hashes in order; or the places, 0 where free
	scale uint64   // places per hash, times 2^64; 0: words are the hashes in order
	n     uint32
	// wrapped is how many hashes had no room at the end of the places: they stand at
	// their beginning, in order, before all others.
	wrapped uint32
}

// arrayOf returns an array that is a copy of some hashes, which are in order.
func arrayOf(hashes []uint64) set {
	if len(hashes) == 0 {
		return set{}
	}
	s := set{words: cells.Make[uint64](len(hashes)), n: uint32(len(hashes))}
	copy(s.words, hashes)
	return s
}

// replace makes an array of other hashes, which are in order, and at most so many at any
// time, in the memory of the old one where that is enough.
func (s *set) replace(hashes []uint64, most int) {
	words := s.words
	if n := len(hashes); s.scale != 0 || cap(words) < n {
		words = cells.Make[uint64](max(n, min(2*cap(words), most)))
	}
	*s = set{words: append(words[:0], hashes...), n: uint32(len(hashes))}
}

// tableOf returns a table of a number of places, which has more than there are hashes;
// they are in order and below the limit.
func tableOf(hashes []uint64, limit uint64, places int) set {
	s := set{words: cells.Make[uint64](places)[:places], n: uint32(len(hashes))}
	s.lay(hashes, limit)
	return s
}

// refill makes a table one of other hashes, which are in order and below the limit.
func (s *set) refill(hashes []uint64, limit uint64) {
	clear(s.words)
	s.n = uint32(len(hashes))
	s.lay(hashes, limit)
}

// lay puts hashes, which are in order and below the limit, into free places.
func (s *set) lay(hashes []uint64, limit uint64) {
	s.scale, s.wrapped = ^uint64(0), 0
	if places := uint64(len(s.words)); places < limit {
		s.scale, _ = bits.Div64(places, 0, limit)
	}
	places, next := s.words, 0
	for i, h := range hashes {
		at := max(s.place(h), next)
		if at >= len(places) {
			s.wrap(hashes[i:])
			return
		}
		places[at] = h
		next = at + 1
	}
}

// wrap puts hashes that have no room at the end at the beginning. What stands there
// moves to the next free places.
func (s *set) wrap(hashes []uint64) {
	s.wrapped = uint32(len(hashes))
	queue := append([]uint64(nil), hashes...)
	for at := 0; len(queue) > 0; at++ {
		if old := s.words[at]; old != 0 {
			queue = append(queue, old)
		}
		s.words[at] = queue[0]
		queue = queue[1:]
	}
}

// place returns where a hash belongs.
func (s *set) place(h uint64) int {
	at, _ := bits.Mul64(h, s.scale)
	return int(at)
}

// add adds a hash below the limit to a table, and reports whether it is new. The table has a
// free place more than it needs.
func (s *set) add(h uint64) bool {
	places := s.words
	at := max(s.place(h), int(s.wrapped))
	for at < len(places) && places[at]-1 < h-1 { // 0 is above all
		at++
	}
	if at == len(places) {
		for at = 0; at < int(s.wrapped) && places[at] < h; at++ {
		}
		if at < int(s.wrapped) && places[at] == h {
			return false
		}
		s.wrapped++
	} else if places[at] == h {
		return false
	}
	s.n++
	for x := h; ; at++ {
		if at == len(places) {
			at = 0
			s.wrapped++
		}
		x, places[at] = places[at], x
		if x == 0 {
			return true
		}
	}
}

// takesOne reports whether it is a table that takes one hash more.
func (s *set) takesOne() bool { return s.scale != 0 && hashset.Fits(int(s.n)+1, len(s.words)) }

// below returns the hashes from one on and below another, which is not 0, in order: a part of the array,
// or what it appends to tmp, which has room for all hashes and one more.
func (s *set) below(from, to uint64, tmp []uint64) []uint64 {
	if s.scale == 0 {
		first, last := search(s.words, from), search(s.words, to)
		return s.words[first:last]
	}
	return s.gather(from, to, tmp)
}

// gather is below of a table.
func (s *set) gather(from, to uint64, tmp []uint64) []uint64 {
	places := s.words
	at, sure := max(s.place(from), int(s.wrapped)), min(s.place(to), len(places))
	for at < len(places) && places[at] != 0 && places[at] < from {
		at++
	}
	tmp = tmp[:cap(tmp)]
	n := 0
	if at < sure {
		n = compress(tmp, places[at:sure])
		at = sure
	}
	for ; at < len(places) && places[at]-1 < to-1; at++ {
		tmp[n] = places[at]
		n++
	}
	if at < len(places) {
		return tmp[:n]
	}
	for _, h := range places[:s.wrapped] {
		if h >= to {
			break
		}
		if h >= from {
			tmp[n] = h
			n++
		}
	}
	return tmp[:n]
}

// compress copies the words that are not 0; there is room for one more.
func compress(dst, words []uint64) int {
	n := 0
	for _, h := range words {
		dst[n] = h
		n += one(h != 0)
	}
	return n
}

// search returns how many of some hashes, which are in order, are below a limit.
func search(hashes []uint64, limit uint64) int {
	n, _ := slices.BinarySearch(hashes, limit)
	return n
}

// same reports whether another set is the same for sure, by its memory.
func (s *set) same(other *set) bool {
	if s.n != other.n || s.scale != other.scale || len(s.words) != len(other.words) {
		return false
	}
	const lot = 256 // compared by one call
	a, b := s.words, other.words
	for len(a) >= lot {
		if *(*[lot]uint64)(a) != *(*[lot]uint64)(b) {
			return false
		}
		a, b = a[lot:], b[lot:]
	}
	return slices.Equal(a, b)
}

// bytes returns the memory held besides the set itself.
func (s *set) bytes() int64 { return 8 * int64(cap(s.words)) }

// one is 1 for true.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
