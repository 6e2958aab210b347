package plan

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// Merge writes a table by the rows of its child, each of which meets a row of the table
// or none. It yields no rows.
type Merge struct {
	Target *catalog.Relation
	Rules  *Rules
	Child  Node
	Row    expr.Expr // the identity of the target's row; NULL where there is none
	Whens  []MergeWhen
}

// MergeWhen is what becomes of the rows for which no MergeWhen before it fits.
type MergeWhen struct {
	Matched bool
	Cond    expr.Expr // nil: every row
	Nothing bool
	Kind    ModifyKind
	Values  []expr.Expr // of the target's columns, of Insert and Update
}

// Schema implements Node.
func (m *Merge) Schema() *types.Schema { return &types.Schema{} }

// Children implements Node.
func (m *Merge) Children() []Node { return []Node{m.Child} }

// WithChildren implements Node.
func (m *Merge) WithChildren(c []Node) Node {
	n := *m
	n.Child = c[0]
	return &n
}

// Exprs implements Node.
func (m *Merge) Exprs() []expr.Expr {
	out := []expr.Expr{m.Row}
	for _, w := range m.Whens {
		out = append(append(out, w.Cond), w.Values...)
	}
	return out
}

// WithExprs implements Node.
func (m *Merge) WithExprs(e []expr.Expr) Node {
	n := *m
	n.Row, e = e[0], e[1:]
	n.Whens = append([]MergeWhen(nil), m.Whens...)
	for i := range n.Whens {
		w := &n.Whens[i]
		w.Cond, e = e[0], e[1:]
		w.Values, e = append([]expr.Expr(nil), e[:len(w.Values)]...), e[len(w.Values):]
	}
	return &n
}
