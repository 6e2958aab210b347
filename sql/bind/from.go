package bind

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// from binds the FROM clause; no items give one row without columns.
func (b *binder) from(items []ast.FromItem, ctx *context) (*scope, error) {
	if len(items) == 0 {
		return &scope{node: plan.OneRow(), ctx: ctx}, nil
	}
	var s *scope
	for _, item := range items {
		var err error
		if s, err = b.crossJoin(s, item, ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// crossJoin adds an item to the scope of those before it.
func (b *binder) crossJoin(left *scope, item ast.FromItem, ctx *context) (*scope, error) {
	if left == nil {
		return b.fromItem(item, ctx)
	}
	if isLateral(item) {
		return b.lateral(left, item, ctx)
	}
	right, err := b.fromItem(item, ctx)
	if err != nil {
		return nil, err
	}
	return b.joined(left, right, &plan.Join{Kind: plan.InnerJoin}, ctx, itemPos(item))
}

// isLateral reports whether an item may read those before it. A function may
// without saying so.
func isLateral(item ast.FromItem) bool {
	switch x := item.(type) {
	case *ast.SubqueryRef:
		return x.Lateral
	case *ast.FuncRef:
		return !isWindowFunc(x.Func)
	case *ast.Join:
		return isLateral(x.Left) || isLateral(x.Right)
	}
	return false
}

func itemPos(item ast.FromItem) int {
	switch x := item.(type) {
	case *ast.TableRef:
		return x.Position()
	case *ast.SubqueryRef:
		return x.Position()
	case *ast.FuncRef:
		return x.Position()
	case *ast.Join:
		return x.Position()
	}
	return 0
}

func (b *binder) fromItem(item ast.FromItem, ctx *context) (*scope, error) {
	switch x := item.(type) {
	case *ast.TableRef:
		return b.tableRef(x, ctx)
	case *ast.SubqueryRef:
		inner := &context{frame: ctx.frame, ctes: ctx.ctes}
		if x.Lateral {
			inner = ctx.reaching()
		}
		r, err := b.selectStmt(x.Query, inner)
		if err != nil {
			return nil, err
		}
		return derived(r, "", x.Alias, ctx)
	case *ast.FuncRef:
		return b.funcRef(x, ctx)
	case *ast.Join:
		return b.join(x, ctx)
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%T in FROM is not supported", item)
}

// joined pairs two scopes.
func (b *binder) joined(left, right *scope, j *plan.Join, ctx *context, pos int) (*scope, error) {
	if err := distinctNames(left, right, pos); err != nil {
		return nil, err
	}
	j.Left, j.Right = left.node, right.node
	node, to := plan.NewJoin(j)
	s := pairScopes(left, right, node, to, ctx)
	s.optional(left, right, j.Kind)
	return s, nil
}

// distinctNames refuses two tables of one name.
func distinctNames(left, right *scope, pos int) error {
	for _, t := range right.tables {
		if slices.ContainsFunc(left.tables, func(l table) bool { return t.conflicts(l.qualifier) }) {
			return sqlerr.New(sqlerr.DuplicateAlias, "table name %q specified more than once", t.name).At(pos)
		}
	}
	return nil
}

func pairScopes(left, right *scope, node plan.Node, to []int, ctx *context) *scope {
	width := len(left.node.Schema().Columns)
	out := &scope{node: node, ctx: ctx, weight: pairWeights(left.weight, right.weight, to, width)}
	for side, s := range []*scope{left, right} {
		for _, t := range s.tables {
			t.key = slices.Clone(t.key)
			for i := range t.key {
				t.key[i] = to[t.key[i]+side*width]
			}
			if t.present > 0 {
				t.present = to[t.present-1+side*width] + 1
			}
			out.tables = append(out.tables, t)
		}
	}
	for _, c := range left.cols {
		out.cols = append(out.cols, c.moved(to, 0))
	}
	for _, c := range right.cols {
		out.cols = append(out.cols, c.moved(to, width))
	}
	return out
}

// moved returns the column at its place after a join; its status is not the
// joined row's.
func (c column) moved(to []int, shift int) column {
	c.index = to[c.index+shift]
	c.status = false
	c.approx, c.record = c.approx.moved(to, shift), movedRecord(c.record, to, shift)
	return c
}

// lateral binds an item that may read those before it.
func (b *binder) lateral(left *scope, item ast.FromItem, ctx *context) (*scope, error) {
	f := &frame{parent: left}
	left.ctx = ctx.reaching()
	right, err := b.fromItem(item, ctx.after(f))
	if err != nil {
		return nil, err
	}
	if len(f.slots) == 0 {
		return b.joined(left, right, &plan.Join{Kind: plan.InnerJoin}, ctx, itemPos(item))
	}
	return applyLateral(left, right, f, plan.ApplyLateral, ctx), nil
}

// applyLateral runs the right side for each row of the left.
func applyLateral(left, right *scope, f *frame, kind plan.ApplyKind, ctx *context) *scope {
	a := &plan.Apply{Kind: kind, Child: left.node, Subplan: right.node, Outer: f.outer, Slots: f.slots}
	node, to := plan.NewLateral(a)
	s := pairScopes(left, right, node, to, ctx)
	if kind == plan.ApplyLateralLeft {
		s.optional(left, right, plan.LeftJoin)
	}
	return s
}

// tableRef binds a name in FROM: a common table expression, a relation, a side
// relation or a virtual table.
func (b *binder) tableRef(x *ast.TableRef, ctx *context) (*scope, error) {
	if x.Name.Schema == "" {
		for c := ctx.ctes; c != nil; c = c.next {
			if c.def.Name == x.Name.Name {
				return b.cteRef(c, x, ctx)
			}
		}
	}
	if rel := b.relation(x.Name); rel != nil {
		if b.env.Names != nil {
			b.env.Names.Relations[x], b.env.Names.Schemas[x] = rel.ID, rel.Schema
		}
		s, err := b.relationScope(rel, x.Alias, ctx)
		return s.ownedBy(uint32(rel.ID)), err
	}
	if side := b.side(x.Name); side != nil {
		if b.env.Names != nil {
			b.env.Names.Schemas[x] = side.Of().Schema
		}
		return nodeScope(side, side.Name(), "public", x.Alias, false, ctx)
	}
	if v := b.virtual(x.Name); v != nil {
		b.needSystem(v)
		if b.env.Names != nil {
			b.env.Names.Schemas[x] = v.Schema
		}
		s, err := nodeScope(&plan.VirtualScan{Table: v}, v.Name, v.Schema, x.Alias, false, ctx)
		return s.ownedBy(v.OID), err
	}
	return nil, b.undefinedTable(x.Name)
}

// ownedBy says of the columns that they are those of a relation, in their order.
func (s *scope) ownedBy(relation uint32) *scope {
	if s == nil {
		return nil
	}
	for i := range s.cols {
		s.cols[i].origin = plan.Origin{}
		if !s.cols[i].hidden {
			s.cols[i].origin, s.cols[i].direct = plan.Origin{Relation: relation, Column: i + 1}, true
		}
	}
	return s
}

// inView makes names in the body of a view mean what they meant when it was
// created, whatever the session's search path, and may be used if its owner may; the
// result ends that.
func (b *binder) inView(rel *catalog.Relation) (end func()) {
	outer, checkAs := b.viewPath, b.checkAs
	b.viewPath, b.checkAs = []string{rel.Schema}, rel.Owner
	if rel.View != nil && rel.View.Invoker { // also where another view reads it
		b.checkAs = ""
	}
	switch {
	case rel.View != nil && rel.View.Path != nil:
		b.viewPath = rel.View.Path
	case rel.ContinuousView != nil: // its body names one relation
		if stream := b.env.Snapshot.ByID(rel.ContinuousView.Stream); stream != nil {
			b.viewPath = []string{stream.Schema}
		}
	}
	return func() { b.viewPath, b.checkAs = outer, checkAs }
}

func (b *binder) searchPath() []string {
	if b.viewPath != nil {
		return b.viewPath
	}
	if b.env.SearchPath == nil {
		return []string{catalog.PublicSchema}
	}
	return b.env.SearchPath
}

func (b *binder) relation(n ast.ObjectName) *catalog.Relation {
	if b.elsewhere(n) {
		return nil
	}
	path := b.searchPath()
	if n.Schema != "" {
		path = []string{b.named(n.Schema)}
	}
	for _, s := range path {
		if r := b.env.Snapshot.ByName(s, n.Name); r != nil && b.usable(s) {
			return r
		}
	}
	return nil
}

// named returns the schema that a name in front of a dot means. In the body of a temporary
// view pg_temp is that of the view, whoever looks at it.
func (b *binder) named(schema string) string {
	if schema == catalog.TemporaryAlias {
		if at := slices.IndexFunc(b.searchPath(), catalog.IsTemporary); at >= 0 {
			return b.searchPath()[at]
		}
	}
	return schema
}

// elsewhere reports whether a name is of another database.
func (b *binder) elsewhere(n ast.ObjectName) bool {
	return n.Catalog != "" && n.Catalog != b.env.context().Database
}

func (b *binder) virtual(n ast.ObjectName) *plan.VirtualTable {
	if b.env.Virtual == nil || b.elsewhere(n) {
		return nil
	}
	if n.Schema != "" {
		return b.env.Virtual.Lookup(n.Schema, n.Name)
	}
	path := b.searchPath()
	if !slices.Contains(path, "pg_catalog") {
		path = append([]string{"pg_catalog"}, path...)
	}
	for _, s := range path {
		if v := b.env.Virtual.Lookup(s, n.Name); v != nil {
			return v
		}
	}
	return nil
}

// side finds the side relation of this name.
func (b *binder) side(n ast.ObjectName) *plan.SideScan {
	base, kind, ok := plan.SideName(n.Name)
	if !ok {
		return nil
	}
	n.Name = base
	rel := b.relation(n)
	switch {
	case rel == nil:
		return nil
	case rel.Kind == catalog.KindStream && kind != plan.SideErrors:
		b.need(rel, catalog.MaySelect)
		return plan.NewSideScan(kind, rel, nil)
	case rel.Kind == catalog.KindContinuousView && kind != plan.SideRejected:
		stream := b.env.Snapshot.ByID(rel.ContinuousView.Stream)
		if stream == nil {
			return nil
		}
		b.need(rel, catalog.MaySelect)
		b.need(stream, catalog.MaySelect) // for it shows its events
		return plan.NewSideScan(kind, stream, rel)
	}
	return nil
}

func (b *binder) undefinedTable(n ast.ObjectName) error {
	if b.elsewhere(n) {
		return OtherDatabase(n)
	}
	if err := b.unusable(n); err != nil {
		return err
	}
	name := n.Name
	if n.Schema != "" {
		name = n.Schema + "." + name
	}
	err := sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", name).At(n.Position())
	names := b.env.Snapshot.Names()
	if b.env.Virtual != nil {
		names = append(names, b.env.Virtual.Names()...)
	}
	if near := expr.NearestName(n.Name, names); near != "" {
		err = err.WithHint("Perhaps you meant the relation %q.", near)
	}
	return err
}

// OtherDatabase refuses a name of another database.
func OtherDatabase(n ast.ObjectName) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "cross-database references are not implemented: %q", strings.Join(n.Parts(), ".")).At(n.Position())
}

// relationScope reads a relation of the catalog.
func (b *binder) relationScope(rel *catalog.Relation, alias *ast.Alias, ctx *context) (*scope, error) {
	b.need(rel, catalog.MaySelect)
	switch rel.Kind {
	case catalog.KindTable, catalog.KindMaterialized:
		scan := &plan.TableScan{Table: rel}
		for i := range rel.Columns {
			scan.Columns = append(scan.Columns, i)
		}
		s, err := nodeScope(scan, rel.Name, rel.Schema, alias, false, ctx)
		if err == nil {
			s.tables[0].key = rel.Table.PrimaryKey
		}
		return s, err
	case catalog.KindStream:
		b.streamDerived = true
		s, err := nodeScope(plan.NewStreamScan(rel), rel.Name, rel.Schema, alias, true, ctx)
		if err == nil {
			s.fold, s.weight = &foldSource{stream: rel}, weightOf(rel)
		}
		return s, err
	case catalog.KindContinuousView:
		return b.viewScope(rel, alias, ctx)
	case catalog.KindSequence:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "sequence %q cannot be read as a table", rel.Name).WithHint("Read pg_sequences, or call currval().")
	}
	q, err := b.viewBody(rel.View.SQL)
	if err != nil {
		return nil, err
	}
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	defer b.inView(rel)()
	r, err := b.selectStmt(q, &context{})
	if err != nil {
		return nil, sqlerr.From(err).InContext("view %q", rel.Name)
	}
	if r.node, err = fixZone(r.node, rel.View.TimeZone); err != nil {
		return nil, sqlerr.From(err).InContext("view %q", rel.Name)
	}
	if path := b.viewPath; rel.View.Path != nil {
		r.node = plan.MapExprs(r.node, func(e expr.Expr) expr.Expr { return expr.FixNames(e, b.env.context(), path) })
	}
	for i := range r.cols {
		if i < len(rel.Columns) {
			r.cols[i].name = rel.Columns[i].Name
		}
	}
	s, err := derived(r, rel.Name, alias, ctx)
	if err == nil {
		s.ofSchema(rel.Schema, alias)
	}
	return s, err
}

// fixZone makes the literals in the body of a view mean what they meant when it
// was created, whatever the session's time zone.
func fixZone(n plan.Node, zone string) (plan.Node, error) {
	if zone == "" {
		return n, nil
	}
	loc, err := types.LoadZone(zone)
	if err != nil {
		return nil, err
	}
	return plan.MapExprs(n, func(e expr.Expr) expr.Expr { return expr.FixZone(e, loc) }), nil
}

func (b *binder) viewBody(sql string) (*ast.Select, error) {
	if b.env.Parse == nil {
		return nil, sqlerr.New(sqlerr.InternalError, "views cannot be read without a parser")
	}
	return b.env.Parse(sql)
}

// nodeScope names the data columns of a scan.
func nodeScope(n plan.Node, name, schema string, alias *ast.Alias, base bool, ctx *context) (*scope, error) {
	r := &result{node: n}
	for i, c := range n.Schema().Columns {
		if c.Role == types.RoleData && !c.Hidden {
			r.cols = append(r.cols, output{name: c.Name, typ: c.Type, index: i, notNull: c.NotNull})
		}
	}
	s, err := derived(r, name, alias, ctx)
	if err != nil {
		return nil, err
	}
	s.tables[0].base = base
	s.ofSchema(schema, alias)
	for i, c := range n.Schema().Columns {
		if c.Role == types.RoleData && c.Hidden { // a system column: seen when named
			s.cols = append(s.cols, column{table: s.tables[0].qualifier, name: c.Name, typ: c.Type, index: i, notNull: c.NotNull, hidden: true})
		}
	}
	return s, nil
}

// ofSchema says which schema the scope's one relation is of, unless an alias hides it.
func (s *scope) ofSchema(schema string, alias *ast.Alias) {
	if alias != nil && alias.Name != "" {
		return
	}
	s.tables[0].schema = schema
	for i := range s.cols {
		s.cols[i].table = s.tables[0].qualifier
	}
}

// derived makes a scope of a bound query, under its alias.
func derived(r *result, name string, alias *ast.Alias, ctx *context) (*scope, error) {
	var renamed []ast.ColumnAlias
	pos := 0
	if alias != nil {
		if alias.Name != "" {
			name = alias.Name
		}
		renamed, pos = alias.Columns, alias.Position()
	}
	if len(renamed) > len(r.cols) {
		return nil, sqlerr.New(sqlerr.InvalidColumnReference, "table %q has %d columns available but %d columns specified", name, len(r.cols), len(renamed)).At(pos)
	}
	s := &scope{node: r.node, ctx: ctx, tables: []table{{qualifier: qualifier{name: name}}}, weight: r.weight}
	for i, c := range r.cols {
		col := column{table: s.tables[0].qualifier, name: c.name, typ: c.typ, index: c.index, notNull: c.notNull, role: c.role, status: c.status, approx: c.approx, record: c.record}
		col.origin = c.origin
		if i < len(renamed) {
			col.name = renamed[i].Name
		}
		s.cols = append(s.cols, col)
	}
	return s, nil
}
