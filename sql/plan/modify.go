package plan

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// ModifyKind says what a Modify does with rows.
type ModifyKind uint8

// Kinds of Modify.
const (
	Insert ModifyKind = iota
	Update
	Delete
)

// String returns the kind as EXPLAIN shows it.
func (k ModifyKind) String() string { return [...]string{"Insert", "Update", "Delete"}[k] }

// Modify writes the child's rows to a relation. The child yields every column of
// the target in order, for Update and Delete preceded by the row's identity.
// It yields the written rows for Returning, otherwise none.
type Modify struct {
	Kind      ModifyKind
	Target    *catalog.Relation
	Child     Node
	Returning []expr.Expr // over the target's columns
	Cols      []types.Column
}

// Schema implements Node.
func (m *Modify) Schema() *types.Schema { return &types.Schema{Columns: m.Cols} }

// Children implements Node.
func (m *Modify) Children() []Node { return []Node{m.Child} }

// WithChildren implements Node.
func (m *Modify) WithChildren(c []Node) Node {
	n := *m
	n.Child = c[0]
	return &n
}

// Exprs implements Node.
func (m *Modify) Exprs() []expr.Expr { return m.Returning }

// WithExprs implements Node.
func (m *Modify) WithExprs(e []expr.Expr) Node {
	n := *m
	n.Returning = e
	return &n
}
