package plan

import (
	"slices"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// unnest makes a join of an Apply whose subplan reads outer values only in its
// conditions, so that the subplan runs once and not for each row (Kim: On
// optimizing an SQL-like nested query, 1982; Galindo-Legaria, Joshi: Orthogonal
// optimization of subqueries and aggregation, 2001). conds, over the Apply's
// columns, are what its rows must meet. The columns of the node are the Apply's;
// rest is what is left of conds.
func unnest(a *Apply, conds []expr.Expr) (n Node, rest []expr.Expr, ok bool) {
	if len(a.Outer) == 0 || len(a.Envelope) > 0 || EnvelopeAt(a.Subplan.Schema()) >= 0 {
		return nil, nil, false
	}
	u := &unnesting{apply: a, width: len(a.Child.Schema().Columns)}
	if !u.movable(a.Subplan) || slices.ContainsFunc(a.Outer, func(e expr.Expr) bool { return !pure(e) }) {
		return nil, nil, false
	}
	switch a.Kind {
	case ApplyExists, ApplyIn:
		if n, rest, ok = u.filtering(conds); ok || a.Kind == ApplyIn {
			return n, rest, ok
		}
		n, ok = u.marking()
	case ApplyScalar:
		if n, ok = u.aggregated(); !ok {
			n, ok = u.single()
		}
	}
	return n, conds, ok
}

// unnesting is an Apply that is to become a join.
type unnesting struct {
	apply *Apply
	width int // columns of the outer side
}

// movable reports whether a plan yields the same rows wherever it runs.
func (u *unnesting) movable(n Node) bool {
	for _, e := range n.Exprs() {
		if e != nil && !pure(e) {
			return false
		}
	}
	return !slices.ContainsFunc(n.Children(), func(c Node) bool { return !u.movable(c) })
}

// correlated reports whether an expression reads outer values.
func (u *unnesting) correlated(e expr.Expr) bool {
	found := false
	if e != nil {
		expr.Walk(e, func(x expr.Expr) bool {
			p, ok := x.(*expr.Param)
			found = found || ok && slices.Contains(u.apply.Slots, p.N)
			return !found
		})
	}
	return found
}

func (u *unnesting) correlatedPlan(n Node) bool {
	return slices.ContainsFunc(n.Exprs(), u.correlated) || slices.ContainsFunc(n.Children(), u.correlatedPlan)
}

// pulled is a subplan taken apart: what it yields is values over the rows of base
// that meet conds, which read outer values.
type pulled struct {
	base   Node
	values []expr.Expr
	conds  []expr.Expr
}

// pull takes projections and filters apart; false where outer values are read below.
func (u *unnesting) pull(n Node) (p pulled, ok bool) {
	switch x := n.(type) {
	case *Project:
		if p, ok = u.pull(x.Child); ok {
			p.values = substituteAll(x.Values, p.values)
		}
		return p, ok
	case *Filter:
		if p, ok = u.pull(x.Child); !ok {
			return p, false
		}
		outer, inner := split(substituteAll(Conjuncts(x.Cond), p.values), u.correlated)
		p.base = filtered(p.base, inner)
		p.conds = append(p.conds, outer...)
		return p, true
	case *StreamScan:
		return u.pullScan(x), true
	}
	if u.correlatedPlan(n) {
		return p, false
	}
	return pulled{base: n, values: readAll(n)}, true
}

// pullScan takes the conditions that read outer values off a scan.
func (u *unnesting) pullScan(s *StreamScan) pulled {
	outer, inner := split(Conjuncts(s.Filter), u.correlated)
	c := *s
	c.Columns, c.Filter = slices.Clone(s.Columns), And(inner)
	if slices.ContainsFunc(s.Partition, u.correlated) {
		c.Partition = nil
	}
	for column := range Columns(outer...) {
		if !slices.Contains(c.Columns, column) {
			c.Columns = append(c.Columns, column)
		}
	}
	for i, e := range outer {
		outer[i] = Remap(e, func(column int) int { return slices.Index(c.Columns, column) })
	}
	return pulled{base: &c, values: readAll(&c)[:len(s.Columns)], conds: outer}
}

func substituteAll(list, by []expr.Expr) []expr.Expr {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		out[i] = Substitute(e, by)
	}
	return out
}

