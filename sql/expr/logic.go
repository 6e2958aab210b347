package expr

import (
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

var boolType = types.Of(types.Bool)

// toBool casts an operand that must be boolean; what names it in the error.
func toBool(e Expr, what string) (Expr, error) {
	if e.Type().OID == types.Bool {
		return e, nil
	}
	if !canCoerce(e.Type().OID, types.Bool) {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "argument of %s must be type boolean, not type %s", what, e.Type())
	}
	return Cast(e, boolType, Implicit)
}

// logicExpr is AND or OR over any number of operands.
type logicExpr struct {
	args []Expr
	or   bool
}

func newLogic(args []Expr, or bool) (Expr, error) {
	n := &logicExpr{or: or}
	for _, a := range args {
		b, err := toBool(a, n.word())
		if err != nil {
			return nil, err
		}
		if l, ok := b.(*logicExpr); ok && l.or == or {
			n.args = append(n.args, l.args...)
		} else {
			n.args = append(n.args, b)
		}
	}
	switch len(n.args) {
	case 0:
		return &Const{Datum: types.BoolDatum(!or)}, nil
	case 1:
		return n.args[0], nil
	}
	return n, nil
}

// NewAnd is the conjunction of any number of booleans.
func NewAnd(args ...Expr) (Expr, error) { return newLogic(args, false) }

// NewOr is the disjunction of any number of booleans.
func NewOr(args ...Expr) (Expr, error) { return newLogic(args, true) }

// Conjuncts returns the operands of an AND, or e alone.
func Conjuncts(e Expr) []Expr {
	if l, ok := e.(*logicExpr); ok && !l.or {
		return l.args
	}
	return []Expr{e}
}

// Disjuncts returns the operands of an OR, or e alone.
func Disjuncts(e Expr) []Expr {
	if l, ok := e.(*logicExpr); ok && l.or {
		return l.args
	}
	return []Expr{e}
}

func (l *logicExpr) word() string {
	if l.or {
		return "OR"
	}
	return "AND"
}

// Type implements Expr.
func (l *logicExpr) Type() types.Type { return boolType }

// Children implements Expr.
func (l *logicExpr) Children() []Expr { return l.args }

// WithChildren implements Expr.
func (l *logicExpr) WithChildren(ch []Expr) Expr { return &logicExpr{ch, l.or} }

// Volatility implements Expr.
func (l *logicExpr) Volatility() Volatility { return maxVolatility(Immutable, l.args) }

// String implements Expr.
func (l *logicExpr) String() string {
	parts := make([]string, len(l.args))
	for i, a := range l.args {
		parts[i] = a.String()
	}
	return "(" + strings.Join(parts, " "+l.word()+" ") + ")"
}

// Eval implements Expr. A row that one operand decides is not given to the next.
func (l *logicExpr) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	decisive := int64(0)
	if l.or {
		decisive = 1
	}
	out := types.NewVector(boolType, in.Rows)
	for range in.Rows {
		out.Ints = append(out.Ints, 1-decisive)
	}
	sel := allRows(in.Rows)
	for _, a := range l.args {
		if len(sel) == 0 {
			break
		}
		var v *types.Vector
		var err error
		whole := len(sel) == in.Rows || harmless(a)
		if whole {
			v, err = a.Eval(ec, in)
		} else {
			v, err = evalSubset(ec, a, in, sel)
		}
		if err != nil {
			return nil, err
		}
		kept := sel[:0]
		for j, i := range sel {
			row := j
			if whole {
				row = int(i)
			}
			switch {
			case v.Nulls.Has(row):
				out.Nulls.Set(int(i))
				out.Ints[i] = 0
			case v.Ints[row] == decisive:
				out.Nulls.Clear(int(i))
				out.Ints[i] = decisive
				continue
			}
			kept = append(kept, i)
		}
		sel = kept
	}
	return out, nil
}

// notExpr is NOT.
type notExpr struct{ arg Expr }

// NewNot is the negation.
func NewNot(x Expr) (Expr, error) {
	b, err := toBool(x, "NOT")
	if err != nil {
		return nil, err
	}
	return &notExpr{b}, nil
}

// Negated returns what e is the negation of.
func Negated(e Expr) (Expr, bool) {
	n, ok := e.(*notExpr)
	if !ok {
		return nil, false
	}
	return n.arg, true
}

