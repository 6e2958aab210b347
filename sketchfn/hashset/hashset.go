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

// Fits reports whether a table of so many places takes n hashes.
func Fits(n, places int) bool { return 4*n <= 3*places }

// Places returns the size of the table of a set of n hashes that never lost one.
func Places(n int) int {
	if n == 0 {
		return 0
	}
	places := leastPlaces
	for !Fits(n, places) {
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
		if Fits(s.n+1, len(s.table)) {
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
