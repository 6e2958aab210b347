//go:build !amd64

package sorted

// mergeEnds writes the smallest words of a and b, as many as there are steps, to the
// beginning of out, and the largest to its end. It returns how many of a they are at
// either end. steps is at most half of the length of either.
func mergeEnds(out, a, b []uint64, steps int) (fromA, fromAEnd int) {
	return goMergeEnds(out, a, b, steps)
}

// uniteEnds is mergeEnds where a word that a and b share is written once. It returns how
// many of each they are.
func uniteEnds(out, a, b []uint64, steps int) (fromA, fromB, fromAEnd, fromBEnd int) {
	return goUniteEnds(out, a, b, steps)
}
