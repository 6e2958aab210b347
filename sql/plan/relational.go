package plan

import (
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// Filter keeps the rows for which Cond is true.
type Filter struct {
	Child Node
	Cond  expr.Expr
}

// Schema implements Node.
func (f *Filter) Schema() *types.Schema { return f.Child.Schema() }

// Children implements Node.
func (f *Filter) Children() []Node { return []Node{f.Child} }

// WithChildren implements Node.
func (f *Filter) WithChildren(c []Node) Node { return &Filter{c[0], f.Cond} }

// Exprs implements Node.
func (f *Filter) Exprs() []expr.Expr { return []expr.Expr{f.Cond} }

// WithExprs implements Node.
func (f *Filter) WithExprs(e []expr.Expr) Node { return &Filter{f.Child, e[0]} }

// Project computes columns.
type Project struct {
	Child  Node
	Values []expr.Expr
	Cols   []types.Column // as many
}

// Schema implements Node.
func (p *Project) Schema() *types.Schema { return &types.Schema{Columns: p.Cols} }

// Children implements Node.
func (p *Project) Children() []Node { return []Node{p.Child} }

// WithChildren implements Node.
func (p *Project) WithChildren(c []Node) Node { return &Project{c[0], p.Values, p.Cols} }

// Exprs implements Node.
func (p *Project) Exprs() []expr.Expr { return p.Values }

// WithExprs implements Node.
func (p *Project) WithExprs(e []expr.Expr) Node { return &Project{p.Child, e, p.Cols} }

// SortKey is one key of an ordering.
type SortKey struct {
	Value      expr.Expr
	Descending bool
	NullsFirst bool
}

func sortExprs(keys []SortKey) []expr.Expr {
	out := make([]expr.Expr, len(keys))
	for i, k := range keys {
		out[i] = k.Value
	}
	return out
}

func withSortExprs(keys []SortKey, e []expr.Expr) []SortKey {
	out := make([]SortKey, len(keys))
	for i, k := range keys {
		k.Value = e[i]
		out[i] = k
	}
	return out
}

// Sort orders rows; rows that compare equal keep their order.
type Sort struct {
	Child Node
	Keys  []SortKey
}

// Schema implements Node.
func (s *Sort) Schema() *types.Schema { return s.Child.Schema() }

// Children implements Node.
func (s *Sort) Children() []Node { return []Node{s.Child} }

// WithChildren implements Node.
func (s *Sort) WithChildren(c []Node) Node { return &Sort{c[0], s.Keys} }

// Exprs implements Node.
func (s *Sort) Exprs() []expr.Expr { return sortExprs(s.Keys) }

// WithExprs implements Node.
func (s *Sort) WithExprs(e []expr.Expr) Node { return &Sort{s.Child, withSortExprs(s.Keys, e)} }

// Limit skips Offset rows and yields at most Count; nil or a NULL value is no
// limit. With Ties, rows that tie with the last one under Keys follow.
type Limit struct {
	Child         Node
	Count, Offset expr.Expr
	Ties          []SortKey
}

// Schema implements Node.
func (l *Limit) Schema() *types.Schema { return l.Child.Schema() }

// Children implements Node.
func (l *Limit) Children() []Node { return []Node{l.Child} }

// WithChildren implements Node.
func (l *Limit) WithChildren(c []Node) Node { return &Limit{c[0], l.Count, l.Offset, l.Ties} }

// Exprs implements Node.
func (l *Limit) Exprs() []expr.Expr {
	return append([]expr.Expr{l.Count, l.Offset}, sortExprs(l.Ties)...)
}

// WithExprs implements Node.
func (l *Limit) WithExprs(e []expr.Expr) Node {
	return &Limit{l.Child, e[0], e[1], withSortExprs(l.Ties, e[2:])}
}

// DistinctOn keeps the first row of each set of rows with equal Keys.
type DistinctOn struct {
	Child Node
	Keys  []expr.Expr
}

// Schema implements Node.
func (d *DistinctOn) Schema() *types.Schema { return d.Child.Schema() }

// Children implements Node.
func (d *DistinctOn) Children() []Node { return []Node{d.Child} }

// WithChildren implements Node.
func (d *DistinctOn) WithChildren(c []Node) Node { return &DistinctOn{c[0], d.Keys} }

// Exprs implements Node.
func (d *DistinctOn) Exprs() []expr.Expr { return d.Keys }

// WithExprs implements Node.
func (d *DistinctOn) WithExprs(e []expr.Expr) Node { return &DistinctOn{d.Child, e} }

// Repeat yields each row as often as Times says; INTERSECT ALL and EXCEPT ALL
// are made of it.
type Repeat struct {
	Child Node
	Times expr.Expr // int8
}

// Schema implements Node.
func (r *Repeat) Schema() *types.Schema { return r.Child.Schema() }

// Children implements Node.
func (r *Repeat) Children() []Node { return []Node{r.Child} }

// WithChildren implements Node.
func (r *Repeat) WithChildren(c []Node) Node { return &Repeat{c[0], r.Times} }

// Exprs implements Node.
func (r *Repeat) Exprs() []expr.Expr { return []expr.Expr{r.Times} }

// WithExprs implements Node.
func (r *Repeat) WithExprs(e []expr.Expr) Node { return &Repeat{r.Child, e[0]} }

// Append yields the rows of its inputs one after the other; their columns have
// equal types.
type Append struct {
	mute
	Inputs []Node
}

// Schema implements Node. The names are those of the first input.
func (a *Append) Schema() *types.Schema { return a.Inputs[0].Schema() }

// Children implements Node.
func (a *Append) Children() []Node { return a.Inputs }

// WithChildren implements Node.
func (a *Append) WithChildren(c []Node) Node { return &Append{Inputs: c} }

// WithExprs implements Node.
func (a *Append) WithExprs([]expr.Expr) Node { return a }
