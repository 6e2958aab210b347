package kll

import (
	"math"

	"github.com/tallydb/tallydb/sql/keyhash"
)

// maxLevels is enough for maxWeight values.
const maxLevels = 61

const (
	leastCapacity = 8  // of a level
	leastBuffer   = 64 // of level 0, so that compactions are rare
)

// shape holds what follows from k: the capacities of levels.
type shape struct {
	k        int
	byDepth  [maxLevels]int     // capacity by the number of levels above
	total    [maxLevels + 1]int // capacity of a sketch by its number of levels
	coinSeed uint64
}

func newShape(k int, identity string, seed keyhash.Seed) *shape {
	s := &shape{k: k, coinSeed: keyhash.Sum64(seed.Derive("kll coin"), []byte(identity))}
	c := leastCapacity + 1
	for depth := range s.byDepth {
		if c > leastCapacity { // deeper levels have no more
			c = max(leastCapacity, int(math.Round(float64(k)*math.Pow(2.0/3.0, float64(depth)))))
		}
		s.byDepth[depth] = c
	}
	above := 0 // capacity of the levels above the lowest
	for levels := 1; levels <= maxLevels; levels++ {
		s.total[levels] = above + s.capacity(0, levels)
		above += s.byDepth[levels-1]
	}
	return s
}

// capacity returns that of level h in a sketch of so many levels.
func (s *shape) capacity(h, levels int) int {
	c := s.byDepth[levels-1-h]
	if h == 0 {
		c = max(c, leastBuffer)
	}
	return c
}

// raw is the number of values that a group keeps before it sketches.
func (s *shape) raw() int { return s.total[1] }

// coin tosses the coin of a compaction of level h, whose values begin with first
// and end with last.
func (s *shape) coin(h int, tossed, first, last uint64) int {
	x := keyhash.Finalise(s.coinSeed^first, uint64(h)<<56^tossed)
	return int(keyhash.Finalise(x, last) & 1)
}
