package bind

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// writable finds the relation that a statement writes, which needs a privilege.
func (b *binder) writable(n ast.ObjectName, what string, want catalog.Privileges) (*catalog.Relation, *plan.Access, error) {
	rel := b.relation(n)
	if rel == nil {
		if b.virtual(n) != nil || b.side(n) != nil {
			return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "cannot %s system relation %q", what, n.Name).At(n.Position())
		}
		return nil, nil, b.undefinedTable(n)
	}
	if rel.Kind != catalog.KindTable && what == "merge into" {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot execute MERGE on relation %q", rel.Name).
			WithDetail("This operation is not supported for %ss.", rel.Kind).At(n.Position())
	}
	switch rel.Kind {
	case catalog.KindTable:
	case catalog.KindStream:
		if what != "insert into" {
			return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "cannot %s stream %q: events are facts and do not change", what, rel.Name).At(n.Position())
		}
	case catalog.KindMaterialized:
		return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "cannot change materialized view %q", rel.Name).At(n.Position())
	default:
		return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "cannot %s %s %q", what, rel.Kind, rel.Name).
			WithHint("Insert into the stream that it reads.").At(n.Position())
	}
	return rel, b.need(rel, want), nil
}

// insert binds INSERT into a table or a stream.
func (b *binder) insert(x *ast.Insert, ctx *context) (*plan.Query, error) {
	rel, access, err := b.writable(x.Table, "insert into", catalog.MayInsert)
	if err != nil {
		return nil, err
	}
	columns, err := insertColumns(rel, x)
	if err != nil {
		return nil, err
	}
	child, err := b.insertSource(rel, columns, x, ctx)
	if err != nil {
		return nil, err
	}
	m := &plan.Modify{Kind: plan.Insert, Target: rel, Child: child}
	if m.Rules, err = b.rules(rel); err != nil {
		return nil, err
	}
	if x.OnConflict != nil {
		if err := b.onConflict(m, x, access, ctx); err != nil {
			return nil, err
		}
	}
	s, err := rowScope(rel, aliasOf(x.Alias))
	if err != nil {
		return nil, err
	}
	return b.modify(m, x.Returning, s.watch(access))
}

// insertColumns returns the columns that the source gives values for, in order.
func insertColumns(rel *catalog.Relation, x *ast.Insert) ([]int, error) {
	if len(x.Columns) == 0 {
		return identity(len(rel.Columns)), nil
	}
	var out []int
	for _, c := range x.Columns {
		i, err := targetColumn(rel, c)
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, i) {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", c.Name).At(c.Position())
		}
		out = append(out, i)
	}
	return out, nil
}

func targetColumn(rel *catalog.Relation, c ast.Identifier) (int, error) {
	i := rel.Column(c.Name)
	if i >= 0 {
		return i, nil
	}
	err := sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", c.Name, rel.Name).At(c.Position())
	var names []string
	for _, k := range rel.Columns {
		names = append(names, k.Name)
	}
	if near := expr.NearestName(c.Name, names); near != "" {
		err = err.WithHint("Perhaps you meant the column %q.", near)
	}
	return 0, err
}

// insertSource binds the source and brings it to the target's columns.
func (b *binder) insertSource(rel *catalog.Relation, columns []int, x *ast.Insert, ctx *context) (plan.Node, error) {
	if x.Source == nil {
		row, err := b.fill(rel, nil, nil)
		if err != nil {
			return nil, err
		}
		return &plan.Values{Rows: [][]expr.Expr{row}, Columns: rel.Columns}, nil
	}
	source := x.Source
	v, ok := source.Body.(*ast.Values)
	if ok && source.With == nil && len(source.OrderBy) == 0 && source.Limit == nil && source.Offset == nil {
		return b.insertValues(rel, columns, v, x, ctx)
	}
	want := make([]types.Type, len(columns))
	for i, c := range columns {
		want[i] = rel.Columns[c].Type.Base()
	}
	r, err := b.selectInto(source, ctx, want)
	if err != nil {
		return nil, err
	}
	if err := countColumns(len(r.cols), len(columns), len(x.Columns) > 0, x.Source.Position()); err != nil {
		return nil, err
	}
	values, _ := r.values()
	given := make([]expr.Expr, len(values))
	for i, e := range values {
		if given[i], err = b.assign(rel, columns[i], e); err != nil {
			return nil, sqlerr.From(err).At(x.Source.Position())
		}
	}
	to, given, err := identityGiven(rel, columns[:len(given)], given, x.Overriding)
	if err != nil {
		return nil, err
	}
	row, err := b.fill(rel, to, given)
	if err != nil {
		return nil, err
	}
	return &plan.Project{Child: r.node, Values: row, Cols: rel.Columns}, nil
}

func countColumns(have, want int, listed bool, pos int) error {
	switch {
	case have > want:
		return sqlerr.New(sqlerr.SyntaxError, "INSERT has more expressions than target columns").At(pos)
	case have < want && listed:
		return sqlerr.New(sqlerr.SyntaxError, "INSERT has more target columns than expressions").At(pos)
	}
	return nil
}

