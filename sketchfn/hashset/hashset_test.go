package hashset

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSetIsAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var s Set
		want := map[uint64]bool{}
		for range r.IntN(500) {
			h := 1 + r.Uint64N(300)
			if s.Insert(h) == want[h] {
				t.Fatalf("%d is new: %v", h, want[h])
			}
			want[h] = true
		}
		if got := s.Sorted(); !slices.Equal(got, slices.Sorted(maps.Keys(want))) || s.Len() != len(want) {
			t.Fatal(got)
		}
		other := Of(s.Sorted())
		for h := uint64(1); h <= 300; h++ {
			if s.Has(h) != want[h] || other.Has(h) != want[h] {
				t.Fatalf("has %d: %v", h, !want[h])
			}
		}
		if len(s.table) != Places(s.Len()) || s.Bytes() != 8*int64(len(s.table)) {
			t.Fatalf("%d places for %d hashes", len(s.table), s.Len())
		}
	}
}

// TestSetsAreComparedAsMapsAre: what one set has below a limit and another lacks, and
// what a set is after it was filled again, is what maps say, whatever their tables are.
func TestSetsAreComparedAsMapsAre(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 500 {
		shared, own := r.IntN(300), r.IntN(300)
		var a, b Set
		inB := map[uint64]bool{}
		for range shared {
			h := 1 + r.Uint64N(1000)
			a.Insert(h)
			b.Insert(h)
			inB[h] = true
		}
		for range own {
			a.Insert(1 + r.Uint64N(1000))
			h := 1 + r.Uint64N(1000)
			b.Insert(h)
			inB[h] = true
		}
		limit := 1 + r.Uint64N(1100)
		var below, absent []uint64
		covered := true
		for _, h := range a.Sorted() {
			covered = covered && inB[h]
			if h < limit {
				below = append(below, h)
				if !inB[h] {
					absent = append(absent, h)
				}
			}
		}
		room := func() []uint64 { return make([]uint64, 0, 2*a.Len()+1) }
		got := a.AppendBelow(room(), limit)
		if slices.Sort(got); !slices.Equal(got, below) {
			t.Fatalf("below %d: %v, want %v", limit, got, below)
		}
		missing := a.AppendMissing(room(), &b, limit)
		got = b.AppendAbsent(room(), missing)
		if slices.Sort(got); !slices.Equal(got, absent) {
			t.Fatalf("absent: %v, want %v", got, absent)
		}
		if b.Covers(&a) && !covered {
			t.Fatal("a set covers what it does not have")
		}
		if !a.Covers(&a) {
			t.Fatal("a set does not cover itself")
		}
		b.Refill(below)
		if !slices.Equal(b.Sorted(), below) || b.Len() != len(below) || len(b.table) != Places(len(below)) {
			t.Fatalf("refilled: %v, want %v", b.Sorted(), below)
		}
	}
}
