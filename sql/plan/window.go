package plan

import (
	"fmt"
	"strings"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// FrameBound is one end of a window frame.
type FrameBound struct {
	Kind FrameBoundKind
	// Offset is, for the offset kinds, how many rows or groups; in a RANGE frame
	// how far values may be apart.
	Offset expr.Expr
	// Limit is, for the offset kinds in a RANGE frame, the value up to which the
	// frame reaches, over the row's columns.
	Limit expr.Expr
}

// FrameBoundKind is an end of a window frame.
type FrameBoundKind uint8

// Ends of a window frame, in order.
const (
	UnboundedPreceding FrameBoundKind = iota
	OffsetPreceding
	CurrentRow
	OffsetFollowing
	UnboundedFollowing
)

// FrameMode is the unit of a frame.
type FrameMode uint8

// Frame units. In all but FrameRows, the current row stands for all its peers.
const (
	FrameRange FrameMode = iota
	FrameRows
	FrameGroups
)

// Exclusion is what a frame leaves out.
type Exclusion uint8

// Frame exclusions.
const (
	ExcludeNone Exclusion = iota
	ExcludeCurrentRow
	ExcludeGroup // the current row and its peers
	ExcludeTies  // its peers
)

// Frame is the set of rows that a window aggregate sees.
type Frame struct {
	Mode       FrameMode
	Start, End FrameBound
	Exclude    Exclusion
	// Key is the value that Limits are compared with; nil where there is none.
	Key expr.Expr
}

func (f *Frame) exprs() []expr.Expr {
	return []expr.Expr{f.Start.Offset, f.End.Offset, f.Start.Limit, f.End.Limit, f.Key}
}

func (f *Frame) setExprs(e []expr.Expr) {
	f.Start.Offset, f.End.Offset, f.Start.Limit, f.End.Limit, f.Key = e[0], e[1], e[2], e[3], e[4]
}

// DefaultFrame is RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW.
func DefaultFrame() Frame {
	return Frame{Start: FrameBound{Kind: UnboundedPreceding}, End: FrameBound{Kind: CurrentRow}}
}

// WindowCall is one window function: an aggregate, or a function of the row's
// place such as rank.
type WindowCall struct {
	Function string   // row_number, rank, …; "" for an aggregate
	Agg      *AggCall // for an aggregate
	Args     []expr.Expr
	Frame    Frame
	Column   types.Column
}

// Window appends the values of window functions that share partition and order.
type Window struct {
	Child       Node
	PartitionBy []expr.Expr
	OrderBy     []SortKey
	Calls       []WindowCall
}

// Schema implements Node.
func (w *Window) Schema() *types.Schema {
	out := append([]types.Column(nil), w.Child.Schema().Columns...)
	for i := range w.Calls {
		out = append(out, w.Calls[i].Column)
	}
	return &types.Schema{Columns: out}
}

// Children implements Node.
func (w *Window) Children() []Node { return []Node{w.Child} }

// WithChildren implements Node.
func (w *Window) WithChildren(c []Node) Node {
	n := *w
	n.Child = c[0]
	return &n
}

// Exprs implements Node.
func (w *Window) Exprs() []expr.Expr {
	out := append(append([]expr.Expr(nil), w.PartitionBy...), sortExprs(w.OrderBy)...)
	for _, c := range w.Calls {
		out = append(append(out, c.Args...), c.Frame.exprs()...)
		if c.Agg != nil {
			out = append(out, callExprs([]AggCall{*c.Agg})...)
		}
	}
	return out
}

// WithExprs implements Node.
func (w *Window) WithExprs(e []expr.Expr) Node {
	n := *w
	take := func(k int) []expr.Expr {
		out := e[:k:k]
		e = e[k:]
		return out
	}
	n.PartitionBy = take(len(w.PartitionBy))
	n.OrderBy = withSortExprs(w.OrderBy, take(len(w.OrderBy)))
	n.Calls = append([]WindowCall(nil), w.Calls...)
	for i := range n.Calls {
		c := &n.Calls[i]
		c.Args = take(len(c.Args))
		c.Frame.setExprs(take(len(c.Frame.exprs())))
		if c.Agg != nil {
			var calls []AggCall
			calls, e = withCallExprs([]AggCall{*c.Agg}, e)
			c.Agg = &calls[0]
		}
	}
	return &n
}

func (c *WindowCall) text() string {
	if c.Agg != nil {
		return c.Agg.String()
	}
	var args []string
	for _, a := range c.Args {
		args = append(args, a.String())
	}
	return fmt.Sprintf("%s(%s)", c.Function, strings.Join(args, ", "))
}