// insertValues binds VALUES straight to the types of the columns.
func (b *binder) insertValues(rel *catalog.Relation, columns []int, v *ast.Values, x *ast.Insert, ctx *context) (plan.Node, error) {
	s := &scope{node: plan.OneRow(), ctx: ctx}
	out := &plan.Values{Columns: rel.Columns}
	width := len(v.Rows[0])
	for _, row := range v.Rows {
		if len(row) != width {
			return nil, sqlerr.New(sqlerr.SyntaxError, "VALUES lists must all be the same length").At(row[0].Position())
		}
		if err := countColumns(len(row), len(columns), len(x.Columns) > 0, row[0].Position()); err != nil {
			return nil, err
		}
		full, err := b.insertRow(s, rel, columns, row, x.Overriding)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, full)
	}
	r, err := b.valuesNode(&result{}, out)
	if err != nil {
		return nil, err
	}
	return r.node, nil
}

// insertRow binds one row of VALUES to the types of the columns.
func (b *binder) insertRow(s *scope, rel *catalog.Relation, columns []int, row []ast.Expr, overriding string) ([]expr.Expr, error) {
	var given []expr.Expr
	var to []int
	for i, item := range row {
		if _, ok := item.(*ast.Default); ok {
			continue
		}
		e, err := b.expr(&clause{s: s, name: "VALUES"}, item)
		if err == nil {
			e, err = b.assign(rel, columns[i], e)
		}
		if err != nil {
			return nil, sqlerr.From(err).At(item.Position())
		}
		given, to = append(given, e), append(to, columns[i])
	}
	to, given, err := identityGiven(rel, to, given, overriding)
	if err != nil {
		return nil, err
	}
	return b.fill(rel, to, given)
}

// identityGiven handles values for identity columns: those of GENERATED ALWAYS take
// none without OVERRIDING SYSTEM VALUE, and OVERRIDING USER VALUE leaves them out.
func identityGiven(rel *catalog.Relation, to []int, given []expr.Expr, overriding string) ([]int, []expr.Expr, error) {
	if rel.Table == nil || len(rel.Table.Identity) == 0 {
		return to, given, nil
	}
	var outTo []int
	var out []expr.Expr
	for i, c := range to {
		always, identity := rel.Table.Identity[c]
		if identity && overriding == "USER" {
			continue
		}
		if always && overriding == "" {
			return nil, nil, sqlerr.New(sqlerr.GeneratedAlways, "cannot insert a non-DEFAULT value into column %q", rel.Columns[c].Name).
				WithDetail("Column %q is an identity column defined as GENERATED ALWAYS.", rel.Columns[c].Name).
				WithHint("Use OVERRIDING SYSTEM VALUE to override.")
		}
		outTo, out = append(outTo, c), append(out, given[i])
	}
	return outTo, out, nil
}

// assign casts a value for a column.
func (b *binder) assign(rel *catalog.Relation, column int, e expr.Expr) (expr.Expr, error) {
	c := rel.Columns[column]
	out, err := b.toType(e, c.Type, expr.Assignment)
	if code := sqlerr.CodeOf(err); err != nil && (code == sqlerr.CannotCoerce || code == sqlerr.DatatypeMismatch) {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "column %q is of type %s but expression is of type %s", c.Name, b.declared(c.Type), e.Type()).
			WithHint("You will need to rewrite or cast the expression.")
	}
	return out, err
}

// fill returns a value for every column: the given ones, defaults, or NULL.
func (b *binder) fill(rel *catalog.Relation, columns []int, given []expr.Expr) ([]expr.Expr, error) {
	row := make([]expr.Expr, len(rel.Columns))
	for i, c := range columns {
		row[c] = given[i]
	}
	for i := range row {
		if row[i] != nil {
			continue
		}
		var err error
		if row[i], err = b.defaultOf(rel, i); err != nil {
			return nil, err
		}
	}
	return row, nil
}

func (b *binder) defaultOf(rel *catalog.Relation, column int) (expr.Expr, error) {
	t := rel.Columns[column].Type
	text := rel.Default(column)
	if domain := b.env.Snapshot.TypeByOID(t.Domain()); text == "" && domain != nil {
		text = domain.Domain.Default
	}
	if text == "" && t.Domain() != 0 {
		return b.assign(rel, column, expr.NewNull())
	}
	if text == "" {
		return expr.NewConst(types.NullOf(t)), nil
	}
	return b.storedDefault(text, "column "+rel.Columns[column].Name, func(e expr.Expr) (expr.Expr, error) {
		if rel.Table != nil {
			if _, identity := rel.Table.Identity[column]; identity {
				e = expr.OfIdentity(e)
			}
		}
		return b.assign(rel, column, e)
	})
}

// storedDefault binds the text of a default of what, and has it assigned.
func (b *binder) storedDefault(text, what string, assign func(expr.Expr) (expr.Expr, error)) (expr.Expr, error) {
	defer b.storedText()()
	stored, err := b.storedExpr(text, "the default of "+what)
	if err != nil {
		return nil, err
	}
	e, err := b.expr(&clause{s: &scope{node: plan.OneRow(), ctx: &context{}}, name: "DEFAULT"}, stored)
	if err != nil {
		return nil, err
	}
	return assign(b.fixNames(e))
}

