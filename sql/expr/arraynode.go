package expr

import (
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// arrayExpr is ARRAY[...].
type arrayExpr struct {
	elems  []Expr
	typ    types.Type
	nested bool // elements are arrays of typ
}

// NewArray is ARRAY[...]; an empty list needs NewArrayOf.
func NewArray(elems []Expr) (Expr, error) {
	if len(elems) == 0 {
		return nil, sqlerr.New(sqlerr.IndeterminateDatatype, "cannot determine type of empty array").
			WithHint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
	}
	out, t, err := unify("ARRAY", elems)
	if err != nil {
		return nil, err
	}
	if t.OID.IsArray() {
		return &arrayExpr{out, t, true}, nil
	}
	if t.OID.ArrayOf() == 0 {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "could not find array type for data type %s", t)
	}
	return &arrayExpr{out, types.Of(t.OID.ArrayOf()), false}, nil
}

// NewArrayOf is ARRAY[...]::elem[].
func NewArrayOf(elem types.Type, elems []Expr) (Expr, error) {
	a := &arrayExpr{elems: elems, typ: types.Of(elem.OID.ArrayOf())}
	return a.castElements(a.typ, Explicit)
}

func (a *arrayExpr) castElements(to types.Type, ctx CastContext) (Expr, error) {
	n := &arrayExpr{elems: make([]Expr, len(a.elems)), typ: to, nested: a.nested}
	want := to.ElemType()
	if a.nested {
		want = to
	}
	for i, e := range a.elems {
		var err error
		if n.elems[i], err = Cast(e, want, ctx); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// Type implements Expr.
func (a *arrayExpr) Type() types.Type { return a.typ }

// Children implements Expr.
func (a *arrayExpr) Children() []Expr { return a.elems }

// WithChildren implements Expr.
func (a *arrayExpr) WithChildren(ch []Expr) Expr { return &arrayExpr{ch, a.typ, a.nested} }

// Volatility implements Expr.
func (a *arrayExpr) Volatility() Volatility { return maxVolatility(Immutable, a.elems) }

// String implements Expr.
func (a *arrayExpr) String() string { return "ARRAY[" + joinExprs(a.elems) + "]::" + a.typ.String() }

// Eval implements Expr.
func (a *arrayExpr) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	args, err := evalArgs(ec, a.elems, in)
	if err != nil {
		return nil, err
	}
	out := types.NewVector(a.typ, in.Rows)
	row := make([]types.Datum, len(args))
	for i := range in.Rows {
		for k, x := range args {
			row[k] = x.v.Datum(i & x.mask)
		}
		arr := types.NewArray(a.typ.ElemType(), row)
		if a.nested {
			if arr, err = stack(a.typ.ElemType(), row); err != nil {
				return nil, &RowError{Row: i, Err: err}
			}
		}
		value := arr.Append(nil)
		if err := room(out, len(value), in.Rows); err != nil {
			return nil, err
		}
		out.AppendBytes(value)
	}
	return out, nil
}

// stack makes an array of arrays of equal dimensions.
func stack(elem types.Type, rows []types.Datum) (types.Array, error) {
	out := types.Array{Elem: elem}
	mismatch := sqlerr.New("2202E", "multidimensional arrays must have array expressions with matching dimensions")
	for i, d := range rows {
		if d.Null {
			return out, mismatch
		}
		a, err := types.ArrayDatum(d)
		if err != nil {
			return out, err
		}
		if i == 0 {
			if len(a.Dims) == types.MaxArrayDims {
				return out, sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(a.Dims)+1, types.MaxArrayDims)
			}
			out.Dims = append([]int{len(rows)}, a.Dims...)
			out.Lower = append([]int{1}, a.Lower...)
		} else if !sameInts(out.Dims[1:], a.Dims) {
			return out, mismatch
		}
		out.Items = append(out.Items, a.Items...)
	}
	return out, nil
}

func sameInts(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// NewSubscript is array[i][j]…; of jsonb it is the member or element.
func NewSubscript(array Expr, index []Expr) (Expr, error) {
	if array.Type().OID == types.JSONB {
		e := array
		for _, x := range index {
			var err error
			if e, err = NewOperator("->", e, x); err != nil {
				return nil, err
			}
		}
		return e, nil
	}
	elem := array.Type().ElemType()
	if elem.OID == 0 {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", array.Type())
	}
	args := []Expr{array}
	for _, x := range index {
		c, err := Cast(x, types.Of(types.Int4), Assignment)
		if err != nil {
			return nil, sqlerr.New(sqlerr.DatatypeMismatch, "array subscript must have type integer")
		}
		args = append(args, c)
	}
	return strictRow("SUBSCRIPT", args, elem, func(_ *Context, d []types.Datum) (types.Datum, error) {
		a, err := types.ArrayDatum(d[0])
		if err != nil || len(d)-1 != len(a.Dims) {
			return types.NullOf(elem), err
		}
		at := 0
		for k, x := range d[1:] {
			i := int(x.Int) - a.Lower[k]
			if i < 0 || i >= a.Dims[k] {
				return types.NullOf(elem), nil
			}
			at = at*a.Dims[k] + i
		}
		return a.Items[at], nil
	}), nil
}
