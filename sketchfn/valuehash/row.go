package valuehash

import (
	"math/bits"

	"github.com/tallydb/tallydb/sql/keyhash"
)

// Row returns the bits of a value's hash for row number row of a table of
// counters: independent for each row.
func Row(hash uint64, row int) uint64 { return keyhash.Finalise(hash, keyhash.UseRow+uint64(row)) }

// Place returns where a hash falls among n places, evenly (Lemire: Fast random
// integer generation in an interval, 2019).
func Place(hash uint64, n int) int {
	hi, _ := bits.Mul64(hash, uint64(n))
	return int(hi)
}
