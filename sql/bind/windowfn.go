package bind

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

var windowOnly = map[string]bool{
	"row_number": true, "rank": true, "dense_rank": true, "percent_rank": true, "cume_dist": true, "ntile": true,
	"lag": true, "lead": true, "first_value": true, "last_value": true, "nth_value": true,
}

// windowing collects the window functions of one query level.
type windowing struct {
	named []ast.NamedWindow
	items []windowItem
}

// windowItem is one window function and the window it looks at.
type windowItem struct {
	id        int
	partition []expr.Expr
	order     []plan.SortKey
	call      plan.WindowCall
	pos       int
	aggregate func(s *scope) error // binds the call of an aggregate over the rows of a scope
}

// exprs returns the places of all expressions of the item.
func (w *windowItem) exprs() []*expr.Expr {
	var out []*expr.Expr
	for i := range w.partition {
		out = append(out, &w.partition[i])
	}
	for i := range w.order {
		out = append(out, &w.order[i].Value)
	}
	for i := range w.call.Args {
		out = append(out, &w.call.Args[i])
	}
	f := &w.call.Frame
	out = append(out, &f.Start.Limit, &f.End.Limit, &f.Key)
	if a := w.call.Agg; a != nil {
		for i := range a.Args {
			out = append(out, &a.Args[i])
		}
		out = append(out, &a.Filter)
	}
	return out
}

// windowCall binds f(...) OVER (...).
func (b *binder) windowCall(c *clause, f *ast.FuncCall) (expr.Expr, error) {
	if c.windows == nil || c.inAgg {
		return nil, sqlerr.New(sqlerr.WindowingError, "window functions are not allowed in %s", c.name)
	}
	switch {
	case f.Distinct:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "DISTINCT is not implemented for window functions")
	case f.WithinGroup:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "OVER is not supported for ordered-set aggregate %s", f.Name.Name)
	case len(f.OrderBy) > 0:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "aggregate ORDER BY is not implemented for window functions")
	}
	spec, err := c.windows.resolve(f.Over)
	if err != nil {
		return nil, err
	}
	inner := *c
	inner.windows, inner.sets, inner.name = nil, false, "window definitions"
	it := windowItem{id: len(c.windows.items), pos: f.Position()}
	if it.partition, err = b.exprs(&inner, spec.PartitionBy); err != nil {
		return nil, err
	}
	for _, k := range spec.OrderBy {
		v, err := b.expr(&inner, k.Expr)
		if err != nil {
			return nil, err
		}
		it.order = append(it.order, sortKey(k, v))
	}
	if it.call.Frame, err = b.frame(spec.Frame, it.order); err != nil {
		return nil, err
	}
	if err := b.windowFunction(&inner, f, &it); err != nil {
		return nil, err
	}
	c.windows.items = append(c.windows.items, it)
	e := &placeholder{id: it.id, kind: windowPlaceholder, typ: it.call.Column.Type, text: f.Name.Name, pos: it.pos}
	for _, x := range it.exprs() {
		if *x != nil && b.readsApproximate(*x) {
			b.unbounded(e)
		}
	}
	return e, nil
}

// newWindowing resolves the windows of a WINDOW clause, each of which may build on those
// before it.
func newWindowing(named []ast.NamedWindow) (*windowing, error) {
	w := &windowing{}
	for _, n := range named {
		for _, other := range w.named {
			if other.Name == n.Name {
				return nil, sqlerr.New(sqlerr.WindowingError, "window %q is already defined", n.Name).At(n.Position())
			}
		}
		var err error
		if n.Spec, err = w.resolve(n.Spec); err != nil {
			return nil, err
		}
		w.named = append(w.named, n)
	}
	return w, nil
}

// resolve puts what a window takes over from a named one into it.
func (w *windowing) resolve(spec *ast.WindowSpec) (*ast.WindowSpec, error) {
	name := spec.Ref
	if name == "" {
		name = spec.Base
	}
	if name == "" {
		return spec, nil
	}
	for _, n := range w.named {
		switch {
		case n.Name != name:
			continue
		case spec.Ref != "":
			return n.Spec, nil
		}
		return extended(spec, n)
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "window %q does not exist", name).At(spec.Position())
}

// extended adds to a named window what a window that builds on it has of its own.
func extended(spec *ast.WindowSpec, base ast.NamedWindow) (*ast.WindowSpec, error) {
	switch {
	case len(spec.PartitionBy) > 0:
		return nil, sqlerr.New(sqlerr.WindowingError, "cannot override PARTITION BY clause of window %q", base.Name).At(spec.Position())
	case len(spec.OrderBy) > 0 && len(base.Spec.OrderBy) > 0:
		return nil, sqlerr.New(sqlerr.WindowingError, "cannot override ORDER BY clause of window %q", base.Name).At(spec.Position())
	case base.Spec.Frame != nil:
		return nil, sqlerr.New(sqlerr.WindowingError, "cannot copy window %q because it has a frame clause", base.Name).
			WithHint("Omit the parentheses in this OVER clause.").At(spec.Position())
	}
	out := *spec
	out.Base, out.PartitionBy = "", base.Spec.PartitionBy
	if len(out.OrderBy) == 0 {
		out.OrderBy = base.Spec.OrderBy
	}
	return &out, nil
}