// modify completes a statement that writes: it yields what RETURNING asks for of
// the written rows, which s names.
func (b *binder) modify(m *plan.Modify, returning []ast.Target, s *scope) (*plan.Query, error) {
	q := &plan.Query{Root: m}
	if len(returning) == 0 {
		return q, nil
	}
	sel := &selecting{b: b, s: s, core: &ast.SelectCore{Targets: returning}}
	if err := sel.bindTargets(nil); err != nil {
		return nil, err
	}
	for i := range sel.targets {
		t := &sel.targets[i]
		if has(t.e, setKind) {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "set-returning functions are not allowed in RETURNING").At(t.pos)
		}
		if err := b.attachReturned(m, t); err != nil {
			return nil, err
		}
		m.Returning = append(m.Returning, t.e)
		m.Cols = append(m.Cols, types.Column{Name: t.name, Type: t.e.Type()})
	}
	q.Output = m.Cols
	return q, nil
}

// attachReturned adds the subqueries of a target of RETURNING to the rows that are to be
// written: they read what was there before the statement wrote.
func (b *binder) attachReturned(m *plan.Modify, t *target) error {
	if !has(t.e, subqueryKind) {
		return nil
	}
	identity := 0
	if m.HasIdentity() {
		identity = 1
	}
	envelope := plan.EnvelopeAt(m.Child.Schema())
	e, err := b.attach(&m.Child, plan.Remap(t.e, func(c int) int { return c + identity }))
	if err != nil {
		return err
	}
	if envelope < 0 && plan.EnvelopeAt(m.Child.Schema()) >= 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "subqueries over streams in RETURNING are not supported").At(t.pos)
	}
	t.e = plan.Remap(e, func(c int) int { return c - identity })
	return nil
}

// rowScope names the columns of a row of a table.
func rowScope(rel *catalog.Relation, alias *ast.Alias) (*scope, error) {
	return nodeScope(&plan.Values{Columns: rel.Columns}, rel.Name, rel.Schema, alias, false, &context{})
}

// aliasOf returns an alias of this name, nil for none.
func aliasOf(name string) *ast.Alias {
	if name == "" {
		return nil
	}
	return &ast.Alias{Name: name}
}

// setAll binds the assignments of a SET over s, into values.
func (b *binder) setAll(rel *catalog.Relation, s *scope, sets []ast.Assignment, values []expr.Expr) error {
	assigned := map[int]bool{}
	for _, set := range sets {
		items, err := b.assignedItems(s, set)
		if err != nil {
			return err
		}
		for i, c := range set.Columns {
			column, err := targetColumn(rel, c)
			if err != nil {
				return err
			}
			if set.Field != "" {
				return sqlerr.New(sqlerr.DatatypeMismatch, "cannot assign to field %q of column %q because its type %s is not a composite type", set.Field, c.Name, rel.Columns[column].Type).At(c.Position())
			}
			if assigned[column] {
				return sqlerr.New(sqlerr.SyntaxError, "multiple assignments to same column %q", c.Name)
			}
			assigned[column] = true
			if values[column], err = b.setValue(rel, s, column, items[i]); err != nil {
				return sqlerr.From(err).At(items[i].Position())
			}
		}
	}
	return nil
}

func (b *binder) setValue(rel *catalog.Relation, s *scope, column int, item ast.Expr) (expr.Expr, error) {
	if _, ok := item.(*ast.Default); ok {
		return b.defaultOf(rel, column)
	}
	if rel.Table != nil && rel.Table.Identity[column] {
		return nil, sqlerr.New(sqlerr.GeneratedAlways, "column %q can only be updated to DEFAULT", rel.Columns[column].Name).
			WithDetail("Column %q is an identity column defined as GENERATED ALWAYS.", rel.Columns[column].Name)
	}
	e, err := b.expr(&clause{s: s, name: "UPDATE"}, item)
	if err != nil {
		return nil, err
	}
	return b.assign(rel, column, e)
}

// assignedItems returns one expression for each column of an assignment.
func (b *binder) assignedItems(s *scope, set ast.Assignment) ([]ast.Expr, error) {
	if !set.Multi && len(set.Columns) == 1 {
		return []ast.Expr{set.Value}, nil
	}
	switch v := set.Value.(type) {
	case *ast.Row:
		if len(v.Elems) == len(set.Columns) {
			return v.Elems, nil
		}
		return nil, sqlerr.New(sqlerr.SyntaxError, "number of columns does not match number of values").At(v.Position())
	case *ast.Subquery:
		if v.Kind == ast.ScalarSubquery {
			return b.rowSubquery(&clause{s: s, name: "UPDATE"}, v, len(set.Columns))
		}
	}
	if len(set.Columns) == 1 { // (a) = expression
		return []ast.Expr{set.Value}, nil
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression").At(set.Value.Position())
}
