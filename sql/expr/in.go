package expr

import (
	"slices"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// NewIn is x [NOT] IN (list). The items that read no column are compared in their common
// type, with x's: by a look-up where they are constants. Each of the others is compared as
// x = item.
func NewIn(x Expr, list []Expr, not bool) (Expr, error) {
	e, err := newIn(x, list)
	if err != nil || !not {
		return e, err
	}
	return NewNot(e)
}

func newIn(x Expr, list []Expr) (Expr, error) {
	var fixed, others, terms []Expr
	for _, e := range list {
		if readsColumn(e) {
			others = append(others, e)
		} else {
			fixed = append(fixed, e)
		}
	}
	t, err := CommonType("IN", append([]Expr{x}, fixed...)...)
	if len(fixed) > 1 && err == nil && t.OID.ArrayOf() != 0 {
		for i, e := range fixed {
			if fixed[i], err = Cast(e, types.Of(t.OID), Implicit); err != nil {
				return nil, err
			}
		}
	}
	set, err := constantSet(x, fixed)
	if err != nil {
		return nil, err
	}
	if set != nil {
		terms = append(terms, set)
	} else {
		others = append(fixed, others...)
	}
	for _, e := range others {
		eq, err := NewOperator("=", x, e)
		if err != nil {
			return nil, err
		}
		terms = append(terms, eq)
	}
	return NewOr(terms...)
}

func readsColumn(e Expr) bool {
	found := false
	Walk(e, func(y Expr) bool {
		_, column := y.(*Column)
		found = found || column
		return !found
	})
	return found
}

// constantSet is x IN (list) where the items are constants of one type; nil where they are
// not.
func constantSet(x Expr, list []Expr) (Expr, error) {
	if len(list) == 0 || slices.ContainsFunc(list, func(e Expr) bool { return e.Type().OID != list[0].Type().OID }) {
		return nil, nil
	}
	t, err := EqualityType(x, list[0])
	if err != nil {
		return nil, err
	}
	constants := make([]Expr, len(list))
	for i, e := range list {
		if e, err = Cast(e, t, Implicit); err != nil {
			return nil, err
		}
		if f := Fold(e, emptyContext); f != nil {
			e = f
		}
		if _, ok := e.(*Const); !ok {
			return nil, nil
		}
		constants[i] = e
	}
	if x, err = Cast(x, t, Implicit); err != nil {
		return nil, err
	}
	return newInSet(x, constants), nil
}

// EqualityType returns the type in which left = right can compare its operands by their
// keys. Where the operator takes two types, both convert to their common one without loss.
func EqualityType(left, right Expr) (types.Type, error) {
	e, err := NewOperator("=", left, right)
	if err != nil {
		return types.Type{}, err
	}
	args := e.Children()
	t, err := CommonType("=", args...)
	return types.Of(t.OID), err
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
