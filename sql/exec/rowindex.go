package exec

import "github.com/tallydb/tallydb/sql/types"

// rowIndex finds the rows of one side of a join by their keys. Rows with a NULL
// among their keys equal nothing and are not in it.
type rowIndex struct {
	keys *keyTable
	ends []int32 // for each key, where its rows end; they begin where those before end
	list []int32
	buf  []byte
}

func newRowIndex(keys []*types.Vector, rows int) *rowIndex {
	x := &rowIndex{keys: newKeyTable()}
	numbers := make([]int32, rows)
	for i := range rows {
		numbers[i] = -1
		if hasNull(keys, i) {
			continue
		}
		x.buf = appendKeys(x.buf[:0], keys, i)
		n, fresh := x.keys.add(x.buf)
		if fresh {
			x.ends = append(x.ends, 0)
		}
		x.ends[n]++
		numbers[i] = int32(n)
	}
	total := int32(0)
	for n, count := range x.ends {
		x.ends[n] = total // for now where they begin
		total += count
	}
	x.list = make([]int32, total)
	for i, n := range numbers {
		if n >= 0 {
			x.list[x.ends[n]] = int32(i)
			x.ends[n]++
		}
	}
	return x
}

func (x *rowIndex) memory() int64 {
	return x.keys.memory() + int64(4*cap(x.ends)+4*cap(x.list))
}

// rows returns the rows whose keys equal those of row i.
func (x *rowIndex) rows(keys []*types.Vector, i int) []int32 {
	if hasNull(keys, i) {
		return nil
	}
	x.buf = appendKeys(x.buf[:0], keys, i)
	n, ok := x.keys.find(x.buf)
	if !ok {
		return nil
	}
	from := int32(0)
	if n > 0 {
		from = x.ends[n-1]
	}
	return x.list[from:x.ends[n]]
}

func hasNull(cols []*types.Vector, i int) bool {
	for _, c := range cols {
		if c.Nulls.Has(i) {
			return true
		}
	}
	return false
}
