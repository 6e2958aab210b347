package kll

import "math"

const signBit = 1 << 63

// nanKey is the key of every NaN: above infinity, as in PostgreSQL.
const nanKey = math.MaxUint64

// floatKey returns a word that orders as f does.
func floatKey(f float64) uint64 {
	switch {
	case f == 0:
		return signBit
	case f != f:
		return nanKey
	}
	u := math.Float64bits(f)
	if u >= signBit {
		return ^u
	}
	return u | signBit
}

// keyFloat is the inverse of floatKey.
func keyFloat(key uint64) float64 {
	switch {
	case key == nanKey:
		return math.NaN()
	case key >= signBit:
		return math.Float64frombits(key &^ signBit)
	}
	return math.Float64frombits(^key)
}

// isFloatKey reports whether floatKey returns key for some float.
func isFloatKey(key uint64) bool {
	return key == nanKey || key >= floatKey(math.Inf(-1)) && key <= floatKey(math.Inf(1)) && key != signBit-1
}

// intKey returns a word that orders as x does.
func intKey(x int64) uint64 { return uint64(x) ^ signBit }

// keyInt is the inverse of intKey.
func keyInt(key uint64) int64 { return int64(key ^ signBit) }
