package theta

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tallydb/tallydb/sketchfn/hashset"
)

// drawHashes returns what hashes below a limit may be: anywhere, or, as nobody's are by
// chance, all near the limit or all near zero.
func drawHashes(r *rand.Rand, limit uint64) func() uint64 {
	from, wide := uint64(1), limit-1
	switch r.IntN(4) {
	case 0:
		wide = 1 + min(limit-2, r.Uint64N(1000))
		from = limit - wide
	case 1:
		wide = 1 + min(limit-2, r.Uint64N(1000))
	}
	return func() uint64 { return from + r.Uint64N(wide) }
}

func drawLimit(r *rand.Rand) uint64 {
	if r.IntN(3) == 0 {
		return maxTheta
	}
	return 2 + r.Uint64N(1<<(1+r.IntN(62)))
}

// TestTableIsAMapInOrder: whatever the hashes are, a table has each once, reads them in
// order between any two, and is laid out the same by additions as by filling it.
func TestTableIsAMapInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	wrapped := 0
	for range 2000 {
		limit := drawLimit(r)
		draw := drawHashes(r, limit)
		want := map[uint64]bool{}
		var s set
		for range r.IntN(300) {
			h := draw()
			if !s.takesOne() {
				s = tableOf(s.below(0, limit, make([]uint64, 0, s.n+1)), limit, hashset.Places(int(s.n)+1))
			}
			if s.add(h) == want[h] {
				t.Fatalf("%d is new: %v", h, want[h])
			}
			want[h] = true
		}
		sorted := slices.Sorted(maps.Keys(want))
		if int(s.n) != len(sorted) {
			t.Fatalf("%d hashes of %d", s.n, len(sorted))
		}
		wrapped += int(s.wrapped)
		filled := s
		if s.scale != 0 {
			if filled = tableOf(sorted, limit, len(s.words)); !filled.same(&s) || filled.wrapped != s.wrapped {
				t.Fatalf("added %v (%d), filled %v (%d)", s.words, s.wrapped, filled.words, filled.wrapped)
			}
		}
		array := arrayOf(sorted)
		for range 10 {
			from, to := r.Uint64N(limit), r.Uint64N(limit+1)
			if len(sorted) > 0 && r.IntN(2) == 0 {
				from, to = sorted[r.IntN(len(sorted))], sorted[r.IntN(len(sorted))]+uint64(r.IntN(2))
			}
			from, to = min(from, to), max(from, to, 1)
			var between []uint64
			for _, h := range sorted {
				if from <= h && h < to {
					between = append(between, h)
				}
			}
			for _, x := range []set{filled, array} {
				if got := x.below(from, to, make([]uint64, 0, x.n+1)); !slices.Equal(got, between) {
					t.Fatalf("from %d to %d: %v, want %v of %v", from, to, got, between, x)
				}
			}
		}
	}
	if wrapped == 0 {
		t.Error("no table wrapped")
	}
}

// TestJoinIsUnion: the cell that two are joined in is the union of their samples, whatever
// they share, whatever their thetas are, and whether they were updated or merged before.
func TestJoinIsUnion(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 1000 {
		k := MinK << r.IntN(5)
		a := algebra{newShape(k), &scratch{}}
		draw := func(from, n uint64) *cell {
			var c cell
			for x := range n {
				if h := max((from+x)*0x9e3779b97f4a7c15>>1, 1); h < c.theta() {
					a.insert(&c, h)
				}
			}
			if r.IntN(2) == 0 { // what was merged is an array
				var out cell
				if err := a.Merge(&out, &c); err != nil {
					t.Fatal(err)
				}
				c = out
			}
			return &c
		}
		x := draw(0, r.Uint64N(uint64(8*k)))
		y := draw(r.Uint64N(uint64(8*k)), r.Uint64N(uint64(1+r.IntN(8*k))))
		want := Union(a.sample(x), a.sample(y), k)
		other := a.sample(y)
		if err := a.Merge(x, y); err != nil {
			t.Fatal(err)
		}
		if got := a.sample(x); got.Theta != want.Theta || !slices.Equal(got.Hashes, want.Hashes) {
			t.Fatalf("theta %d of %d, hashes %v, want %v", got.Theta, want.Theta, got.Hashes, want.Hashes)
		}
		if got := a.sample(y); got.Theta != other.Theta || !slices.Equal(got.Hashes, other.Hashes) {
			t.Fatal("a merge changed what it reads")
		}
		if x.set.scale == 0 && len(x.set.words) > k {
			t.Fatalf("%d words of an array of k=%d", len(x.set.words), k)
		}
		for range r.IntN(100) { // and it goes on
			h := 1 + r.Uint64N(maxTheta-1)
			want = Union(want, Sample{Theta: maxTheta, Hashes: []uint64{h}}, k)
			if h < x.theta() {
				a.insert(x, h)
			}
		}
		if got := a.sample(x); got.Theta != want.Theta || !slices.Equal(got.Hashes, want.Hashes) {
			t.Fatalf("updated: theta %d of %d, hashes %v, want %v", got.Theta, want.Theta, got.Hashes, want.Hashes)
		}
	}
}
