package kll

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// TestHalvesAreWrongByOne: what is kept of the runs of a level counts up to any value as
// many as there are, or one more or less, which the coin makes as likely.
func TestHalvesAreWrongByOne(t *testing.T) {
	s := one(200, types.Int8, 1)
	r := rand.New(rand.NewPCG(1, 10))
	run := func() []uint64 {
		out := make([]uint64, r.IntN(40)*r.IntN(2))
		for i := range out {
			out[i] = r.Uint64N(100)
		}
		slices.Sort(out)
		return out
	}
	upTo := func(words []uint64, x uint64) int {
		n, _ := slices.BinarySearch(words, x+1)
		return n
	}
	var m meta
	more, less := 0, 0
	for range 20_000 {
		x, y, up := run(), run(), run()
		n := len(x) + len(y) + len(up)
		if n < 2 {
			continue
		}
		left, kept := s.halve(1, &m, slices.Clone(x), slices.Clone(y), slices.Clone(up))
		if len(kept) != n/2 || !slices.IsSorted(kept) {
			t.Fatalf("%d of %d values are kept", len(kept), n)
		}
		for v := range uint64(100) {
			have := upTo(x, v) + upTo(y, v) + upTo(up, v)
			if n&1 == 1 && left <= v {
				have--
			}
			switch 2*upTo(kept, v) - have {
			case 0:
			case 1:
				more++
			case -1:
				less++
			default:
				t.Fatalf("of %d values up to %d, %d are kept", have, v, upTo(kept, v))
			}
		}
	}
	if d := math.Abs(float64(more - less)); d > 0.02*float64(more+less) || more == 0 {
		t.Errorf("%d times one too many, %d times one too few", more, less)
	}
}

// TestSidesDoNotMatter: a merge is the same whichever side is which, and whether one
// comes as bytes.
func TestSidesDoNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 10))
	for _, k := range []int{8, 64, 200} {
		for range 300 {
			s := one(k, types.Int8, 6)
			for g := range uint32(2) {
				wide := 1 + r.Int64N(500)
				for range r.IntN(20 * k) {
					s.add(g, intKey(r.Int64N(wide)))
				}
				for range r.IntN(3) {
					if err := s.MergeFrom(g, s, r.Uint32N(2)); err != nil {
						t.Fatal(err)
					}
				}
			}
			var states [][]byte
			for to, sides := range [][2]uint32{{0, 1}, {1, 0}} {
				direct, decoded := uint32(2+2*to), uint32(3+2*to)
				for _, side := range sides {
					if err := s.MergeFrom(direct, s, side); err != nil {
						t.Fatal(err)
					}
					if err := s.Merge(decoded, s.Append(nil, side)); err != nil {
						t.Fatal(err)
					}
				}
				states = append(states, s.Append(nil, direct), s.Append(nil, decoded))
			}
			for _, b := range states[1:] {
				if !slices.Equal(b, states[0]) {
					t.Fatalf("k = %d: the sides of a merge matter", k)
				}
			}
		}
	}
}

// mergeTrees are ways in which parts become one, which is the first then.
var mergeTrees = []struct {
	name          string
	parts, values int // in each part
	merge         func(parts int, r *rand.Rand, merge func(to, from int))
}{
	{"balanced tree of 64", 64, 1000, func(parts int, _ *rand.Rand, merge func(to, from int)) {
		for step := 1; step < parts; step *= 2 {
			for at := 0; at < parts; at += 2 * step {
				merge(at, at+step)
			}
		}
	}},
	{"chain of 64", 64, 1000, func(parts int, _ *rand.Rand, merge func(to, from int)) {
		for from := 1; from < parts; from++ {
			merge(0, from)
		}
	}},
	{"tree of 64 in random pairs", 64, 1000, func(parts int, r *rand.Rand, merge func(to, from int)) {
		left := r.Perm(parts - 1)
		for i := range left {
			left[i]++
		}
		for left = append(left, 0); len(left) > 1; {
			i := r.IntN(len(left) - 1)
			j := i + 1 + r.IntN(len(left)-1-i)
			merge(left[j], left[i]) // 0 stays the last
			left = append(left[:i], left[i+1:]...)
		}
	}},
	{"1,000 tiny ones into one", 1000, 37, func(parts int, _ *rand.Rand, merge func(to, from int)) {
		for from := 1; from < parts; from++ {
			merge(0, from)
		}
	}},
}

// rankErrors is the error of ranks of a sketch that was merged in a tree, at 19 of them.
type rankErrors struct {
	sum, squares, worst float64
	n, within95         int
}

func (e *rankErrors) add(x, limit float64) {
	e.sum, e.squares, e.worst, e.n = e.sum+x, e.squares+x*x, max(e.worst, math.Abs(x)), e.n+1
	if math.Abs(x) <= limit {
		e.within95++
	}
}

// TestErrorOfMergeTreesHolds: the error is what is declared whatever the order of merges,
// of values in random order and of parts of which each has another range.
func TestErrorOfMergeTreesHolds(t *testing.T) {
	seeds := 30
	if os.Getenv("TALLY_STATISTICS") == "full" {
		seeds = 1000
	}
	const k = 200
	limit := RankError(k, 0.95)
	for _, tree := range mergeTrees {
		for _, apart := range []bool{false, true} {
			var e rankErrors
			for seed := range uint64(seeds) {
				r := rand.New(rand.NewPCG(seed, 8))
				s := spec{typ: types.Of(types.Int8), k: k}.New(agg.Config{Seed: keyhash.Seed{K0: seed, K1: 9}}).(*States)
				s.Grow(tree.parts)
				n := tree.parts * tree.values
				values := r.Perm(n)
				for i, x := range values {
					if apart {
						x = i
					}
					s.add(uint32(i/tree.values), intKey(int64(x)))
				}
				tree.merge(tree.parts, r, func(to, from int) {
					if err := s.MergeFrom(uint32(to), s, uint32(from)); err != nil {
						t.Fatal(err)
					}
				})
				check(t, s, 0, uint64(n))
				for i := 1; i < 20; i++ {
					x := s.share(0, intKey(int64(i*n/20-1)), 0.95)
					e.add(x.value-float64(i)/20, limit)
				}
			}
			name := tree.name
			if apart {
				name += ", apart"
			}
			rms, cover := math.Sqrt(e.squares/float64(e.n)), float64(e.within95)/float64(e.n)
			t.Logf("%-38s rms %.3f %%, largest %.3f %%, mean %+.4f %%, %.4f within %.3f %%", name, 100*rms, 100*e.worst, 100*e.sum/float64(e.n), cover, 100*limit)
			if cover < 0.95 || rms > limit/1.96 {
				t.Errorf("%s: the error is larger than declared", name)
			}
			if math.Abs(e.sum/float64(e.n)) > 4*rms/math.Sqrt(float64(seeds)) {
				t.Errorf("%s: ranks are biased", name)
			}
		}
	}
}
