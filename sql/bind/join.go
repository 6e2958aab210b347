package bind

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

var joinKinds = map[ast.JoinKind]plan.JoinKind{
	ast.CrossJoin: plan.InnerJoin, ast.InnerJoin: plan.InnerJoin, ast.LeftJoin: plan.LeftJoin,
	ast.RightJoin: plan.RightJoin, ast.FullJoin: plan.FullJoin,
}

// join binds left JOIN right.
func (b *binder) join(x *ast.Join, ctx *context) (*scope, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	left, err := b.fromItem(x.Left, ctx)
	if err != nil {
		return nil, err
	}
	var s *scope
	if isLateral(x.Right) && (x.Kind == ast.CrossJoin || x.Kind == ast.InnerJoin || x.Kind == ast.LeftJoin) {
		s, err = b.lateralJoin(left, x, ctx)
	} else {
		s, err = b.plainJoin(left, x, ctx)
	}
	if err != nil {
		return nil, err
	}
	if x.Alias != nil {
		r := &result{node: s.node, weight: s.weight}
		for _, c := range s.cols {
			if !c.joined {
				r.cols = append(r.cols, output{name: c.name, typ: c.typ, index: c.index, notNull: c.notNull, approx: c.approx})
			}
		}
		return derived(r, "", x.Alias, ctx)
	}
	return s, nil
}

func (b *binder) lateralJoin(left *scope, x *ast.Join, ctx *context) (*scope, error) {
	f := &frame{parent: left}
	left.ctx = ctx.reaching()
	right, err := b.fromItem(x.Right, ctx.after(f))
	if err != nil {
		return nil, err
	}
	left.ctx, right.ctx = ctx, &context{frame: f, ctes: ctx.ctes}
	if len(f.slots) == 0 {
		return b.joinScopes(left, right, x, ctx)
	}
	if x.Natural || len(x.Using) > 0 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "USING and NATURAL are not supported with LATERAL").
			WithHint("Use ON.").At(x.Position())
	}
	if x.On != nil { // a condition on the rows of the item
		if err := b.filterOn(right, x.On); err != nil {
			return nil, err
		}
	}
	kind := plan.ApplyLateral
	if x.Kind == ast.LeftJoin {
		kind = plan.ApplyLateralLeft
		b.markPresent(right, plan.LeftJoin)
	}
	return applyLateral(left, right, f, kind, ctx), nil
}

// markPresent gives the optional side of an outer join a column that tells whether it has
// a row, if the query reads one of its tables as a row.
func (b *binder) markPresent(s *scope, kind plan.JoinKind) {
	if kind == plan.InnerJoin || s.envelope() >= 0 || b.reading == nil {
		return
	}
	var names map[string]bool
	place := 0
	for i := range s.tables {
		t := &s.tables[i]
		if names == nil {
			names = rowNames(b.reading)
		}
		if t.present > 0 || !names[t.name] {
			continue
		}
		if place == 0 {
			values, cols := passAll(s.node)
			values = append(values, expr.NewConst(types.BoolDatum(true)))
			s.node = &plan.Project{Child: s.node, Values: values, Cols: append(cols, types.Column{Name: "present", Type: types.Of(types.Bool), Hidden: true})}
			place = len(values)
		}
		t.present = place
	}
}

// rowNames are the names in a query that may stand for the row of a table: those without
// a qualifier, and of t.* that is not in a target list.
func rowNames(core *ast.SelectCore) map[string]bool {
	out, targets := map[string]bool{}, map[*ast.Star]bool{}
	ast.Walk(core, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectCore:
			for _, t := range x.Targets {
				if star, ok := t.Expr.(*ast.Star); ok {
					targets[star] = true
				}
			}
		case *ast.ColumnRef:
			if len(x.Parts) == 1 {
				out[x.Parts[0]] = true
			}
		case *ast.Star:
			if k := len(x.Qualifier); k > 0 && !targets[x] {
				out[x.Qualifier[k-1]] = true
			}
		}
		return true
	})
	return out
}

func (b *binder) plainJoin(left *scope, x *ast.Join, ctx *context) (*scope, error) {
	right, err := b.fromItem(x.Right, ctx)
	if err != nil && isLateral(x.Right) {
		f := &frame{parent: left}
		left.ctx = ctx.reaching()
		if _, reads := b.fromItem(x.Right, ctx.after(f)); reads == nil && len(f.outer) > 0 {
			return nil, notReached(left, f).WithDetail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.").At(itemPos(x.Right))
		}
	}
	if err != nil {
		return nil, err
	}
	return b.joinScopes(left, right, x, ctx)
}

