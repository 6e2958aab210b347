package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// AggCall is one aggregate of an Aggregate or a window.
type AggCall struct {
	Name    string
	Bound   agg.Bound
	Args    []expr.Expr // one for each of Bound.Inputs, cast
	Filter  expr.Expr
	OrderBy []SortKey // the order in which rows are folded
	// Distinct folds equal rows once: those with equal values of OrderBy where there
	// is one, else Bound's state sees to it.
	Distinct bool
	// Combine merges portable states of Bound.State, the values of Args[0],
	// instead of folding values: combine(c).
	Combine bool
	// StateUnread says that nobody reads the portable state of an approximate
	// aggregate: the column is NULL.
	StateUnread bool
	Column      types.Column // of the value
}

// String returns canonical text; equal text means an equal value.
func (a *AggCall) String() string {
	var b strings.Builder
	b.WriteString(a.Name)
	b.WriteByte('(')
	if a.Distinct {
		b.WriteString("DISTINCT ")
	}
	if len(a.Args) == 0 {
		b.WriteByte('*')
	}
	for i, x := range a.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(x.String())
	}
	if len(a.OrderBy) > 0 {
		b.WriteString(" ORDER BY " + sortText(a.OrderBy))
	}
	b.WriteByte(')')
	if a.Filter != nil {
		fmt.Fprintf(&b, " FILTER (WHERE %s)", a.Filter)
	}
	return b.String()
}

// Same reports whether two calls have the same value.
func (a *AggCall) Same(o *AggCall) bool {
	return a.String() == o.String() && a.Bound.State.Identity() == o.Bound.State.Identity() &&
		a.Bound.Final.String() == o.Bound.Final.String() && a.Combine == o.Combine
}

// SameState reports whether two calls keep the same of the same rows: they may make
// different values of one state.
func (a *AggCall) SameState(o *AggCall) bool {
	return len(a.OrderBy) == 0 && len(o.OrderBy) == 0 && a.Distinct == o.Distinct && a.Combine == o.Combine &&
		a.Bound.State.Identity() == o.Bound.State.Identity() && sameExprs(a.Args, o.Args) && sameExpr(a.Filter, o.Filter)
}

func sameExprs(a, b []expr.Expr) bool { return slices.EqualFunc(a, b, sameExpr) }

// sameExpr reports whether two expressions have one value for a row.
func sameExpr(a, b expr.Expr) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Type() == b.Type() && a.Volatility() != expr.Volatile && a.String() == b.String()
}

// Aggregate groups rows. Its columns are the keys, the values of Aggs, then,
// hidden, lo, hi, state and error of each approximate one, then the values of Envelope.
// Without Keys it yields exactly one row unless Grouped is set.
type Aggregate struct {
	Child    Node
	Keys     []expr.Expr
	KeyCols  []types.Column
	Aggs     []AggCall
	Envelope []AggCall // how the envelope of a group comes from its rows; set by NewAggregate
	Grouped  bool      // GROUP BY was given, so no rows make no groups
	// Sets are grouping sets: the rows are grouped by each of them, and the groups
	// of one set follow those of the one before. nil is one set, of Keys.
	Sets []GroupingSet
}

// GroupingSet is one of several ways in which an Aggregate groups.
type GroupingSet struct {
	// Keys stand in place of the Aggregate's, one for each: a NULL where a key is
	// not in the set.
	Keys []expr.Expr
	// Total is the empty set: one group, also of no rows.
	Total bool
}

// NewAggregate builds a grouping, and the envelope of its groups where the child
// has one.
func NewAggregate(child Node, keys []expr.Expr, keyCols []types.Column, aggs []AggCall, grouped bool) *Aggregate {
	a := &Aggregate{Child: child, Keys: keys, KeyCols: keyCols, Aggs: aggs, Grouped: grouped}
	if at := EnvelopeAt(child.Schema()); at >= 0 {
		for i, c := range EnvelopeColumns() {
			a.Envelope = append(a.Envelope, AggCall{
				Name: "envelope", Bound: envelopeRules[i].Bound(),
				Args: []expr.Expr{NewColumn(child.Schema(), at+i)}, Column: c,
			})
		}
	}
	return a
}

// Bounds returns the columns of lo, hi, state and error of aggregate i, or -1s.
func (a *Aggregate) Bounds(i int) [4]int {
	at := len(a.Keys) + len(a.Aggs)
	for j := range a.Aggs {
		if !a.Aggs[j].Bound.Final.Approximate() {
			continue
		}
		if j == i {
			return [4]int{at, at + 1, at + 2, at + 3}
		}
		at += 4
	}
	return [4]int{-1, -1, -1, -1}
}

