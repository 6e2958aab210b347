package expr

import (
	"bytes"

	"github.com/tallydb/tallydb/sql/types"
)

// FilterSel returns the rows of in for which e is true, appended to sel[:0].
// Conjuncts narrow the selection one after the other; comparisons of a column
// with a constant run without intermediate columns.
func FilterSel(ec *Context, e Expr, in *types.Batch, sel []int32) ([]int32, error) {
	sel = sel[:0]
	for i := range in.Rows {
		sel = append(sel, int32(i))
	}
	for _, c := range Conjuncts(e) {
		if len(sel) == 0 {
			return sel, nil
		}
		if narrowed, ok := filterCompare(c, in, sel); ok {
			sel = narrowed
			continue
		}
		v, err := evalSubset(ec, c, in, sel)
		if err != nil {
			return nil, err
		}
		kept := sel[:0]
		for j, i := range sel {
			if v.Ints[j] == 1 && !v.Nulls.Has(j) {
				kept = append(kept, i)
			}
		}
		sel = kept
	}
	return sel, nil
}

// filterCompare handles column op constant; ok is false for anything else.
func filterCompare(e Expr, in *types.Batch, sel []int32) ([]int32, bool) {
	c, ok := e.(*call)
	if !ok || !c.op || len(c.args) != 2 {
		return nil, false
	}
	op := compareOpOf(c.fn.name)
	col, isCol := c.args[0].(*Column)
	k, isConst := c.args[1].(*Const)
	if op == 0 || !isCol || !isConst || c.fn.vec == nil {
		return nil, false
	}
	if k.Datum.Null {
		return sel[:0], true
	}
	v := in.Cols[col.Index]
	switch v.Type.Kind() {
	case types.KindInt:
		sel = filterOrdered(v.Ints, k.Datum.Int, op, sel)
	case types.KindFloat:
		if k.Datum.Float != k.Datum.Float {
			return nil, false
		}
		sel = filterFloat(v.Floats, k.Datum.Float, op, sel)
	default:
		if !bytewise(c.fn.args[0]) {
			return nil, false
		}
		sel = filterBytes(v, k.Datum.Bytes, op, sel)
	}
	if len(v.Nulls) == 0 {
		return sel, true
	}
	kept := sel[:0]
	for _, i := range sel {
		if !v.Nulls.Has(int(i)) {
			kept = append(kept, i)
		}
	}
	return kept, true
}

func filterOrdered(x []int64, k int64, op compareOp, sel []int32) []int32 {
	n := 0
	switch op {
	case opEq:
		for _, i := range sel {
			sel[n] = i
			n += b2i(x[i] == k)
		}
	case opNe:
		for _, i := range sel {
			sel[n] = i
			n += b2i(x[i] != k)
		}
	case opLt:
		for _, i := range sel {
			sel[n] = i
			n += b2i(x[i] < k)
		}
	case opLe:
		for _, i := range sel {
			sel[n] = i
			n += b2i(x[i] <= k)
		}
	case opGt:
		for _, i := range sel {
			sel[n] = i
			n += b2i(x[i] > k)
		}
	default:
		for _, i := range sel {
			sel[n] = i
			n += b2i(x[i] >= k)
		}
	}
	return sel[:n]
}

// filterFloat relies on k not being NaN: a NaN in x is above it.
func filterFloat(x []float64, k float64, op compareOp, sel []int32) []int32 {
	n := 0
	for _, i := range sel {
		sel[n] = i
		f := x[i]
		var yes bool
		switch op {
		case opEq:
			yes = f == k
		case opNe:
			yes = f != k
		case opLt:
			yes = f < k
		case opLe:
			yes = f <= k
		case opGt:
			yes = !(f <= k)
		default:
			yes = !(f < k)
		}
		n += b2i(yes)
	}
	return sel[:n]
}

func filterBytes(v *types.Vector, k []byte, op compareOp, sel []int32) []int32 {
	n := 0
	for _, i := range sel {
		sel[n] = i
		b := v.Data[v.Offsets[i]:v.Offsets[i+1]]
		if op == opEq {
			n += b2i(len(b) == len(k) && bytes.Equal(b, k))
		} else {
			n += b2i(op.holds(bytes.Compare(b, k)))
		}
	}
	return sel[:n]
}

// b2i is compiled to a flag move.
func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