// notReached is the error about an item of FROM that reads another, which it may not.
func notReached(of *scope, f *frame) *sqlerr.Error {
	name := ""
	if i, ok := plan.ColumnIndex(f.outer[0]); ok {
		name, _, _ = strings.Cut(of.nameOf(i), ".")
	}
	return sqlerr.New(sqlerr.InvalidColumnReference, "invalid reference to FROM-clause entry for table %q", name)
}

// joinScopes joins two sides that do not read each other.
func (b *binder) joinScopes(left, right *scope, x *ast.Join, ctx *context) (*scope, error) {
	j := &plan.Join{Kind: joinKinds[x.Kind]}
	if j.Kind != plan.RightJoin {
		b.markPresent(right, j.Kind)
	}
	if j.Kind != plan.LeftJoin {
		b.markPresent(left, j.Kind)
	}
	names := make([]string, 0, len(x.Using))
	for _, u := range x.Using {
		names = append(names, u.Name)
	}
	if x.Natural {
		names = commonNames(left, right)
	}
	if len(names) > 0 {
		return b.using(left, right, j, names, ctx, x.Position())
	}
	if err := distinctNames(left, right, x.Position()); err != nil {
		return nil, err
	}
	if x.On != nil {
		// ON is bound over the columns of the plain join, before envelopes merge.
		raw := rawPair(left, right, ctx)
		cond, err := b.boolExpr(&clause{s: raw, name: "JOIN/ON"}, x.On)
		if err != nil {
			return nil, err
		}
		if has(cond, subqueryKind) {
			return b.joinWithSubquery(left, right, j, cond, ctx, x)
		}
		j.On = cond
	}
	return b.joined(left, right, j, ctx, x.Position())
}

// rawPair is the scope of both sides' columns, left first.
func rawPair(left, right *scope, ctx *context) *scope {
	j := &plan.Join{Kind: plan.InnerJoin, Left: left.node, Right: right.node}
	return pairScopes(left, right, j, identity(len(j.Schema().Columns)), ctx)
}

func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// joinWithSubquery joins by a condition with subqueries: cond, over the columns of
// the plain join.
func (b *binder) joinWithSubquery(left, right *scope, j *plan.Join, cond expr.Expr, ctx *context, x *ast.Join) (*scope, error) {
	if j.Kind == plan.InnerJoin {
		return b.filteredJoin(left, right, j, ctx, x)
	}
	on, ok, err := b.attachToSides(left, right, cond)
	if err != nil {
		return nil, err
	}
	if ok {
		j.On = on
		return b.joined(left, right, j, ctx, x.Position())
	}
	switch j.Kind {
	case plan.LeftJoin:
		return b.joinEachRow(left, right, ctx, x)
	case plan.RightJoin:
		s, err := b.joinEachRow(right, left, ctx, x)
		if err != nil {
			return nil, err
		}
		n, m := len(right.cols), len(right.tables)
		s.cols = append(slices.Clone(s.cols[n:]), s.cols[:n]...)
		s.tables = append(slices.Clone(s.tables[m:]), s.tables[:m]...)
		return s, nil
	}
	return b.fullJoinEachRow(left, right, ctx, x)
}

