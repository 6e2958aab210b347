package sorted

// mergeSteps reads steps words upwards from a and b and downwards from aEnd and bEnd, and
// writes as many upwards from out and downwards from outEnd. It returns where it is in a.
//
//go:noescape
func mergeSteps(out, outEnd, a, b, aEnd, bEnd *uint64, steps int) (bytesOfA, bytesOfAEnd int)

// uniteSteps is mergeSteps where equal words of a and b are written once.
//
//go:noescape
func uniteSteps(out, outEnd, a, b, aEnd, bEnd *uint64, steps int) (bytesOfA, bytesOfB, bytesOfAEnd, bytesOfBEnd int)

// mergeEnds writes the smallest words of a and b, as many as there are steps, to the
// beginning of out, and the largest to its end. It returns how many of a they are at
// either end. steps is at most half of the length of either, and not 0.
func mergeEnds(out, a, b []uint64, steps int) (fromA, fromAEnd int) {
	fromA, fromAEnd = mergeSteps(&out[0], &out[len(out)-1], &a[0], &b[0], &a[len(a)-1], &b[len(b)-1], steps)
	return fromA / 8, fromAEnd / 8
}

// uniteEnds is mergeEnds where a word that a and b share is written once. It returns how
// many of each they are.
func uniteEnds(out, a, b []uint64, steps int) (fromA, fromB, fromAEnd, fromBEnd int) {
	fromA, fromB, fromAEnd, fromBEnd = uniteSteps(&out[0], &out[len(out)-1], &a[0], &b[0], &a[len(a)-1], &b[len(b)-1], steps)
	return fromA / 8, fromB / 8, fromAEnd / 8, fromBEnd / 8
}
