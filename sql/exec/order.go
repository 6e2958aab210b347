package exec

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// order returns the rows in the order of the keys, stable. The keys are packed into
// one word a row as far as they fit; the words are sorted by their digits, and
// comparisons decide only among rows with equal words.
func order(keys []plan.SortKey, cols []*types.Vector, n int) []int32 {
	sel := make([]int32, n)
	for i := range sel {
		sel[i] = int32(i)
	}
	if n < 2 || len(keys) == 0 {
		return sel
	}
	words := make([]sortWord, n)
	for i := range words {
		words[i].row = int32(i)
	}
	left, packed := 64, 0 // bits that are free, and keys that are in the words as a whole
	for k, c := range cols {
		p := packing(c, n)
		if p.bits > left {
			if left > 0 && p.bits > 0 {
				p.fill(words, left, c, keys[k])
			}
			break
		}
		if p.bits > 0 {
			left -= p.bits
			p.fill(words, p.bits, c, keys[k])
		}
		if !p.exact {
			break
		}
		packed++
	}
	words = sortWords(words)
	for i, w := range words {
		sel[i] = w.row
	}
	if packed == len(keys) {
		return sel
	}
	compare := comparator(keys[packed:], cols[packed:])
	for from := 0; from < n; {
		to := from + 1
		for to < n && words[to].key == words[from].key {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(sel[from:to], func(i, j int32) int {
				if o := compare(i, j); o != 0 {
					return o
				}
				return int(i - j)
			})
		}
		from = to
	}
	return sel
}

// sortBytes is what order needs for a row while it sorts.
const sortBytes = 2*16 + 4

// sortWord is a row and what it is ordered by.
type sortWord struct {
	key uint64
	row int32
}

// sortWords sorts by key, stable: a radix sort from the last digit that differs (Knuth,
// TAOCP 5.2.5), or comparisons where there are few.
func sortWords(words []sortWord) []sortWord {
	if len(words) < 256 {
		slices.SortFunc(words, func(a, b sortWord) int {
			switch {
			case a.key < b.key:
				return -1
			case a.key > b.key:
				return 1
			}
			return int(a.row - b.row)
		})
		return words
	}
	and, or := ^uint64(0), uint64(0)
	for _, w := range words {
		and, or = and&w.key, or|w.key
	}
	const digit = 11
	other := make([]sortWord, len(words))
	for shift := 0; shift < 64; shift += digit {
		if (and^or)>>shift&(1<<digit-1) == 0 {
			continue
		}
		var places [1 << digit]int32
		for _, w := range words {
			places[w.key>>shift&(1<<digit-1)]++
		}
		at := int32(0)
		for d, count := range places {
			places[d] = at
			at += count
		}
		for _, w := range words {
			d := w.key >> shift & (1<<digit - 1)
			other[places[d]] = w
			places[d]++
		}
		words, other = other, words
	}
	return words
}

// keyPacking is how the values of a key become numbers that order as they do.
type keyPacking struct {
	bits  int
	exact bool // equal numbers mean equal values
	nulls bool
	lo    int64 // of integers
	top   uint64
	ranks []uint16
}

func packing(c *types.Vector, n int) keyPacking {
	p := keyPacking{exact: true, nulls: c.Nulls.Any()}
	switch {
	case c.Type.Kind() == types.KindInt:
		lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
		for i, x := range c.Ints[:n] {
			if p.nulls && c.Nulls.Has(i) {
				continue
			}
			lo, hi = min(lo, x), max(hi, x)
		}
		if lo <= hi {
			p.lo, p.top = lo, uint64(hi)-uint64(lo)
		}
	case c.Type.Kind() == types.KindFloat:
		p.top = math.MaxUint64 >> 1
		p.exact = false // the last bit goes, to leave room for NULL
	case c.Dict != nil:
		p.ranks, p.top = c.Dict.Ranks(), uint64(c.Dict.Len()-1)
	case types.DictType(c.Type):
		p.top = 1<<56 - 1 // the first seven bytes
		p.exact = false
	default:
		p.exact = false // nothing is packed
		return p
	}
	if p.nulls {
		if p.top == math.MaxUint64 {
			p.top, p.exact = p.top>>1, false // as of floats
		}
		p.top++ // NULL
	}
	p.bits = bits.Len64(p.top)
	return p
}

// number returns what a value that is not NULL becomes, at most top, or top-1 where
// there are NULLs.
func (p *keyPacking) number(c *types.Vector, i int) uint64 {
	switch {
	case p.ranks != nil:
		return uint64(p.ranks[c.Codes[i]])
	case c.Type.Kind() == types.KindInt:
		x := uint64(c.Ints[i]) - uint64(p.lo)
		if !p.exact {
			x >>= 1
		}
		return x
	case c.Type.Kind() == types.KindFloat:
		return types.FloatOrder(c.Floats[i]) >> 1
	}
	x := uint64(0)
	b := c.Bytes(i)
	for k := range 7 {
		x <<= 8
		if k < len(b) {
			x |= uint64(b[k])
		}
	}
	return x
}

// fill appends the first width bits of each row's number to its word.
func (p *keyPacking) fill(words []sortWord, width int, c *types.Vector, key plan.SortKey) {
	cut := p.bits - width
	top, null := p.top, uint64(0)
	base := uint64(0)
	if p.nulls {
		top--
		if key.NullsFirst {
			base = 1
		} else {
			null = p.top
		}
	}
	for i := range words {
		x := null
		if !p.nulls || !c.Nulls.Has(i) {
			if x = p.number(c, i); key.Descending {
				x = top - x
			}
			x += base
		}
		words[i].key = words[i].key<<width | x>>cut
	}
}