func readAll(n Node) []expr.Expr {
	s := n.Schema()
	out := make([]expr.Expr, len(s.Columns))
	for i := range out {
		out[i] = NewColumn(s, i)
	}
	return out
}

// joined brings an expression over columns of the inner side, which begin at
// column at of the join, and outer values over the columns of the join.
func (u *unnesting) joined(e expr.Expr, at int) expr.Expr {
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		switch n := x.(type) {
		case *expr.Column:
			c := *n
			c.Index += at
			return &c
		case *expr.Param:
			if i := slices.Index(u.apply.Slots, n.N); i >= 0 {
				return u.apply.Outer[i]
			}
		}
		return x
	})
}

// replaced yields the outer columns of a join and a value in place of the Apply's.
func (u *unnesting) replaced(j *Join, value expr.Expr) Node {
	s := j.Schema()
	p := &Project{Child: j, Cols: u.apply.Schema().Columns}
	for i := range u.width {
		p.Values = append(p.Values, NewColumn(s, i))
	}
	p.Values = append(p.Values, value)
	return p
}

// filtering makes a semi or an anti join of EXISTS or IN that is, or whose
// negation is, one of the conditions.
func (u *unnesting) filtering(conds []expr.Expr) (Node, []expr.Expr, bool) {
	kind := SemiJoin
	at := slices.IndexFunc(conds, func(c expr.Expr) bool { return u.isValue(c) })
	if at < 0 {
		kind = AntiJoin
		at = slices.IndexFunc(conds, func(c expr.Expr) bool {
			inner, negated := expr.Negated(c)
			return negated && u.isValue(inner)
		})
	}
	if at < 0 {
		return nil, nil, false
	}
	inner := u.apply.Subplan
	if u.apply.Kind == ApplyExists {
		inner = exists(inner)
	}
	p, ok := u.pull(inner)
	if !ok || len(p.conds) == 0 {
		return nil, nil, false
	}
	var on []expr.Expr
	for _, c := range p.conds {
		on = append(on, u.joined(c, u.width))
	}
	if u.apply.Kind == ApplyIn {
		match, err := u.match(p.values, kind == AntiJoin)
		if err != nil {
			return nil, nil, false
		}
		on = append(on, match...)
	}
	j := &Join{Kind: kind, Left: u.apply.Child, Right: p.base, On: And(on)}
	rest := slices.Delete(slices.Clone(conds), at, at+1)
	return u.replaced(j, expr.NewConst(types.BoolDatum(kind == SemiJoin))), rest, true
}

func (u *unnesting) isValue(e expr.Expr) bool {
	i, ok := ColumnIndex(e)
	return ok && i == u.width
}

// exists takes off what does not matter to whether there is a row.
func exists(n Node) Node {
	for {
		switch x := n.(type) {
		case *Limit:
			if count, ok := constantInt(x.Count); !ok || count < 1 || x.Offset != nil {
				return n
			}
			n = x.Child
		case *Sort:
			n = x.Child
		default:
			return n
		}
	}
}

