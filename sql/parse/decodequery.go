package parse

import (
	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/tallydb/tallydb/sql/ast"
)

// query decodes a query in any of the shapes in which TiDB's tree holds one.
func (d *decoder) query(n tidb.Node) *ast.Select {
	switch q := n.(type) {
	case *tidb.SubqueryExpr:
		return d.query(q.Query)
	case *tidb.SelectStmt:
		return d.selectQuery(q)
	case *tidb.SetOprStmt:
		return d.setOperation(q.SelectList.Selects, q.With, q.OrderBy, q.Limit)
	case *tidb.SetOprSelectList:
		if len(q.Selects) == 1 {
			return d.query(q.Selects[0])
		}
		return d.setOperation(q.Selects, q.With, q.OrderBy, q.Limit)
	}
	d.fail("query %T", n)
	return nil
}

// tail makes a query from what stands around its body.
func (d *decoder) tail(with *tidb.WithClause, order *tidb.OrderByClause, limit *tidb.Limit) (*ast.Select, *queryInfo) {
	if limit == nil {
		d.fail("query without information")
	}
	n, _ := limit.Count.(*number)
	if n == nil {
		d.fail("limit %T", limit.Count)
	}
	info, ok := d.kept(n.index()).(*queryInfo)
	if !ok {
		d.fail("query information %T", d.kept(n.index()))
	}
	q := &ast.Select{
		Pos: info.pos, Limit: info.limit, Offset: info.offset,
		WithTies: info.withTies, Locking: info.locking,
	}
	if with != nil {
		q.With = d.with(with, info)
	}
	if order != nil {
		q.OrderBy = d.sortKeys(order.Items)
	}
	return q, info
}

func (d *decoder) with(w *tidb.WithClause, info *queryInfo) *ast.With {
	with := &ast.With{Pos: info.withPos, Recursive: w.IsRecursive}
	for _, c := range w.CTEs {
		head, ok := d.named(c.Name).(*cteHead)
		if !ok {
			d.fail("common table %q", c.Name.O)
		}
		cte := *head
		if cte.Modify == nil {
			cte.Query = d.query(c.Query)
		}
		with.CTEs = append(with.CTEs, cte)
	}
	return with
}

func (d *decoder) setOperation(sides []tidb.Node, with *tidb.WithClause, order *tidb.OrderByClause, limit *tidb.Limit) *ast.Select {
	q, info := d.tail(with, order, limit)
	if len(sides) != 2 || info.setOp == nil {
		d.fail("set operation of %d", len(sides))
	}
	op := *info.setOp
	op.Left, op.Right = d.query(sides[0]), d.query(sides[1])
	q.Body = &op
	return q
}

func (d *decoder) selectQuery(s *tidb.SelectStmt) *ast.Select {
	q, info := d.tail(s.With, s.OrderBy, s.Limit)
	if s.Kind == tidb.SelectStmtKindValues {
		values := &ast.Values{Pos: info.pos}
		for _, row := range s.Lists {
			values.Rows = append(values.Rows, d.exprs(row.Values))
		}
		q.Body = values
		return q
	}
	q.Body = d.core(s)
	return q
}

// core decodes SELECT ... WINDOW. Its first field is the form with the node.
func (d *decoder) core(s *tidb.SelectStmt) *ast.SelectCore {
	head, args, ok := d.formCall(s.Fields.Fields[0].Expr)
	core, isCore := head.(*ast.SelectCore)
	if !ok || !isCore {
		d.fail("no head in SELECT")
	}
	if len(args) > 0 {
		core.DistinctOn = d.exprs(args)
	}
	core.Targets = d.targets(s.Fields.Fields[1:])
	if s.From != nil {
		core.From = d.from(s.From)
	}
	if s.Where != nil {
		core.Where = d.expr(s.Where)
	}
	if s.GroupBy != nil {
		for _, item := range s.GroupBy.Items {
			core.GroupBy = append(core.GroupBy, d.expr(item.Expr))
		}
	}
	if s.Having != nil {
		core.Having = d.expr(s.Having.Expr)
	}
	for i := range s.WindowSpecs {
		core.Windows = append(core.Windows, d.namedWindow(&s.WindowSpecs[i]))
	}
	return core
}

