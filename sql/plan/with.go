package plan

import (
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// With is a statement with others in its WITH that write. All of them read what was
// there before any of them wrote; those that nobody reads run too, when the statement
// itself has run.
type With struct {
	mute
	Child Node
	Parts []Node // each a Shared of a Modify, in the order of the text
}

// Schema implements Node.
func (w *With) Schema() *types.Schema { return w.Child.Schema() }

// Children implements Node.
func (w *With) Children() []Node { return append([]Node{w.Child}, w.Parts...) }

// WithChildren implements Node.
func (w *With) WithChildren(c []Node) Node { return &With{Child: c[0], Parts: c[1:]} }

// WithExprs implements Node.
func (w *With) WithExprs([]expr.Expr) Node { return w }
