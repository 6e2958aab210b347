package bind

import (
	"math"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// keepAccuracy makes the rows of a view keep its accuracy contract: values are NULL
// or fail the statement where they are read and where their states are merged, and
// rows say that they are degraded.
func keepAccuracy(r *result, rel *catalog.Relation) error {
	c := rel.ContinuousView.Accuracy
	if c == nil {
		return nil
	}
	r.node = mapFolds(r.node, func(f *plan.FoldScan) { f.Accuracy = c })
	keepCombined(r, agg.Accuracy{MaxError: c.MaxError, View: rel.Name, Beyond: beyondCombined[c.OnExceeded]})
	if c.OnExceeded == catalog.FailExceeded {
		return nil
	}
	var err error
	r.node, err = degradeBeyond(r.node, c.MaxError)
	return err
}

// beyondCombined is what becomes of values that combine makes. What was merged of
// states is not counted again.
var beyondCombined = map[string]agg.Beyond{
	catalog.LabelExceeded: agg.Keep, catalog.NullExceeded: agg.ToNull, catalog.FailExceeded: agg.Fail, catalog.ExactExceeded: agg.Fail,
}

// keepCombined makes what combine merges of the columns keep an accuracy.
func keepCombined(r *result, accuracy agg.Accuracy) {
	for i, col := range r.cols {
		if col.approx == nil || col.approx.bound == nil {
			continue
		}
		a, bound := *col.approx, *col.approx.bound
		accuracy.Function = "combine(" + col.name + ")"
		bound.Final = agg.Within(bound.Final, accuracy)
		a.bound = &bound
		r.cols[i].approx = &a
	}
}

// degradeCombined says it of rows whose states were merged to values with an error
// larger than the contracts of their views allow.
func degradeCombined(n plan.Node, calls []plan.AggCall) (plan.Node, error) {
	limit := math.Inf(1)
	for i := range calls {
		if a, ok := agg.AccuracyOf(calls[i].Bound.Final); ok {
			limit = min(limit, a.MaxError)
		}
	}
	if math.IsInf(limit, 1) {
		return n, nil
	}
	return degradeBeyond(n, limit)
}

// mapFolds changes copies of the fold scans of a plan.
func mapFolds(n plan.Node, change func(*plan.FoldScan)) plan.Node {
	if f, ok := n.(*plan.FoldScan); ok {
		scan := *f
		change(&scan)
		return &scan
	}
	children := n.Children()
	if len(children) == 0 {
		return n
	}
	out := make([]plan.Node, len(children))
	for i, c := range children {
		out[i] = mapFolds(c, change)
	}
	return n.WithChildren(out)
}

// CheckAccuracy refuses a contract that a view can never keep: on_bound_exceeded =
// 'exact' where an approximate value has nothing that it is an estimate of.
func (v *ViewPlan) CheckAccuracy(c *catalog.Accuracy) error {
	if c == nil || c.OnExceeded != catalog.ExactExceeded {
		return nil
	}
	for _, a := range v.Fold.Aggs {
		if !a.Final.Approximate() || a.Shadow != nil {
			continue
		}
		why := "there is no exact form of its value that could be computed instead"
		if a.Final.Type().OID == types.Sketch {
			why = "a sketch is an estimate whatever it is made of"
		}
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s can never be exact: %s", a.Name, why).
			WithHint("Choose 'label', 'null' or 'error' for this view, or put %s into a view of its own.", a.Name)
	}
	return nil
}

// degradeBeyond says of the rows whose error is larger or unknown that they are
// degraded, and sets a flag.
func degradeBeyond(n plan.Node, maxError float64) (plan.Node, error) {
	schema := n.Schema()
	env := plan.EnvelopeAt(schema)
	if env < 0 {
		return n, nil
	}
	column := func(i int) expr.Expr { return plan.NewColumn(schema, env+i) }
	unknown, err := expr.NewIsNull(column(plan.EnvError), false)
	if err != nil {
		return nil, err
	}
	larger, err := expr.NewOperator(">", column(plan.EnvError), expr.NewConst(types.FloatDatum(maxError)))
	if err != nil {
		return nil, err
	}
	beyond, err := expr.NewOr(unknown, larger)
	if err != nil {
		return nil, err
	}
	better := make([]expr.Expr, 0, 3)
	for _, s := range []string{plan.StatusComplete, plan.StatusProvisional, plan.StatusStale} {
		better = append(better, expr.NewConst(types.TextDatum(s)))
	}
	mild, err := expr.NewIn(column(plan.EnvStatus), better, false)
	if err != nil {
		return nil, err
	}
	worse, err := expr.NewAnd(beyond, mild)
	if err != nil {
		return nil, err
	}
	status, err := expr.NewCase(nil, []expr.When{{Cond: worse, Result: expr.NewConst(types.TextDatum(plan.StatusDegraded))}}, column(plan.EnvStatus))
	if err != nil {
		return nil, err
	}
	flagged, err := expr.NewOperator("|", column(plan.EnvFlags), expr.NewConst(types.IntDatum(types.Int4, plan.FlagInaccurate)))
	if err != nil {
		return nil, err
	}
	flags, err := expr.NewCase(nil, []expr.When{{Cond: beyond, Result: flagged}}, column(plan.EnvFlags))
	if err != nil {
		return nil, err
	}
	p := &plan.Project{Child: n, Cols: slices.Clone(schema.Columns)}
	for i := range schema.Columns {
		p.Values = append(p.Values, plan.NewColumn(schema, i))
	}
	p.Values[env+plan.EnvStatus], p.Values[env+plan.EnvFlags] = status, flags
	return p, nil
}