// Schema implements Node.
func (a *Aggregate) Schema() *types.Schema {
	s := &types.Schema{Columns: append([]types.Column(nil), a.KeyCols...)}
	for i := range a.Aggs {
		s.Columns = append(s.Columns, a.Aggs[i].Column)
	}
	for i := range a.Aggs {
		c := a.Aggs[i].Column
		if !a.Aggs[i].Bound.Final.Approximate() {
			continue
		}
		s.Columns = append(s.Columns, BoundColumns(c)...)
		s.Columns = append(s.Columns, types.Column{Name: c.Name + "_error", Type: types.Of(types.Float8), Role: types.RoleBound, Hidden: true})
	}
	for i := range a.Envelope {
		s.Columns = append(s.Columns, a.Envelope[i].Column)
	}
	return s
}

// WithOwnErrors makes the error of each group cover the approximate aggregates
// of the grouping itself, besides those below (L-8). It is unknown where
// approximate values went into an exact aggregate such as sum, whose error is
// another. Columns keep their places.
func (a *Aggregate) WithOwnErrors(unknown bool) Node {
	s := a.Schema()
	env := EnvelopeAt(s)
	if env < 0 || !unknown && len(a.KeyCols)+len(a.Aggs)+len(a.Envelope) == len(s.Columns) {
		return a
	}
	p := &Project{Child: a, Cols: s.Columns}
	for i := range s.Columns {
		p.Values = append(p.Values, NewColumn(s, i))
	}
	for i := range a.Aggs {
		at := a.Bounds(i)[3]
		if at < 0 {
			continue
		}
		kind := expr.NewConst(types.TextDatum(string(a.Aggs[i].Bound.Final.Kind())))
		p.Values[env+EnvError] = &envelopeMerge{EnvError, p.Values[env+EnvError], NewColumn(s, at)}
		p.Values[env+EnvErrKind] = &envelopeMerge{EnvErrKind, p.Values[env+EnvErrKind], kind}
	}
	if unknown {
		p.Values[env+EnvError] = expr.NewConst(types.NullOf(types.Of(types.Float8)))
	}
	return p
}

// BoundColumns returns the hidden columns that go with an approximate one.
func BoundColumns(c types.Column) []types.Column {
	return []types.Column{
		{Name: c.Name + "_lo", Type: c.Type, Role: types.RoleBound, Hidden: true},
		{Name: c.Name + "_hi", Type: c.Type, Role: types.RoleBound, Hidden: true},
		{Name: c.Name + "__state", Type: types.Of(types.Sketch), Role: types.RoleState, Hidden: true},
	}
}

// Children implements Node.
func (a *Aggregate) Children() []Node { return []Node{a.Child} }

// WithChildren implements Node.
func (a *Aggregate) WithChildren(c []Node) Node {
	n := *a
	n.Child = c[0]
	return &n
}

// Exprs implements Node.
func (a *Aggregate) Exprs() []expr.Expr {
	out := append([]expr.Expr(nil), a.Keys...)
	for _, s := range a.Sets {
		out = append(out, s.Keys...)
	}
	return append(append(out, callExprs(a.Aggs)...), callExprs(a.Envelope)...)
}

func callExprs(calls []AggCall) []expr.Expr {
	var out []expr.Expr
	for i := range calls {
		out = append(append(append(out, calls[i].Args...), calls[i].Filter), sortExprs(calls[i].OrderBy)...)
	}
	return out
}

func withCallExprs(calls []AggCall, e []expr.Expr) ([]AggCall, []expr.Expr) {
	out := append([]AggCall(nil), calls...)
	for i := range out {
		n := len(out[i].Args)
		out[i].Args, out[i].Filter, e = e[:n:n], e[n], e[n+1:]
		k := len(out[i].OrderBy)
		out[i].OrderBy, e = withSortExprs(out[i].OrderBy, e[:k]), e[k:]
	}
	return out, e
}

// WithExprs implements Node.
func (a *Aggregate) WithExprs(e []expr.Expr) Node {
	n := *a
	k := len(a.Keys)
	n.Keys, e = e[:k:k], e[k:]
	n.Sets = append([]GroupingSet(nil), a.Sets...)
	for i := range n.Sets {
		n.Sets[i].Keys, e = e[:k:k], e[k:]
	}
	n.Aggs, e = withCallExprs(a.Aggs, e)
	n.Envelope, _ = withCallExprs(a.Envelope, e)
	return &n
}

// setsText shows the keys of each grouping set.
func (a *Aggregate) setsText() string {
	var sets []string
	for _, s := range a.Sets {
		var keys []expr.Expr
		for _, k := range s.Keys {
			if _, constant := k.(*expr.Const); !constant {
				keys = append(keys, k)
			}
		}
		sets = append(sets, "("+exprList(keys)+")")
	}
	return strings.Join(sets, ", ")
}
