package exec

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// columns draws columns of one length: integers, floats, texts with and without a
// dictionary, numerics.
func columns(t *rapid.T, kinds []int, dicts []*types.Dict, rows int) []*types.Vector {
	cols := make([]*types.Vector, len(kinds))
	base := rapid.SampledFrom([]int64{0, -7, 600, 1 << 40}).Draw(t, "base")
	step := rapid.SampledFrom([]int64{0, 1, 6, 3_600_000_000}).Draw(t, "step")
	for k, kind := range kinds {
		v := types.NewVector(types.Of([]types.OID{types.Int8, types.Float8, types.Text, types.Text, types.Numeric}[kind]), rows)
		if kind == 2 {
			v.Dict, v.Offsets = rapid.SampledFrom(dicts).Draw(t, "dict"), nil
		}
		for range rows {
			if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
				v.AppendNull()
				continue
			}
			n := rapid.IntRange(-3, 3).Draw(t, "value")
			switch kind {
			case 0:
				x := []int64{math.MinInt64, -2, -1, 0, 1, 2, math.MaxInt64}[n+3]
				if step > 0 {
					x = base + int64(n)*step
				}
				v.AppendInt(x)
			case 1:
				v.AppendFloat([]float64{math.Inf(-1), -1.5, math.Copysign(0, -1), 0, 2, math.NaN(), math.Inf(1)}[n+3])
			case 2:
				v.Codes = append(v.Codes, uint16((n+3)%v.Dict.Len()))
			case 3:
				v.AppendString([]string{"", "a", "a\x00", "ab", "abcdefgh", "abcdefghi", "ü"}[n+3])
			default:
				d, err := types.Parse(types.Of(types.Numeric), []byte([]string{"-1", "0", "0.0", "1", "1.50", "1.5", "NaN"}[n+3]), nil)
				if err != nil {
					t.Fatal(err)
				}
				v.AppendDatum(d)
			}
		}
		cols[k] = v
	}
	return cols
}

func someDicts() []*types.Dict {
	var out []*types.Dict
	for _, list := range [][]string{{"", "b", "a", "c"}, {"", "c", "b"}} {
		v := types.NewVector(types.Of(types.Text), 0)
		for _, s := range list {
			v.AppendString(s)
		}
		out = append(out, types.NewDict(v))
	}
	grown := types.NewDictBuilder(types.Of(types.Text))
	for _, list := range [][]string{{"b", "a"}, {"c", "d", "e"}} {
		v := types.NewVector(types.Of(types.Text), 0)
		for _, s := range list {
			v.AppendString(s)
		}
		grown.Add(nil, v)
		out = append(out, grown.Dict())
	}
	return out
}

// TestGroupIndexIsAsEncodedKeys: whatever keys come, also with other dictionaries from
// batch to batch, they are numbered and found as their encodings.
func TestGroupIndexIsAsEncodedKeys(t *testing.T) {
	all := someDicts()
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 6).Draw(t, "kinds")
		if rapid.Bool().Draw(t, "fixed") {
			for i := range kinds {
				kinds[i] %= 3
			}
		}
		dicts := all[rapid.IntRange(0, 2).Draw(t, "first dict"):]
		dicts = dicts[:rapid.IntRange(1, len(dicts)).Draw(t, "dicts")]
		index, twin := newGroupIndex(), map[string]uint32{}
		for range rapid.IntRange(1, 5).Draw(t, "batches") {
			rows := rapid.IntRange(1, 40).Draw(t, "rows")
			cols := columns(t, kinds, dicts, rows)
			if rapid.Bool().Draw(t, "find") {
				found := index.find(cols, rows, nil)
				for i, n := range found {
					want, ok := twin[string(appendKeys(nil, cols, i))]
					if ok != (n >= 0) || ok && uint32(n) != want {
						t.Fatalf("row %d is found as %d, want %d, %v", i, n, want, ok)
					}
				}
				continue
			}
			numbers, fresh := index.assign(cols, rows, nil, nil)
			var wantFresh []int32
			for i, n := range numbers {
				key := string(appendKeys(nil, cols, i))
				want, ok := twin[key]
				if !ok {
					want = uint32(len(twin))
					twin[key] = want
					wantFresh = append(wantFresh, int32(i))
				}
				if n != want {
					t.Fatalf("row %d is %d, want %d", i, n, want)
				}
			}
			if !slices.Equal(fresh, wantFresh) || index.len() != len(twin) {
				t.Fatalf("new are %v, want %v; %d keys, want %d", fresh, wantFresh, index.len(), len(twin))
			}
		}
	})
}

