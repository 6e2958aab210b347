package sorted

// vector is how many words a vector has.
const vector = 8

// leastSteps is from how many steps on both ends are merged at once.
const leastSteps = 2

// Merge merges a and b into out, whose length is the sum and which shares no memory with
// them.
func Merge(out, a, b []uint64) {
	if n := len(a) + len(b); hasVectors && min(len(a), len(b)) > 0 && n >= vector {
		mergeVectors(&out[0], &out[n-1], &a[0], &b[0], len(a), len(b), (n+2*vector-1)/(2*vector))
		return
	}
	mergeWords(out, a, b)
}

// mergeWords is Merge without vectors.
func mergeWords(out, a, b []uint64) {
	for {
		steps := min(len(a), len(b)) / 2
		if steps < leastSteps {
			break
		}
		i, p := mergeEnds(out, a, b, steps)
		out = out[steps : len(out)-steps]
		b = b[steps-i : len(b)-(steps-p)]
		a = a[i : len(a)-p]
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		out[i+j] = min(x, y)
		first := one(x <= y)
		i += first
		j += 1 - first
	}
	copy(out[i+j:], a[i:])
	if i == len(a) {
		copy(out[i+j:], b[j:])
	}
}

// Unite writes the words of a and b in order, each once, and returns how many there are.
// Neither array has one twice; out has room for all of both, and shares no memory with
// them.
func Unite(out, a, b []uint64) int {
	out = out[:len(a)+len(b)]
	first, last := 0, len(out) // of the free places
	for {
		steps := min(len(a), len(b)) / 2
		if steps < leastSteps {
			break
		}
		i, j, p, q := uniteEnds(out[first:last], a, b, steps)
		a, b = a[i:len(a)-p], b[j:len(b)-q]
		first, last = first+steps, last-steps
	}
	back := out[last:]
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		out[first] = min(x, y)
		first++
		i += one(x <= y)
		j += one(y <= x)
	}
	first += copy(out[first:], a[i:])
	first += copy(out[first:], b[j:])
	return first + copy(out[first:], back)
}

// EveryOther fills out with every other word of from, beginning with the first.
func EveryOther(out, from []uint64) {
	if n := len(out); hasVectors && n > 0 {
		_ = from[2*n-2]
		everyOtherVector(&out[0], &from[0], n)
		return
	}
	for i := range out {
		out[i] = from[2*i]
	}
}

// one is 1 for true.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
