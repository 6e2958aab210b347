package bind

import (
	"slices"
	"strconv"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

func (b *binder) countRows() plan.AggCall {
	return plan.AggCall{Name: "count", Bound: agg.CountRows(), Column: types.Column{Name: "count", Type: types.Of(types.Int8)}}
}

func sortKey(k ast.SortKey, v expr.Expr) plan.SortKey {
	out := plan.SortKey{Value: v, Descending: k.Direction == ast.Descending}
	out.NullsFirst = out.Descending
	switch k.Nulls {
	case ast.NullsFirst:
		out.NullsFirst = true
	case ast.NullsLast:
		out.NullsFirst = false
	}
	return out
}

// bindOrder binds ORDER BY: output columns by position or name, or expressions.
func (q *selecting) bindOrder(order []ast.SortKey) error {
	for _, k := range order {
		t, err := q.namedTarget(k.Expr, "ORDER BY", false)
		if err != nil {
			return err
		}
		spec := sortSpec{target: t, pos: k.Expr.Position()}
		if t < 0 {
			e, err := q.b.expr(q.clause("ORDER BY"), k.Expr)
			if err != nil {
				return err
			}
			if e, err = expr.ResolveUnknown(e); err != nil {
				return err
			}
			for i := range q.targets {
				if spec.target < 0 && expr.Equal(q.targets[i].e, e) {
					spec.target = i
				}
			}
			spec.key = sortKey(k, e)
			if spec.target < 0 && q.core.Distinct && len(q.core.DistinctOn) == 0 {
				return sqlerr.New(sqlerr.InvalidColumnReference, "for SELECT DISTINCT, ORDER BY expressions must appear in select list").At(spec.pos)
			}
		} else {
			spec.key = sortKey(k, nil)
		}
		q.keys = append(q.keys, spec)
	}
	return nil
}

func (q *selecting) bindDistinctOn() error {
	for i, item := range q.core.DistinctOn {
		t, err := q.namedTarget(item, "DISTINCT ON", false)
		if err != nil {
			return err
		}
		var e expr.Expr
		if t >= 0 {
			e = q.targets[t].e
		} else if e, err = q.b.expr(q.clause("DISTINCT ON"), item); err != nil {
			return err
		}
		if len(q.keys) > 0 && !q.sortsBy(e, len(q.core.DistinctOn)) {
			return sqlerr.New(sqlerr.InvalidColumnReference, "SELECT DISTINCT ON expressions must match initial ORDER BY expressions").At(q.core.DistinctOn[i].Position())
		}
		q.on = append(q.on, e)
	}
	return nil
}

// sortsBy reports whether e is among the first n sort keys.
func (q *selecting) sortsBy(e expr.Expr, n int) bool {
	for i := range min(n, len(q.keys)) {
		k := q.keys[i].key.Value
		if q.keys[i].target >= 0 {
			k = q.targets[q.keys[i].target].e
		}
		if expr.Equal(k, e) {
			return true
		}
	}
	return len(q.keys) < n
}

// places returns every expression that is computed above the grouping.
func (q *selecting) places() []*expr.Expr {
	var out []*expr.Expr
	q.visit(func(e *expr.Expr, _ int) { out = append(out, e) })
	return out
}

// visit calls fn with the places of these expressions and with their positions.
func (q *selecting) visit(fn func(e *expr.Expr, pos int)) {
	visit := func(e *expr.Expr, pos int) {
		if *e != nil {
			fn(e, pos)
		}
	}
	for i := range q.targets {
		t := &q.targets[i]
		for _, e := range []*expr.Expr{&t.e, &t.lo, &t.hi, &t.state} {
			visit(e, t.pos)
		}
		for k := range t.fields {
			visit(&t.fields[k].value, t.pos)
		}
	}
	visit(&q.having, 0)
	for i := range q.keys {
		visit(&q.keys[i].key.Value, q.keys[i].pos)
	}
	for i := range q.on {
		visit(&q.on[i], 0)
	}
	for i := range q.windows.items {
		it := &q.windows.items[i]
		for _, e := range it.exprs() {
			visit(e, it.pos)
		}
	}
}

// each rewrites every one of them.
func (q *selecting) each(fn func(e expr.Expr, pos int) (expr.Expr, error)) error {
	var err error
	q.visit(func(e *expr.Expr, pos int) {
		if err == nil {
			*e, err = fn(*e, pos)
		}
	})
	return err
}

// planGroups adds WHERE, the grouping and HAVING.
func (q *selecting) planGroups() error {
	if !q.group.used() {
		if q.group.asked > 0 {
			return notKey(q.group.asked)
		}
		if err := q.filter(); err != nil {
			return err
		}
		q.node = q.s.node
		return nil
	}
	g := q.b.foldOver(q.s, q.where, q.group)
	if g == nil {
		if err := q.filter(); err != nil {
			return err
		}
		var err error
		if g, err = q.b.aggregateOver(q.s, q.group); err != nil {
			return err
		}
	}
	q.readKeyFields()
	if err := q.each(g.over); err != nil {
		return err
	}
	for i := range q.targets {
		// A status that was grouped by or aggregated is no longer the row's own.
		e, ok := plan.ColumnIndex(q.targets[i].e)
		q.targets[i].status = q.targets[i].status && ok && e == g.envelope+plan.EnvStatus
	}
	q.node = g.node
	if q.having == nil {
		return nil
	}
	cond, err := q.b.attach(&q.node, q.having)
	if err != nil {
		return err
	}
	q.node = &plan.Filter{Child: q.node, Cond: cond}
	return nil
}

func (q *selecting) filter() error {
	if q.where == nil {
		return nil
	}
	cond, err := q.b.attach(&q.s.node, q.where)
	if err != nil {
		return err
	}
	q.s.node = &plan.Filter{Child: q.s.node, Cond: cond}
	q.s.fold = nil
	return nil
}

// project computes the targets, then distinct and order.
func (q *selecting) project() (*result, []plan.SortKey, error) {
	err := q.each(func(e expr.Expr, _ int) (expr.Expr, error) { return q.b.attach(&q.node, e) })
	if err != nil {
		return nil, nil, err
	}
	var values []expr.Expr
	var cols []types.Column
	add := func(e expr.Expr, c types.Column) int {
		c.Type = e.Type()
		values, cols = append(values, e), append(cols, c)
		return len(values) - 1
	}
	r := &result{}
	for i := range q.targets {
		t := &q.targets[i]
		at := add(t.e, types.Column{Name: t.name, NotNull: notNull(q.node, t.e)})
		r.cols = append(r.cols, output{name: t.name, typ: t.e.Type(), index: at, notNull: cols[at].NotNull, role: t.role, status: t.status, literal: t.literal})
		r.cols[i].origin = t.origin
	}
	distinct := q.core.Distinct && len(q.core.DistinctOn) == 0
	for i := range q.targets {
		if !distinct {
			q.addBounds(&q.targets[i], &r.cols[i], add)
			q.targets[i].addFields(&r.cols[i], add)
		} else if q.targets[i].lo != nil {
			r.cols[i].approx = noBounds(&approx{name: q.targets[i].name})
		}
	}
	keys := make([]plan.SortKey, len(q.keys))
	places := make([]int, len(q.keys))
	for i, k := range q.keys {
		keys[i] = k.key
		if places[i] = k.target; k.target < 0 {
			places[i] = add(k.key.Value, types.Column{Name: "sort", Hidden: true})
		}
	}
	on := make([]int, len(q.on))
	for i, e := range q.on {
		on[i] = add(e, types.Column{Name: "distinct", Hidden: true})
	}
	r.weight = q.passWeight(add)
	r.node = plan.NewProject(q.node, values, cols)
	if distinct {
		r.node = distinctOf(r.node, len(q.targets))
	}
	schema := r.node.Schema()
	for i := range keys {
		keys[i].Value = plan.NewColumn(schema, places[i])
	}
	if len(keys) > 0 {
		r.node = &plan.Sort{Child: r.node, Keys: keys}
	}
	if len(on) > 0 {
		d := &plan.DistinctOn{Child: r.node}
		for _, i := range on {
			d.Keys = append(d.Keys, plan.NewColumn(schema, i))
		}
		r.node = d
	}
	return r, keys, nil
}

func notNull(n plan.Node, e expr.Expr) bool {
	i, ok := plan.ColumnIndex(e)
	return ok && n.Schema().Columns[i].NotNull
}

// addBounds adds the hidden columns of an approximate target.
func (q *selecting) addBounds(t *target, out *output, add func(expr.Expr, types.Column) int) {
	if t.lo == nil {
		return
	}
	hidden := plan.BoundColumns(types.Column{Name: t.name, Type: t.e.Type()})
	out.approx = &approx{lo: add(t.lo, hidden[0]), hi: add(t.hi, hidden[1]), state: -1, name: t.name}
	if t.state != nil {
		out.approx.state = add(t.state, hidden[2])
		out.approx.bound = t.made.bound
	}
}

// distinctOf keeps one of each set of rows that agree in the first n columns;
// their envelopes merge.
func distinctOf(n plan.Node, width int) plan.Node {
	s := n.Schema()
	keys := make([]expr.Expr, width)
	for i := range keys {
		keys[i] = plan.NewColumn(s, i)
	}
	return plan.NewAggregate(n, keys, s.Columns[:width:width], nil, true)
}

// orderConstant makes a literal of one with a minus sign, which is no position either.
func orderConstant(e ast.Expr) ast.Expr {
	u, ok := e.(*ast.Unary)
	if !ok || u.Op.Name != "-" {
		return e
	}
	l, ok := u.Arg.(*ast.Literal)
	if !ok || l.Kind != ast.IntegerLiteral && l.Kind != ast.DecimalLiteral {
		return e
	}
	negative := *l
	negative.Pos, negative.Text = u.Pos, "-"+l.Text
	if _, err := strconv.ParseInt(negative.Text, 10, 32); err != nil {
		negative.Kind = ast.DecimalLiteral
	}
	return &negative
}

// sortOutput orders VALUES and set operations: by output columns alone.
func (b *binder) sortOutput(r *result, order []ast.SortKey, ctx *context) ([]plan.SortKey, error) {
	if len(order) == 0 {
		return nil, nil
	}
	s, err := derived(r, "", nil, ctx)
	if err != nil {
		return nil, err
	}
	s.tables = nil
	var keys []plan.SortKey
	for _, k := range order {
		var v expr.Expr
		switch x := orderConstant(k.Expr).(type) {
		case *ast.Literal:
			if x.Kind != ast.IntegerLiteral {
				return nil, sqlerr.New(sqlerr.SyntaxError, "non-integer constant in ORDER BY").At(x.Position())
			}
			i, err := position(x, len(r.cols), "ORDER BY")
			if err != nil {
				return nil, err
			}
			v = s.at(r.cols[i].index)
		case *ast.ColumnRef:
			if v, err = b.resolve(s, x); err != nil {
				return nil, err
			}
		default:
			if _, err := b.expr(&clause{s: s, name: "ORDER BY"}, x); err != nil {
				return nil, err
			}
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").
				WithDetail("Only result column names can be used, not expressions or functions.").
				WithHint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.").At(k.Expr.Position())
		}
		keys = append(keys, sortKey(k, v))
	}
	r.node = &plan.Sort{Child: r.node, Keys: keys}
	return keys, nil
}

// readKeyFields has the fields of a target that is grouped by read from its value: what
// they were made of is not to be had above the grouping.
func (q *selecting) readKeyFields() {
	for i := range q.targets {
		t := &q.targets[i]
		if len(t.fields) == 0 || !slices.ContainsFunc(q.group.keys, func(k expr.Expr) bool { return expr.Equal(k, t.e) }) {
			continue
		}
		t.fields = slices.Clone(t.fields)
		for k := range t.fields {
			t.fields[k].value = expr.NewField(t.e, k, t.fields[k].value.Type())
		}
	}
}
