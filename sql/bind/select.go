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

// selectStmt binds a whole query.
func (b *binder) selectStmt(s *ast.Select, ctx *context) (*result, error) {
	return b.selectInto(s, ctx, nil)
}

// selectInto is selectStmt where untyped literals of column i become want[i].
func (b *binder) selectInto(s *ast.Select, ctx *context, want []types.Type) (*result, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	if s.With != nil {
		var err error
		if ctx, err = b.with(s.With, s, ctx); err != nil {
			return nil, err
		}
	}
	if err := mayLock(s); err != nil {
		return nil, err
	}
	var r *result
	var keys []plan.SortKey
	var err error
	switch body := s.Body.(type) {
	case *ast.SelectCore:
		r, keys, err = b.core(body, s.OrderBy, ctx, want)
		for _, l := range s.Locking {
			b.needLocks(body.From, l.Of, ctx)
		}
	case *ast.Values:
		if r, err = b.values(body, ctx, want); err == nil {
			keys, err = b.sortOutput(r, s.OrderBy, ctx)
		}
	case *ast.SetOp:
		if r, err = b.setOp(body, ctx, want); err == nil {
			keys, err = b.sortOutput(r, s.OrderBy, ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	return b.limit(s, r, keys, ctx)
}

// limit adds LIMIT and OFFSET.
func (b *binder) limit(s *ast.Select, r *result, keys []plan.SortKey, ctx *context) (*result, error) {
	if s.Limit == nil && s.Offset == nil {
		return r, nil
	}
	l := &plan.Limit{Child: r.node}
	counts := &scope{node: plan.OneRow(), ctx: &context{frame: ctx.frame, ctes: ctx.ctes}}
	var err error
	if l.Count, err = b.rowCount(counts, s.Limit, "LIMIT"); err != nil {
		return nil, err
	}
	if l.Offset, err = b.rowCount(counts, s.Offset, "OFFSET"); err != nil {
		return nil, err
	}
	if s.WithTies {
		if len(keys) == 0 {
			return nil, sqlerr.New(sqlerr.SyntaxError, "WITH TIES cannot be specified without ORDER BY clause")
		}
		l.Ties = keys
	}
	r.node, r.weight = l, r.weight.without("LIMIT and OFFSET")
	return b.limitBySubquery(counts, r, l)
}

// limitBySubquery limits a result by subqueries: they yield one row of counts, and the
// result is read with these as parameters.
func (b *binder) limitBySubquery(counts *scope, r *result, l *plan.Limit) (*result, error) {
	if !has(l.Count, subqueryKind) && !has(l.Offset, subqueryKind) {
		return r, nil
	}
	f := &frame{parent: counts}
	for _, count := range []*expr.Expr{&l.Count, &l.Offset} {
		if *count == nil {
			continue
		}
		e, err := b.attach(&counts.node, *count)
		if err != nil {
			return nil, err
		}
		*count = b.cross(f, e)
	}
	node, to := plan.NewLateral(&plan.Apply{Kind: plan.ApplyLateral, Child: counts.node, Subplan: l, Outer: f.outer, Slots: f.slots})
	return r.moved(node, to, len(counts.node.Schema().Columns)), nil
}

// rowCount binds the argument of LIMIT or OFFSET over a row without columns.
func (b *binder) rowCount(s *scope, e ast.Expr, what string) (expr.Expr, error) {
	if e == nil {
		return nil, nil
	}
	var column *ast.ColumnRef
	ast.WalkExprs(e, func(x ast.Expr) bool {
		if c, ok := x.(*ast.ColumnRef); ok && column == nil {
			column = c
		}
		return column == nil
	})
	v, err := b.expr(&clause{s: s, name: what}, e)
	if code := sqlerr.CodeOf(err); column != nil && (code == sqlerr.UndefinedColumn || code == sqlerr.UndefinedTable) { // not of the query around
		return nil, sqlerr.New(sqlerr.InvalidColumnReference, "argument of %s must not contain variables", what).At(column.Position())
	}
	if err != nil {
		return nil, err
	}
	v, err = expr.Cast(v, types.Of(types.Int8), expr.Assignment)
	if err != nil {
		if sqlerr.CodeOf(err) == sqlerr.InvalidTextRepresentation {
			return nil, sqlerr.From(err).At(e.Position())
		}
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "argument of %s must be type bigint", what).At(e.Position())
	}
	return v, nil
}

// target is one entry of the SELECT list, stars expanded.
type target struct {
	e       expr.Expr
	name    string
	pos     int
	role    types.Role
	status  bool
	literal bool
	lo, hi  expr.Expr // with bounds
	state   expr.Expr
	made    interval
	fields  []recordField // of a record
	origin  plan.Origin
}

// selecting is a SELECT while it is bound.
type selecting struct {
	b       *binder
	core    *ast.SelectCore
	s       *scope
	where   expr.Expr
	group   *grouping
	windows *windowing
	targets []target
	having  expr.Expr
	keys    []sortSpec
	on      []expr.Expr // DISTINCT ON
	node    plan.Node
	// starBase is set where * or t.* stood for a stream or a continuous view.
	starBase bool
}

// sortSpec is one key of ORDER BY: a target, or an expression of its own.
type sortSpec struct {
	key    plan.SortKey
	target int // -1: key.Value
	pos    int
}

// maxTargets limits a target list, as in PostgreSQL.
const maxTargets = 1664

// core binds SELECT … HAVING with its ORDER BY.
func (b *binder) core(c *ast.SelectCore, order []ast.SortKey, ctx *context, want []types.Type) (*result, []plan.SortKey, error) {
	outer := b.reading
	b.reading = c
	s, err := b.from(c.From, ctx)
	b.reading = outer
	if err != nil {
		return nil, nil, err
	}
	s.ctx = ctx
	windows, err := newWindowing(c.Windows)
	if err != nil {
		return nil, nil, err
	}
	q := &selecting{b: b, core: c, s: s, group: &grouping{}, windows: windows}
	if c.Where != nil {
		if q.where, err = b.boolExpr(&clause{s: s, name: "WHERE"}, c.Where); err != nil {
			return nil, nil, err
		}
	}
	steps := []func() error{
		q.implicitWindow,
		func() error { return q.bindTargets(want) },
		q.bindGroupBy,
		q.bindHaving,
		func() error { return q.bindOrder(order) },
		q.bindDistinctOn,
		q.planGroups,
		q.planWindows,
		q.planSets,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	return q.project()
}

// implicitWindow lets window_start and window_end mean GROUP BY tumble(...).
func (q *selecting) implicitWindow() error {
	for _, g := range q.core.GroupBy {
		f, ok := g.(*ast.FuncCall)
		if !ok || f.Name.Name != "tumble" || q.s.window != nil {
			continue
		}
		e, err := q.b.expr(&clause{s: q.s, name: "GROUP BY"}, f)
		if err != nil {
			return err
		}
		if w, ok := e.(*plan.WindowBound); ok {
			q.s.window = w
		}
	}
	return nil
}

func (q *selecting) clause(name string) *clause {
	return &clause{s: q.s, name: name, group: q.group, windows: q.windows, sets: true}
}

func (q *selecting) bindTargets(want []types.Type) error {
	for _, t := range q.core.Targets {
		if star, ok := t.Expr.(*ast.Star); ok {
			if err := q.star(star); err != nil {
				return err
			}
			continue
		}
		e, err := q.b.expr(q.clause("SELECT"), t.Expr)
		if err != nil {
			return err
		}
		out := target{e: e, name: t.Alias, pos: t.Expr.Position()}
		if out.name == "" {
			out.name = ColumnName(t.Expr)
		}
		if unknown(e.Type()) {
			to := types.Of(types.Text)
			if i := len(q.targets); i < len(want) {
				to = want[i]
			}
			out.literal = true
			if out.e, err = expr.Cast(e, to, expr.Assignment); err != nil {
				return sqlerr.From(err).At(out.pos)
			}
		}
		out.fields = q.b.records[e]
		q.describe(&out)
		q.targets = append(q.targets, out)
	}
	if err := q.showEnvelope(); err != nil {
		return err
	}
	if len(q.targets) > maxTargets {
		return sqlerr.New(sqlerr.TooManyColumns, "target lists can have at most %d entries", maxTargets)
	}
	return nil
}

// describe notes what is special about a target: bounds, and the status.
func (q *selecting) describe(t *target) {
	if in, ok := q.b.outputBounds(t.e); ok {
		t.made, t.lo, t.hi, t.state = in, in.lo, in.hi, in.state
	}
	i, ok := plan.ColumnIndex(t.e)
	if !ok {
		return
	}
	if env := q.s.envelope(); env >= 0 && i == env+plan.EnvStatus {
		t.status = true
	}
	if env := q.s.envelope(); env >= 0 && i >= env && i < env+plan.EnvColumns {
		t.role = types.RoleEnvelope
	}
	for c := range q.s.cols {
		if q.s.cols[c].index == i && t.origin.Relation == 0 {
			t.origin = q.s.cols[c].origin
		}
		if q.s.cols[c].index == i && q.s.cols[c].status && len(q.s.tables) == 1 {
			t.status = true
		}
	}
}

// star expands * or t.*.
func (q *selecting) star(x *ast.Star) error {
	of := qualified(x.Qualifier)
	if of.name != "" {
		if !q.s.hasTable(of) {
			return sqlerr.New(sqlerr.UndefinedTable, "missing FROM-clause entry for table %q", of.name).At(x.Position())
		}
		if err := q.s.checkTable(of); err != nil {
			return sqlerr.From(err).At(x.Position())
		}
	} else if len(q.s.tables) == 0 {
		return sqlerr.New(sqlerr.SyntaxError, "SELECT * with no tables specified is not valid").At(x.Position())
	}
	for i := range q.s.cols {
		c := &q.s.cols[i]
		if c.hidden || !c.has(of, c.name) {
			continue
		}
		t := target{e: q.b.read(q.s, c), name: c.name, pos: x.Position()}
		q.describe(&t)
		t.role = c.role
		q.targets = append(q.targets, t)
	}
	for _, t := range q.s.tables {
		q.starBase = q.starBase || t.base && (of.name == "" || of.names(t.qualifier))
	}
	if q.b.env.Names != nil && q.s.envelope() < 0 {
		q.b.env.Names.Stars[x] = q.starTargets(of, x)
	}
	return nil
}

// starTargets are the columns that a star stands for.
func (q *selecting) starTargets(of qualifier, x *ast.Star) []ast.Target {
	var out []ast.Target
	for i := range q.s.cols {
		c := &q.s.cols[i]
		if c.hidden || !c.has(of, c.name) {
			continue
		}
		ref := &ast.ColumnRef{Pos: x.Pos, Parts: []string{c.name}}
		switch {
		case c.table.name != "" && c.table.schema != "" && slices.ContainsFunc(q.s.tables, func(t table) bool { return t.name == c.table.name && t.schema != c.table.schema }):
			ref.Parts = []string{c.table.schema, c.table.name, c.name}
		case c.table.name != "":
			ref.Parts = []string{c.table.name, c.name}
		}
		out = append(out, ast.Target{Expr: ref})
	}
	return out
}

// showEnvelope ends the list with the visible envelope columns, once, where a
// star stood for a base relation.
func (q *selecting) showEnvelope() error {
	env := q.s.envelope()
	if !q.starBase || q.b.env.HideEnvelope || env < 0 || q.b.forView {
		return nil
	}
	for i, c := range plan.EnvelopeColumns() {
		if c.Hidden {
			continue
		}
		q.targets = append(q.targets, target{e: q.s.at(env + i), name: c.Name, pos: q.core.Position(), role: c.Role, status: i == plan.EnvStatus})
	}
	return nil
}

func (q *selecting) bindHaving() error {
	if q.core.Having == nil {
		return nil
	}
	q.group.grouped = q.group.grouped || len(q.group.calls) > 0
	var err error
	c := q.clause("HAVING")
	c.windows, c.sets = nil, false
	q.having, err = q.b.boolExpr(c, q.core.Having)
	if err == nil && !q.group.used() {
		q.group.grouped = true
		q.group.calls = append(q.group.calls, q.b.countRows())
	}
	return err
}

// bindGroupBy binds the keys: positions, names of the output, or expressions.
func (q *selecting) bindGroupBy() error {
	if hasGroupingSets(q.core.GroupBy) {
		if err := q.bindGroupingSets(); err != nil {
			return err
		}
	} else {
		for _, g := range q.core.GroupBy {
			if _, err := q.itemKeys(g); err != nil {
				return err
			}
		}
	}
	q.group.grouped = len(q.core.GroupBy) > 0
	q.addDependent()
	return nil
}

// addDependent groups by all columns of a table whose primary key is grouped by:
// they depend on it, so the groups stay the same.
func (q *selecting) addDependent() {
	grouped := map[int]bool{}
	for n, k := range q.group.keys {
		if i, ok := plan.ColumnIndex(k); ok && q.group.everywhere(n) {
			grouped[i] = true
		}
	}
	for _, t := range q.s.tables {
		determined := len(t.key) > 0
		for _, i := range t.key {
			determined = determined && grouped[i]
		}
		for i := range q.s.cols {
			if c := &q.s.cols[i]; determined && c.table == t.qualifier {
				q.group.addEverywhere(q.addKey(q.b.read(q.s, c)))
			}
		}
	}
}

// addKey returns the number of a key, which equal expressions share.
func (q *selecting) addKey(e expr.Expr) int {
	for i, k := range q.group.keys {
		if expr.Equal(k, e) && k.Type() == e.Type() {
			return i
		}
	}
	name := ""
	if i, ok := plan.ColumnIndex(e); ok {
		name = q.s.nodeSchema().Columns[i].Name
	}
	q.group.keys = append(q.group.keys, e)
	q.group.keyCols = append(q.group.keyCols, types.Column{Name: name, Type: e.Type()})
	return len(q.group.keys) - 1
}

// pairWindow groups by both ends of a window where one is a key: they say the
// same. It returns the numbers of the keys that came along.
func (q *selecting) pairWindow(e expr.Expr) []int {
	src := q.s.fold
	w, ok := e.(*plan.WindowBound)
	if ok {
		other := *w
		other.End = !w.End
		return []int{q.addKey(&other)}
	}
	if src == nil || src.values == nil {
		return nil
	}
	i, ok := plan.ColumnIndex(e)
	if !ok {
		return nil
	}
	if w, ok = src.values[i].(*plan.WindowBound); !ok {
		return nil
	}
	var paired []int
	for j, v := range src.values {
		if o, ok := v.(*plan.WindowBound); ok && j != i && o.Size == w.Size && o.Offset == w.Offset {
			paired = append(paired, q.addKey(q.s.at(j)))
		}
	}
	return paired
}

func (q *selecting) groupKey(item ast.Expr) (expr.Expr, error) {
	t, err := q.namedTarget(item, "GROUP BY", true)
	if err != nil {
		return nil, err
	}
	if t >= 0 {
		e := q.targets[t].e
		if has(e, aggPlaceholder) {
			return nil, sqlerr.New(sqlerr.GroupingError, "aggregate functions are not allowed in GROUP BY").At(q.targets[t].pos)
		}
		if has(e, windowPlaceholder) {
			return nil, sqlerr.New(sqlerr.WindowingError, "window functions are not allowed in GROUP BY").At(q.targets[t].pos)
		}
		return e, nil
	}
	e, err := q.b.expr(&clause{s: q.s, name: "GROUP BY", sets: true}, item)
	if err != nil {
		return nil, err
	}
	return expr.ResolveUnknown(e)
}

// namedTarget finds the target that a position or a bare name means; -1 for none.
// In GROUP BY a column of FROM comes first, in ORDER BY the output's name.
func (q *selecting) namedTarget(item ast.Expr, what string, columnsFirst bool) (int, error) {
	if l, ok := orderConstant(item).(*ast.Literal); ok {
		if l.Kind != ast.IntegerLiteral {
			return -1, sqlerr.New(sqlerr.SyntaxError, "non-integer constant in %s", what).At(l.Position())
		}
		return position(l, len(q.targets), what)
	}
	ref, ok := item.(*ast.ColumnRef)
	if !ok || len(ref.Parts) != 1 {
		return -1, nil
	}
	if columnsFirst {
		if e, err := q.b.findHere(q.s, qualifier{}, ref.Name()); e != nil || err != nil {
			return -1, nil //nolint:nilerr // an ambiguity is reported when the name is bound
		}
	}
	found := -1
	for i := range q.targets {
		if q.targets[i].name != ref.Name() {
			continue
		}
		if found >= 0 && !expr.Equal(q.targets[found].e, q.targets[i].e) {
			return -1, sqlerr.New(sqlerr.AmbiguousColumn, "%s %q is ambiguous", what, ref.Name()).At(ref.Position())
		}
		if found < 0 {
			found = i
		}
	}
	return found, nil
}

func position(l *ast.Literal, n int, what string) (int, error) {
	p := 0
	for _, d := range strings.TrimLeft(strings.TrimPrefix(l.Text, "-"), "0") {
		if p = p*10 + int(d-'0'); p > n {
			break
		}
	}
	if p < 1 || p > n || l.Text[0] == '-' {
		return -1, sqlerr.New(sqlerr.InvalidColumnReference, "%s position %s is not in select list", what, l.Text).At(l.Position())
	}
	return p - 1, nil
}

// mayLock refuses FOR UPDATE and its relatives where a row of the result is not a row of
// the tables.
func mayLock(s *ast.Select) error {
	if len(s.Locking) == 0 {
		return nil
	}
	refuse := func(where string) error {
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed with %s", s.Locking[0].Strength, where)
	}
	core, ok := s.Body.(*ast.SelectCore)
	switch {
	case !ok && isSetOp(s):
		return refuse("UNION/INTERSECT/EXCEPT")
	case !ok:
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s cannot be applied to VALUES", s.Locking[0].Strength)
	case core.Distinct:
		return refuse("DISTINCT clause")
	case len(core.GroupBy) > 0:
		return refuse("GROUP BY clause")
	case core.Having != nil:
		return refuse("HAVING clause")
	}
	return nil
}

func isSetOp(s *ast.Select) bool {
	_, ok := s.Body.(*ast.SetOp)
	return ok
}