// match is the comparisons of IN, which all must hold. NOT IN drops a row also
// where the comparison with some value is unknown.
func (u *unnesting) match(values []expr.Expr, negated bool) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(u.apply.Args))
	for i, arg := range u.apply.Args {
		value := u.joined(values[i], u.width)
		equal, err := expr.NewOperator("=", arg, value)
		if err != nil {
			return nil, err
		}
		if out[i] = equal; !negated {
			continue
		}
		any := []expr.Expr{equal}
		for _, e := range []expr.Expr{arg, value} {
			unknown, err := expr.NewIsNull(e, false)
			if err != nil {
				return nil, err
			}
			any = append(any, unknown)
		}
		if out[i], err = expr.NewOr(any...); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// correlation is conditions as equalities: those of inner expressions, over the
// inner side, with outer ones, over the outer side.
type correlation struct{ inner, outer []expr.Expr }

func (u *unnesting) correlation(conds []expr.Expr) (c correlation, ok bool) {
	for _, e := range conds {
		a, b, ok := Equality(e)
		if !ok {
			return c, false
		}
		if u.correlated(a) {
			a, b = b, a
		}
		if u.correlated(a) || len(Columns(b)) > 0 {
			return c, false
		}
		c.inner, c.outer = append(c.inner, a), append(c.outer, u.joined(b, 0))
	}
	return c, len(c.inner) > 0
}

// outerJoin joins the outer side with a right side whose first columns are the
// inner expressions, at most one row for each of their values.
func (u *unnesting) outerJoin(right Node, c correlation) (*Join, error) {
	j := &Join{Kind: LeftJoin, Left: u.apply.Child, Right: right}
	var on []expr.Expr
	for i, e := range c.outer {
		eq, err := expr.NewOperator("=", e, Remap(NewColumn(right.Schema(), i), func(k int) int { return k + u.width }))
		if err != nil {
			return nil, err
		}
		on = append(on, eq)
	}
	j.On = And(on)
	return j, nil
}

// found says whether a row of the outer side has a partner, or has none.
func (u *unnesting) found(j *Join, not bool) (expr.Expr, error) {
	// The key of a partner equals something, so it is not NULL.
	return expr.NewIsNull(NewColumn(j.Schema(), u.width), !not)
}

func (c correlation) keyColumns() []types.Column {
	out := make([]types.Column, len(c.inner))
	for i, e := range c.inner {
		out[i] = types.Column{Name: "key", Type: e.Type()}
	}
	return out
}

// marking makes an outer join of EXISTS whose value is needed for itself.
func (u *unnesting) marking() (Node, bool) {
	p, ok := u.pull(exists(u.apply.Subplan))
	if !ok {
		return nil, false
	}
	c, ok := u.correlation(p.conds)
	if !ok {
		return nil, false
	}
	j, err := u.outerJoin(NewAggregate(p.base, c.inner, c.keyColumns(), nil, true), c)
	if err != nil {
		return nil, false
	}
	value, err := u.found(j, false)
	return u.replaced(j, value), err == nil
}

// aggregated makes an outer join with a grouping of a subquery that is an
// aggregate of correlated rows.
func (u *unnesting) aggregated() (Node, bool) {
	n, values := u.apply.Subplan, readAll(u.apply.Subplan)
	for {
		x, ok := n.(*Project)
		if !ok {
			break
		}
		n, values = x.Child, substituteAll(values, x.Values)
	}
	a, ok := n.(*Aggregate)
	if !ok || len(a.Keys) > 0 || a.Grouped || len(a.Sets) > 0 || len(a.Envelope) > 0 || !readsOnly(values[0], 0, len(a.Aggs)) {
		return nil, false
	}
	p, ok := u.pull(a.Child)
	if !ok || slices.ContainsFunc(a.Exprs(), u.correlated) {
		return nil, false
	}
	c, ok := u.correlation(p.conds)
	if !ok {
		return nil, false
	}
	calls, _ := withCallExprs(a.Aggs, substituteAll(callExprs(a.Aggs), p.values))
	j, err := u.outerJoin(NewAggregate(p.base, c.inner, c.keyColumns(), calls, true), c)
	if err != nil {
		return nil, false
	}
	empty, err := ofNoRows(a.Aggs)
	if err != nil {
		return nil, false
	}
	value := u.joined(values[0], u.width+len(c.inner))
	otherwise := u.joined(Substitute(values[0], empty), 0)
	value, err = u.orElse(j, value, otherwise)
	return u.replaced(j, value), err == nil
}

// orElse is a value of the partner, or another where there is none.
func (u *unnesting) orElse(j *Join, value, otherwise expr.Expr) (expr.Expr, error) {
	if _, plain := ColumnIndex(value); plain {
		if c, ok := otherwise.(*expr.Const); ok && c.Datum.Null {
			return value, nil // it is NULL there by itself
		}
	}
	missing, err := u.found(j, true)
	if err != nil {
		return nil, err
	}
	return expr.NewCase(nil, []expr.When{{Cond: missing, Result: otherwise}}, value)
}

// ofNoRows returns the values of aggregates over no rows.
func ofNoRows(calls []AggCall) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(calls))
	for i := range calls {
		b := &calls[i].Bound
		states := b.State.New(agg.Config{})
		states.Grow(1)
		v := types.NewVector(b.Final.Type(), 1)
		var bounds *agg.Bounds
		if b.Final.Approximate() {
			bounds = &agg.Bounds{Lo: types.NewVector(b.Final.Type(), 1), Hi: types.NewVector(b.Final.Type(), 1), Error: types.NewVector(types.Of(types.Float8), 1)}
		}
		if err := b.Final.Finalise(states, 1, 0.5, v, bounds); err != nil {
			return nil, err
		}
		out[i] = expr.NewConst(v.Datum(0))
	}
	return out, nil
}

