package expr

import (
	"slices"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// SliceBound is one [lo:hi] of a slice; a bound that is nil is the array's.
type SliceBound struct{ Lo, Hi Expr }

// NewSlice is array[lo:hi][lo:hi]….
func NewSlice(array Expr, bounds []SliceBound) (Expr, error) {
	t := array.Type()
	if !t.OID.IsArray() {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", t)
	}
	args := []Expr{array}
	for _, b := range bounds {
		for i, e := range []Expr{b.Lo, b.Hi} {
			if e == nil {
				e = &Const{Datum: types.IntDatum(types.Int4, []int64{-1 << 31, 1<<31 - 1}[i])}
			}
			c, err := Cast(e, types.Of(types.Int4), Assignment)
			if err != nil {
				return nil, sqlerr.New(sqlerr.DatatypeMismatch, "array subscript must have type integer")
			}
			args = append(args, c)
		}
	}
	return strictRow("SLICE", args, t, func(_ *Context, d []types.Datum) (types.Datum, error) {
		a, err := types.ArrayDatum(d[0])
		if err != nil {
			return d[0], err
		}
		return arrayResult(t, sliceArray(a, d[1:])), nil
	}), nil
}

// sliceArray cuts an array to bounds, two for each of its first dimensions; it is
// empty where there are too many of them or nothing is within.
func sliceArray(a types.Array, bounds []types.Datum) types.Array {
	n := len(bounds) / 2
	if n > len(a.Dims) {
		return types.Array{Elem: a.Elem}
	}
	out := types.Array{Elem: a.Elem}
	from := make([]int, len(a.Dims))
	for k, size := range a.Dims {
		lo, hi := a.Lower[k], a.Lower[k]+size-1
		if k < n {
			lo, hi = max(lo, int(bounds[2*k].Int)), min(hi, int(bounds[2*k+1].Int))
		}
		if lo > hi {
			return types.Array{Elem: a.Elem}
		}
		from[k] = lo - a.Lower[k]
		out.Dims, out.Lower = append(out.Dims, hi-lo+1), append(out.Lower, 1)
	}
	eachPlace(out.Dims, func(at []int) {
		place := 0
		for k, i := range at {
			place = place*a.Dims[k] + from[k] + i
		}
		out.Items = append(out.Items, a.Items[place])
	})
	return out
}

// eachPlace calls fn for all places of dimensions, the last the fastest.
func eachPlace(dims []int, fn func(at []int)) {
	at := make([]int, len(dims))
	for {
		fn(at)
		k := len(dims) - 1
		for ; k >= 0; k-- {
			if at[k]++; at[k] < dims[k] {
				break
			}
			at[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

func moreArrayFunctions() []overload {
	return []overload{
		fn("array_replace(anycompatiblearray,anycompatible,anycompatible) anycompatiblearray", "with equal elements replaced", arrayReplace).onNull(),
		fn("array_fill(anyelement,_int4) anyarray", "array of one value", arrayFill).onNull(),
		fn("array_fill(anyelement,_int4,_int4) anyarray", "array of one value", arrayFill).onNull(),
		fn("trim_array(anyarray,int4) anyarray", "without the last elements", arrayRow(func(a types.Array, rest []types.Datum) (types.Datum, error) {
			n, size := rest[0].Int, 0
			if len(a.Dims) > 0 {
				size = a.Dims[0]
			}
			if n < 0 || n > int64(size) {
				return types.Datum{}, sqlerr.New(sqlerr.Code("2202E"), "number of elements to trim must be between 0 and %d", size)
			}
			lower := int64(1)
			if size > 0 {
				lower = int64(a.Lower[0])
			}
			end := types.IntDatum(types.Int4, lower+int64(size)-n-1)
			return arrayResult(types.Of(a.Elem.OID.ArrayOf()), sliceArray(a, []types.Datum{types.IntDatum(types.Int4, lower), end})), nil
		})),
		fn("array_position(anycompatiblearray,anycompatible,int4) int4", "index of an element", arrayPositionFrom).onNull(),
		fn("num_nulls(...any) int4", "number of arguments that are NULL", countNulls(true)).onNull(),
		fn("num_nonnulls(...any) int4", "number of arguments that are not NULL", countNulls(false)).onNull(),
		fn("width_bucket(anycompatible,anycompatiblearray) int4", "bucket number of operand among bounds", bucketOf),
	}
}

func countNulls(null bool) rowFunc {
	return func(_ *Context, d []types.Datum) (types.Datum, error) {
		n := 0
		for _, x := range d {
			n += b2i(x.Null == null)
		}
		return int4(n)
	}
}

func arrayReplace(_ *Context, d []types.Datum) (types.Datum, error) {
	if d[0].Null {
		return d[0], nil
	}
	a, err := types.ArrayDatum(d[0])
	if err != nil {
		return d[0], err
	}
	a.Items = slices.Clone(a.Items)
	for i, it := range a.Items {
		if it.Null && d[1].Null || !it.Null && !d[1].Null && types.Compare(it, d[1]) == 0 {
			a.Items[i] = d[2]
		}
	}
	return arrayResult(d[0].Type, a), nil
}

// maxFill is how many elements array_fill makes at most.
const maxFill = 1 << 24

func arrayFill(_ *Context, d []types.Datum) (types.Datum, error) {
	for _, x := range d[1:] {
		if x.Null {
			return types.Datum{}, sqlerr.New(sqlerr.NullValueNotAllowed, "dimension array or low bound array cannot be null")
		}
	}
	dims, err := types.ArrayDatum(d[1])
	if err != nil {
		return types.Datum{}, err
	}
	out := types.Array{Elem: d[0].Type}
	total := int64(1)
	for _, x := range dims.Items {
		if x.Null {
			return types.Datum{}, sqlerr.New(sqlerr.NullValueNotAllowed, "dimension values cannot be null")
		}
		if total *= x.Int; total < 0 || total > maxFill || x.Int > maxFill || len(dims.Items) > types.MaxArrayDims {
			return types.Datum{}, sqlerr.New(sqlerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxFill)
		}
		out.Dims, out.Lower = append(out.Dims, int(x.Int)), append(out.Lower, 1)
	}
	result := types.Of(d[0].Type.OID.ArrayOf())
	if total == 0 || len(dims.Items) == 0 {
		return arrayResult(result, types.Array{Elem: d[0].Type}), nil
	}
	if len(d) > 2 {
		lower, err := types.ArrayDatum(d[2])
		if err != nil {
			return types.Datum{}, err
		}
		if len(lower.Items) != len(dims.Items) {
			return types.Datum{}, sqlerr.New(sqlerr.Code("2202E"), "wrong number of array subscripts").
				WithDetail("Low bound array has different size than dimensions array.")
		}
		for i, x := range lower.Items {
			if x.Null {
				return types.Datum{}, sqlerr.New(sqlerr.NullValueNotAllowed, "dimension values cannot be null")
			}
			out.Lower[i] = int(x.Int)
		}
	}
	if int64(len(d[0].Bytes))*total > maxText {
		return types.Datum{}, tooLong()
	}
	out.Items = slices.Repeat([]types.Datum{d[0]}, int(total))
	return arrayResult(result, out), nil
}

func arrayPositionFrom(_ *Context, d []types.Datum) (types.Datum, error) {
	if d[2].Null {
		return types.Datum{}, sqlerr.New(sqlerr.NullValueNotAllowed, "initial position must not be null")
	}
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
		same := it.Null && d[1].Null || !it.Null && !d[1].Null && types.Compare(it, d[1]) == 0
		if at := i + a.Lower[0]; int64(at) >= d[2].Int && same {
			return int4(at)
		}
	}
	return null, nil
}

// bucketOf counts the lower bounds that are not above a value; they are sorted.
func bucketOf(_ *Context, d []types.Datum) (types.Datum, error) {
	a, err := types.ArrayDatum(d[1])
	if err != nil {
		return types.Datum{}, err
	}
	if len(a.Dims) > 1 {
		return types.Datum{}, sqlerr.New(sqlerr.Code("2202E"), "thresholds must be one-dimensional array")
	}
	if slices.ContainsFunc(a.Items, func(x types.Datum) bool { return x.Null }) {
		return types.Datum{}, sqlerr.New(sqlerr.NullValueNotAllowed, "thresholds array must not contain NULLs")
	}
	n, exact := slices.BinarySearchFunc(a.Items, d[0], types.Compare)
	for exact && n < len(a.Items) && types.Compare(a.Items[n], d[0]) == 0 {
		n++
	}
	return int4(n)
}
