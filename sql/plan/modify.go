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
// the target in order, preceded by the row's identity where the row exists, that is
// for Update and Delete, and for an Insert with another action than ConflictFails,
// where NULL stands for a new row. Columns that follow are for Returning only.
// It yields the written rows for Returning, otherwise none.
type Modify struct {
	Kind       ModifyKind
	OnConflict ConflictAction
	Arbiters   []catalog.Index // where a conflict is one, unless it fails
	Rules      *Rules          // that the written rows keep
	Target     *catalog.Relation
	Part       bool // in the WITH of another statement, whose tag does not count its rows
	Child      Node
	Returning  []expr.Expr // over the child's columns without the identity
	Cols       []types.Column
}

// HasIdentity reports whether the child's first column is the row's identity.
func (m *Modify) HasIdentity() bool { return m.Kind != Insert || m.OnConflict != ConflictFails }

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
