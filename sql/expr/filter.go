package expr

import (
	"bytes"

	"github.com/tallydb/tallydb/sql/types"
)

// FilterSel returns the rows of in for which e is true, appended to sel[:0].
func FilterSel(ec *Context, e Expr, in *types.Batch, sel []int32) ([]int32, error) {
	return NewFilter(e).Select(ec, in, sel)
}

// Filter is a condition that is asked of batch after batch, in one statement. It is
// used by one goroutine.
type Filter struct{ conjuncts []*conjunct }

// NewFilter prepares a condition.
func NewFilter(e Expr) *Filter {
	f := &Filter{}
	for _, c := range Conjuncts(e) {
		f.conjuncts = append(f.conjuncts, newConjunct(c))
	}
	return f
}

// conjunct is one of several conditions that all must hold.
type conjunct struct {
	cond Expr
	any  []*Filter // where cond is a disjunction
	// column is the only column that cond reads, if it is one of texts and cond says
	// the same of equal values; else -1.
	column int
	dict   *types.Dict // for which admitted was computed
	// admitted are the codes of dict for which cond is true, and at the end whether
	// that is true of NULL; nil where cond fails for some, so that it must be asked of
	// the rows alone.
	admitted []bool
}

func newConjunct(e Expr) *conjunct {
	c := &conjunct{cond: e, column: onlyText(e)}
	if l, ok := e.(*logicExpr); ok && l.or && c.column < 0 {
		for _, a := range l.args {
			c.any = append(c.any, NewFilter(a))
		}
	}
	return c
}

// onlyText returns the column that e reads if that is one, of texts; else -1.
func onlyText(e Expr) int {
	if e.Volatility() == Volatile {
		return -1
	}
	found := -1
	Walk(e, func(x Expr) bool {
		if c, ok := x.(*Column); ok {
			switch {
			case found == -2:
			case !types.DictType(c.Typ) || found >= 0 && found != c.Index:
				found = -2
			default:
				found = c.Index
			}
		}
		return true
	})
	return max(found, -1)
}

// Select returns the rows of in for which the condition is true, appended to sel[:0].
// Conjuncts narrow the selection one after the other. What depends on one text with a
// dictionary is asked of that alone; comparisons of a column with a constant run
// without intermediate columns.
func (f *Filter) Select(ec *Context, in *types.Batch, sel []int32) ([]int32, error) {
	if cap(sel) < in.Rows {
		sel = make([]int32, in.Rows)
	}
	sel = sel[:in.Rows]
	for i := range sel {
		sel[i] = int32(i)
	}
	return f.narrow(ec, in, sel)
}

// narrow keeps the rows of sel for which the condition is true.
func (f *Filter) narrow(ec *Context, in *types.Batch, sel []int32) ([]int32, error) {
	var err error
	for _, c := range f.conjuncts {
		if len(sel) == 0 {
			break
		}
		if sel, err = c.narrow(ec, in, sel); err != nil {
			return nil, err
		}
	}
	return sel, nil
}

func (c *conjunct) narrow(ec *Context, in *types.Batch, sel []int32) ([]int32, error) {
	if len(c.any) > 0 {
		return c.narrowAny(ec, in, sel)
	}
	if narrowed, ok := c.byDict(ec, in, sel); ok {
		return narrowed, nil
	}
	if narrowed, ok := filterCompare(c.cond, in, sel); ok {
		return narrowed, nil
	}
	v, err := evalSubset(ec, c.cond, in, sel)
	if err != nil {
		return nil, err
	}
	kept := sel[:0]
	for j, i := range sel {
		if v.Ints[j] == 1 && !v.Nulls.Has(j) {
			kept = append(kept, i)
		}
	}
	return kept, nil
}

// narrowAny keeps the rows for which a disjunct is true. As OR does, it asks those
// that follow only where those before are not.
func (c *conjunct) narrowAny(ec *Context, in *types.Batch, sel []int32) ([]int32, error) {
	yes := make([]bool, in.Rows)
	left := append([]int32(nil), sel...)
	for _, d := range c.any {
		found, err := d.narrow(ec, in, append([]int32(nil), left...))
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			yes[i] = true
		}
		n := 0
		for _, i := range left {
			left[n] = i
			n += b2i(!yes[i])
		}
		left = left[:n]
	}
	n := 0
	for _, i := range sel {
		sel[n] = i
		n += b2i(yes[i])
	}
	return sel[:n], nil
}

// byDict narrows a selection by the codes of a dictionary; ok is false where that
// cannot be.
func (c *conjunct) byDict(ec *Context, in *types.Batch, sel []int32) (kept []int32, ok bool) {
	if c.column < 0 || in.Cols[c.column].Dict == nil {
		return nil, false
	}
	v := in.Cols[c.column]
	if c.dict != v.Dict {
		c.dict, c.admitted = v.Dict, nil
		values := &types.Batch{Rows: v.Dict.Len() + 1, Cols: make([]*types.Vector, len(in.Cols))}
		values.Cols[c.column] = types.NewVector(v.Type, values.Rows)
		values.Cols[c.column].AppendAll(v.Dict.Values())
		values.Cols[c.column].AppendNull()
		if r, err := c.cond.Eval(ec, values); err == nil {
			c.admitted = make([]bool, values.Rows)
			for i := range c.admitted {
				c.admitted[i] = r.Ints[i] == 1 && !r.Nulls.Has(i)
			}
		}
	}
	if c.admitted == nil {
		return nil, false
	}
	n := 0
	if len(v.Nulls) == 0 {
		for _, i := range sel {
			sel[n] = i
			n += b2i(c.admitted[v.Codes[i]])
		}
		return sel[:n], true
	}
	for _, i := range sel {
		code := int(v.Codes[i])
		if v.Nulls.Has(int(i)) {
			code = len(c.admitted) - 1
		}
		sel[n] = i
		n += b2i(c.admitted[code])
	}
	return sel[:n], true
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
	v := in.Cols[col.Index].Flat()
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
	return withoutNulls(v, sel), true
}

func withoutNulls(v *types.Vector, sel []int32) []int32 {
	if len(v.Nulls) == 0 {
		return sel
	}
	kept := sel[:0]
	for _, i := range sel {
		if !v.Nulls.Has(int(i)) {
			kept = append(kept, i)
		}
	}
	return kept
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
