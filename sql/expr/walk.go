package expr

import (
	"github.com/tallydb/tallydb/sql/types"
)

// Walk calls fn for e and, while fn returns true, for what is below it.
func Walk(e Expr, fn func(Expr) bool) {
	if e == nil || !fn(e) {
		return
	}
	for _, c := range e.Children() {
		Walk(c, fn)
	}
}

// Rewrite rebuilds e bottom up; fn returns the replacement of a node.
func Rewrite(e Expr, fn func(Expr) Expr) Expr {
	old := e.Children()
	var fresh []Expr
	for i, c := range old {
		n := Rewrite(c, fn)
		if n != c && fresh == nil {
			fresh = append([]Expr(nil), old...)
		}
		if fresh != nil {
			fresh[i] = n
		}
	}
	if fresh != nil {
		e = e.WithChildren(fresh)
	}
	return fn(e)
}

// Equal reports whether two expressions are the same.
func Equal(a, b Expr) bool {
	return a == b || a != nil && b != nil && a.Type() == b.Type() && a.String() == b.String()
}

var oneRow = &types.Batch{Rows: 1}

// EvalConst evaluates an expression without columns.
func EvalConst(ec *Context, e Expr) (types.Datum, error) {
	v, err := e.Eval(ec, oneRow)
	if err != nil {
		return types.Datum{}, err
	}
	return v.Datum(0), nil
}

// Fold evaluates immutable subexpressions of constants. One that fails is left
// as it is, to fail when and if a row reaches it.
func Fold(e Expr, ec *Context) Expr { return fold(e, ec, Immutable) }

// FoldStable is Fold for an execution whose Context is final: it also replaces
// parameters, now(), and literals that are read in the session's time zone.
func FoldStable(e Expr, ec *Context) Expr { return fold(e, ec, Stable) }

func fold(e Expr, ec *Context, limit Volatility) Expr {
	return Rewrite(e, func(x Expr) Expr {
		ch := x.Children()
		if x.Volatility() > limit || x.Type().OID == types.Record {
			return x
		}
		switch p := x.(type) {
		case *Const, *Column:
			return x
		case *Param:
			if d, err := p.value(ec); err == nil && limit == Stable {
				return &Const{Datum: d}
			}
			return x
		}
		for _, c := range ch {
			if _, ok := c.(*Const); !ok {
				return x
			}
		}
		d, err := EvalConst(ec, x)
		if err != nil {
			return x
		}
		d.Type = x.Type()
		return &Const{Datum: d}
	})
}

// ReadsClock reports whether e depends on the time at which it is evaluated, or
// is volatile: what a continuous view may not contain. Expressions that depend
// on the session's TimeZone alone do not.
func ReadsClock(e Expr) bool {
	found := false
	Walk(e, func(x Expr) bool {
		switch n := x.(type) {
		case *call:
			found = found || n.fn.vol == Volatile || clockFunctions[n.fn.name] && !(n.fn.name == "age" && len(n.args) == 2)
		case *castExpr:
			if c, ok := n.arg.(*Const); ok && !c.Datum.Null && n.to.OID.Category() == 'D' {
				found = found || types.RelativeTime(c.Datum.Bytes)
			}
		}
		return !found
	})
	return found
}

var clockFunctions = map[string]bool{
	"now": true, "current_timestamp": true, "transaction_timestamp": true, "statement_timestamp": true, "current_date": true,
	"localtimestamp": true, "localtime": true, "current_time": true, "age": true,
}
