package req

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

const (
	firstSections = 3 // of a compactor that never compacted
	leastSection  = 4 // values
	maxLevels     = 48
)

// cell is the state of a group.
type cell struct {
	levels   []compactor
	coins    uint64 // tossed so far, on both sides of every merge
	n        uint64
	min, max float64
	room     int // values until levels are compacted
}

// compactor is a level of a sketch.
type compactor struct {
	values []float64
	sorted int    // values in order; all of them but on level 0
	state  uint64 // compactions, by whose binary form sections take part
	coin   bool   // the last one
}

// retained returns the number of values kept.
func (c *cell) retained() int {
	n := 0
	for i := range c.levels {
		n += len(c.levels[i].values)
	}
	return n
}

// algebra is quantile.Algebra for one k.
type algebra struct {
	k        int
	coinSeed uint64
	up       []float64 // values on their way up
}

func newAlgebra(k int, cfg agg.Config, identity string) *algebra {
	return &algebra{k: k, coinSeed: keyhash.Sum64(cfg.Seed.Derive("req coin"), []byte(identity))}
}

// sections returns the number of sections of a compactor and their size: with
// 2^(sections-1) compactions the number doubles, and the size shrinks by the root
// of 2, to an even number of values.
func (a *algebra) sections(state uint64) (number, size int) {
	number, size = firstSections, a.k
	raw := float64(a.k)
	for number <= 64 && state >= 1<<(number-1) {
		next := raw / math.Sqrt2
		even := 2 * int(math.Round(next/2))
		if even < leastSection {
			break
		}
		raw, size, number = next, even, 2*number
	}
	return number, size
}

// capacity returns the number of values at which a compactor is full.
func (a *algebra) capacity(c *compactor) int {
	number, size := a.sections(c.state)
	return 2 * number * size
}

func (a *algebra) totalCapacity(c *cell) int {
	n := 0
	for i := range c.levels {
		n += a.capacity(&c.levels[i])
	}
	return n
}

// compress compacts full levels until the sketch has room again.
func (a *algebra) compress(c *cell) {
	total := a.totalCapacity(c)
	retained := c.retained()
	for h := 0; h < len(c.levels) && retained >= total; h++ {
		if len(c.levels[h].values) < a.capacity(&c.levels[h]) {
			continue
		}
		if h+1 == len(c.levels) {
			c.levels = append(c.levels, compactor{})
		}
		retained -= a.compact(c, h)
		total = a.totalCapacity(c)
	}
	c.room = total - retained
}

// compact moves half of the smaller values of a level up and returns how many
// values are gone.
func (a *algebra) compact(c *cell, h int) int {
	from, to := &c.levels[h], &c.levels[h+1]
	a.sort(from)
	number, size := a.sections(from.state)
	take := min(bits.TrailingZeros64(^from.state)+1, number)
	protected := number*size + (number-take)*size
	end := (len(from.values) - protected) &^ 1
	if end < 2 {
		return 0
	}
	if from.state&1 == 1 {
		from.coin = !from.coin
	} else {
		from.coin = a.toss(h, c.coins, from.values[0], from.values[end-1])
		c.coins++
	}
	from.state++
	a.up = a.up[:0]
	for i := start(from.coin); i < end; i += 2 {
		a.up = append(a.up, from.values[i])
	}
	to.values = mergeSorted(to.values, a.up)
	to.sorted = len(to.values)
	from.values = append(from.values[:0], from.values[end:]...)
	from.sorted = len(from.values)
	return end / 2
}

// sort sorts the values that came behind the sorted ones, and merges them.
func (a *algebra) sort(c *compactor) {
	a.up = append(a.up[:0], c.values[c.sorted:]...)
	slices.SortFunc(a.up, types.CompareFloat)
	c.values = mergeSorted(c.values[:c.sorted], a.up)
	c.sorted = len(c.values)
}

func start(coin bool) int {
	if coin {
		return 1
	}
	return 0
}

// toss tosses the coin of a compaction of values from first to last.
func (a *algebra) toss(h int, tossed uint64, first, last float64) bool {
	x := keyhash.Finalise(a.coinSeed^math.Float64bits(first), uint64(h)<<56^tossed)
	return keyhash.Finalise(x, math.Float64bits(last))&1 == 1
}

// mergeSorted merges b into a, both sorted, and returns it.
func mergeSorted(a, b []float64) []float64 {
	i, j := len(a)-1, len(b)-1
	a = append(a, b...)
	for at := len(a) - 1; j >= 0; at-- {
		if i >= 0 && types.CompareFloat(a[i], b[j]) > 0 {
			a[at] = a[i]
			i--
		} else {
			a[at] = b[j]
			j--
		}
	}
	return a
}

// weighted is a value with the weight up to and with it.
type weighted struct {
	value  float64
	weight uint64
}

// view returns all values in order.
func (c *cell) view() []weighted {
	out := make([]weighted, 0, c.retained())
	for h := range c.levels {
		for _, x := range c.levels[h].values {
			out = append(out, weighted{x, 1 << h})
		}
	}
	slices.SortStableFunc(out, func(a, b weighted) int { return types.CompareFloat(a.value, b.value) })
	sum := uint64(0)
	for i := range out {
		sum += out[i].weight
		out[i].weight = sum
	}
	return out
}
