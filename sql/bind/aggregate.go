package bind

import (
	"fmt"
	"slices"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// grouping collects the aggregates of one query level.
type grouping struct {
	keys    []expr.Expr
	keyCols []types.Column
	calls   []plan.AggCall
	grouped bool     // GROUP BY was given
	sets    []keySet // nil where there is but one, of all keys
	asked   int      // position of an argument of GROUPING
	first   int      // position of the first aggregate
	// unknownError is set where the error of a value is not that of what it was
	// made of.
	unknownError bool
}

func (g *grouping) used() bool { return g.grouped || len(g.calls) > 0 }

// aggregate binds an aggregate call and returns the placeholder of its value.
func (b *binder) aggregate(c *clause, f *ast.FuncCall) (expr.Expr, error) {
	if border := b.aggregatedAbove(c.s, f); border != nil {
		if border.clause == nil {
			return nil, sqlerr.New(sqlerr.GroupingError, "aggregate functions are not allowed in FROM clause of their own query level")
		}
		e, err := b.call(border.clause, f)
		if err != nil {
			return nil, err
		}
		return b.cross(border, e), nil
	}
	if c.inAgg {
		if _, err := b.aggCall(c, f); err != nil { // there may be no such function
			return nil, err
		}
		return nil, sqlerr.New(sqlerr.GroupingError, "aggregate function calls cannot be nested")
	}
	if c.group == nil {
		return nil, sqlerr.New(sqlerr.GroupingError, "aggregate functions are not allowed in %s", c.name)
	}
	call, err := b.aggCall(c, f)
	if err != nil {
		return nil, err
	}
	if c.group.first == 0 {
		c.group.first = f.Position()
	}
	i := c.group.add(call)
	e := c.group.value(i)
	if err := b.boundAggregate(c.group, i, e); err != nil {
		return nil, err
	}
	return e, nil
}

// aggregatedAbove returns the border to the query around this one where an aggregate is
// of that query: one whose arguments read columns, but none of this query.
func (b *binder) aggregatedAbove(s *scope, f *ast.FuncCall) *frame {
	if s.ctx == nil || s.ctx.frame == nil {
		return nil
	}
	reads, own := false, false
	ast.WalkExprs(f, func(e ast.Expr) bool {
		if _, query := e.(*ast.Subquery); query {
			own = true // what it reads is not looked at
		}
		ref, ok := e.(*ast.ColumnRef)
		if !ok || own {
			return !own
		}
		reads = true
		of, name, err := splitRef(b.env.Snapshot.Database, ref)
		if err == nil {
			var found expr.Expr
			found, err = b.findHere(s, of, name)
			own = found != nil || s.hasTable(of)
		}
		own = own || err != nil
		return !own
	})
	if !reads || own {
		return nil
	}
	return s.ctx.frame
}

// add returns the number of the call, which equal calls share.
func (g *grouping) add(call plan.AggCall) int {
	for i := range g.calls {
		if g.calls[i].Same(&call) {
			return i
		}
	}
	g.calls = append(g.calls, call)
	return len(g.calls) - 1
}

func (g *grouping) value(i int) *placeholder {
	c := &g.calls[i]
	return &placeholder{id: i, kind: aggPlaceholder, typ: c.Column.Type, text: c.String()}
}

// bound returns the placeholder of lo (0), hi (1) or state (2) of aggregate i.
func (g *grouping) bound(i, which int) *placeholder {
	t := g.calls[i].Column.Type
	if which == 2 {
		t = types.Of(types.Sketch)
	}
	return &placeholder{id: 3*i + which, kind: boundPlaceholder, typ: t, text: g.calls[i].String()}
}

// aggCall binds the call itself.
func (b *binder) aggCall(c *clause, f *ast.FuncCall) (plan.AggCall, error) {
	inner := &clause{s: c.s, name: c.name, inAgg: true}
	if f.Name.Name == "combine" {
		return b.combine(inner, f)
	}
	fn := b.env.Registry.Lookup(f.Name.Name)
	args, err := b.callArgs(inner, f)
	if err != nil {
		return plan.AggCall{}, err
	}
	if err := b.checkWithinGroup(f, fn, args); err != nil {
		return plan.AggCall{}, err
	}
	if sumsIntervals[fn.Name] && len(args) == 1 && unknown(args[0].Type()) {
		return plan.AggCall{}, sqlerr.New(sqlerr.AmbiguousFunction, "function %s(unknown) is not unique", fn.Name).
			WithHint("Could not choose a best candidate function. You might need to add explicit type casts.")
	}
	if fn.OrderedSet {
		return b.orderedSet(inner, f, fn, args)
	}
	if f.Star && f.Name.Name != "count" {
		return plan.AggCall{}, sqlerr.New(sqlerr.UndefinedFunction, "function %s() does not exist", f.Name.Name)
	}
	if !f.Star && len(args) == 0 && f.Name.Name == "count" {
		return plan.AggCall{}, sqlerr.New(sqlerr.WrongObjectType, "count(*) must be used to call a parameterless aggregate function")
	}
	call := plan.AggCall{Name: fn.Name, Distinct: f.Distinct}
	if call.Bound, call.Args, err = b.bindCall(c.s, f, fn, args); err != nil {
		return plan.AggCall{}, err
	}
	ordered := fn.MergeAlgebra == agg.OrderedMonoid
	if f.Distinct && !ordered && c.s.weight == nil {
		if call.Bound, err = agg.Distinct(call.Bound); err != nil {
			return plan.AggCall{}, err
		}
	}
	if f.Filter != nil {
		inner.name = "FILTER"
		if call.Filter, err = b.boolExpr(inner, f.Filter); err != nil {
			return plan.AggCall{}, err
		}
	}
	for _, k := range f.OrderBy {
		v, err := b.expr(inner, k.Expr)
		if err != nil {
			return plan.AggCall{}, err
		}
		call.OrderBy = append(call.OrderBy, sortKey(k, v))
	}
	if f.Distinct && ordered {
		if err := distinctOrder(&call, f, args); err != nil {
			return plan.AggCall{}, err
		}
	}
	call.Column = types.Column{Name: f.Name.Name, Type: call.Bound.Final.Type()}
	return call, nil
}

// sumsIntervals are the aggregates of numbers that take intervals too, so that a literal
// does not tell which are meant.
var sumsIntervals = map[string]bool{"sum": true, "avg": true}

// distinctOrder orders the rows of a call whose value depends on their order by all
// of its arguments, so that equal ones are neighbours; ORDER BY says how to begin.
func distinctOrder(call *plan.AggCall, f *ast.FuncCall, args []expr.Expr) error {
	sorted := make([]bool, len(args))
	for i, a := range args {
		var err error
		if args[i], err = expr.ResolveUnknown(a); err != nil {
			return err
		}
		if t := args[i].Type(); t.OID == types.JSON {
			return sqlerr.New(sqlerr.UndefinedFunction, "could not identify an equality operator for type %s", t).At(f.Args[i].Position())
		}
	}
	for k := range call.OrderBy {
		i := slices.IndexFunc(args, func(a expr.Expr) bool { return expr.Equal(a, call.OrderBy[k].Value) })
		if i < 0 {
			return sqlerr.New(sqlerr.InvalidColumnReference, "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list").At(f.OrderBy[k].Expr.Position())
		}
		sorted[i] = true
	}
	for i, a := range args {
		if !sorted[i] {
			call.OrderBy = append(call.OrderBy, plan.SortKey{Value: a})
		}
	}
	return nil
}

// bindAggregate finds the form of the call, and casts its inputs.
func (b *binder) bindAggregate(fn *agg.Function, args []expr.Expr) (agg.Bound, []expr.Expr, error) {
	return b.bindForm(fn.Bind, args)
}

func (b *binder) bindForm(bind func([]types.Type, []*types.Datum) (agg.Bound, error), args []expr.Expr) (agg.Bound, []expr.Expr, error) {
	argTypes := make([]types.Type, len(args))
	consts := make([]*types.Datum, len(args))
	for i, a := range args {
		argTypes[i] = a.Type().Base()
		folded := expr.Fold(a, &expr.Context{})
		if k, ok := folded.(*expr.Const); ok {
			d := k.Datum
			consts[i] = &d
		}
	}
	bound, err := bind(argTypes, consts)
	if err != nil {
		return bound, nil, err
	}
	inputs := make([]expr.Expr, len(bound.Inputs))
	for i, n := range bound.Inputs {
		switch t := bound.ArgTypes[i]; {
		case bound.JSONKey && i == 0:
			inputs[i], err = expr.JSONKey(args[n])
		case t.OID == types.JSON || t.OID == types.JSONB:
			inputs[i], err = expr.ToJSON(args[n], t.OID)
		default:
			inputs[i], err = expr.Cast(args[n], t, expr.Implicit)
		}
		if err != nil {
			return bound, nil, err
		}
	}
	return bound, inputs, nil
}

// combine binds combine(c): the states behind an approximate column are merged.
func (b *binder) combine(c *clause, f *ast.FuncCall) (plan.AggCall, error) {
	if len(f.Args) != 1 || f.Star || f.Distinct || len(f.OrderBy) > 0 {
		return plan.AggCall{}, sqlerr.New(sqlerr.UndefinedFunction, "function combine takes one approximate column")
	}
	arg, err := b.expr(c, f.Args[0])
	if err != nil {
		return plan.AggCall{}, err
	}
	in, ok := b.bounds[arg]
	if !ok || in.state == nil || in.bound == nil {
		return plan.AggCall{}, sqlerr.New(sqlerr.WrongObjectType, "combine needs an unmodified reference to an approximate column").
			WithHint("combine merges the states behind a column of a continuous view, such as one made by approx_distinct.").At(f.Args[0].Position())
	}
	call := plan.AggCall{Name: "combine", Bound: *in.bound, Args: []expr.Expr{in.state}, Combine: true}
	if f.Filter != nil {
		c.name = "FILTER"
		if call.Filter, err = b.boolExpr(c, f.Filter); err != nil {
			return plan.AggCall{}, err
		}
	}
	call.Column = types.Column{Name: "combine", Type: in.bound.Final.Type()}
	return call, nil
}

// boundAggregate derives the bounds of an aggregate's value.
func (b *binder) boundAggregate(g *grouping, i int, e expr.Expr) error {
	call := g.calls[i]
	if call.Bound.Final.Approximate() {
		bound := call.Bound
		b.bounds[e] = interval{lo: g.bound(i, 0), hi: g.bound(i, 1), state: g.bound(i, 2), bound: &bound}
		return nil
	}
	approximate := call.Filter != nil && b.readsApproximate(call.Filter)
	for _, a := range call.Args {
		approximate = approximate || b.readsApproximate(a)
	}
	if !approximate {
		return nil
	}
	g.unknownError = g.unknownError || call.Name != "min" && call.Name != "max"
	b.unbounded(e)
	if call.Name != "sum" && call.Name != "min" && call.Name != "max" || call.Distinct || call.Filter != nil && b.readsApproximate(call.Filter) {
		return nil
	}
	in, ok := b.bounds[call.Args[0]]
	if !ok {
		return nil
	}
	lo, err := b.intervalAggregate(g, call, in.lo, in)
	if err != nil {
		return err
	}
	hi, err := b.intervalAggregate(g, call, in.hi, in)
	if err != nil {
		return err
	}
	b.bounds[e] = interval{lo: lo, hi: hi}
	return nil
}

// intervalAggregate aggregates one end of the bounds; NULL where a row that
// counts has none.
func (b *binder) intervalAggregate(g *grouping, call plan.AggCall, end expr.Expr, in interval) (expr.Expr, error) {
	unknownLo, err := expr.NewIsNull(in.lo, false)
	if err != nil {
		return nil, err
	}
	unknownHi, err := expr.NewIsNull(in.hi, false)
	if err != nil {
		return nil, err
	}
	known, err := expr.NewIsNull(call.Args[0], true)
	if err != nil {
		return nil, err
	}
	unknownEnd, err := expr.NewOr(unknownLo, unknownHi)
	if err != nil {
		return nil, err
	}
	lost, err := expr.NewAnd(known, unknownEnd)
	if err != nil {
		return nil, err
	}
	anyLost, err := b.helperCall(g, "bool_or", lost, call.Filter)
	if err != nil {
		return nil, err
	}
	value, err := b.helperCall(g, call.Name, end, call.Filter)
	if err != nil {
		return nil, err
	}
	sure, err := expr.NewNot(anyLost)
	if err != nil {
		return nil, err
	}
	return expr.NewCase(nil, []expr.When{{Cond: sure, Result: value}}, &expr.Const{Datum: types.NullOf(value.Type())})
}

func (b *binder) helperCall(g *grouping, name string, arg, filter expr.Expr) (expr.Expr, error) {
	fn := b.env.Registry.Lookup(name)
	if fn == nil {
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", name)
	}
	bound, args, err := b.bindAggregate(fn, []expr.Expr{arg})
	if err != nil {
		return nil, err
	}
	return g.value(g.add(plan.AggCall{
		Name: name, Bound: bound, Args: args, Filter: filter,
		Column: types.Column{Name: name, Type: bound.Final.Type()},
	})), nil
}

// grouped is the plan of a grouping, and how expressions over the rows below
// become expressions over the groups.
type grouped struct {
	node     plan.Node
	source   *scope
	group    *grouping
	key      func(i int) expr.Expr
	call     func(i int) expr.Expr
	bound    func(i, which int) expr.Expr
	envelope int // of node
	// names of columns, for the error about ungrouped ones
	windows map[string]expr.Expr // by text of a window bound that is known
}

// over rewrites e to read the groups.
func (g *grouped) over(e expr.Expr, pos int) (expr.Expr, error) {
	env := g.source.envelope()
	return replace(e, func(x expr.Expr) (expr.Expr, error) {
		for i, k := range g.group.keys {
			if expr.Equal(k, x) && k.Type() == x.Type() {
				return g.key(i), nil
			}
		}
		if w := g.windows[x.String()]; w != nil {
			return w, nil
		}
		switch n := x.(type) {
		case *placeholder:
			switch n.kind {
			case aggPlaceholder:
				return g.call(n.id), nil
			case boundPlaceholder:
				return g.bound(n.id/3, n.id%3), nil
			case groupingPlaceholder:
				return g.group.groupingValue(n, func() expr.Expr { return g.key(len(g.group.keys)) })
			}
		case *expr.Column:
			if env >= 0 && n.Index >= env && n.Index < env+plan.EnvColumns && g.envelope >= 0 {
				return plan.NewColumn(g.node.Schema(), g.envelope+n.Index-env), nil
			}
			return nil, sqlerr.New(sqlerr.GroupingError, "column %q must appear in the GROUP BY clause or be used in an aggregate function", g.source.nameOf(n.Index)).At(pos)
		}
		return nil, nil
	})
}

func (s *scope) nameOf(index int) string {
	for i := range s.cols {
		if c := &s.cols[i]; c.index == index {
			if c.table.name != "" {
				return c.table.name + "." + c.name
			}
			return c.name
		}
	}
	return s.nodeSchema().Columns[index].Name
}

// aggregateOver plans the grouping over rows.
func (b *binder) aggregateOver(s *scope, g *grouping) (*grouped, error) {
	for i := range g.calls {
		c := &g.calls[i]
		if err := b.attachAll(&s.node, c.Args); err != nil {
			return nil, err
		}
		var err error
		if c.Filter, err = b.attach(&s.node, c.Filter); err != nil {
			return nil, err
		}
		for k := range c.OrderBy {
			if c.OrderBy[k].Value, err = b.attach(&s.node, c.OrderBy[k].Value); err != nil {
				return nil, err
			}
		}
	}
	keys := append([]expr.Expr(nil), g.keys...)
	if err := b.attachAll(&s.node, keys); err != nil {
		return nil, err
	}
	if err := b.expandSets(&s.node, pointers(keys)); err != nil {
		return nil, err
	}
	for i := range keys {
		if unknown(g.keyCols[i].Type) {
			return nil, fmt.Errorf("key %d has no type", i)
		}
	}
	cols := g.keyCols
	var sets []plan.GroupingSet
	if g.sets != nil {
		g.computeVolatile(s)
		sets = g.planSets(keys)
		keys = append(keys, setNumber(0))
		cols = append(cols[:len(cols):len(cols)], setColumn)
	}
	a := plan.NewAggregate(s.node, keys, cols, g.calls, g.grouped)
	a.Sets = sets
	schema := a.Schema()
	node, err := degradeCombined(a.WithOwnErrors(g.unknownError), g.calls)
	if err != nil {
		return nil, err
	}
	return &grouped{
		node: node, source: s, group: g, envelope: plan.EnvelopeAt(schema),
		key:  func(i int) expr.Expr { return plan.NewColumn(schema, i) },
		call: func(i int) expr.Expr { return plan.NewColumn(schema, len(keys)+i) },
		bound: func(i, which int) expr.Expr {
			return plan.NewColumn(schema, a.Bounds(i)[which])
		},
	}, nil
}