// single makes an outer join of a subquery that looks up one row: the first of an
// order with LIMIT 1, or the only one.
func (u *unnesting) single() (Node, bool) {
	n, values := u.apply.Subplan, readAll(u.apply.Subplan)
	var keys []SortKey
	first := false
	for {
		switch x := n.(type) {
		case *Project:
			n, values = x.Child, substituteAll(values, x.Values)
			keys = withSortExprs(keys, substituteAll(sortExprs(keys), x.Values))
			continue
		case *Limit:
			if count, ok := constantInt(x.Count); first || !ok || count != 1 || x.Offset != nil || len(x.Ties) > 0 {
				return nil, false
			}
			first, n = true, x.Child
			continue
		case *Sort:
			if len(keys) == 0 {
				keys = x.Keys
			}
			n = x.Child
			continue
		}
		break
	}
	p, ok := u.pull(n)
	if !ok {
		return nil, false
	}
	c, ok := u.correlation(p.conds)
	if !ok {
		return nil, false
	}
	if keys = withSortExprs(keys, substituteAll(sortExprs(keys), p.values)); slices.ContainsFunc(sortExprs(keys), u.correlated) {
		return nil, false
	}
	value := Substitute(values[0], p.values)
	if u.correlated(value) {
		return nil, false
	}
	j, err := u.outerJoin(u.lookup(p.base, c, value, keys, first), c)
	if err != nil {
		return nil, false
	}
	found := NewColumn(j.Schema(), u.width+len(c.inner))
	if first || u.unique(p.base, c.inner) {
		return u.replaced(j, found), true
	}
	return u.replaced(j, &onlyValue{value: found, rows: NewColumn(j.Schema(), u.width+len(c.inner)+1)}), true
}

// lookup yields, for each value of the correlation, the first value in an order;
// without first it yields their number as well, unless they are unique.
func (u *unnesting) lookup(base Node, c correlation, value expr.Expr, keys []SortKey, first bool) Node {
	k := len(c.inner)
	cols := append(c.keyColumns(), types.Column{Name: u.apply.Column.Name, Type: value.Type()})
	p := &Project{Child: base, Values: append(slices.Clone(c.inner), value), Cols: cols}
	if first {
		for _, s := range keys {
			p.Values, p.Cols = append(p.Values, s.Value), append(p.Cols, types.Column{Name: "sort", Type: s.Value.Type()})
		}
		var n Node = p
		if len(keys) > 0 {
			n = &Sort{Child: p, Keys: withSortExprs(keys, readAll(p)[k+1:])}
		}
		return &DistinctOn{Child: n, Keys: readAll(p)[:k]}
	}
	if u.unique(base, c.inner) {
		return p
	}
	read := readAll(p)
	return NewAggregate(p, read[:k], cols[:k], []AggCall{
		{Name: "first", Bound: agg.First(value.Type()), Args: read[k : k+1], Column: cols[k]},
		{Name: "count", Bound: agg.CountRows(), Column: types.Column{Name: "count", Type: types.Of(types.Int8)}},
	}, true)
}

// unique reports whether the expressions hold the primary key of the table that
// base reads.
func (u *unnesting) unique(base Node, keys []expr.Expr) bool {
	for {
		f, ok := base.(*Filter)
		if !ok {
			break
		}
		base = f.Child
	}
	scan, ok := base.(*TableScan)
	if !ok || len(scan.Table.Table.PrimaryKey) == 0 {
		return false
	}
	have := map[int]bool{}
	for _, k := range keys {
		if i, plain := ColumnIndex(k); plain {
			have[scan.Columns[i]] = true
		}
	}
	return !slices.ContainsFunc(scan.Table.Table.PrimaryKey, func(c int) bool { return !have[c] })
}
