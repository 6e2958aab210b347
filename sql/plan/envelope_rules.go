package plan

import (
	"fmt"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// envelopeRules says how each envelope column of several rows becomes that of
// one: the propagation rules.
var envelopeRules = func() (rules [EnvColumns]agg.EnvelopeSpec) {
	by := map[int]agg.EnvelopeRule{
		EnvStatus: agg.WorstOf, EnvCoverage: agg.Smallest, EnvError: agg.LargestKnown, EnvStaleness: agg.Largest,
		EnvFlags: agg.AllBits, EnvPartsDone: agg.Smallest, EnvPartsExpected: agg.Largest,
		EnvConfidence: agg.UnionBound, EnvErrKind: agg.WorstOf, EnvAsOf: agg.Smallest, EnvWatermark: agg.Smallest,
		EnvPane: agg.WorstOf, EnvRevision: agg.Largest, EnvCut: agg.WorstOf,
	}
	order := map[int][]string{
		EnvStatus: {StatusComplete, StatusProvisional, StatusStale, StatusDegraded, StatusPartial},
		EnvErrKind: {
			string(agg.Exact), string(agg.WorstCase), string(agg.Probabilistic), string(agg.Asymptotic),
			string(agg.Heuristic), string(agg.NoBound),
		},
		EnvPane: {"on_time", "late", "early"},
	}
	for i, c := range EnvelopeColumns() {
		rules[i] = agg.EnvelopeSpec{Name: c.Name, Rule: by[i], Type: c.Type, Order: order[i]}
	}
	return rules
}()

// EnvelopeAt returns the first envelope column of a schema, or -1. Pruning may
// leave out some of them, so it is for plans that are being bound.
func EnvelopeAt(s *types.Schema) int {
	for i := range s.Columns {
		if s.Columns[i].Role == types.RoleEnvelope {
			return i
		}
	}
	return -1
}

// DataColumns returns the columns that are not the envelope's.
func DataColumns(s *types.Schema) []int {
	var out []int
	for i := range s.Columns {
		if s.Columns[i].Role != types.RoleEnvelope {
			out = append(out, i)
		}
	}
	return out
}

// PassEnvelope returns the values that hand the envelope of a child on, none
// where it has no envelope.
func PassEnvelope(child *types.Schema) []expr.Expr {
	at := EnvelopeAt(child)
	if at < 0 {
		return nil
	}
	out := make([]expr.Expr, EnvColumns)
	for i := range out {
		out[i] = NewColumn(child, at+i)
	}
	return out
}

// NewProject computes values over the child and hands its envelope on.
func NewProject(child Node, values []expr.Expr, cols []types.Column) *Project {
	p := &Project{Child: child, Values: append([]expr.Expr(nil), values...), Cols: append([]types.Column(nil), cols...)}
	if env := PassEnvelope(child.Schema()); env != nil {
		p.Values = append(p.Values, env...)
		p.Cols = append(p.Cols, EnvelopeColumns()...)
	}
	return p
}

// NewJoin joins, and yields the data columns of both sides followed by one
// merged envelope, if a side has one. It also returns where each column of the
// plain join went.
func NewJoin(j *Join) (Node, []int) {
	l, r := EnvelopeAt(j.Left.Schema()), EnvelopeAt(j.Right.Schema())
	width := len(j.Left.Schema().Columns)
	if r >= 0 {
		r += width
	}
	return mergedEnvelopes(j, l, r)
}

// NewLateral is NewJoin for an Apply of a lateral kind.
func NewLateral(a *Apply) (Node, []int) {
	l, r := EnvelopeAt(a.Child.Schema()), EnvelopeAt(a.Subplan.Schema())
	if r >= 0 {
		r += len(a.Child.Schema().Columns)
	}
	return mergedEnvelopes(a, l, r)
}

// mergedEnvelopes projects the data columns and the merge of the envelopes that
// begin at columns l and r; one of them may be -1.
func mergedEnvelopes(n Node, l, r int) (Node, []int) {
	s := n.Schema()
	to := make([]int, len(s.Columns))
	if l < 0 && r < 0 {
		return n, all(len(to))
	}
	p := &Project{Child: n}
	for _, i := range DataColumns(s) {
		to[i] = len(p.Values)
		p.Values = append(p.Values, NewColumn(s, i))
		p.Cols = append(p.Cols, s.Columns[i])
	}
	for i, c := range EnvelopeColumns() {
		if l >= 0 {
			to[l+i] = len(p.Values)
		}
		if r >= 0 {
			to[r+i] = len(p.Values)
		}
		p.Values = append(p.Values, mergeOf(s, i, l, r))
		p.Cols = append(p.Cols, c)
	}
	return p, to
}

func mergeOf(s *types.Schema, i, l, r int) expr.Expr {
	switch {
	case l < 0:
		return NewColumn(s, r+i)
	case r < 0:
		return NewColumn(s, l+i)
	}
	return &envelopeMerge{i, NewColumn(s, l+i), NewColumn(s, r+i)}
}

// NewApply applies a subplan of a scalar kind; the envelopes of its rows are
// merged into those of the child. The child's columns keep their places, and the
// value is column len(child).
func NewApply(a *Apply) Node {
	sub := a.Subplan.Schema()
	child := a.Child.Schema()
	l, r := EnvelopeAt(child), EnvelopeAt(sub)
	if r < 0 {
		return a
	}
	for i, c := range EnvelopeColumns() {
		a.Envelope = append(a.Envelope, AggCall{
			Name: "envelope", Bound: envelopeRules[i].Bound(), Args: []expr.Expr{NewColumn(sub, r+i)}, Column: c,
		})
	}
	if l < 0 {
		return a
	}
	s := a.Schema()
	width := len(child.Columns)
	p := &Project{Child: a}
	for i := range width + 1 {
		v := NewColumn(s, i)
		if i >= l && i < l+EnvColumns {
			v = mergeOf(s, i-l, l, width+1)
		}
		p.Values = append(p.Values, v)
		p.Cols = append(p.Cols, s.Columns[i])
	}
	return p
}

// CompleteEnvelope returns the envelope of rows that come from no stream.
func CompleteEnvelope() []expr.Expr {
	cols := EnvelopeColumns()
	out := make([]expr.Expr, len(cols))
	for i, c := range cols {
		out[i] = &expr.Const{Datum: types.NullOf(c.Type)}
	}
	text := func(i int, s string) { out[i] = &expr.Const{Datum: types.TextDatum(s)} }
	number := func(i int, d types.Datum) { out[i] = &expr.Const{Datum: d} }
	text(EnvStatus, StatusComplete)
	text(EnvErrKind, string(agg.Exact))
	number(EnvCoverage, types.FloatDatum(1))
	number(EnvError, types.FloatDatum(0))
	number(EnvConfidence, types.FloatDatum(1))
	number(EnvStaleness, types.IntDatum(types.Int8, 0))
	number(EnvFlags, types.IntDatum(types.Int4, 0))
	return out
}

// envelopeMerge is the merge of one envelope column of two rows.
type envelopeMerge struct {
	column int
	a, b   expr.Expr
}

// Type implements expr.Expr.
func (m *envelopeMerge) Type() types.Type { return envelopeRules[m.column].Type }

// Eval implements expr.Expr.
func (m *envelopeMerge) Eval(ec *expr.Context, in *types.Batch) (*types.Vector, error) {
	a, err := m.a.Eval(ec, in)
	if err != nil {
		return nil, err
	}
	b, err := m.b.Eval(ec, in)
	if err != nil {
		return nil, err
	}
	out := types.NewVector(m.Type(), in.Rows)
	rule := envelopeRules[m.column]
	for i := range in.Rows {
		out.AppendDatum(rule.Merge(a.Datum(i), b.Datum(i)))
	}
	return out, nil
}

// Children implements expr.Expr.
func (m *envelopeMerge) Children() []expr.Expr { return []expr.Expr{m.a, m.b} }

// WithChildren implements expr.Expr.
func (m *envelopeMerge) WithChildren(c []expr.Expr) expr.Expr {
	return &envelopeMerge{m.column, c[0], c[1]}
}

// String implements expr.Expr.
func (m *envelopeMerge) String() string { return fmt.Sprintf("merged(%s, %s)", m.a, m.b) }

// Volatility implements expr.Expr.
func (m *envelopeMerge) Volatility() expr.Volatility { return expr.Immutable }
