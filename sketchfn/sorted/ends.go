package sorted

// goMergeEnds is mergeEnds in Go.
func goMergeEnds(out, a, b []uint64, steps int) (fromA, fromAEnd int) {
	i, j, p, q, last := 0, 0, len(a)-1, len(b)-1, len(out)-1
	for n := range steps {
		x, y, u, v := a[i], b[j], a[p], b[q]
		out[n], out[last-n] = min(x, y), max(u, v)
		first, final := one(x <= y), one(u > v)
		i += first
		j += 1 - first
		p -= final
		q -= 1 - final
	}
	return i, len(a) - 1 - p
}

// goUniteEnds is uniteEnds in Go.
func goUniteEnds(out, a, b []uint64, steps int) (fromA, fromB, fromAEnd, fromBEnd int) {
	i, j, p, q, last := 0, 0, len(a)-1, len(b)-1, len(out)-1
	for n := range steps {
		x, y, u, v := a[i], b[j], a[p], b[q]
		out[n], out[last-n] = min(x, y), max(u, v)
		i += one(x <= y)
		j += one(y <= x)
		p -= one(u >= v)
		q -= one(v >= u)
	}
	return i, j, len(a) - 1 - p, len(b) - 1 - q
}
