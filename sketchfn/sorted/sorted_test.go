package sorted

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// draw returns up to n sorted words of so many; few of them are equal, or many, and
// some are the smallest and the largest ones.
func draw(r *rand.Rand, n int, wide uint64, distinct bool) []uint64 {
	out := make([]uint64, r.IntN(n))
	for i := range out {
		out[i] = r.Uint64N(wide)
		switch r.IntN(20) {
		case 0:
			out[i] = 0
		case 1:
			out[i] = math.MaxUint64 - r.Uint64N(3)
		}
	}
	slices.Sort(out)
	if distinct {
		out = slices.Compact(out)
	}
	return out
}

func TestMergeIsSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		wide := uint64(1) << (1 + r.IntN(63))
		a, b := draw(r, 300, wide, false), draw(r, 1+r.IntN(300), wide, false)
		want := slices.Concat(a, b)
		slices.Sort(want)
		out := make([]uint64, len(want))
		if Merge(out, a, b); !slices.Equal(out, want) {
			t.Fatalf("%v and %v: %v", a, b, out)
		}
		clear(out)
		if mergeWords(out, a, b); !slices.Equal(out, want) {
			t.Fatalf("without vectors, %v and %v: %v", a, b, out)
		}
	}
}

func TestUniteHasEachOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 5000 {
		wide := uint64(1) << (1 + r.IntN(12))
		a, b := draw(r, 300, wide, true), draw(r, 1+r.IntN(300), wide, true)
		want := slices.Concat(a, b)
		slices.Sort(want)
		want = slices.Compact(want)
		out := make([]uint64, len(a)+len(b)+r.IntN(10))
		if got := out[:Unite(out, a, b)]; !slices.Equal(got, want) {
			t.Fatalf("%v and %v: %v", a, b, got)
		}
	}
}

// TestStepsAreTheSame: the steps of this processor are those of Go.
func TestStepsAreTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 5000 {
		wide := uint64(1) << (1 + r.IntN(63))
		a, b := draw(r, 100, wide, true), draw(r, 100, wide, true)
		steps := min(len(a), len(b)) / 2
		if steps == 0 {
			continue
		}
		out, want := make([]uint64, len(a)+len(b)), make([]uint64, len(a)+len(b))
		i, p := mergeEnds(out, a, b, steps)
		if wantI, wantP := goMergeEnds(want, a, b, steps); i != wantI || p != wantP || !slices.Equal(out, want) {
			t.Fatalf("%v and %v: %d, %d of %v, want %d, %d of %v", a, b, i, p, out, wantI, wantP, want)
		}
		i, j, p, q := uniteEnds(out, a, b, steps)
		if wantI, wantJ, wantP, wantQ := goUniteEnds(want, a, b, steps); i != wantI || j != wantJ || p != wantP || q != wantQ || !slices.Equal(out, want) {
			t.Fatalf("united %v and %v: %d, %d, %d, %d of %v", a, b, i, j, p, q, out)
		}
	}
}

func TestEveryOther(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for n := range 200 {
		from := make([]uint64, n)
		for i := range from {
			from[i] = r.Uint64()
		}
		out := make([]uint64, (n+1)/2+1)
		EveryOther(out[:(n+1)/2], from)
		for i, x := range out[:(n+1)/2] {
			if x != from[2*i] {
				t.Fatalf("word %d of %d", i, n)
			}
		}
		if out[(n+1)/2] != 0 {
			t.Fatalf("more than every other of %d words", n)
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 4))
	x, y := make([]uint64, 2048), make([]uint64, 2048)
	for i := range x {
		x[i], y[i] = r.Uint64(), r.Uint64()
	}
	slices.Sort(x)
	slices.Sort(y)
	out := make([]uint64, len(x)+len(y))
	for _, n := range []int{32, 128, 2048} {
		for name, merge := range map[string]func(out, a, b []uint64){
			"merge": Merge, "unite": func(out, a, b []uint64) { Unite(out, a, b) },
		} {
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					merge(out[:2*n], x[:n], y[:n])
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*n), "ns/word")
			})
		}
	}
}

func TestSortIsSort(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var scratch []uint64
	for range 5000 {
		words := draw(r, 1+r.IntN(500), uint64(1)<<(1+r.IntN(63)), false)
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		want := slices.Clone(words)
		slices.Sort(want)
		if scratch = Sort(words, scratch); !slices.Equal(words, want) {
			t.Fatalf("%v, want %v", words, want)
		}
	}
}

func BenchmarkSort(b *testing.B) {
	r := rand.New(rand.NewPCG(6, 6))
	words, scratch := make([]uint64, 1<<16), []uint64(nil)
	for i := range words {
		words[i] = r.Uint64()
	}
	for _, n := range []int{16, 64, 100, 128} {
		copied := make([]uint64, n)
		for name, sort := range map[string]func(){
			"vectors": func() { scratch = Sort(copied, scratch) }, "slices": func() { slices.Sort(copied) },
		} {
			b.Run(fmt.Sprint(name, n), func(b *testing.B) {
				for i := range b.N {
					copy(copied, words[i*n%(len(words)-n):])
					sort()
				}
			})
		}
	}
}
