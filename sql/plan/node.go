package plan

import (
	"slices"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// Node is an operator of a logical plan.
type Node interface {
	// Schema describes the columns of the rows that the node yields.
	Schema() *types.Schema
	// Children returns the inputs, in order.
	Children() []Node
	// WithChildren returns a copy of the node over these inputs, whose schemas
	// are as before.
	WithChildren(children []Node) Node
	// Exprs returns every expression of the node; entries may be nil.
	Exprs() []expr.Expr
	// WithExprs returns a copy with these expressions, in the order of Exprs.
	WithExprs(exprs []expr.Expr) Node
}

// NewColumn returns an expression that reads column i of the schema.
func NewColumn(s *types.Schema, i int) expr.Expr {
	return &expr.Column{Index: i, Typ: s.Columns[i].Type, Name: s.Columns[i].Name}
}

// ColumnIndex returns the number of the column that e reads unmodified.
func ColumnIndex(e expr.Expr) (int, bool) {
	c, ok := e.(*expr.Column)
	if !ok {
		return 0, false
	}
	return c.Index, true
}

// Columns returns the set of columns that the expressions read.
func Columns(exprs ...expr.Expr) map[int]bool {
	set := map[int]bool{}
	for _, e := range exprs {
		addColumns(set, e)
	}
	return set
}

func addColumns(set map[int]bool, e expr.Expr) {
	if e == nil {
		return
	}
	expr.Walk(e, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Column); ok {
			set[c.Index] = true
		}
		return true
	})
}

// Remap renumbers the columns that e reads.
func Remap(e expr.Expr, to func(int) int) expr.Expr {
	return mapColumns(e, func(c *expr.Column) expr.Expr {
		n := *c
		n.Index = to(c.Index)
		return &n
	})
}

// Substitute replaces the columns that e reads with expressions.
func Substitute(e expr.Expr, by []expr.Expr) expr.Expr {
	return mapColumns(e, func(c *expr.Column) expr.Expr { return by[c.Index] })
}

func mapColumns(e expr.Expr, fn func(*expr.Column) expr.Expr) expr.Expr {
	if e == nil {
		return nil
	}
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Column); ok {
			return fn(c)
		}
		return x
	})
}

// Visit calls fn for n and everything below it, subplans included.
func Visit(n Node, fn func(Node)) {
	fn(n)
	for _, c := range n.Children() {
		Visit(c, fn)
	}
}

// MapExprs returns the plan with every expression replaced.
func MapExprs(n Node, fn func(expr.Expr) expr.Expr) Node {
	children := n.Children()
	if len(children) > 0 {
		mapped := make([]Node, len(children))
		for i, c := range children {
			mapped[i] = MapExprs(c, fn)
		}
		n = n.WithChildren(mapped)
	}
	exprs := n.Exprs()
	if len(exprs) == 0 {
		return n
	}
	out := make([]expr.Expr, len(exprs))
	for i, e := range exprs {
		if e != nil {
			out[i] = fn(e)
		}
	}
	return n.WithExprs(out)
}

// leaf is embedded by nodes without inputs.
type leaf struct{}

// Children implements Node.
func (leaf) Children() []Node { return nil }

// mute is embedded by nodes without expressions.
type mute struct{}

// Exprs implements Node.
func (mute) Exprs() []expr.Expr { return nil }

// pick returns the columns of s that list names.
func pick(s *types.Schema, list []int) *types.Schema {
	out := &types.Schema{Columns: make([]types.Column, len(list))}
	for i, c := range list {
		out.Columns[i] = s.Columns[c]
	}
	return out
}

// all returns 0 … n-1.
func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Volatile reports whether running a plan twice may yield other rows, or have another
// effect, than running it once: an expression of it is volatile. What is shared runs
// once anyway.
func Volatile(n Node) bool {
	if _, ok := n.(*Shared); ok {
		return false
	}
	for _, e := range n.Exprs() {
		if e != nil && e.Volatility() == expr.Volatile {
			return true
		}
	}
	return slices.ContainsFunc(n.Children(), Volatile)
}
