package bind

import (
	"errors"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// ViewPlan is a bound continuous view: what partitions keep, and what readers
// make of it.
type ViewPlan struct {
	Stream *catalog.Relation
	Fold   *plan.Fold
	// Having admits groups when they are read; over the columns of Fold.Layout().
	Having expr.Expr
	// Output holds the values of the view's columns, over those of Fold.Layout().
	Output  []expr.Expr
	Columns []types.Column
	// Access is what who creates the view needs to be allowed to do.
	Access []plan.Access
}

// ContinuousView binds the body of CREATE CONTINUOUS VIEW. names renames the
// columns; nil keeps those of the body.
func ContinuousView(env *Env, body *ast.Select, names []ast.Identifier) (*ViewPlan, error) {
	b := newBinder(env, nil, 0)
	if err := checkCalls(body); err != nil {
		return nil, err
	}
	v, _, err := b.viewPlan(body)
	if err != nil {
		return nil, err
	}
	if err := v.check(); err != nil {
		return nil, err
	}
	if err := v.checkConstants(env.context()); err != nil {
		return nil, err
	}
	if err := v.checkScattered(env.Registry); err != nil {
		return nil, err
	}
	if b.maxParam > 0 {
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%d", b.maxParam)
	}
	if len(names) > len(v.Columns) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "CREATE VIEW specifies more column names than columns").At(names[len(v.Columns)].Position())
	}
	for i, n := range names {
		v.Columns[i].Name = n.Name
	}
	seen := map[string]bool{}
	for _, c := range v.Columns {
		if seen[c.Name] {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", c.Name)
		}
		seen[c.Name] = true
	}
	v.Access = b.needs()
	return v, nil
}

// ViewOf binds a continuous view of the catalog again.
func ViewOf(env *Env, rel *catalog.Relation) (*ViewPlan, error) {
	b := newBinder(env, nil, 0)
	defer b.inView(rel)()
	body, err := b.viewBody(rel.ContinuousView.SQL)
	if err != nil {
		return nil, err
	}
	v, _, err := b.viewPlan(body)
	if err != nil {
		return nil, err
	}
	for i := range v.Columns {
		if i < len(rel.Columns) {
			v.Columns[i].Name = rel.Columns[i].Name
		}
	}
	return v, nil
}

// viewPlan binds a body and takes its plan apart: a projection of an optional
// filter of a fold.
func (b *binder) viewPlan(body *ast.Select) (*ViewPlan, *result, error) {
	core, err := checkViewBody(body)
	if err != nil {
		return nil, nil, err
	}
	if err := b.checkViewSource(core); err != nil {
		return nil, nil, err
	}
	b.forView = true
	defer func() { b.forView = false }()
	r, err := b.selectStmt(&ast.Select{Pos: body.Pos, Body: core}, &context{})
	if err != nil {
		return nil, nil, err
	}
	project, ok := r.node.(*plan.Project)
	if !ok {
		return nil, nil, b.notFoldable(core)
	}
	v := &ViewPlan{}
	child := project.Child
	if f, ok := child.(*plan.Filter); ok {
		v.Having, child = f.Cond, f.Child
	}
	scan, ok := child.(*plan.FoldScan)
	if !ok {
		return nil, nil, b.notFoldable(core)
	}
	v.Fold, v.Stream = scan.Fold, scan.Fold.Stream
	for _, c := range r.cols {
		v.Output = append(v.Output, project.Values[c.index])
		v.Columns = append(v.Columns, types.Column{Name: c.name, Type: c.typ, NotNull: c.notNull})
	}
	return v, r, nil
}

// checkViewSource refuses a view over a continuous view.
func (b *binder) checkViewSource(core *ast.SelectCore) error {
	for _, item := range core.From {
		t, ok := item.(*ast.TableRef)
		if !ok {
			continue
		}
		if rel := b.relation(t.Name); rel != nil && rel.ContinuousView != nil {
			return sqlerr.New(sqlerr.FeatureNotSupported, "a continuous view reads one stream, and %q is a continuous view", rel.Name).
				WithHint("Create it over the stream, or use CREATE VIEW for a query over %q that runs when it is read.", rel.Name).At(t.Position())
		}
	}
	return nil
}

