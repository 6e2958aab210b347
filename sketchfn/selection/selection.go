package selection

import (
	"math/bits"
	"slices"
)

// Nth returns the i-th smallest key, counted from 0, and leaves the keys in another
// order: the smaller ones before it. Keys are put into buckets of equal width, of
// which the one with the i-th key is taken apart again (Neubert: The Flashsort1
// algorithm, 1998), so that evenly distributed ones, as hashes are, need a few passes
// and no comparison that a processor has to guess. Each time the range of the keys is
// at most a 128th, so there are ten times at most; few keys are left to Hoare's Find
// (1961, with the median of three).
func Nth(keys []uint64, i int) uint64 {
	for len(keys) > 64 {
		least, most := bounds(keys)
		if least == most {
			return least
		}
		from, to := bucketOf(keys, i, least, most)
		keys, i = keys[from:to], i-from
	}
	return find(keys, i)
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

// find is Nth by comparisons.
func find(keys []uint64, i int) uint64 {
	lo, hi := 0, len(keys)-1
	for hi-lo > 12 {
		pivot := median(keys[lo], keys[(lo+hi)/2], keys[hi])
		a, b := lo, hi
		for a <= b {
			for keys[a] < pivot {
				a++
			}
			for keys[b] > pivot {
				b--
			}
			if a <= b {
				keys[a], keys[b] = keys[b], keys[a]
				a++
				b--
			}
		}
		switch {
		case i <= b:
			hi = b
		case i >= a:
			lo = a
		default:
			return keys[i]
		}
	}
	slices.Sort(keys[lo : hi+1])
	return keys[i]
}

func median(a, b, c uint64) uint64 { return max(min(a, b), min(max(a, b), c)) }
