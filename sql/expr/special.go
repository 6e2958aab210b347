package expr

import (
	"fmt"

	"github.com/tallydb/tallydb/sql/types"
)

// rowwise is an expression that a function of whole rows computes; NULLs reach it.
type rowwise struct {
	name string
	args []Expr
	typ  types.Type
	text func(args []Expr) string
	row  rowFunc
}

// Type implements Expr.
func (r *rowwise) Type() types.Type { return r.typ }

// Children implements Expr.
func (r *rowwise) Children() []Expr { return r.args }

// WithChildren implements Expr.
func (r *rowwise) WithChildren(ch []Expr) Expr {
	n := *r
	n.args = ch
	return &n
}

// Volatility implements Expr.
func (r *rowwise) Volatility() Volatility { return maxVolatility(Immutable, r.args) }

// String implements Expr.
func (r *rowwise) String() string {
	if r.text != nil {
		return r.text(r.args)
	}
	return r.name + "(" + joinExprs(r.args) + ")"
}

// Eval implements Expr.
func (r *rowwise) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	if ec == nil {
		ec = emptyContext
	}
	args, err := evalArgs(ec, r.args, in)
	if err != nil {
		return nil, err
	}
	out := types.NewVector(r.typ, in.Rows)
	row := make([]types.Datum, len(args))
	for i := range in.Rows {
		for k, a := range args {
			row[k] = a.v.Datum(i & a.mask)
		}
		d, err := r.row(ec, row)
		if err != nil {
			return nil, &RowError{Row: i, Err: err}
		}
		if err := appendDatum(out, d, in.Rows); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// NewIsDistinct is a IS [NOT] DISTINCT FROM b.
func NewIsDistinct(a, b Expr, not bool) (Expr, error) {
	eq, err := NewOperator("=", a, b)
	if err != nil {
		return nil, err
	}
	c := eq.(*call)
	word := " IS DISTINCT FROM "
	if not {
		word = " IS NOT DISTINCT FROM "
	}
	return &rowwise{
		args: c.args, typ: boolType,
		text: func(args []Expr) string { return "(" + args[0].String() + word + args[1].String() + ")" },
		row: func(ec *Context, d []types.Datum) (types.Datum, error) {
			if d[0].Null || d[1].Null {
				return types.BoolDatum((d[0].Null != d[1].Null) != not), nil
			}
			r, err := c.fn.row(ec, d)
			return types.BoolDatum((r.Int == 0) != not), err
		},
	}, nil
}

// NewNullIf is NULLIF.
func NewNullIf(a, b Expr) (Expr, error) {
	eq, err := NewOperator("=", a, b)
	if err != nil {
		return nil, err
	}
	c := eq.(*call)
	switch promoted := c.args[0].Type().OID; {
	case a.Type().OID == types.Unknown, promoted == types.Numeric, promoted == types.Float8 && a.Type().OID != types.Float4:
		// An untyped literal has the type that it is compared as, and so has a number
		// that has no operator of its own with the other's type.
		a = c.args[0]
	}
	if a, err = ResolveUnknown(a); err != nil {
		return nil, err
	}
	return &rowwise{
		name: "NULLIF", args: []Expr{a, c.args[0], c.args[1]}, typ: a.Type(),
		row: func(ec *Context, d []types.Datum) (types.Datum, error) {
			if d[1].Null || d[2].Null {
				return d[0], nil
			}
			r, err := c.fn.row(ec, d[1:])
			if r.Int == 1 {
				return types.NullOf(d[0].Type), err
			}
			return d[0], err
		},
	}, nil
}

func newExtreme(name string, args []Expr, sign int) (Expr, error) {
	out, t, err := unify(name, args)
	if err != nil {
		return nil, err
	}
	if _, err := NewOperator("<", &Column{Typ: t}, &Column{Typ: t}); err != nil {
		return nil, err
	}
	return &rowwise{name: name, args: out, typ: t, row: func(_ *Context, d []types.Datum) (types.Datum, error) {
		best := types.NullOf(t)
		for _, x := range d {
			if !x.Null && (best.Null || types.Compare(x, best)*sign > 0) {
				best = x
			}
		}
		return best, nil
	}}, nil
}

// NewGreatest is GREATEST.
func NewGreatest(args ...Expr) (Expr, error) { return newExtreme("GREATEST", args, 1) }

// NewLeast is LEAST.
func NewLeast(args ...Expr) (Expr, error) { return newExtreme("LEAST", args, -1) }

// NewBetween is x [NOT] BETWEEN [SYMMETRIC] lo AND hi.
func NewBetween(x, lo, hi Expr, symmetric, not bool) (Expr, error) {
	within := func(lo, hi Expr) (Expr, error) {
		a, err := NewOperator(">=", x, lo)
		if err != nil {
			return nil, err
		}
		b, err := NewOperator("<=", x, hi)
		if err != nil {
			return nil, err
		}
		return NewAnd(a, b)
	}
	e, err := within(lo, hi)
	if err == nil && symmetric {
		var back Expr
		if back, err = within(hi, lo); err == nil {
			e, err = NewOr(e, back)
		}
	}
	if err != nil || !not {
		return e, err
	}
	return NewNot(e)
}

// NewRow is ROW(...), of type record; names are those of its fields, if it has any.
func NewRow(fields []Expr, names []string) (Expr, error) {
	args := make([]Expr, len(fields))
	for i, f := range fields {
		var err error
		if args[i], err = ResolveUnknown(f); err != nil {
			return nil, err
		}
	}
	return &rowwise{name: "ROW", args: args, typ: types.Of(types.Record), row: func(_ *Context, d []types.Datum) (types.Datum, error) {
		out := make([]types.Field, len(d))
		for i, x := range d {
			out[i].Value = x
			if names != nil {
				out[i].Name = names[i]
			}
		}
		return types.NewRecord(out), nil
	}}, nil
}

// NewField is field i of a record, which has this type.
func NewField(record Expr, i int, t types.Type) Expr {
	return &rowwise{
		name: "field", args: []Expr{record}, typ: t,
		text: func(args []Expr) string { return fmt.Sprintf("(%s).f%d", args[0], i+1) },
		row: func(_ *Context, d []types.Datum) (types.Datum, error) {
			if d[0].Null {
				return types.NullOf(t), nil
			}
			fields, err := types.RecordFields(d[0])
			if err != nil {
				return types.Datum{}, err
			}
			v := fields[i].Value
			v.Type = t
			return v, nil
		},
	}
}
