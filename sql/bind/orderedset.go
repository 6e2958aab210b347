package bind

import (
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// checkWithinGroup checks that WITHIN GROUP is there where it has to be, and only
// there.
func (b *binder) checkWithinGroup(f *ast.FuncCall, fn *agg.Function, direct []expr.Expr) error {
	switch {
	case f.WithinGroup && !fn.OrderedSet && len(f.Args) > 0:
		return undefinedSet(f.Name.Name, direct)
	case f.WithinGroup && !fn.OrderedSet:
		return sqlerr.New(sqlerr.WrongObjectType, "%s is not an ordered-set aggregate, so it cannot have WITHIN GROUP", f.Name.Name)
	case !f.WithinGroup && fn.OrderedSet:
		if _, _, err := b.bindAggregate(fn, direct); err != nil {
			return err
		}
		return sqlerr.New(sqlerr.WrongObjectType, "WITHIN GROUP is required for ordered-set aggregate %s", f.Name.Name)
	}
	return nil
}

// orderedSet binds f(direct) WITHIN GROUP (ORDER BY values): the call f(direct,
// values), folded in the order of the values.
func (b *binder) orderedSet(c *clause, f *ast.FuncCall, fn *agg.Function, direct []expr.Expr) (plan.AggCall, error) {
	args := direct
	for _, k := range f.OrderBy {
		v, err := b.expr(c, k.Expr)
		if err != nil {
			return plan.AggCall{}, err
		}
		args = append(args, v)
	}
	call := plan.AggCall{Name: fn.Name}
	var err error
	if call.Bound, call.Args, err = b.bindCall(c.s, f, fn, args); err != nil {
		return plan.AggCall{}, err
	}
	for i, k := range f.OrderBy {
		call.OrderBy = append(call.OrderBy, sortKey(k, call.Args[len(call.Args)-len(f.OrderBy)+i]))
	}
	if f.Filter != nil {
		c.name = "FILTER"
		if call.Filter, err = b.boolExpr(c, f.Filter); err != nil {
			return plan.AggCall{}, err
		}
	}
	call.Column = types.Column{Name: f.Name.Name, Type: call.Bound.Final.Type()}
	return call, nil
}

// hypotheticalSet are the functions that say where a row would be in an order.
var hypotheticalSet = map[string]bool{"rank": true, "dense_rank": true, "percent_rank": true, "cume_dist": true}

// hypothetical binds rank(x) WITHIN GROUP (ORDER BY y) and its kin, as counts of the
// rows that come before such a row.
func (b *binder) hypothetical(c *clause, f *ast.FuncCall) (expr.Expr, error) {
	switch {
	case c.inAgg:
		return nil, sqlerr.New(sqlerr.GroupingError, "aggregate function calls cannot be nested")
	case c.group == nil:
		return nil, sqlerr.New(sqlerr.GroupingError, "aggregate functions are not allowed in %s", c.name)
	case len(f.Args) != len(f.OrderBy):
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", f.Name.Name).
			WithHint("To use the hypothetical-set aggregate %s, the number of hypothetical direct arguments (here %d) must match the number of ordering columns (here %d).", f.Name.Name, len(f.Args), len(f.OrderBy))
	}
	if w := c.s.weight; w != nil {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "function %s WITHIN GROUP cannot take back what stream %q deletes", f.Name.Name, w.stream.Name)
	}
	inner := &clause{s: c.s, name: c.name, inAgg: true}
	given, err := b.exprs(inner, f.Args)
	if err != nil {
		return nil, err
	}
	keys := make([]plan.SortKey, len(given))
	for i, k := range f.OrderBy {
		v, err := b.expr(inner, k.Expr)
		if err != nil {
			return nil, err
		}
		t, err := expr.CommonType("WITHIN GROUP", v, given[i])
		if err != nil {
			return nil, err
		}
		if v, err = expr.Cast(v, t, expr.Implicit); err != nil {
			return nil, err
		}
		if given[i], err = expr.Cast(given[i], t, expr.Implicit); err != nil {
			return nil, err
		}
		keys[i] = sortKey(k, v)
	}
	var filter expr.Expr
	if f.Filter != nil {
		inner.name = "FILTER"
		if filter, err = b.boolExpr(inner, f.Filter); err != nil {
			return nil, err
		}
	}
	if c.group.first == 0 {
		c.group.first = f.Position()
	}
	return b.hypotheticalValue(c.group, f.Name.Name, keys, given, filter)
}

