package plan

import (
	"slices"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// RecursiveUnion yields the rows of Base, then those that Step makes of the rows
// last found, until there are none. Without All, a row is found once.
type RecursiveUnion struct {
	mute
	ID         int // of the WorkTable in Step
	Base, Step Node
	All        bool
}

// Schema implements Node.
func (r *RecursiveUnion) Schema() *types.Schema { return r.Base.Schema() }

// Children implements Node.
func (r *RecursiveUnion) Children() []Node { return []Node{r.Base, r.Step} }

// WithChildren implements Node.
func (r *RecursiveUnion) WithChildren(c []Node) Node {
	n := *r
	n.Base, n.Step = c[0], c[1]
	return &n
}

// WithExprs implements Node.
func (r *RecursiveUnion) WithExprs([]expr.Expr) Node { return r }

// WorkTable reads the rows that a RecursiveUnion found last.
type WorkTable struct {
	leaf
	mute
	ID      int
	Name    string
	Columns []types.Column
}

// Schema implements Node.
func (w *WorkTable) Schema() *types.Schema { return &types.Schema{Columns: w.Columns} }

// WithChildren implements Node.
func (w *WorkTable) WithChildren([]Node) Node { return w }

// WithExprs implements Node.
func (w *WorkTable) WithExprs([]expr.Expr) Node { return w }

// SharedOver returns the numbers of the shared parts of a plan that read a work table,
// as SQL's WITH makes them inside of a recursive term. It is not nil.
func SharedOver(n Node, work int) []int {
	found := map[int]bool{} // by the number of each shared part
	var visit func(n Node) bool
	visit = func(n Node) bool {
		if w, ok := n.(*WorkTable); ok {
			return w.ID == work
		}
		s, shared := n.(*Shared)
		if shared {
			if reads, known := found[s.ID]; known {
				return reads
			}
		}
		reads := false
		for _, c := range n.Children() {
			reads = visit(c) || reads
		}
		if shared {
			found[s.ID] = reads
		}
		return reads
	}
	visit(n)
	out := []int{}
	for id, reads := range found {
		if reads {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}