// Type implements Expr.
func (n *notExpr) Type() types.Type { return boolType }

// Children implements Expr.
func (n *notExpr) Children() []Expr { return []Expr{n.arg} }

// WithChildren implements Expr.
func (n *notExpr) WithChildren(ch []Expr) Expr { return &notExpr{ch[0]} }

// Volatility implements Expr.
func (n *notExpr) Volatility() Volatility { return n.arg.Volatility() }

// String implements Expr.
func (n *notExpr) String() string { return "(NOT " + n.arg.String() + ")" }

// Eval implements Expr.
func (n *notExpr) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	v, err := n.arg.Eval(ec, in)
	if err != nil {
		return nil, err
	}
	return runKernel(func(args []arg, n int, out *types.Vector) error {
		for i, x := range args[0].v.Ints[:n] {
			out.Ints[i] = 1 - x
		}
		return nil
	}, boolType, []arg{{v, -1}}, in.Rows)
}

// isNullExpr is IS [NOT] NULL.
type isNullExpr struct {
	arg Expr
	not bool
}

// NewIsNull is x IS [NOT] NULL.
func NewIsNull(x Expr, not bool) (Expr, error) {
	x, err := ResolveUnknown(x)
	if err != nil {
		return nil, err
	}
	return &isNullExpr{x, not}, nil
}

// Type implements Expr.
func (n *isNullExpr) Type() types.Type { return boolType }

// Children implements Expr.
func (n *isNullExpr) Children() []Expr { return []Expr{n.arg} }

// WithChildren implements Expr.
func (n *isNullExpr) WithChildren(ch []Expr) Expr { return &isNullExpr{ch[0], n.not} }

// Volatility implements Expr.
func (n *isNullExpr) Volatility() Volatility { return n.arg.Volatility() }

// String implements Expr.
func (n *isNullExpr) String() string {
	if n.not {
		return "(" + n.arg.String() + " IS NOT NULL)"
	}
	return "(" + n.arg.String() + " IS NULL)"
}

// Eval implements Expr.
func (n *isNullExpr) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	v, err := n.arg.Eval(ec, in)
	if err != nil {
		return nil, err
	}
	out := types.NewVector(boolType, in.Rows)
	for i := range in.Rows {
		out.AppendBool(v.Nulls.Has(i) != n.not)
	}
	return out, nil
}

// BoolTestKind is the right side of IS TRUE and its kin.
type BoolTestKind uint8

// Boolean tests.
const (
	IsTrue BoolTestKind = iota
	IsFalse
	IsUnknown
)

type boolTest struct {
	arg  Expr
	kind BoolTestKind
	not  bool
}

// NewBoolTest is x IS [NOT] TRUE|FALSE|UNKNOWN.
func NewBoolTest(x Expr, kind BoolTestKind, not bool) (Expr, error) {
	b := &boolTest{kind: kind, not: not}
	var err error
	b.arg, err = toBool(x, b.word())
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (b *boolTest) word() string {
	w := "IS "
	if b.not {
		w += "NOT "
	}
	return w + [...]string{"TRUE", "FALSE", "UNKNOWN"}[b.kind]
}

// Type implements Expr.
func (b *boolTest) Type() types.Type { return boolType }

// Children implements Expr.
func (b *boolTest) Children() []Expr { return []Expr{b.arg} }

// WithChildren implements Expr.
func (b *boolTest) WithChildren(ch []Expr) Expr { return &boolTest{ch[0], b.kind, b.not} }

// Volatility implements Expr.
func (b *boolTest) Volatility() Volatility { return b.arg.Volatility() }

// String implements Expr.
func (b *boolTest) String() string { return "(" + b.arg.String() + " " + b.word() + ")" }

// Eval implements Expr.
func (b *boolTest) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	v, err := b.arg.Eval(ec, in)
	if err != nil {
		return nil, err
	}
	out := types.NewVector(boolType, in.Rows)
	for i := range in.Rows {
		null := v.Nulls.Has(i)
		var is bool
		switch b.kind {
		case IsTrue:
			is = !null && v.Ints[i] == 1
		case IsFalse:
			is = !null && v.Ints[i] == 0
		default:
			is = null
		}
		out.AppendBool(is != b.not)
	}
	return out, nil
}
