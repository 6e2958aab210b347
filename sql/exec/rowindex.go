package exec

import "github.com/tallydb/tallydb/sql/types"

// rowIndex finds the rows of one side of a join by their keys. Rows with a NULL
// among their keys equal nothing and are not in it.
type rowIndex struct {
	keys *groupIndex
	ends []int32 // for each key, where its rows end; they begin where those before end
	list []int32
}

func newRowIndex(keys []*types.Vector, rows int) *rowIndex {
	x := &rowIndex{keys: newGroupIndex()}
	if rows > 0 {
		x.keys.expect(keys, rows)
	}
	numbers := make([]uint32, 0, rows)
	var fresh []int32
	for from := 0; from < rows; from += types.BatchRows { // the index needs memory for the rows that it is given
		to := min(from+types.BatchRows, rows)
		part := (&types.Batch{Cols: keys, Rows: rows}).Slice(from, to)
		numbers, fresh = x.keys.assign(part.Cols, part.Rows, numbers, fresh[:0])
	}
	x.ends = make([]int32, x.keys.len())
	nullable := anyNulls(keys)
	for i, n := range numbers {
		if !nullable || !hasNull(keys, i) {
			x.ends[n]++
		}
	}
	total := int32(0)
	for n, count := range x.ends {
		x.ends[n] = total // for now where they begin
		total += count
	}
	x.list = make([]int32, total)
	for i, n := range numbers {
		if !nullable || !hasNull(keys, i) {
			x.list[x.ends[n]] = int32(i)
			x.ends[n]++
		}
	}
	return x
}

func (x *rowIndex) memory() int64 {
	return x.keys.memory() + int64(4*cap(x.ends)+4*cap(x.list))
}

// find appends for each row of keys the number of the equal key, -1 where there is none.
func (x *rowIndex) find(keys []*types.Vector, rows int, numbers []int32) []int32 {
	numbers = x.keys.find(keys, rows, numbers)
	if anyNulls(keys) {
		for i := range rows {
			if hasNull(keys, i) {
				numbers[i] = -1
			}
		}
	}
	return numbers
}

// rows returns the rows that have a key.
func (x *rowIndex) rows(number int32) []int32 {
	if number < 0 {
		return nil
	}
	from := int32(0)
	if number > 0 {
		from = x.ends[number-1]
	}
	return x.list[from:x.ends[number]]
}

func hasNull(cols []*types.Vector, i int) bool {
	for _, c := range cols {
		if c.Nulls.Has(i) {
			return true
		}
	}
	return false
}

func anyNulls(cols []*types.Vector) bool {
	for _, c := range cols {
		if len(c.Nulls) > 0 {
			return true
		}
	}
	return false
}
