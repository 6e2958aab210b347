package expr

import (
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// emptyIfNull decodes an array, NULL as the empty one.
func emptyIfNull(d types.Datum) (types.Array, error) {
	if d.Null {
		return types.Array{Elem: d.Type.ElemType()}, nil
	}
	return types.ArrayDatum(d)
}

func arrayResult(t types.Type, a types.Array) types.Datum {
	return types.Datum{Type: t, Bytes: a.Append(nil)}
}

// arrayRow adapts a function of one decoded array.
func arrayRow(f func(a types.Array, rest []types.Datum) (types.Datum, error)) rowFunc {
	return func(_ *Context, d []types.Datum) (types.Datum, error) {
		a, err := types.ArrayDatum(d[0])
		if err != nil {
			return types.Datum{}, err
		}
		return f(a, d[1:])
	}
}

func arrayFunctions() []overload {
	null4 := types.NullOf(types.Of(types.Int4))
	dim := func(f func(a types.Array, k int) int) rowFunc {
		return arrayRow(func(a types.Array, rest []types.Datum) (types.Datum, error) {
			k := rest[0].Int - 1
			if k < 0 || k >= int64(len(a.Dims)) {
				return null4, nil
			}
			return int4(f(a, int(k)))
		})
	}
	return []overload{
		fn("array_length(anyarray,int4) int4", "length of a dimension", dim(func(a types.Array, k int) int { return a.Dims[k] })),
		fn("array_lower(anyarray,int4) int4", "lower bound of a dimension", dim(func(a types.Array, k int) int { return a.Lower[k] })),
		fn("array_upper(anyarray,int4) int4", "upper bound of a dimension", dim(func(a types.Array, k int) int { return a.Lower[k] + a.Dims[k] - 1 })),
		fn("array_ndims(anyarray) int4", "number of dimensions", arrayRow(func(a types.Array, _ []types.Datum) (types.Datum, error) {
			if len(a.Dims) == 0 {
				return null4, nil
			}
			return int4(len(a.Dims))
		})),
		fn("cardinality(anyarray) int4", "number of elements", arrayRow(func(a types.Array, _ []types.Datum) (types.Datum, error) {
			return int4(len(a.Items))
		})),
		fn("array_position(anycompatiblearray,anycompatible) int4", "index of the first equal element", arrayPosition).onNull(),
		fn("array_positions(anycompatiblearray,anycompatible) _int4", "indexes of equal elements", arrayPositions).onNull(),
		fn("array_append(anycompatiblearray,anycompatible) anycompatiblearray", "element added at the end", func(_ *Context, d []types.Datum) (types.Datum, error) {
			return appendElement(d[0], d[1], false)
		}).onNull(),
		fn("array_prepend(anycompatible,anycompatiblearray) anycompatiblearray", "element added at the start", func(_ *Context, d []types.Datum) (types.Datum, error) {
			return appendElement(d[1], d[0], true)
		}).onNull(),
		fn("array_cat(anycompatiblearray,anycompatiblearray) anycompatiblearray", "concatenated", arrayCat).onNull(),
		fn("array_remove(anycompatiblearray,anycompatible) anycompatiblearray", "without equal elements", func(_ *Context, d []types.Datum) (types.Datum, error) {
			if d[0].Null {
				return d[0], nil
			}
			a, err := types.ArrayDatum(d[0])
			if err != nil {
				return d[0], err
			}
			if len(a.Dims) > 1 {
				return d[0], sqlerr.New(sqlerr.FeatureNotSupported, "removing elements from multidimensional arrays is not supported")
			}
			var items []types.Datum
			for _, it := range a.Items {
				if types.Compare(it, d[1]) != 0 {
					items = append(items, it)
				}
			}
			return arrayResult(d[0].Type, types.NewArray(a.Elem, items)), nil
		}).onNull(),
		fn("array_to_string(anyarray,text) text", "elements joined", arrayToString).stable(),
		fn("array_to_string(anyarray,text,text) text", "elements joined", arrayToString).onNull().stable(),
		fn("string_to_array(text,text) _text", "parts between separators", stringToArray).onNull(),
		fn("string_to_array(text,text,text) _text", "parts between separators", stringToArray).onNull(),
		fn("array_dims(anyarray) text", "dimensions as text", arrayRow(func(a types.Array, _ []types.Datum) (types.Datum, error) {
			if len(a.Dims) == 0 {
				return types.NullOf(types.Of(types.Text)), nil
			}
			var b strings.Builder
			for i, n := range a.Dims {
				b.WriteString("[" + itoa(a.Lower[i]) + ":" + itoa(a.Lower[i]+n-1) + "]")
			}
			return text(b.String())
		})),
	}
}

func arrayPosition(_ *Context, d []types.Datum) (types.Datum, error) {
	null := types.NullOf(types.Of(types.Int4))
	if d[0].Null {
		return null, nil
	}
	a, err := types.ArrayDatum(d[0])
	if err != nil {
		return null, err
	}
	if len(a.Dims) > 1 {
		return null, sqlerr.New(sqlerr.FeatureNotSupported, "searching for elements in multidimensional arrays is not supported")
	}
	for i, it := range a.Items {
		if types.Compare(it, d[1]) == 0 {
			return int4(i + a.Lower[0])
		}
	}
	return null, nil
}

func arrayPositions(_ *Context, d []types.Datum) (types.Datum, error) {
	if d[0].Null {
		return types.NullOf(types.Of(types.Int4Array)), nil
	}
	a, err := types.ArrayDatum(d[0])
	var at []types.Datum
	for i, it := range a.Items {
		if types.Compare(it, d[1]) == 0 {
			at = append(at, types.IntDatum(types.Int4, int64(i+a.Lower[0])))
		}
	}
	return types.NewArray(types.Of(types.Int4), at).Datum(), err
}

func appendElement(array, elem types.Datum, front bool) (types.Datum, error) {
	a, err := emptyIfNull(array)
	if err != nil {
		return array, err
	}
	if len(a.Dims) > 1 {
		return array, sqlerr.New("22000", "argument must be empty or one-dimensional array")
	}
	lower := 1
	if len(a.Lower) > 0 {
		lower = a.Lower[0]
	}
	items := append(append([]types.Datum(nil), a.Items...), elem)
	if front {
		items = append([]types.Datum{elem}, a.Items...)
	}
	r := types.NewArray(a.Elem, items)
	r.Lower[0] = lower
	return arrayResult(array.Type, r), nil
}

func arrayCat(_ *Context, d []types.Datum) (types.Datum, error) {
	switch {
	case d[0].Null:
		return d[1], nil
	case d[1].Null:
		return d[0], nil
	}
	a, err := types.ArrayDatum(d[0])
	if err != nil {
		return d[0], err
	}
	b, err := types.ArrayDatum(d[1])
	if err != nil {
		return d[0], err
	}
	items := append(append([]types.Datum(nil), a.Items...), b.Items...)
	mismatch := sqlerr.New("2202E", "cannot concatenate incompatible arrays")
	switch {
	case len(b.Dims) == 0:
		return d[0], nil
	case len(a.Dims) == 0:
		return d[1], nil
	case len(a.Dims) == len(b.Dims):
		if !sameInts(a.Dims[1:], b.Dims[1:]) {
			return d[0], mismatch
		}
		a.Dims[0] += b.Dims[0]
	case len(a.Dims) == len(b.Dims)+1:
		if !sameInts(a.Dims[1:], b.Dims) {
			return d[0], mismatch
		}
		a.Dims[0]++
	case len(a.Dims)+1 == len(b.Dims):
		if !sameInts(b.Dims[1:], a.Dims) {
			return d[0], mismatch
		}
		a.Dims, a.Lower = b.Dims, b.Lower
		a.Dims[0]++
	default:
		return d[0], mismatch
	}
	a.Items = items
	return arrayResult(d[0].Type, a), nil
}

func arrayToString(ec *Context, d []types.Datum) (types.Datum, error) {
	if d[0].Null || d[1].Null {
		return types.NullOf(types.Of(types.Text)), nil
	}
	a, err := types.ArrayDatum(d[0])
	if err != nil {
		return types.Datum{}, err
	}
	var parts []string
	for _, it := range a.Items {
		switch {
		case !it.Null:
			parts = append(parts, shown(ec, it))
		case len(d) > 2 && !d[2].Null:
			parts = append(parts, str(d[2]))
		}
	}
	return joined(parts, str(d[1]))
}

func stringToArray(_ *Context, d []types.Datum) (types.Datum, error) {
	if d[0].Null {
		return types.NullOf(types.Of(types.TextArray)), nil
	}
	s := str(d[0])
	var parts []string
	switch {
	case s == "":
	case d[1].Null && len(s) > maxParts, len(d[1].Bytes) > 0 && strings.Count(s, str(d[1])) >= maxParts:
		return types.Datum{}, tooLong()
	case d[1].Null:
		parts = strings.Split(s, "")
	case len(d[1].Bytes) == 0:
		parts = []string{s}
	default:
		parts = strings.Split(s, str(d[1]))
	}
	items := make([]types.Datum, len(parts))
	for i, p := range parts {
		items[i] = types.TextDatum(p)
		if len(d) > 2 && !d[2].Null && p == str(d[2]) {
			items[i] = types.NullOf(types.Of(types.Text))
		}
	}
	return types.NewArray(types.Of(types.Text), items).Datum(), nil
}

func arrayContains(a, b types.Datum, all bool) (types.Datum, error) {
	x, err := types.ArrayDatum(a)
	if err != nil {
		return types.Datum{}, err
	}
	y, err := types.ArrayDatum(b)
	if err != nil {
		return types.Datum{}, err
	}
	have := make(map[string]bool, len(x.Items))
	for _, it := range x.Items {
		if !it.Null {
			have[string(types.AppendDatumKey(nil, it))] = true
		}
	}
	for _, it := range y.Items {
		found := !it.Null && have[string(types.AppendDatumKey(nil, it))]
		if found != all {
			return boolean(!all)
		}
	}
	return boolean(all)
}

func arrayOperators() []overload {
	return []overload{
		fn("@>(anyarray,anyarray) bool", "contains", func(_ *Context, d []types.Datum) (types.Datum, error) {
			return arrayContains(d[0], d[1], true)
		}),
		fn("<@(anyarray,anyarray) bool", "is contained", func(_ *Context, d []types.Datum) (types.Datum, error) {
			return arrayContains(d[1], d[0], true)
		}),
		fn("&&(anyarray,anyarray) bool", "overlaps", func(_ *Context, d []types.Datum) (types.Datum, error) {
			return arrayContains(d[0], d[1], false)
		}),
		fn("||(anycompatiblearray,anycompatiblearray) anycompatiblearray", "concatenate", arrayCat).onNull(),
		fn("||(anycompatiblearray,anycompatible) anycompatiblearray", "append", func(_ *Context, d []types.Datum) (types.Datum, error) {
			return appendElement(d[0], d[1], false)
		}).onNull(),
		fn("||(anycompatible,anycompatiblearray) anycompatiblearray", "prepend", func(_ *Context, d []types.Datum) (types.Datum, error) {
			return appendElement(d[1], d[0], true)
		}).onNull(),
	}
}
