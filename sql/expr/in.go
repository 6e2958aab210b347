package expr

import (
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// NewIn is x [NOT] IN (list): against constants of one type a look-up, else a
// disjunction of comparisons.
func NewIn(x Expr, list []Expr, not bool) (Expr, error) {
	e, err := newIn(x, list)
	if err != nil || !not {
		return e, err
	}
	return NewNot(e)
}

func newIn(x Expr, list []Expr) (Expr, error) {
	all := append([]Expr{x}, list...)
	if t, err := CommonType("IN", all...); err == nil {
		if _, err := NewOperator("=", &Column{Typ: t}, &Column{Typ: t}); err == nil {
			cast := make([]Expr, len(all))
			constant := true
			for i, e := range all {
				if cast[i], err = Cast(e, t, Implicit); err != nil {
					return nil, err
				}
				if i > 0 {
					if f := Fold(cast[i], emptyContext); f != nil {
						cast[i] = f
					}
					_, ok := cast[i].(*Const)
					constant = constant && ok
				}
			}
			if constant && len(list) > 0 {
				return newInSet(cast[0], cast[1:]), nil
			}
		}
	}
	var terms []Expr
	for _, e := range list {
		eq, err := NewOperator("=", x, e)
		if err != nil {
			return nil, err
		}
		terms = append(terms, eq)
	}
	return NewOr(terms...)
}

// inSet looks x up in a set of constants by key.
type inSet struct {
	arg     Expr
	list    []Expr
	keys    map[string]struct{}
	hasNull bool
}

func newInSet(x Expr, list []Expr) *inSet {
	s := &inSet{arg: x, list: list, keys: make(map[string]struct{}, len(list))}
	for _, e := range list {
		d := e.(*Const).Datum
		if d.Null {
			s.hasNull = true
			continue
		}
		s.keys[string(types.AppendDatumKey(nil, d))] = struct{}{}
	}
	return s
}

// Listed returns the operands of x IN (constants).
func Listed(e Expr) (x Expr, constants []Expr, ok bool) {
	s, ok := e.(*inSet)
	if !ok {
		return nil, nil, false
	}
	return s.arg, s.list, true
}

// Type implements Expr.
func (s *inSet) Type() types.Type { return boolType }

// Children implements Expr.
func (s *inSet) Children() []Expr { return []Expr{s.arg} }

// WithChildren implements Expr.
func (s *inSet) WithChildren(ch []Expr) Expr {
	n := *s
	n.arg = ch[0]
	return &n
}

// Volatility implements Expr.
func (s *inSet) Volatility() Volatility { return s.arg.Volatility() }

// String implements Expr.
func (s *inSet) String() string { return "(" + s.arg.String() + " IN (" + joinExprs(s.list) + "))" }

// Eval implements Expr.
func (s *inSet) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	v, err := s.arg.Eval(ec, in)
	if err != nil {
		return nil, err
	}
	out := types.NewVector(boolType, in.Rows)
	var key []byte
	for i := range in.Rows {
		if v.Nulls.Has(i) {
			out.AppendNull()
			continue
		}
		key = types.AppendKey(key[:0], v, i)
		if _, ok := s.keys[string(key)]; ok {
			out.AppendBool(true)
		} else if s.hasNull {
			out.AppendNull()
		} else {
			out.AppendBool(false)
		}
	}
	return out, nil
}

// NewAnyAll is left op ANY|ALL (array).
func NewAnyAll(op string, left, array Expr, all bool) (Expr, error) {
	if array.Type().OID == types.Unknown {
		l, err := ResolveUnknown(left)
		if err != nil {
			return nil, err
		}
		left = l
		if array, err = Cast(array, types.Of(left.Type().OID.ArrayOf()), Implicit); err != nil {
			return nil, err
		}
	}
	elem := array.Type().OID.Elem()
	if elem == 0 {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "op ANY/ALL (array) requires array on right side")
	}
	e, err := NewOperator(op, left, &Column{Typ: types.Of(elem)})
	if err != nil {
		return nil, err
	}
	c, ok := e.(*call)
	if !ok || c.typ.OID != types.Bool {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "op ANY/ALL (array) requires operator to yield boolean")
	}
	if want := c.args[1].Type().OID; want != elem {
		if array, err = Cast(array, types.Of(want.ArrayOf()), Implicit); err != nil {
			return nil, err
		}
	}
	word := " " + op + " ANY ("
	if all {
		word = " " + op + " ALL ("
	}
	return &rowwise{
		args: []Expr{c.args[0], array}, typ: boolType,
		text: func(a []Expr) string { return "(" + a[0].String() + word + a[1].String() + "))" },
		row: func(ec *Context, d []types.Datum) (types.Datum, error) {
			return anyAll(ec, c.fn, d[0], d[1], all)
		},
	}, nil
}

func anyAll(ec *Context, f *overload, left, array types.Datum, all bool) (types.Datum, error) {
	null := types.NullOf(boolType)
	if array.Null {
		return null, nil
	}
	a, err := types.ArrayDatum(array)
	if err != nil {
		return null, err
	}
	unknown := false
	for _, it := range a.Items {
		if it.Null || left.Null {
			unknown = true
			continue
		}
		r, err := f.row(ec, []types.Datum{left, it})
		if err != nil {
			return null, err
		}
		if (r.Int == 1) != all {
			return types.BoolDatum(!all), nil
		}
	}
	if unknown {
		return null, nil
	}
	return types.BoolDatum(all), nil
}

// NewRowCompare is (a, b) op (c, d) for = <> < <= > >=.
func NewRowCompare(op string, left, right []Expr) (Expr, error) {
	if len(left) != len(right) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "unequal number of entries in row expressions")
	}
	if op == "!=" {
		op = "<>"
	}
	switch op {
	case "=", "<>":
		terms := make([]Expr, len(left))
		for i := range left {
			var err error
			if terms[i], err = NewOperator(op, left[i], right[i]); err != nil {
				return nil, err
			}
		}
		if op == "=" {
			return NewAnd(terms...)
		}
		return NewOr(terms...)
	case "<", "<=", ">", ">=":
		return rowOrder(op, left, right)
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "could not determine interpretation of row comparison operator %s", op)
}

// rowOrder builds a1 < b1 OR (a1 = b1 AND (…)).
func rowOrder(op string, left, right []Expr) (Expr, error) {
	last := len(left) - 1
	e, err := NewOperator(op, left[last], right[last])
	if err != nil {
		return nil, err
	}
	for i := last - 1; i >= 0; i-- {
		less, err := NewOperator(op[:1], left[i], right[i])
		if err != nil {
			return nil, err
		}
		eq, err := NewOperator("=", left[i], right[i])
		if err != nil {
			return nil, err
		}
		if e, err = NewAnd(eq, e); err != nil {
			return nil, err
		}
		if e, err = NewOr(less, e); err != nil {
			return nil, err
		}
	}
	return e, nil
}
