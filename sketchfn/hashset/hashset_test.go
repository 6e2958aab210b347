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
