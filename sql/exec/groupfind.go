package exec

import "github.com/tallydb/tallydb/sql/types"

// find appends the number of each row, -1 where its keys are not there. Keys that do
// not fit the mode make it go over to another.
func (x *groupIndex) find(cols []*types.Vector, rows int, numbers []int32) []int32 {
	if x.n == 0 {
		for range rows {
			numbers = append(numbers, -1)
		}
		return numbers
	}
	if x.mode != indexKeys && !x.fits(cols) {
		x.toKeys()
	}
	switch x.mode {
	case indexGrid:
		x.slots, numbers = x.grid.look(cols, rows, x.slots, numbers)
		return numbers
	case indexWords:
		x.fill(cols, rows)
		return x.words.look(rows, numbers)
	}
	if len(cols) == 1 && cols[0].Dict != nil {
		return x.findByDict(cols[0], numbers)
	}
	for i := range rows {
		x.buf = appendKeys(x.buf[:0], cols, i)
		numbers = append(numbers, x.findKey())
	}
	return numbers
}

// findKey looks up the key in buf.
func (x *groupIndex) findKey() int32 {
	n, ok := x.keys.find(x.buf)
	if !ok {
		return -1
	}
	return int32(n)
}

// findByDict looks each value of a dictionary up once.
func (x *groupIndex) findByDict(v *types.Vector, numbers []int32) []int32 {
	if x.asked != v.Dict {
		x.asked, x.answers = v.Dict, make([]int32, v.Dict.Len())
		for code := range x.answers {
			x.buf = types.AppendKey(x.buf[:0], v.Dict.Values(), code)
			x.answers[code] = x.findKey()
		}
	}
	for i, code := range v.Codes {
		if v.Nulls.Has(i) {
			x.buf = types.AppendKey(x.buf[:0], v, i)
			numbers = append(numbers, x.findKey())
			continue
		}
		numbers = append(numbers, x.answers[code])
	}
	return numbers
}
