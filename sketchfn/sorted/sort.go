package sorted

import "slices"

// blockWords is how many words sortVectors sorts.
const blockWords = vector * vector

// leastSort is from how many words on that is faster.
const leastSort = 16

// Sort sorts words. It returns its scratch memory, which may be nil, for the next call.
func Sort(words, scratch []uint64) []uint64 {
	if !hasVectors || len(words) < leastSort {
		slices.Sort(words)
		return scratch
	}
	blocks := (len(words) + blockWords - 1) / blockWords
	n := blocks * blockWords
	scratch = slices.Grow(scratch[:0], 2*n)[:2*n]
	from, to := scratch[:n], scratch[n:]
	for i := copy(from, words); i < n; i++ {
		from[i] = ^uint64(0) // sorts behind what is there, or is the same
	}
	sortVectors(&from[0], blocks)
	for run := blockWords; run < n; run *= 2 {
		for at := 0; at < n; at += 2 * run {
			mid, end := min(at+run, n), min(at+2*run, n)
			Merge(to[at:end], from[at:mid], from[mid:end])
		}
		from, to = to, from
	}
	copy(words, from)
	return scratch
}
