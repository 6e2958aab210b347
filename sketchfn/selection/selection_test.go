package selection

import (
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