// checkScattered refuses aggregates whose states do not merge where events without a
// partition key would be in several partitions.
func (v *ViewPlan) checkScattered(r *agg.Registry) error {
	if v.Fold.Scattered() < 0 {
		return nil
	}
	for _, a := range v.Fold.Aggs {
		if fn := r.Lookup(a.Name); fn != nil && fn.MergeAlgebra == agg.NotMergeable {
			column := v.Stream.Columns[v.Stream.Stream.Options.PartitionKey[0]].Name
			return sqlerr.New(sqlerr.FeatureNotSupported, "states of aggregate %s do not merge, and events whose %q is NULL are in several partitions", a.Name, column).
				WithHint("Declare %q NOT NULL in the stream, or make it the dedup_key too.", column)
		}
	}
	return nil
}

// checkConstants refuses a column that fails whatever the events are, such as 1/0,
// rather than every query that reads it.
func (v *ViewPlan) checkConstants(ec *expr.Context) error {
	for _, e := range v.Output {
		if len(plan.Columns(e)) > 0 || e.Volatility() != expr.Immutable {
			continue
		}
		if _, err := expr.EvalConst(ec, e); err != nil {
			var row *expr.RowError
			if errors.As(err, &row) {
				return row.Err
			}
			return err
		}
	}
	return nil
}

// notFoldable says why a body is not a fold: by an aggregate whose value depends
// on the order of the events, or for want of any.
func (b *binder) notFoldable(core *ast.SelectCore) error {
	var ordered, alone *ast.FuncCall
	ast.WalkExprs(core, func(e ast.Expr) bool {
		f, ok := e.(*ast.FuncCall)
		if !ok || ordered != nil {
			return ordered == nil
		}
		if f.Name.Name == "combine" {
			ordered = f
		} else if fn := b.env.Registry.Lookup(f.Name.Name); fn != nil && fn.MergeAlgebra == agg.OrderedMonoid {
			ordered = f
		} else if fn != nil && fn.MergeAlgebra == agg.NotMergeable {
			alone = f
		}
		return true
	})
	if ordered != nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "aggregate %s is not supported in a continuous view", ordered.Name.Name).
			WithHint("Call it in the query that reads the view or the stream.").At(ordered.Position())
	}
	if alone != nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "states of aggregate %s do not merge, and the groups of this view are in several partitions", alone.Name.Name).
			WithHint("Group by the partition key of the stream, create it with partitions = 1, or call the aggregate in a query over the stream, which brings all rows to one place.").
			At(alone.Position())
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "a continuous view must aggregate one stream").
		WithHint("Use GROUP BY or an aggregate such as count(*) over a stream or TUMBLE(stream, ...).")
}

// checkViewBody refuses the clauses that a view cannot keep up to date.
func checkViewBody(body *ast.Select) (*ast.SelectCore, error) {
	refuse := func(pos int, what, hint string) error {
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not supported in a continuous view", what).WithHint("%s", hint).At(pos)
	}
	const later = "Use it in the query that reads the view."
	core, ok := body.Body.(*ast.SelectCore)
	switch {
	case !ok:
		return nil, refuse(body.Position(), "UNION, INTERSECT, EXCEPT or VALUES", "Create one view for each SELECT.")
	case body.With != nil:
		return nil, refuse(body.With.Position(), "WITH", later)
	case len(body.OrderBy) > 0:
		return nil, refuse(body.OrderBy[0].Expr.Position(), "ORDER BY", later)
	case body.Limit != nil:
		return nil, refuse(body.Limit.Position(), "LIMIT", later)
	case body.Offset != nil:
		return nil, refuse(body.Offset.Position(), "OFFSET", later)
	case core.Distinct:
		return nil, refuse(core.Position(), "DISTINCT", "Use GROUP BY.")
	case len(core.From) != 1:
		return nil, refuse(core.Position(), "a FROM clause without exactly one stream", "Read one stream; join in the query that reads the view.")
	}
	switch f := core.From[0].(type) {
	case *ast.Join:
		return nil, refuse(f.Position(), "a join", "Join in the query that reads the view.")
	case *ast.SubqueryRef:
		return nil, refuse(f.Position(), "a subquery", "Read the stream itself.")
	}
	var err error
	ast.WalkExprs(core, func(e ast.Expr) bool {
		switch x := e.(type) {
		case *ast.Subquery:
			err = refuse(x.Position(), "a subquery", later)
		case *ast.In:
			if x.Query != nil {
				err = refuse(x.Position(), "a subquery", later)
			}
		case *ast.Quantified:
			if x.Query != nil {
				err = refuse(x.Position(), "a subquery", later)
			}
		case *ast.GroupingSet:
			err = refuse(x.Position(), "a grouping set", "Create one view for each grouping.")
		case *ast.FuncCall:
			if x.Over != nil {
				err = refuse(x.Position(), "a window function", later)
			}
			if len(x.OrderBy) > 0 {
				err = refuse(x.Position(), "ORDER BY in an aggregate", later)
			}
		}
		return err == nil
	})
	return core, err
}

