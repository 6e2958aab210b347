package expr

import (
	"time"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// CastContext says who asked for a cast.
type CastContext uint8

// Cast contexts, from the least to the most willing.
const (
	Implicit CastContext = iota
	Assignment
	Explicit
)

// CanCast reports whether Cast would find a conversion.
func CanCast(from, to types.Type, ctx CastContext) bool {
	f, t := from.OID, to.OID
	if f == t || f == types.Unknown {
		return true
	}
	if c, ok := castContexts[[2]types.OID{f, t}]; ok && c <= ctx {
		return true
	}
	if f.IsArray() && t.IsArray() && f != types.Int2Vector && f != types.OidVector && t != types.Int2Vector && t != types.OidVector {
		return CanCast(types.Of(f.Elem()), types.Of(t.Elem()), ctx)
	}
	if (f == types.Int2Vector && t == types.Int2Array) || (f == types.OidVector && t == types.OidArray) {
		return true
	}
	if _, ok := types.Lookup(t); !ok || isPseudo(t) || isPseudo(f) || t == types.Void {
		return false
	}
	stringLike := func(o types.OID) bool { return o.Category() == 'S' }
	return stringLike(t) && ctx >= Assignment || stringLike(f) && ctx >= Explicit && t != types.Record
}

// castExpr converts a value; binary-coercible types only change their label.
type castExpr struct {
	arg      Expr
	to       types.Type
	explicit bool
	literal  bool     // of an untyped literal
	fn       castFunc // nil for a relabel
	vec      kernel   // fast path, may be nil
}

// Cast converts e, or fails with 42846 (no such cast) or 42804 (not in this
// context). A literal of type unknown is parsed now.
func Cast(e Expr, to types.Type, ctx CastContext) (Expr, error) {
	from := e.Type()
	if from == to && from.OID != types.Unknown {
		return e, nil
	}
	if from.Domain() != 0 && from.Base() == to && ctx != Explicit {
		return e, nil // a domain's values are those of its base type
	}
	if from.OID == types.Unknown {
		return castUnknown(e, to, ctx)
	}
	if !CanCast(from, to, ctx) {
		if ctx == Assignment && CanCast(from, to, Explicit) {
			return nil, sqlerr.New(sqlerr.DatatypeMismatch, "expression is of type %s but %s was expected", from, to).
				WithHint("You will need to rewrite or cast the expression.")
		}
		return nil, sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to %s", types.Of(from.OID), types.Of(to.OID))
	}
	if a, ok := e.(*arrayExpr); ok && to.OID.IsArray() {
		return a.castElements(to, ctx)
	}
	c := &castExpr{arg: e, to: to, explicit: ctx == Explicit}
	if from.OID == to.OID && to.Modifier() < 0 {
		return c, nil
	}
	if relabels(from, to) {
		return c, nil
	}
	c.vec = castKernel(from.OID, to.OID)
	var err error
	c.fn, err = castFunction(from, to)
	return c, err
}

func castUnknown(e Expr, to types.Type, ctx CastContext) (Expr, error) {
	switch x := e.(type) {
	case *Const:
		if x.Datum.Null {
			return &Const{Datum: types.NullOf(to)}, nil
		}
		if to.OID == types.Unknown {
			return e, nil
		}
		if needsContext(to.OID, x.Datum.Bytes) {
			c := &castExpr{arg: &Const{Datum: types.Datum{Type: types.Of(types.Text), Bytes: x.Datum.Bytes}}, to: to, explicit: true, literal: true}
			var err error
			c.fn, err = castFunction(types.Of(types.Text), to)
			return c, err
		}
		d, err := parseLiteral(to, x.Datum.Bytes, ctx == Explicit)
		if err != nil {
			return nil, err
		}
		return &Const{Datum: d}, nil
	case *Param:
		return Cast(&Param{N: x.N, Typ: types.Of(to.OID)}, to, ctx)
	}
	c := &castExpr{arg: e, to: to, explicit: true}
	var err error
	c.fn, err = castFunction(types.Of(types.Text), to)
	return c, err
}

// parseLiteral reads a literal. Only an explicit cast cuts a string that is too long.
func parseLiteral(to types.Type, text []byte, explicit bool) (types.Datum, error) {
	if to.OID.IsArray() && to.Modifier() >= 0 {
		d, err := types.Parse(types.Of(to.OID), text, nil)
		if err != nil {
			return d, err
		}
		d.Type = to
		fit, err := castArray(types.Of(to.OID), to)
		if err != nil {
			return d, err
		}
		return fit(&castContext{to: to, explicit: explicit}, d)
	}
	if isBits(to.OID) {
		d, err := types.Parse(types.Of(types.Varbit), text, nil)
		if err == nil {
			d.Type = to
			d.Bytes, err = types.FitBits(d.Bytes, to, explicit)
		}
		return d, err
	}
	if to.OID == types.Varchar || to.OID == types.Bpchar {
		d, err := types.Parse(types.Of(to.OID), text, nil)
		if err == nil {
			d.Type = to
			d.Bytes, err = types.FitText(d.Bytes, to, explicit)
		}
		return d, err
	}
	return types.Parse(to, text, nil)
}

// needsContext reports whether the text of a literal means something only with
// a session: a time zone, the clock or the catalog.
func needsContext(t types.OID, text []byte) bool {
	arrayType := t.IsArray()
	if arrayType {
		t = t.Elem()
	}
	switch t {
	case types.Regclass, types.Regproc, types.Regnamespace:
		return true
	case types.Regtype:
		_, err := types.ByName(string(text))
		return arrayType || err != nil
	case types.Timestamptz:
		return arrayType || !types.HasZone(text)
	case types.TimeTZ:
		return true
	case types.Date, types.Time, types.Timestamp:
		return arrayType || types.RelativeTime(text)
	}
	return false
}

// FixZone replaces the literals of e that are read in a time zone by what they
// mean in loc. Those that depend on the clock too, such as 'today', stay.
func FixZone(e Expr, loc *time.Location) Expr {
	ec := &Context{Location: loc}
	return Rewrite(e, func(x Expr) Expr {
		c, ok := x.(*castExpr)
		if !ok || !c.literal {
			return x
		}
		text, ok := c.arg.(*Const)
		zoned := c.to.OID == types.Timestamptz || c.to.OID == types.Timestamptz.ArrayOf()
		if !ok || !zoned || types.RelativeTime(text.Datum.Bytes) {
			return x
		}
		d, err := EvalConst(ec, c)
		if err != nil {
			return x
		}
		d.Type = c.to
		return &Const{Datum: d}
	})
}

// FixNames replaces the literals of e that name relations by what they name on a search
// path; those that name nothing there stay.
func FixNames(e Expr, with *Context, path []string) Expr {
	ec := *with
	ec.SearchPath = path
	return Rewrite(e, func(x Expr) Expr {
		c, ok := x.(*castExpr)
		if !ok || !c.literal || c.to.OID != types.Regclass {
			return x
		}
		if _, ok := c.arg.(*Const); !ok {
			return x
		}
		d, err := EvalConst(&ec, c)
		if err != nil {
			return x
		}
		d.Type = c.to
		return &Const{Datum: d}
	})
}

// Type implements Expr.
func (c *castExpr) Type() types.Type { return c.to }

// Children implements Expr.
func (c *castExpr) Children() []Expr { return []Expr{c.arg} }

// WithChildren implements Expr.
func (c *castExpr) WithChildren(ch []Expr) Expr {
	n := *c
	n.arg = ch[0]
	return &n
}

// String implements Expr.
func (c *castExpr) String() string { return "(" + c.arg.String() + ")::" + c.to.String() }

// Volatility implements Expr: text and time zones depend on the session.
func (c *castExpr) Volatility() Volatility {
	v := c.arg.Volatility()
	if c.fn != nil && sessionCast(c.arg.Type().OID, c.to.OID) {
		v = max(v, Stable)
	}
	return v
}

func sessionCast(from, to types.OID) bool {
	if from.IsArray() {
		from = from.Elem()
	}
	if to.IsArray() {
		to = to.Elem()
	}
	if from == to {
		return false
	}
	if from.IsEnum() || to.IsEnum() {
		return true // labels may be renamed
	}
	switch to {
	case types.Timestamptz, types.TimeTZ, types.Regclass, types.Regproc, types.Regtype, types.Regnamespace:
		return true
	case types.Date, types.Time, types.Timestamp:
		return from == types.Timestamptz || from.Category() == 'S'
	}
	return from == types.Timestamptz || from == types.Regclass || from == types.Regproc || from == types.Regnamespace
}

// Eval implements Expr.
func (c *castExpr) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	v, err := c.arg.Eval(ec, in)
	if err != nil {
		return nil, err
	}
	if c.fn == nil {
		out := *v
		out.Type = c.to
		return &out, nil
	}
	if c.vec != nil {
		return runKernel(c.vec, c.to, []arg{{v, -1}}, in.Rows)
	}
	if ec == nil {
		ec = emptyContext
	}
	cc := &castContext{ec: ec, opts: ec.TextOptions(), to: c.to, explicit: c.explicit}
	out := types.NewVector(c.to, in.Rows)
	for i := range in.Rows {
		d := v.Datum(i)
		if d.Null {
			out.AppendNull()
			continue
		}
		r, err := c.fn(cc, d)
		if err != nil {
			return nil, &RowError{Row: i, Err: err}
		}
		if err := appendDatum(out, r, in.Rows); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ResolveUnknown makes an expression of type unknown a text.
func ResolveUnknown(e Expr) (Expr, error) {
	if e.Type().OID != types.Unknown {
		return e, nil
	}
	return Cast(e, types.Of(types.Text), Implicit)
}

// CommonType resolves the type of UNION, CASE, VALUES, COALESCE…; what names the
// construct in the error: "CASE types integer and text cannot be matched".
func CommonType(what string, exprs ...Expr) (types.Type, error) {
	var t types.Type
	same := true
	for _, e := range exprs {
		n := e.Type()
		if t.OID == 0 {
			t = n
		} else if n != t {
			same = false
		}
	}
	if same && t.OID != types.Unknown && t.OID != 0 {
		return t, nil
	}
	t = types.Type{}
	for _, e := range exprs {
		n := types.Of(e.Type().OID)
		switch {
		case n.OID == types.Unknown || n == t:
		case t.OID == 0:
			t = n
		case n.OID.Category() != t.OID.Category():
			return t, sqlerr.New(sqlerr.DatatypeMismatch, "%s types %s and %s cannot be matched", what, t, n)
		case !t.OID.Preferred() && CanCast(t, n, Implicit) && !CanCast(n, t, Implicit):
			t = n
		}
	}
	if t.OID == 0 {
		return types.Of(types.Text), nil
	}
	for _, e := range exprs {
		if !canCoerce(e.Type().OID, t.OID) {
			return t, sqlerr.New(sqlerr.CannotCoerce, "%s could not convert type %s to %s", what, types.Of(e.Type().OID), t)
		}
	}
	return t, nil
}

// unify casts expressions to their common type.
func unify(what string, exprs []Expr) ([]Expr, types.Type, error) {
	t, err := CommonType(what, exprs...)
	if err != nil {
		return nil, t, err
	}
	out := make([]Expr, len(exprs))
	for i, e := range exprs {
		if out[i], err = Cast(e, t, Implicit); err != nil {
			return nil, t, err
		}
	}
	return out, t, nil
}
