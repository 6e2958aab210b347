package sorted

import "slices"

// blockWords is how many words sortBlock sorts at most.
const blockWords = vector * vector

// leastSort is from how many words on that is faster.
const leastSort = 16

// Sort sorts words. It returns its scratch memory, which may be nil, for the next call.
func Sort(words, scratch []uint64) []uint64 {
	n := len(words)
	if !hasVectors || n < leastSort {
		slices.Sort(words)
		return scratch
	}
	for at := 0; at < n; at += blockWords {
		sortBlock(&words[at], min(blockWords, n-at))
	}
	if n <= blockWords {
		return scratch
	}
	scratch = slices.Grow(scratch[:0], n)[:n]
	from, to := words, scratch
	for run := blockWords; run < n; run *= 2 {
		for at := 0; at < n; at += 2 * run {
			mid, end := min(at+run, n), min(at+2*run, n)
			Merge(to[at:end], from[at:mid], from[mid:end])
		}
		from, to = to, from
	}
	if &from[0] != &words[0] {
		copy(words, from)
	}
	return scratch
}
