package bind

import (
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// interval are the bounds of an approximate expression (L-8). Both are NULL
// constants where nothing is known. state is set only for an unmodified
// approximate value, with what made it.
type interval struct {
	lo, hi expr.Expr
	state  expr.Expr
	bound  *agg.Bound
}

// unbounded notes that e is approximate and nothing is known of its error.
func (b *binder) unbounded(e expr.Expr) {
	null := expr.NewConst(types.NullOf(e.Type()))
	b.bounds[e] = interval{lo: null, hi: null}
}

// noBounds is what is left of an approximate column that was merged or cast.
func noBounds(of ...*approx) *approx {
	for _, a := range of {
		if a != nil {
			return &approx{lo: -1, hi: -1, state: -1, name: a.name}
		}
	}
	return nil
}

// boundUnary derives the bounds of -x.
func (b *binder) boundUnary(op string, e, arg expr.Expr) error {
	in, ok := b.bounds[arg]
	if !ok || op != "-" && op != "+" {
		return nil
	}
	if op == "-" {
		in.lo, in.hi = in.hi, in.lo
	}
	lo, err := expr.NewOperator(op, nil, in.lo)
	if err != nil {
		return err
	}
	hi, err := expr.NewOperator(op, nil, in.hi)
	if err != nil {
		return err
	}
	b.bounds[e] = interval{lo: lo, hi: hi}
	return nil
}

// boundBinary derives the bounds of a sum, a difference, or a product with a constant.
func (b *binder) boundBinary(op string, e, l, r expr.Expr) error {
	li, lok := b.intervalOf(l)
	ri, rok := b.intervalOf(r)
	if _, known := b.bounds[l]; !known {
		if _, known = b.bounds[r]; !known {
			return nil
		}
	}
	if !lok || !rok {
		return nil
	}
	switch op {
	case "+":
	case "-":
		ri.lo, ri.hi = ri.hi, ri.lo
	case "*":
		s, ok := sign(r)
		if !ok {
			if s, ok = sign(l); !ok {
				return nil
			}
			li, ri = ri, li
		}
		if s < 0 {
			li.lo, li.hi = li.hi, li.lo
		}
	default:
		return nil
	}
	lo, err := expr.NewOperator(op, li.lo, ri.lo)
	if err != nil {
		return err
	}
	hi, err := expr.NewOperator(op, li.hi, ri.hi)
	if err != nil {
		return err
	}
	b.bounds[e] = interval{lo: lo, hi: hi}
	return nil
}

// boundCast passes bounds through a cast between numbers, which is monotone.
func (b *binder) boundCast(e, arg expr.Expr) error {
	in, ok := b.bounds[arg]
	if !ok || e == arg || arg.Type().OID.Category() != 'N' || e.Type().OID.Category() != 'N' {
		return nil
	}
	lo, err := expr.Cast(in.lo, e.Type(), expr.Explicit)
	if err != nil {
		return err
	}
	hi, err := expr.Cast(in.hi, e.Type(), expr.Explicit)
	if err != nil {
		return err
	}
	b.bounds[e] = interval{lo: lo, hi: hi}
	return nil
}

// intervalOf returns the bounds of an operand: its own for exact ones, nothing
// where it reads an approximate value in a way that has none.
func (b *binder) intervalOf(e expr.Expr) (interval, bool) {
	if in, ok := b.bounds[e]; ok {
		return in, true
	}
	if b.readsApproximate(e) {
		return interval{}, false
	}
	return interval{lo: e, hi: e}, true
}

// readsApproximate reports whether a value with bounds is below e.
func (b *binder) readsApproximate(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		_, ok := b.bounds[x]
		found = found || ok
		return !found
	})
	return found
}

// sign returns the sign of a numeric constant.
func sign(e expr.Expr) (int, bool) {
	c, ok := expr.Fold(e, &expr.Context{}).(*expr.Const)
	if !ok || c.Datum.Null {
		return 0, false
	}
	d := c.Datum
	switch {
	case d.Type.OID == types.Numeric:
		return types.DecodeDecimal(d.Bytes).Sign(), true
	case d.Type.Kind() == types.KindFloat:
		return compare(d.Float), true
	case d.Type.OID.Category() == 'N':
		return compare(float64(d.Int)), true
	}
	return 0, false
}

func compare(f float64) int {
	switch {
	case f < 0:
		return -1
	case f > 0:
		return 1
	}
	return 0
}

// outputBounds returns the bounds to hand on with an output column: nothing for
// exact values, NULLs where the value is approximate and its error unknown.
func (b *binder) outputBounds(e expr.Expr) (interval, bool) {
	if in, ok := b.bounds[e]; ok {
		return in, true
	}
	if !b.readsApproximate(e) {
		return interval{}, false
	}
	null := &expr.Const{Datum: types.NullOf(e.Type())}
	return interval{lo: null, hi: null}, true
}
