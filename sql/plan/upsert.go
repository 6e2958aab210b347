package plan

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// ConflictAction says what INSERT does with a row whose key is taken.
type ConflictAction uint8

// Conflict actions.
const (
	ConflictFails   ConflictAction = iota
	ConflictSkips                  // ON CONFLICT DO NOTHING
	ConflictUpdates                // ON CONFLICT DO UPDATE
)

// String returns the action as EXPLAIN shows it.
func (a ConflictAction) String() string { return [...]string{"ERROR", "NOTHING", "UPDATE"}[a] }

// KeyLookup appends to rows that are proposed to a table, of all its columns, the
// row of the table that has their key in an arbiter: its identity and all its columns,
// NULLs where there is none. It locks the table for the write that follows.
type KeyLookup struct {
	mute
	Table    *catalog.Relation
	Arbiters []catalog.Index
	Rules    *Rules // that the proposed rows have to keep too
	Child    Node
}

// Schema implements Node.
func (k *KeyLookup) Schema() *types.Schema {
	out := append([]types.Column(nil), k.Child.Schema().Columns...)
	out = append(out, types.Column{Name: "_row_id", Type: types.Of(types.Int8), Hidden: true})
	for _, c := range k.Table.Columns {
		c.NotNull = false
		out = append(out, c)
	}
	return &types.Schema{Columns: out}
}

// Children implements Node.
func (k *KeyLookup) Children() []Node { return []Node{k.Child} }

// WithChildren implements Node.
func (k *KeyLookup) WithChildren(c []Node) Node {
	n := *k
	n.Child = c[0]
	return &n
}

// WithExprs implements Node.
func (k *KeyLookup) WithExprs([]expr.Expr) Node { return k }