func (d *decoder) namedWindow(w *tidb.WindowSpec) ast.NamedWindow {
	if w.PartitionBy == nil || len(w.PartitionBy.Items) != 1 {
		d.fail("window")
	}
	head, args, _ := d.formCall(w.PartitionBy.Items[0].Expr)
	named, ok := head.(*namedWindow)
	if !ok {
		d.fail("window head %T", head)
	}
	out := named.head
	out.Spec = named.form.fill(d.exprs(args))
	return out
}

// sortKeys decodes ORDER BY; modifiers come as a form around the expression.
func (d *decoder) sortKeys(items []*tidb.ByItem) []ast.SortKey {
	keys := make([]ast.SortKey, len(items))
	for i, item := range items {
		head, args, _ := d.formCall(item.Expr)
		if f, ok := head.(*sortForm); ok {
			keys[i] = ast.SortKey{Expr: d.expr(args[0]), Direction: f.direction, Nulls: f.nulls}
		} else {
			keys[i].Expr = d.expr(item.Expr)
		}
	}
	return keys
}

// from decodes the list of FROM, which TiDB holds as cross joins without a condition.
func (d *decoder) from(clause *tidb.TableRefsClause) []ast.FromItem {
	var items []ast.FromItem
	var list func(n tidb.ResultSetNode)
	list = func(n tidb.ResultSetNode) {
		if j, ok := n.(*tidb.Join); ok && j.On == nil && !(j.ExplicitParens && j.Right == nil && d.isExplicitJoin(j.Left)) {
			list(j.Left)
			if j.Right != nil {
				list(j.Right)
			}
			return
		}
		if item := d.fromItem(n); item != nil {
			items = append(items, item)
		}
	}
	list(clause.TableRefs)
	return items
}

func (d *decoder) isExplicitJoin(n tidb.ResultSetNode) bool {
	j, ok := n.(*tidb.Join)
	return ok && j.On != nil
}

func (d *decoder) fromItem(n tidb.ResultSetNode) ast.FromItem {
	switch x := n.(type) {
	case *tidb.Join:
		if x.On == nil {
			if x.Right != nil {
				d.fail("join without a head")
			}
			return d.fromItem(x.Left)
		}
		return d.join(x)
	case *tidb.TableSource:
		if table, ok := x.Source.(*tidb.TableName); ok {
			ref, _ := d.named(table.Name).(*ast.TableRef)
			if ref == nil {
				return nil // the table 0 of a SELECT without FROM
			}
			return ref
		}
		return d.derived(x)
	}
	d.fail("from item %T", n)
	return nil
}

func (d *decoder) join(x *tidb.Join) ast.FromItem {
	head, args, _ := d.formCall(x.On.Expr)
	kept, ok := head.(*joinForm)
	if !ok {
		d.fail("join head %T", head)
	}
	j := *kept
	j.Left, j.Right = d.fromItem(x.Left), d.fromItem(x.Right)
	if len(args) > 0 {
		j.On = d.expr(args[0])
	}
	return &j
}

// derived decodes what TiDB sees as a subquery in FROM.
func (d *decoder) derived(x *tidb.TableSource) ast.FromItem {
	f, ok := d.named(x.AsName).(*derivedForm)
	if !ok {
		d.fail("derived table %q", x.AsName.O)
	}
	if f.subquery != nil {
		ref := *f.subquery
		ref.Query = d.query(x.Source)
		return &ref
	}
	s, ok := x.Source.(*tidb.SelectStmt)
	if !ok {
		d.fail("derived table of %T", x.Source)
	}
	if f.function != nil {
		ref := *f.function
		ref.Func, ok = d.soleField(s).(*ast.FuncCall)
		if !ok {
			panic(decodeFailure{errFunctionExpected(int(ref.Pos))})
		}
		return &ref
	}
	items := d.from(s.From)
	j, ok := items[0].(*ast.Join)
	if !ok {
		panic(decodeFailure{errFunctionExpected(int(f.join.Pos))})
	}
	aliased := *j
	aliased.Alias = f.join
	return &aliased
}