// checkCalls refuses functions whose value changes without the events changing.
// What depends on TimeZone alone is fine: it is frozen with the view.
func checkCalls(body *ast.Select) error {
	var err error
	ast.WalkExprs(body, func(x ast.Expr) bool {
		if f, ok := x.(*ast.FuncCall); ok && err == nil && changing[f.Name.Name] {
			err = changes(f.Name.Name, f.Position())
		}
		return err == nil
	})
	return err
}

// check is checkCalls for what only a bound expression shows.
func (v *ViewPlan) check() error {
	for _, e := range append(v.exprs(), v.Output...) {
		if e != nil && e.Volatility() == expr.Volatile {
			return changes(e.String(), 0)
		}
	}
	return nil
}

func changes(what string, pos int) error {
	return sqlerr.New(sqlerr.InvalidObjectDefinition, "%s is not allowed in a continuous view, because its value changes over time", what).
		WithHint("A view depends on its events alone. Use the event time, or call the function in the query that reads the view.").At(pos)
}

func (v *ViewPlan) exprs() []expr.Expr {
	out := append([]expr.Expr{v.Fold.Filter, v.Having}, v.Fold.Keys...)
	for _, s := range v.Fold.States {
		out = append(append(out, s.Filter), s.Inputs...)
	}
	return out
}

// changing are the stable functions that read the clock or the session.
var changing = map[string]bool{
	"now": true, "current_timestamp": true, "current_date": true, "current_time": true, "localtime": true,
	"localtimestamp": true, "transaction_timestamp": true, "statement_timestamp": true, "clock_timestamp": true,
	"timeofday": true, "current_user": true, "session_user": true, "user": true, "current_role": true,
	"current_setting": true, "current_schema": true, "current_catalog": true, "current_database": true,
	"random": true, "pg_sleep": true, "gen_random_uuid": true, "version": true, "pg_backend_pid": true,
}

// viewScope reads a continuous view: its body over its own states.
func (b *binder) viewScope(rel *catalog.Relation, alias *ast.Alias, ctx *context) (*scope, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	defer b.inView(rel)()
	body, err := b.viewBody(rel.ContinuousView.SQL)
	if err != nil {
		return nil, err
	}
	_, r, err := b.viewPlan(body)
	if err != nil {
		return nil, sqlerr.From(err).InContext("continuous view %q", rel.Name)
	}
	b.streamDerived = true
	// The fold's literals are fixed where partitions compile it; here are HAVING's
	// and those of the output.
	if r.node, err = fixZone(overView(r.node, rel), rel.ContinuousView.TimeZone); err != nil {
		return nil, sqlerr.From(err).InContext("continuous view %q", rel.Name)
	}
	for i := range r.cols {
		if i < len(rel.Columns) {
			r.cols[i].name = rel.Columns[i].Name
		}
	}
	if err := keepAccuracy(r, rel); err != nil {
		return nil, err
	}
	s, err := derived(r, rel.Name, alias, ctx)
	if err != nil {
		return nil, err
	}
	s.tables[0].base = true
	s.ofSchema(rel.Schema, alias)
	return s, nil
}

// overView makes the fold scans of a plan read a view's states.
func overView(n plan.Node, rel *catalog.Relation) plan.Node {
	return mapFolds(n, func(f *plan.FoldScan) { f.View = rel })
}