// windowFunction binds the function itself.
func (b *binder) windowFunction(c *clause, f *ast.FuncCall, it *windowItem) error {
	name := f.Name.Name
	if !windowOnly[name] {
		if b.env.Registry.Lookup(name) == nil || name == "combine" {
			over := *f
			over.Over = nil
			if _, err := b.call(c, &over); err != nil { // there is no such function at all
				return err
			}
			return sqlerr.New(sqlerr.WrongObjectType, "OVER specified, but %s is not a window function nor an aggregate function", name)
		}
		inner := *c
		return b.aggCallOver(&inner, f, it)
	}
	args, err := b.exprs(c, f.Args)
	if err != nil {
		return err
	}
	it.call.Function, it.call.Args = name, args
	t := types.Of(types.Int8)
	least, most := 0, 0
	switch name {
	case "percent_rank", "cume_dist":
		t = types.Of(types.Float8)
	case "ntile":
		t = types.Of(types.Int4)
		least, most = 1, 1
	case "lag", "lead":
		least, most = 1, 3
	case "first_value", "last_value":
		least, most = 1, 1
	case "nth_value":
		least, most = 2, 2
	}
	if len(args) < least || len(args) > most {
		return undefinedSet(name, args)
	}
	return windowArgs(it, name, t)
}

// windowArgs casts the arguments and sets the type.
func windowArgs(it *windowItem, name string, t types.Type) error {
	var err error
	args := it.call.Args
	integer := func(i int) {
		if err == nil && len(args) > i {
			args[i], err = expr.Cast(args[i], types.Of(types.Int8), expr.Implicit)
		}
	}
	switch name {
	case "ntile":
		integer(0)
	case "lag", "lead", "first_value", "last_value", "nth_value":
		if args[0], err = expr.ResolveUnknown(args[0]); err != nil {
			return err
		}
		t = args[0].Type()
		integer(1)
		if len(args) == 3 && err == nil {
			args[2], err = expr.Cast(args[2], t, expr.Implicit)
		}
	}
	it.call.Column = types.Column{Name: name, Type: t}
	return err
}

// aggCallOver binds an aggregate used as a window function; its arguments may
// hold aggregates of the query.
func (b *binder) aggCallOver(c *clause, f *ast.FuncCall, it *windowItem) error {
	fn := b.env.Registry.Lookup(f.Name.Name)
	args, err := b.callArgs(c, f)
	if err != nil {
		return err
	}
	if f.Star && f.Name.Name != "count" {
		return undefinedSet(f.Name.Name, nil)
	}
	call := &plan.AggCall{Name: fn.Name}
	if call.Bound, call.Args, err = b.bindAggregate(fn, args); err != nil {
		return err
	}
	if f.Filter != nil {
		c.name = "FILTER"
		if call.Filter, err = b.boolExpr(c, f.Filter); err != nil {
			return err
		}
	}
	call.Column = types.Column{Name: f.Name.Name, Type: call.Bound.Final.Type()}
	it.call.Agg, it.call.Column = call, call.Column
	it.aggregate = func(s *scope) error {
		call.Bound, call.Args, err = b.bindCall(s, f, fn, args)
		return err
	}
	return nil
}

// weighWindows binds the aggregates over windows of events of a stream with deletes
// again, now that it is known that they are not over groups, which have no weights.
func (q *selecting) weighWindows() error {
	if q.s.weight == nil || q.group.used() {
		return nil
	}
	for _, it := range q.windows.items {
		if it.aggregate != nil {
			if err := it.aggregate(q.s); err != nil {
				return err
			}
		}
	}
	return nil
}

// planWindows adds a node for each window, and reads the values from it.
func (q *selecting) planWindows() error {
	items := q.windows.items
	if len(items) == 0 {
		return nil
	}
	if err := q.weighWindows(); err != nil {
		return err
	}
	for i := range items {
		for _, e := range items[i].exprs() {
			var err error
			if *e, err = q.b.attach(&q.node, *e); err != nil {
				return err
			}
		}
	}
	values := make([]expr.Expr, len(items))
	placed := make([]bool, len(items))
	for i := range items {
		if placed[i] {
			continue
		}
		w := &plan.Window{Child: q.node, PartitionBy: items[i].partition, OrderBy: items[i].order}
		at := len(q.node.Schema().Columns)
		var members []int
		for j := i; j < len(items); j++ {
			if !placed[j] && sameWindow(&items[i], &items[j]) {
				placed[j] = true
				members = append(members, j)
				w.Calls = append(w.Calls, items[j].call)
			}
		}
		q.node = w
		for k, j := range members {
			values[j] = plan.NewColumn(w.Schema(), at+k)
		}
	}
	q.windows.items = nil
	return q.each(func(e expr.Expr, _ int) (expr.Expr, error) {
		return replace(e, func(x expr.Expr) (expr.Expr, error) {
			if p, ok := x.(*placeholder); ok && p.kind == windowPlaceholder {
				return values[p.id], nil
			}
			return nil, nil
		})
	})
}

func sameWindow(a, b *windowItem) bool {
	if len(a.partition) != len(b.partition) || len(a.order) != len(b.order) {
		return false
	}
	for i := range a.partition {
		if !expr.Equal(a.partition[i], b.partition[i]) {
			return false
		}
	}
	for i := range a.order {
		x, y := a.order[i], b.order[i]
		if x.Descending != y.Descending || x.NullsFirst != y.NullsFirst || !expr.Equal(x.Value, y.Value) {
			return false
		}
	}
	return true
}