// fullJoinEachRow is a full join by a condition whose subqueries read both sides: the
// left join, and the rows of the right that no row of the left meets.
func (b *binder) fullJoinEachRow(left, right *scope, ctx *context, x *ast.Join) (*scope, error) {
	if left.envelope() >= 0 || right.envelope() >= 0 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "a FULL JOIN of streams takes no condition with a subquery that reads both sides").At(x.On.Position())
	}
	for _, side := range []*scope{left, right} {
		if !b.correlated(side.node) {
			side.node = b.share("join", side.node) // it is read twice
		}
	}
	l, r := *left, *right // for the rows that have no partner
	pairs, err := b.joinEachRow(left, right, ctx, x)
	if err != nil {
		return nil, err
	}
	if plan.EnvelopeAt(pairs.nodeSchema()) >= 0 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "a FULL JOIN takes no condition with a subquery over a stream that reads both sides").At(x.On.Position())
	}
	f := &frame{parent: &r}
	l.ctx, r.ctx = &context{frame: f, ctes: ctx.ctes}, ctx
	width := len(l.nodeSchema().Columns)
	if err := b.filterOn(&l, x.On); err != nil {
		return nil, err
	}
	meets := &plan.Apply{
		Kind: plan.ApplyExists, Child: r.node, Subplan: l.node, Outer: f.outer, Slots: f.slots,
		Column: types.Column{Name: "exists", Type: types.Of(types.Bool)},
	}
	alone, err := expr.NewNot(plan.NewColumn(meets.Schema(), len(r.nodeSchema().Columns)))
	if err != nil {
		return nil, err
	}
	rest := &plan.Project{Child: &plan.Filter{Child: meets, Cond: alone}}
	values, cols := passAll(pairs.node)
	for i := range cols {
		cols[i].NotNull = false
		value := expr.Expr(&expr.Const{Datum: types.NullOf(cols[i].Type)})
		if own := i - width; own >= 0 && own < len(r.nodeSchema().Columns) {
			value = plan.NewColumn(rest.Child.Schema(), own)
		}
		rest.Values = append(rest.Values, value)
	}
	rest.Cols = cols
	pairs.node = &plan.Append{Inputs: []plan.Node{&plan.Project{Child: pairs.node, Values: values, Cols: cols}, rest}}
	for i := range pairs.cols {
		pairs.cols[i].notNull = false
	}
	pairs.optional(left, right, plan.FullJoin)
	return pairs, nil
}

// attachToSides adds the subqueries of a join's condition to the plans of the sides
// whose rows they read, and returns the condition over the columns of the join of
// these; false where one reads both sides.
func (b *binder) attachToSides(left, right *scope, cond expr.Expr) (expr.Expr, bool, error) {
	width := len(left.nodeSchema().Columns)
	sides := map[int]*scope{}
	separable := true
	expr.Walk(cond, func(e expr.Expr) bool {
		p, ok := e.(*placeholder)
		if !ok || p.kind != subqueryKind {
			return separable
		}
		// What reads a side and is volatile runs for each pair.
		separable = separable && (len(p.apply.Slots) == 0 || !plan.Volatile(p.apply.Subplan))
		sides[p.id] = right
		reads := plan.Columns(p.args...)
		for c := range reads {
			if c < width {
				sides[p.id] = left
			}
		}
		for c := range reads {
			separable = separable && (c < width) == (sides[p.id] == left)
		}
		return false
	})
	if !separable {
		return nil, false, nil
	}
	values := map[int]int{} // where the side of a subquery has its value
	attached, err := replace(cond, func(e expr.Expr) (expr.Expr, error) {
		p, ok := e.(*placeholder)
		if !ok || p.kind != subqueryKind {
			return nil, nil
		}
		side := sides[p.id]
		own := expr.Expr(p)
		if side == right {
			own = plan.Remap(own, func(i int) int { return i - width })
		}
		v, err := b.attach(&side.node, own)
		if err != nil {
			return nil, err
		}
		values[p.id], _ = plan.ColumnIndex(v)
		return p, nil
	})
	if err != nil {
		return nil, false, err
	}
	raw := rawPair(left, right, left.ctx)
	grown := len(left.nodeSchema().Columns)
	on, err := replace(attached, func(e expr.Expr) (expr.Expr, error) {
		switch n := e.(type) {
		case *placeholder:
			if n.kind != subqueryKind {
				return nil, nil
			}
			if sides[n.id] == right {
				return raw.at(values[n.id] + grown), nil
			}
			return raw.at(values[n.id]), nil
		case *expr.Column:
			c := *n
			if c.Index >= width {
				c.Index += grown - width
			}
			return &c, nil
		}
		return nil, nil
	})
	return on, true, err
}

// joinEachRow is a left join by a condition whose subqueries read both sides: for each
// row of the left the rows of the right that meet it.
func (b *binder) joinEachRow(left, right *scope, ctx *context, x *ast.Join) (*scope, error) {
	f := &frame{parent: left}
	left.ctx, right.ctx = ctx, &context{frame: f, ctes: ctx.ctes}
	if !b.correlated(right.node) {
		right.node = b.share("join", right.node) // it is read once
	}
	if err := b.filterOn(right, x.On); err != nil {
		return nil, err
	}
	return applyLateral(left, right, f, plan.ApplyLateralLeft, ctx), nil
}

