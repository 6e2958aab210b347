package bind

import (
	"fmt"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// placeholder stands in a bound expression for a value that a later node of the
// plan provides. No finished plan has one.
type placeholder struct {
	id   int
	kind string
	typ  types.Type
	text string
	args []expr.Expr // what the value needs of the rows below
	pos  int

	apply *plan.Apply        // a subquery; args are Args and Outer
	set   *plan.FunctionScan // a set-returning function; args are its arguments

	places []int // of GROUPING: the positions of args
}

// Type implements expr.Expr.
func (p *placeholder) Type() types.Type { return p.typ }

// Eval implements expr.Expr.
func (p *placeholder) Eval(*expr.Context, *types.Batch) (*types.Vector, error) {
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s is not supported in this place", p.kind).At(p.pos)
}

// Children implements expr.Expr.
func (p *placeholder) Children() []expr.Expr { return p.args }

// WithChildren implements expr.Expr.
func (p *placeholder) WithChildren(c []expr.Expr) expr.Expr {
	n := *p
	n.args = c
	return &n
}

// String implements expr.Expr.
func (p *placeholder) String() string { return fmt.Sprintf("%s%d[%s]", p.kind, p.id, p.text) }

// Volatility implements expr.Expr. It is volatile so that nothing folds or moves it.
func (p *placeholder) Volatility() expr.Volatility { return expr.Volatile }

// Kinds of placeholders.
const (
	aggPlaceholder      = "aggregate"
	boundPlaceholder    = "bound"
	windowPlaceholder   = "window function"
	groupingPlaceholder = "grouping operation"
	subqueryKind        = "subquery"
	setKind             = "set-returning function"
)

func has(e expr.Expr, kind string) bool {
	found := false
	if e == nil {
		return false
	}
	expr.Walk(e, func(x expr.Expr) bool {
		p, ok := x.(*placeholder)
		found = found || ok && p.kind == kind
		return !found
	})
	return found
}

// replace rewrites e top down: where fn returns an expression it takes the place
// of the node, and what is below is not visited.
func replace(e expr.Expr, fn func(expr.Expr) (expr.Expr, error)) (expr.Expr, error) {
	if e == nil {
		return nil, nil
	}
	out, err := fn(e)
	if err != nil || out != nil {
		return out, err
	}
	children := e.Children()
	if len(children) == 0 {
		return e, nil
	}
	changed := false
	next := make([]expr.Expr, len(children))
	for i, c := range children {
		if next[i], err = replace(c, fn); err != nil {
			return nil, err
		}
		changed = changed || next[i] != c
	}
	if !changed {
		return e, nil
	}
	return e.WithChildren(next), nil
}

// attach adds the subqueries of e to the plan, innermost arguments first, and
// returns e over the columns of the new plan.
func (b *binder) attach(node *plan.Node, e expr.Expr) (expr.Expr, error) {
	done := map[int]expr.Expr{}
	return replace(e, func(x expr.Expr) (expr.Expr, error) {
		p, ok := x.(*placeholder)
		if !ok || p.kind != subqueryKind {
			return nil, nil
		}
		if v := done[p.id]; v != nil {
			return v, nil
		}
		args := make([]expr.Expr, len(p.args))
		for i, a := range p.args {
			var err error
			if args[i], err = b.attach(node, a); err != nil {
				return nil, err
			}
		}
		a := *p.apply
		a.Child = *node
		k := len(a.Args)
		a.Args, a.Outer = args[:k:k], args[k:]
		at := len(a.Child.Schema().Columns)
		*node = plan.NewApply(&a)
		done[p.id] = plan.NewColumn((*node).Schema(), at)
		return done[p.id], nil
	})
}

// attachAll attaches each of the expressions.
func (b *binder) attachAll(node *plan.Node, list []expr.Expr) error {
	for i, e := range list {
		var err error
		if list[i], err = b.attach(node, e); err != nil {
			return err
		}
	}
	return nil
}
