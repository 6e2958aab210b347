package hashset

import (
	"iter"
	"slices"
)

// Set is a set of hashes.
type Set struct {
	table []uint64 // a power of two, 0 where free
	n     int
}

const leastPlaces = 8

func fits(n, places int) bool { return 4*n <= 3*places }

// Places returns the size of the table of a set of n hashes that never lost one.
func Places(n int) int {
	if n == 0 {
		return 0
	}
	places := leastPlaces
	for !fits(n, places) {
		places *= 2
	}
	return places
}

// Of returns a set of distinct hashes.
func Of(hashes []uint64) Set {
	s := Set{n: len(hashes)}
	if s.n > 0 {
		s.table = make([]uint64, Places(s.n))
		for _, h := range hashes {
			place(s.table, h)
		}
	}
	return s
}

// place puts a hash that the table does not have into it.
func place(table []uint64, h uint64) {
	mask := uint64(len(table) - 1)
	i := h & mask
	for table[i] != 0 {
		i = (i + 1) & mask
	}
	table[i] = h
}

// Has reports whether h is in the set.
func (s *Set) Has(h uint64) bool {
	if s.n == 0 {
		return false
	}
	mask := uint64(len(s.table) - 1)
	for i := h & mask; s.table[i] != 0; i = (i + 1) & mask {
		if s.table[i] == h {
			return true
		}
	}
	return false
}

// Insert adds h, which is not 0, and reports whether it is new.
func (s *Set) Insert(h uint64) bool {
	if len(s.table) > 0 {
		mask := uint64(len(s.table) - 1)
		i := h & mask
		for ; s.table[i] != 0; i = (i + 1) & mask {
			if s.table[i] == h {
				return false
			}
		}
		if fits(s.n+1, len(s.table)) {
			s.table[i] = h
			s.n++
			return true
		}
	}
	old := s.table
	s.table = make([]uint64, Places(s.n+1))
	for _, x := range old {
		if x != 0 {
			place(s.table, x)
		}
	}
	place(s.table, h)
	s.n++
	return true
}

// Clone returns a copy.
func (s *Set) Clone() Set { return Set{slices.Clone(s.table), s.n} }

// Len returns the number of hashes.
func (s *Set) Len() int { return s.n }

// All yields the hashes in no order. The set must not change meanwhile.
func (s *Set) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, h := range s.table {
			if h != 0 && !yield(h) {
				return
			}
		}
	}
}

// Covers reports whether all hashes of another set stand in the same places here, so
// that they are in s for sure.
func (s *Set) Covers(other *Set) bool {
	if len(s.table) != len(other.table) {
		return other.n == 0
	}
	ours := s.table[:len(other.table)]
	for i, h := range other.table {
		if h != ours[i] && h != 0 {
			return false
		}
	}
	return true
}

// AppendMissing appends the hashes of s below a limit that another set may not have.
// Hashes that stand in the same place of tables of one size are in both, which is so
// for most of those that two sets share. dst has room for all hashes of s and one more.
func (s *Set) AppendMissing(dst []uint64, other *Set, limit uint64) []uint64 {
	if len(s.table) != len(other.table) {
		return s.AppendBelow(dst, limit)
	}
	theirs, n := other.table[:len(s.table)], len(dst)
	dst = dst[:cap(dst)]
	for i, h := range s.table {
		if h == theirs[i] {
			continue
		}
		dst[n] = h
		n += one(h-1 < limit-1) // 0 is above all
	}
	return dst[:n]
}

// AppendBelow appends the hashes below a limit, in no order. dst has room for all
// hashes of s and one more.
func (s *Set) AppendBelow(dst []uint64, limit uint64) []uint64 {
	n := len(dst)
	dst = dst[:cap(dst)]
	for _, h := range s.table {
		dst[n] = h
		n += one(h-1 < limit-1) // 0 is above all
	}
	return dst[:n]
}

// AppendAbsent appends those of some hashes that s does not have. Whether a place is
// free, has the hash or another one no processor can guess, so the first look at each
// counts instead of branching. dst has room for all of them and one more.
func (s *Set) AppendAbsent(dst, hashes []uint64) []uint64 {
	if s.n == 0 {
		return append(dst, hashes...)
	}
	n, others := len(dst), 0
	dst = dst[:cap(dst)]
	mask := uint64(len(s.table) - 1)
	for _, h := range hashes {
		x := s.table[h&mask]
		dst[n] = h
		hashes[others] = h
		n += one(x == 0)
		others += one(x != 0) & one(x != h)
	}
	for _, h := range hashes[:others] {
		dst[n] = h
		n += one(!s.Has(h))
	}
	return dst[:n]
}

// Refill makes distinct hashes, which share no memory with it, those of the set.
func (s *Set) Refill(hashes []uint64) {
	if len(s.table) == 0 || Places(len(hashes)) != len(s.table) {
		*s = Of(hashes)
		return
	}
	clear(s.table)
	s.n = len(hashes)
	for _, h := range hashes {
		place(s.table, h)
	}
}

// one is 1 for true.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Append appends the hashes in no order.
func (s *Set) Append(dst []uint64) []uint64 {
	for h := range s.All() {
		dst = append(dst, h)
	}
	return dst
}

// Sorted returns the hashes in order, in memory of their own.
func (s *Set) Sorted() []uint64 {
	out := s.Append(make([]uint64, 0, s.n))
	slices.Sort(out)
	return out
}

// Bytes returns the memory held besides the Set itself.
func (s *Set) Bytes() int64 { return 8 * int64(cap(s.table)) }
