package selection

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestNth(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		keys := make([]uint64, 1+r.IntN(200))
		for i := range keys {
			keys[i] = r.Uint64N(1 + uint64(r.IntN(300)))
		}
		i := r.IntN(len(keys))
		sorted := slices.Clone(keys)
		slices.Sort(sorted)
		if got := Nth(keys, i); got != sorted[i] {
			t.Fatalf("key %d of %v: %d", i, sorted, got)
		}
	}
}

// Also of many keys, evenly distributed or not, and the smaller ones are before it.
func TestNthOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for name, key := range map[string]func() uint64{
		"hashes": r.Uint64, "few": func() uint64 { return r.Uint64N(3) }, "powers": func() uint64 { return 1 << r.IntN(64) },
		"equal": func() uint64 { return 7 }, "one far": func() uint64 { return r.Uint64N(5) << (60 * r.Uint64N(2)) },
		"both ends": func() uint64 { return -r.Uint64N(2) },
	} {
		for range 50 {
			keys := make([]uint64, 65+r.IntN(3000))
			for i := range keys {
				keys[i] = key()
			}
			sorted := slices.Sorted(slices.Values(keys))
			i := r.IntN(len(keys))
			if got := Nth(keys, i); got != sorted[i] {
				t.Fatalf("%s: key %d of %d: %d, want %d", name, i, len(keys), got, sorted[i])
			}
			if before := slices.Sorted(slices.Values(keys[:i])); !slices.Equal(before, sorted[:i]) {
				t.Fatalf("%s: the keys before key %d of %d are not the smallest", name, i, len(keys))
			}
			if slices.Sort(keys); !slices.Equal(keys, sorted) {
				t.Fatalf("%s: keys were lost", name)
			}
		}
	}
}

func BenchmarkNth(b *testing.B) {
	r := rand.New(rand.NewPCG(6, 6))
	all := make([]uint64, 1<<16)
	for i := range all {
		all[i] = r.Uint64()
	}
	for _, q := range []int{50, 99} {
		b.Run(fmt.Sprint("60 keys, ", q, "%"), func(b *testing.B) {
			var keys [60]uint64
			at := 0
			for b.Loop() {
				copy(keys[:], all[at:])
				at = (at + 60) % (len(all) - 60)
				Nth(keys[:], len(keys)*q/100)
			}
		})
	}
}
