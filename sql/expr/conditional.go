package expr

import (
	"strings"

	"github.com/tallydb/tallydb/sql/types"
)

// When is one arm of a CASE.
type When struct{ Cond, Result Expr }

// caseExpr holds cond, result, cond, result, …, else.
type caseExpr struct {
	parts []Expr
	typ   types.Type
}

// NewCase builds CASE; operand is nil in the searched form, otherwise it is
// compared with each Cond; otherwise may be nil.
func NewCase(operand Expr, whens []When, otherwise Expr) (Expr, error) {
	if otherwise == nil {
		otherwise = NewNull()
	}
	if operand != nil {
		var err error
		if operand, err = ResolveUnknown(operand); err != nil {
			return nil, err
		}
	}
	results := []Expr{otherwise}
	conds := make([]Expr, len(whens))
	for i, w := range whens {
		var err error
		if operand != nil {
			conds[i], err = NewOperator("=", operand, w.Cond)
		} else {
			conds[i], err = toBool(w.Cond, "CASE/WHEN")
		}
		if err != nil {
			return nil, err
		}
		results = append(results, w.Result)
	}
	results, t, err := unify("CASE", results)
	if err != nil {
		return nil, err
	}
	c := &caseExpr{typ: t}
	for i := range conds {
		c.parts = append(c.parts, conds[i], results[i+1])
	}
	c.parts = append(c.parts, results[0])
	return c, nil
}

// Type implements Expr.
func (c *caseExpr) Type() types.Type { return c.typ }

// Children implements Expr.
func (c *caseExpr) Children() []Expr { return c.parts }

// WithChildren implements Expr.
func (c *caseExpr) WithChildren(ch []Expr) Expr { return &caseExpr{ch, c.typ} }

// Volatility implements Expr.
func (c *caseExpr) Volatility() Volatility { return maxVolatility(Immutable, c.parts) }

// String implements Expr.
func (c *caseExpr) String() string {
	var b strings.Builder
	b.WriteString("CASE")
	for i := 0; i+1 < len(c.parts); i += 2 {
		b.WriteString(" WHEN " + c.parts[i].String() + " THEN " + c.parts[i+1].String())
	}
	b.WriteString(" ELSE " + c.parts[len(c.parts)-1].String() + " END")
	return b.String()
}

// Eval implements Expr. Each part sees only the rows that reach it.
func (c *caseExpr) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	out := newScatter(in.Rows)
	sel := allRows(in.Rows)
	for i := 0; i+1 < len(c.parts) && len(sel) > 0; i += 2 {
		v, err := evalSubset(ec, c.parts[i], in, sel)
		if err != nil {
			return nil, err
		}
		var yes, no []int32
		for j, row := range sel {
			if !v.Nulls.Has(j) && v.Ints[j] == 1 {
				yes = append(yes, row)
			} else {
				no = append(no, row)
			}
		}
		if len(yes) > 0 {
			r, err := evalSubset(ec, c.parts[i+1], in, yes)
			if err != nil {
				return nil, err
			}
			out.add(r, yes)
		}
		sel = no
	}
	if len(sel) > 0 {
		r, err := evalSubset(ec, c.parts[len(c.parts)-1], in, sel)
		if err != nil {
			return nil, err
		}
		out.add(r, sel)
	}
	return out.vector(c.typ)
}

type coalesceExpr struct {
	args []Expr
	typ  types.Type
}

// NewCoalesce is COALESCE.
func NewCoalesce(args ...Expr) (Expr, error) {
	out, t, err := unify("COALESCE", args)
	if err != nil {
		return nil, err
	}
	return &coalesceExpr{out, t}, nil
}

// Type implements Expr.
func (c *coalesceExpr) Type() types.Type { return c.typ }

// Children implements Expr.
func (c *coalesceExpr) Children() []Expr { return c.args }

// WithChildren implements Expr.
func (c *coalesceExpr) WithChildren(ch []Expr) Expr { return &coalesceExpr{ch, c.typ} }

// Volatility implements Expr.
func (c *coalesceExpr) Volatility() Volatility { return maxVolatility(Immutable, c.args) }

// String implements Expr.
func (c *coalesceExpr) String() string { return "COALESCE(" + joinExprs(c.args) + ")" }

// Eval implements Expr.
func (c *coalesceExpr) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	out := newScatter(in.Rows)
	sel := allRows(in.Rows)
	for k, a := range c.args {
		if len(sel) == 0 {
			break
		}
		v, err := evalSubset(ec, a, in, sel)
		if err != nil {
			return nil, err
		}
		if k == 0 && !v.Nulls.Any() {
			return v, nil
		}
		out.add(v, sel)
		var rest []int32
		for j, row := range sel {
			if v.Nulls.Has(j) {
				rest = append(rest, row)
			}
		}
		sel = rest
	}
	return out.vector(c.typ)
}
