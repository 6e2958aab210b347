package expr

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/sql/types"
)

// call is a resolved function or operator.
type call struct {
	fn   *overload
	args []Expr
	typ  types.Type
	op   bool
}

// Type implements Expr.
func (c *call) Type() types.Type { return c.typ }

// Children implements Expr.
func (c *call) Children() []Expr { return c.args }

// WithChildren implements Expr.
func (c *call) WithChildren(children []Expr) Expr {
	n := *c
	n.args = children
	return &n
}

// Volatility implements Expr.
func (c *call) Volatility() Volatility { return maxVolatility(c.fn.vol, c.args) }

func maxVolatility(v Volatility, args []Expr) Volatility {
	for _, a := range args {
		v = max(v, a.Volatility())
	}
	return v
}

// String implements Expr.
func (c *call) String() string {
	if c.op {
		if len(c.args) == 1 {
			return "(" + c.fn.name + " " + c.args[0].String() + ")"
		}
		return "(" + c.args[0].String() + " " + c.fn.name + " " + c.args[1].String() + ")"
	}
	return c.fn.name + "(" + joinExprs(c.args) + ")"
}

func joinExprs(args []Expr) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.String()
	}
	return strings.Join(parts, ", ")
}

// Eval implements Expr.
func (c *call) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	if ec == nil {
		ec = emptyContext
	}
	if c.isNull() {
		return repeated(types.NullOf(c.typ), in.Rows)
	}
	args, err := evalArgs(ec, c.args, in)
	if err != nil {
		return nil, err
	}
	if c.fn.vec != nil {
		return runKernel(c.fn.vec, c.typ, args, in.Rows)
	}
	if c.fn.prepare != nil {
		if k := c.fn.prepare(ec, args); k != nil {
			return runKernel(k, c.typ, args, in.Rows)
		}
	}
	return c.evalRows(ec, args, in.Rows)
}

// isNull reports whether the value is NULL because a constant argument is: the others
// are not evaluated then, and so cannot fail.
func (c *call) isNull() bool {
	return !c.fn.nulls && slices.ContainsFunc(c.args, func(a Expr) bool {
		k, ok := a.(*Const)
		return ok && k.Datum.Null
	})
}

func evalArg(ec *Context, e Expr, in *types.Batch) (arg, error) {
	switch x := e.(type) {
	case *Const:
		return arg{types.Repeat(x.Datum, 1), 0}, nil
	case *Param:
		d, err := x.value(ec)
		if err != nil {
			return arg{}, err
		}
		return arg{types.Repeat(d, 1), 0}, nil
	}
	if c, ok := e.(*castExpr); ok && in.Rows > 0 {
		if _, ok := c.arg.(*Const); ok { // one conversion, not one per row
			v, err := c.Eval(ec, oneRow)
			return arg{v, 0}, err
		}
	}
	v, err := e.Eval(ec, in)
	return arg{v, -1}, err
}

func evalArgs(ec *Context, exprs []Expr, in *types.Batch) ([]arg, error) {
	args := make([]arg, len(exprs))
	for i, e := range exprs {
		var err error
		if args[i], err = evalArg(ec, e, in); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// runKernel prepares the output of a strict kernel: NULL where any operand is.
func runKernel(k kernel, t types.Type, args []arg, n int) (*types.Vector, error) {
	out := types.NewVector(t, n)
	if !mergeNulls(out, args) {
		for range n {
			out.AppendNull()
		}
		return out, nil
	}
	switch t.Kind() {
	case types.KindInt:
		out.Ints = out.Ints[:n]
	case types.KindFloat:
		out.Floats = out.Floats[:n]
	}
	if err := k(args, n, out); err != nil {
		return nil, err
	}
	clearNullRows(out, n)
	return out, nil
}

// mergeNulls unites the NULLs of the operands; false means every row is NULL.
func mergeNulls(out *types.Vector, args []arg) bool {
	for _, a := range args {
		if a.mask == 0 {
			if a.v.IsNull(0) {
				return false
			}
			continue
		}
		for w, word := range a.v.Nulls {
			if word == 0 {
				continue
			}
			for len(out.Nulls) <= w {
				out.Nulls = append(out.Nulls, 0)
			}
			out.Nulls[w] |= word
		}
	}
	return true
}

// clearNullRows restores the invariant that NULL rows hold zero.
func clearNullRows(v *types.Vector, n int) {
	for w, word := range v.Nulls {
		if word == 0 {
			continue
		}
		for i := w << 6; i < min(n, (w+1)<<6); i++ {
			if word&(1<<(i&63)) == 0 {
				continue
			}
			if v.Ints != nil {
				v.Ints[i] = 0
			} else if v.Floats != nil {
				v.Floats[i] = 0
			}
		}
	}
}

// evalRows runs a row function over all rows.
func (c *call) evalRows(ec *Context, args []arg, n int) (*types.Vector, error) {
	out := types.NewVector(c.typ, n)
	row := make([]types.Datum, len(args))
rows:
	for i := range n {
		for k, a := range args {
			row[k] = a.v.Datum(i & a.mask)
			if row[k].Null && !c.fn.nulls {
				out.AppendNull()
				continue rows
			}
		}
		d, err := c.fn.row(ec, row)
		if err != nil {
			return nil, &RowError{Row: i, Err: err}
		}
		if err := appendDatum(out, d, n); err != nil {
			return nil, err
		}
	}
	return out, nil
}