// TestGridGrows: days and tails come in any order, until they are too many for a grid.
func TestGridGrows(t *testing.T) {
	const day = 86_400_000_000
	index, twin := newGroupIndex(), map[[2]int64]uint32{}
	for batch := range int64(60) {
		a, b := types.NewVector(types.Of(types.Timestamp), 0), types.NewVector(types.Of(types.Int8), 0)
		for i := range int64(types.BatchRows) {
			shift := batch * batch / 4
			if batch%3 == 1 {
				shift = -shift
			}
			a.AppendInt((shift + i%5) * day)
			b.AppendInt(i % 7 * batch)
		}
		if batch == 59 {
			a.Ints[17] = math.MaxInt64
		}
		if (index.mode == indexGrid) != (batch > 0) {
			t.Fatalf("batch %d: mode %d", batch, index.mode)
		}
		numbers, _ := index.assign([]*types.Vector{a, b}, types.BatchRows, nil, nil)
		for i, n := range numbers {
			key := [2]int64{a.Ints[i], b.Ints[i]}
			if _, ok := twin[key]; !ok {
				twin[key] = uint32(len(twin))
			}
			if n != twin[key] {
				t.Fatalf("batch %d, row %d: %d, want %d", batch, i, n, twin[key])
			}
		}
	}
	if index.mode != indexWords {
		t.Fatal("still a grid")
	}
}

// TestWordTableGrows: many keys of two words.
func TestWordTableGrows(t *testing.T) {
	index, twin := newGroupIndex(), map[string]uint32{}
	a, b := types.NewVector(types.Of(types.Int8), 0), types.NewVector(types.Of(types.Int8), 0)
	for i := range int64(200_000) {
		a.AppendInt(i * i % 5003)
		b.AppendInt(i % 97)
	}
	all := &types.Batch{Cols: []*types.Vector{a, b}, Rows: a.Len()}
	for from := 0; from < all.Rows; from += types.BatchRows {
		part := all.Slice(from, min(from+types.BatchRows, all.Rows))
		numbers, _ := index.assign(part.Cols, part.Rows, nil, nil)
		for i, n := range numbers {
			key := fmt.Sprint(part.Cols[0].Ints[i], part.Cols[1].Ints[i])
			if _, ok := twin[key]; !ok {
				twin[key] = uint32(len(twin))
			}
			if n != twin[key] {
				t.Fatalf("row %d: %d, want %d", from+i, n, twin[key])
			}
		}
	}
}

// TestOrderIsAsComparisons: packed words order as the comparisons do, and are stable.
func TestOrderIsAsComparisons(t *testing.T) {
	dicts := someDicts()
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 4).Draw(t, "kinds")
		rows := rapid.IntRange(0, 60).Draw(t, "rows")
		cols := columns(t, kinds, dicts, rows)
		if rapid.Bool().Draw(t, "many") { // sorted by digits
			times := make([]int32, 0, rows*20)
			for i := range rows * 20 {
				times = append(times, int32(i*7%rows))
			}
			for k := range cols {
				cols[k] = cols[k].Gather(times)
			}
			rows *= 20
		}
		keys := make([]plan.SortKey, len(kinds))
		for k := range keys {
			keys[k] = plan.SortKey{Descending: rapid.Bool().Draw(t, "descending"), NullsFirst: rapid.Bool().Draw(t, "nulls first")}
		}
		want := make([]int32, rows)
		for i := range want {
			want[i] = int32(i)
		}
		slices.SortStableFunc(want, comparator(keys, cols))
		if got := order(keys, cols, rows); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
