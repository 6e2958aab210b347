package plan

import (
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// JoinKind is a kind of join.
type JoinKind uint8

// Kinds of joins.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
	SemiJoin // rows of the left that have a partner; yields left columns only
	AntiJoin // rows of the left that have none
)

// String returns the kind as EXPLAIN shows it.
func (k JoinKind) String() string {
	return [...]string{"", " Left", " Right", " Full", " Semi", " Anti"}[k]
}

// Join pairs rows. LeftKeys[i] = RightKeys[i] must hold, over the columns of each
// side, and On, over the columns of both sides, left first. Its columns are
// those of the left side, then those of the right, envelopes included; NewJoin
// merges these.
type Join struct {
	Kind                JoinKind
	Left, Right         Node
	LeftKeys, RightKeys []expr.Expr
	On                  expr.Expr
}

// Schema implements Node.
func (j *Join) Schema() *types.Schema {
	l, r := j.Left.Schema().Columns, j.Right.Schema().Columns
	if j.Kind == SemiJoin || j.Kind == AntiJoin {
		return j.Left.Schema()
	}
	out := append(append([]types.Column(nil), l...), r...)
	for i := range out {
		if i < len(l) && (j.Kind == RightJoin || j.Kind == FullJoin) || i >= len(l) && (j.Kind == LeftJoin || j.Kind == FullJoin) {
			out[i].NotNull = false
		}
	}
	return &types.Schema{Columns: out}
}

// Children implements Node.
func (j *Join) Children() []Node { return []Node{j.Left, j.Right} }

// WithChildren implements Node.
func (j *Join) WithChildren(c []Node) Node {
	n := *j
	n.Left, n.Right = c[0], c[1]
	return &n
}

// Exprs implements Node.
func (j *Join) Exprs() []expr.Expr {
	return append(append([]expr.Expr{j.On}, j.LeftKeys...), j.RightKeys...)
}

// WithExprs implements Node.
func (j *Join) WithExprs(e []expr.Expr) Node {
	n := *j
	k := len(j.LeftKeys)
	n.On, n.LeftKeys, n.RightKeys = e[0], e[1:1+k:1+k], e[1+k:]
	return &n
}

// ApplyKind says what an Apply makes of its subplan's rows.
type ApplyKind uint8

// Kinds of Apply.
const (
	ApplyScalar      ApplyKind = iota // the value of the only row, NULL for none; 21000 for more
	ApplyExists                       // whether there is a row
	ApplyIn                           // whether Args equal a row, with NULLs as in SQL
	ApplyArray                        // the array of all values
	ApplyLateral                      // one row for each row of the subplan
	ApplyLateralLeft                  // and one with NULLs where there is none
)

// Apply runs its subplan for each row of the child, with the value of Outer[i] as
// parameter Slots[i]; equal values run it once. The scalar kinds append
// one column to the child's, the lateral ones all columns of the subplan. An
// Apply without Outer runs its subplan at most once.
type Apply struct {
	Kind    ApplyKind
	Child   Node
	Subplan Node
	Outer   []expr.Expr // over the child
	Slots   []int       // parameter numbers, one for each of Outer
	Args    []expr.Expr // over the child; for ApplyIn: one for each column of the subplan
	// Column is what the scalar kinds append: made of the subplan's first column.
	Column types.Column
	// Envelope merges the envelopes of the subplan's rows, which are then appended
	// after Column; empty where the subplan has none.
	Envelope []AggCall
}

// Schema implements Node.
func (a *Apply) Schema() *types.Schema {
	out := append([]types.Column(nil), a.Child.Schema().Columns...)
	if a.Kind >= ApplyLateral {
		return &types.Schema{Columns: append(out, a.Subplan.Schema().Columns...)}
	}
	out = append(out, a.Column)
	for i := range a.Envelope {
		out = append(out, a.Envelope[i].Column)
	}
	return &types.Schema{Columns: out}
}

// Children implements Node.
func (a *Apply) Children() []Node { return []Node{a.Child, a.Subplan} }

// WithChildren implements Node.
func (a *Apply) WithChildren(c []Node) Node {
	n := *a
	n.Child, n.Subplan = c[0], c[1]
	return &n
}

// Exprs implements Node.
func (a *Apply) Exprs() []expr.Expr {
	return append(append([]expr.Expr(nil), a.Args...), a.Outer...)
}

// WithExprs implements Node.
func (a *Apply) WithExprs(e []expr.Expr) Node {
	n := *a
	k := len(a.Args)
	n.Args, n.Outer = e[:k:k], e[k:]
	return &n
}