// filteredJoin filters an inner join by its condition.
func (b *binder) filteredJoin(left, right *scope, j *plan.Join, ctx *context, x *ast.Join) (*scope, error) {
	s, err := b.joined(left, right, j, ctx, x.Position())
	if err != nil {
		return nil, err
	}
	return s, b.filterOn(s, x.On)
}

// filterOn keeps the rows of a scope that meet the condition of a join.
func (b *binder) filterOn(s *scope, on ast.Expr) error {
	cond, err := b.boolExpr(&clause{s: s, name: "JOIN/ON"}, on)
	if err != nil {
		return err
	}
	if cond, err = b.attach(&s.node, cond); err != nil {
		return err
	}
	s.node = &plan.Filter{Child: s.node, Cond: cond}
	return nil
}

func commonNames(left, right *scope) []string {
	var out []string
	for _, c := range left.cols {
		if c.joined || slices.Contains(out, c.name) {
			continue
		}
		if slices.ContainsFunc(right.cols, func(r column) bool { return r.name == c.name && !r.joined }) {
			out = append(out, c.name)
		}
	}
	return out
}

// using joins by equal names. The merged column comes first and stands for both.
func (b *binder) using(left, right *scope, j *plan.Join, names []string, ctx *context, pos int) (*scope, error) {
	if err := distinctNames(left, right, pos); err != nil {
		return nil, err
	}
	var conds []expr.Expr
	raw := rawPair(left, right, ctx)
	width := len(left.node.Schema().Columns)
	type pair struct{ l, r column }
	var pairs []pair
	for _, n := range names {
		l, err := usingColumn(left, n, "left", pos)
		if err != nil {
			return nil, err
		}
		r, err := usingColumn(right, n, "right", pos)
		if err != nil {
			return nil, err
		}
		e, err := expr.NewOperator("=", raw.at(l.index), raw.at(r.index+width))
		if err != nil {
			return nil, sqlerr.From(err).At(pos)
		}
		conds = append(conds, e)
		pairs = append(pairs, pair{*l, *r})
	}
	j.On = plan.And(conds)
	j.Left, j.Right = left.node, right.node
	node, to := plan.NewJoin(j)
	s := pairScopes(left, right, node, to, ctx)
	s.optional(left, right, j.Kind)
	var merged []column
	values, cols := passAll(s.node)
	for i, p := range pairs {
		c := p.l.moved(to, 0)
		c.table = qualifier{}
		switch j.Kind {
		case plan.RightJoin:
			c = p.r.moved(to, width)
			c.table = qualifier{}
		case plan.FullJoin:
			v, err := expr.NewCoalesce(s.at(to[p.l.index]), s.at(to[p.r.index+width]))
			if err != nil {
				return nil, sqlerr.From(err).At(pos)
			}
			c = column{name: names[i], typ: v.Type(), index: len(values)}
			values = append(values, v)
			cols = append(cols, types.Column{Name: names[i], Type: v.Type()})
		}
		merged = append(merged, c)
	}
	if j.Kind == plan.FullJoin {
		s.node = &plan.Project{Child: s.node, Values: values, Cols: cols}
	}
	for i := range s.cols {
		if slices.Contains(names, s.cols[i].name) {
			s.cols[i].joined = true
		}
	}
	s.cols = append(merged, s.cols...)
	return s, nil
}

func passAll(n plan.Node) ([]expr.Expr, []types.Column) {
	s := n.Schema()
	values := make([]expr.Expr, len(s.Columns))
	for i := range values {
		values[i] = plan.NewColumn(s, i)
	}
	return values, slices.Clone(s.Columns)
}

func usingColumn(s *scope, name, side string, pos int) (*column, error) {
	var found *column
	for i := range s.cols {
		if s.cols[i].name != name || s.cols[i].joined {
			continue
		}
		if found != nil {
			return nil, sqlerr.New(sqlerr.AmbiguousColumn, "common column name %q appears more than once in %s table", name, side).At(pos)
		}
		found = &s.cols[i]
	}
	if found == nil {
		return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q specified in USING clause does not exist in %s table", name, side).At(pos)
	}
	return found, nil
}
