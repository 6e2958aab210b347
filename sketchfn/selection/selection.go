package selection

import (
	"math"
	"math/bits"
	"slices"
)

// Nth returns the i-th smallest key, counted from 0, and leaves the keys in another
// order: the smaller ones before it. Keys are put into buckets of equal width, of
// which the one with the i-th key is taken apart again (Neubert: The Flashsort1
// algorithm, 1998), so that evenly distributed ones, as hashes are, need a few passes
// and no comparison that a processor has to guess. Each time the range of the keys is
// at most a 128th, so there are ten times at most.
func Nth(keys []uint64, i int) uint64 {
	for len(keys) > 64 {
		least, most := bounds(keys)
		if least == most {
			return least
		}
		from, to := bucketOf(keys, i, least, most)
		keys, i = keys[from:to], i-from
	}
	if largest := len(keys) - 1 - i; largest < few {
		return fromTop(keys, largest+1)
	}
	return find(keys, i)
}

// few is how many of the largest keys are rather kept in order than parted off. High
// quantiles of small sets, which are what latencies are asked for, are among them.
const few = 6

// fromTop returns the n-th largest key, counted from 1, and moves the larger ones
// behind it. A key among the largest so far is rare, so the processor guesses right.
func fromTop(keys []uint64, n int) uint64 {
	rest, top := keys[:len(keys)-n], keys[len(keys)-n:]
	slices.Sort(top)
	least := top[0]
	for at, x := range rest {
		if x <= least {
			continue
		}
		rest[at] = least
		i := 1
		for ; i < len(top) && top[i] < x; i++ {
			top[i-1] = top[i]
		}
		top[i-1] = x
		least = top[0]
	}
	return least
}

func bounds(keys []uint64) (least, most uint64) {
	least, most = keys[0], keys[0]
	for _, x := range keys {
		least, most = min(least, x), max(most, x)
	}
	return least, most
}

// bucketOf moves the keys of the bucket of the i-th key together, and those of lower
// buckets before them.
func bucketOf(keys []uint64, i int, least, most uint64) (from, to int) {
	const buckets = 256
	shift := max(bits.Len64(most-least)-8, 0) // so that there are at most 256
	var counts [buckets]int
	for _, x := range keys {
		counts[uint8((x-least)>>shift)]++
	}
	b := 0
	for from+counts[b] <= i {
		from += counts[b]
		b++
	}
	lo := least + uint64(b)<<shift
	gather(keys, lo)
	to = len(keys)
	if hi := lo + 1<<shift; hi > lo && hi <= most {
		to = from + gather(keys[from:], hi)
	}
	return from, to
}

// gather moves the keys below a limit to the front, and returns how many there are.
func gather(keys []uint64, limit uint64) int {
	n := 0
	for at, x := range keys {
		keys[at], keys[n] = keys[n], x
		less := 0
		if x < limit {
			less = 1
		}
		n += less
	}
	return n
}

// find is Nth of few keys (Hoare: Algorithm 65, Find, 1961, with the median of three),
// parted without a branch that depends on a comparison.
func find(keys []uint64, i int) uint64 {
	for len(keys) > 12 {
		pivot := median(keys[0], keys[len(keys)/2], keys[len(keys)-1])
		less := gather(keys, pivot)
		if i < less {
			keys = keys[:less]
			continue
		}
		keys, i = keys[less:], i-less
		if pivot == math.MaxUint64 {
			return pivot
		}
		equal := gather(keys, pivot+1)
		if i < equal {
			return pivot
		}
		keys, i = keys[equal:], i-equal
	}
	slices.Sort(keys)
	return keys[i]
}

func median(a, b, c uint64) uint64 { return max(min(a, b), min(max(a, b), c)) }
