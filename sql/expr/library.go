package expr

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/sql/types"
)

// Function is a scalar function that another package adds.
type Function struct {
	Signature   string // "lpad(text,int4,text) text"
	Description string
	Volatility  Volatility
	OnNull      bool // called on NULL input; without it, NULL in is NULL out
	// Eval computes one row. Arguments have the declared types, and the types they
	// came with where "any" is declared. Errors are *sqlerr.Error.
	Eval func(ec *Context, args []types.Datum) (types.Datum, error)
	// Lower and Upper compute limits of the value at the session's confidence,
	// where it is an estimate; both or neither are nil.
	Lower, Upper func(ec *Context, args []types.Datum) (types.Datum, error)
}

// Library is the scalar functions that a server has besides those of this
// package. It is filled at start by explicit calls and then only read. The nil
// Library is empty.
type Library struct {
	functions, lower, upper registry
	sets                    map[string]*SetFunction
}

// RegisterSet adds a function that yields rows.
func (l *Library) RegisterSet(f *SetFunction) {
	if l.sets == nil {
		l.sets = map[string]*SetFunction{}
	}
	l.sets[f.Name] = f
}

// SetFunction returns the function of this name that yields rows, or nil.
func (l *Library) SetFunction(name string) *SetFunction {
	if l == nil {
		return nil
	}
	return l.sets[name]
}

// SetFunctions lists the functions that yield rows, by name.
func (l *Library) SetFunctions() []*SetFunction {
	if l == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(l.sets), func(a, b *SetFunction) int { return strings.Compare(a.Name, b.Name) })
}

// Register adds an overload.
func (l *Library) Register(f Function) {
	o := fn(f.Signature, f.Description, f.Eval)
	o.vol, o.nulls = f.Volatility, f.OnNull
	add := func(r *registry, o overload) {
		if *r == nil {
			*r = registry{}
		}
		(*r)[o.name] = append((*r)[o.name], &o)
	}
	add(&l.functions, o)
	if f.Lower != nil {
		lo, hi := o, o
		lo.row, hi.row = f.Lower, f.Upper
		add(&l.lower, lo)
		add(&l.upper, hi)
	}
}

// Has reports whether a function of this name takes n arguments.
func (l *Library) Has(name string, n int) bool {
	return l != nil && len(candidates(l.functions[name], n)) > 0
}

// Functions lists every overload, by name.
func (l *Library) Functions() []FunctionInfo {
	if l == nil {
		return nil
	}
	return list(l.functions)
}

// Bounds returns the limits of a call of one of the library's estimates, over the
// arguments of the call; ok is false if e is not one.
func (l *Library) Bounds(e Expr) (lo, hi Expr, ok bool) {
	c, isCall := e.(*call)
	if !isCall || l == nil {
		return nil, nil, false
	}
	for i, f := range l.functions[c.fn.name] {
		if f != c.fn || len(l.lower[f.name]) != len(l.functions[f.name]) {
			continue
		}
		lo, hi := *c, *c
		lo.fn, hi.fn = l.lower[f.name][i], l.upper[f.name][i]
		return &boundCall{lo, "lower"}, &boundCall{hi, "upper"}, true
	}
	return nil, nil, false
}

// boundCall is a limit of a call. It has a text of its own, since calls of equal
// text are one.
type boundCall struct {
	call
	which string
}

// WithChildren implements Expr.
func (b *boundCall) WithChildren(children []Expr) Expr {
	n := *b
	n.args = children
	return &n
}

// String implements Expr.
func (b *boundCall) String() string { return b.which + "(" + b.call.String() + ")" }

// WithLibrary adds a library's functions to those that NewFunction finds.
func WithLibrary(l *Library) Option { return func(o *options) { o.library = l } }

// Confidence returns that of the session, which bounds hold with.
func (ec *Context) Confidence() float64 {
	const usual = 0.95
	if ec == nil || ec.Setting == nil {
		return usual
	}
	text, ok := ec.Setting("confidence")
	x, err := strconv.ParseFloat(text, 64)
	if !ok || err != nil || !(x > 0 && x < 1) {
		return usual
	}
	return x
}