// hypotheticalValue makes the value out of counts.
func (b *binder) hypotheticalValue(g *grouping, name string, keys []plan.SortKey, given []expr.Expr, filter expr.Expr) (expr.Expr, error) {
	before, same, err := comesBefore(keys, given)
	if err != nil {
		return nil, err
	}
	if name == "cume_dist" {
		if before, err = expr.NewOr(before, same); err != nil {
			return nil, err
		}
	}
	all := filter
	if filter != nil {
		if before, err = expr.NewAnd(filter, before); err != nil {
			return nil, err
		}
	}
	count := func(filter expr.Expr) expr.Expr {
		call := b.countRows()
		call.Filter = filter
		return g.value(g.add(call))
	}
	one := expr.NewConst(types.IntDatum(types.Int8, 1))
	plusOne := func(e expr.Expr, err error) (expr.Expr, error) {
		if err != nil {
			return nil, err
		}
		return expr.NewOperator("+", e, one)
	}
	switch name {
	case "rank":
		return plusOne(count(before), nil)
	case "dense_rank":
		return plusOne(b.countDistinct(g, keys, before))
	}
	rows, ahead := count(all), count(before)
	if name == "cume_dist" {
		if rows, err = plusOne(rows, nil); err != nil {
			return nil, err
		}
		if ahead, err = plusOne(ahead, nil); err != nil {
			return nil, err
		}
	} else if rows, err = expr.NewNullIf(rows, expr.NewConst(types.IntDatum(types.Int8, 0))); err != nil {
		return nil, err
	}
	for _, e := range []*expr.Expr{&rows, &ahead} {
		if *e, err = expr.Cast(*e, types.Of(types.Float8), expr.Implicit); err != nil {
			return nil, err
		}
	}
	share, err := expr.NewOperator("/", ahead, rows)
	if err != nil {
		return nil, err
	}
	return expr.NewCoalesce(share, expr.NewConst(types.FloatDatum(0)))
}

// countDistinct counts the different sets of keys among the rows of a filter.
func (b *binder) countDistinct(g *grouping, keys []plan.SortKey, filter expr.Expr) (expr.Expr, error) {
	row := make([]expr.Expr, len(keys))
	for i := range keys {
		row[i] = keys[i].Value
	}
	arg, err := expr.NewRow(row, nil)
	if err != nil {
		return nil, err
	}
	bound, args, err := b.bindAggregate(b.env.Registry.Lookup("count"), []expr.Expr{arg})
	if err == nil {
		bound, err = agg.Distinct(bound)
	}
	if err != nil {
		return nil, err
	}
	return g.value(g.add(plan.AggCall{
		Name: "count", Bound: bound, Args: args, Filter: filter, Distinct: true,
		Column: types.Column{Name: "count", Type: bound.Final.Type()},
	})), nil
}

// comesBefore says whether a row sorts before the given values, and whether it is
// level with them.
func comesBefore(keys []plan.SortKey, given []expr.Expr) (before, same expr.Expr, err error) {
	for i := len(keys) - 1; i >= 0; i-- {
		less, equal, err := keyBefore(keys[i], given[i])
		if err != nil {
			return nil, nil, err
		}
		if before == nil {
			before, same = less, equal
			continue
		}
		then, err := expr.NewAnd(equal, before)
		if err != nil {
			return nil, nil, err
		}
		if before, err = expr.NewOr(less, then); err != nil {
			return nil, nil, err
		}
		if same, err = expr.NewAnd(equal, same); err != nil {
			return nil, nil, err
		}
	}
	return before, same, nil
}

// keyBefore is comesBefore for one key.
func keyBefore(k plan.SortKey, given expr.Expr) (before, same expr.Expr, err error) {
	op := "<"
	if k.Descending {
		op = ">"
	}
	if before, err = expr.NewOperator(op, k.Value, given); err != nil {
		return nil, nil, err
	}
	nulls := [2]expr.Expr{given, k.Value} // NULLS LAST: a given NULL comes after values
	if k.NullsFirst {
		nulls = [2]expr.Expr{k.Value, given}
	}
	isNull, err := expr.NewIsNull(nulls[0], false)
	if err != nil {
		return nil, nil, err
	}
	notNull, err := expr.NewIsNull(nulls[1], true)
	if err != nil {
		return nil, nil, err
	}
	byNull, err := expr.NewAnd(isNull, notNull)
	if err != nil {
		return nil, nil, err
	}
	if before, err = expr.NewOr(byNull, before); err != nil {
		return nil, nil, err
	}
	same, err = expr.NewIsDistinct(k.Value, given, true)
	return before, same, err
}
