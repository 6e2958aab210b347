package selection

import "slices"

// Nth returns the i-th smallest key, counted from 0, and leaves the keys in another order
// (Hoare: Find, 1961, with the median of three).
func Nth(keys []uint64, i int) uint64 {
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
