package types_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/types"
)

// dictOf returns a vector with a dictionary, and its flat twin.
func dictOf(t *rapid.T, dict *types.Dict, label string) (coded, flat *types.Vector) {
	rows := rapid.IntRange(0, 150).Draw(t, label+" rows")
	coded = &types.Vector{Type: types.Of(types.Text), Dict: dict}
	flat = types.NewVector(types.Of(types.Text), 0)
	for range rows {
		if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
			coded.AppendNull()
			flat.AppendNull()
			continue
		}
		code := rapid.IntRange(0, dict.Len()-1).Draw(t, "code")
		coded.Codes = append(coded.Codes, uint16(code))
		flat.AppendBytes(dict.Values().Bytes(code))
	}
	return coded, flat
}

func newDict(t *rapid.T) *types.Dict {
	values := types.NewVector(types.Of(types.Text), 0)
	values.AppendString("")
	for _, s := range rapid.SliceOfNDistinct(rapid.StringN(1, 4, -1), 0, 20, func(s string) string { return s }).Draw(t, "values") {
		values.AppendString(s)
	}
	return types.NewDict(values)
}

func sameVector(t *rapid.T, what string, got, want *types.Vector) {
	if got.Len() != want.Len() {
		t.Fatalf("%s: %d rows, want %d", what, got.Len(), want.Len())
	}
	for i := range want.Len() {
		if got.IsNull(i) != want.IsNull(i) || string(got.Bytes(i)) != string(want.Bytes(i)) {
			t.Fatalf("%s: row %d is %q, want %q", what, i, got.Bytes(i), want.Bytes(i))
		}
		if string(types.AppendKey(nil, got, i)) != string(types.AppendKey(nil, want, i)) {
			t.Fatalf("%s: row %d has another key", what, i)
		}
	}
}

// TestDictionaryIsAsFlat: whatever is done with a vector, its dictionary does not show.
func TestDictionaryIsAsFlat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := newDict(t)
		dicts := []*types.Dict{one, one, newDict(t)}
		got, want := dictOf(t, one, "first")
		sameVector(t, "as made", got, want)
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			switch step := rapid.IntRange(0, 6).Draw(t, "step"); step {
			case 0:
				c, f := dictOf(t, rapid.SampledFrom(dicts).Draw(t, "dict"), "more")
				if rapid.Bool().Draw(t, "flat") {
					c = f
				}
				got.AppendAll(c)
				want.AppendAll(f)
			case 1:
				var sel []int32
				if n := want.Len(); n > 0 {
					sel = rapid.SliceOfN(rapid.Int32Range(0, int32(n-1)), 0, 100).Draw(t, "sel")
				}
				got, want = got.Gather(sel), want.Gather(sel)
			case 2:
				from := rapid.IntRange(0, want.Len()).Draw(t, "from")
				to := rapid.IntRange(from, want.Len()).Draw(t, "to")
				before := got.Flat()
				part := got.Slice(from, to)
				sameVector(t, "before the slice", got, before)
				got, want = part, want.Slice(from, to)
			case 3:
				got.AppendString("another")
				want.AppendString("another")
			case 4:
				c, f := dictOf(t, rapid.SampledFrom(dicts).Draw(t, "dict"), "from")
				for i := range f.Len() {
					got.AppendFrom(c, i)
					want.AppendFrom(f, i)
				}
			case 5:
				n := rapid.IntRange(0, want.Len()).Draw(t, "truncate")
				got, want = got.Gather(every(want.Len())), want.Gather(every(want.Len())) // slices share memory
				got.Truncate(n)
				want.Truncate(n)
			default:
				got.AppendNull()
				want.AppendNull()
			}
			sameVector(t, "after a step", got, want)
		}
		sameVector(t, "flat", got.Flat(), want)
	})
}

func every(n int) []int32 {
	sel := make([]int32, n)
	for i := range sel {
		sel[i] = int32(i)
	}
	return sel
}

// TestRanksOrderAsValues: the ranks of two codes compare as their values do.
func TestRanksOrderAsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDict(t)
		ranks := d.Ranks()
		for a := range d.Len() {
			for b := range d.Len() {
				less := string(d.Values().Bytes(a)) < string(d.Values().Bytes(b))
				if (ranks[a] < ranks[b]) != less {
					t.Fatalf("%q and %q have ranks %d and %d", d.Values().Bytes(a), d.Values().Bytes(b), ranks[a], ranks[b])
				}
			}
		}
	})
}
