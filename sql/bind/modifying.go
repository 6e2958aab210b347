package bind

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// modifying is the rows of a table that UPDATE or DELETE is about, each once for
// every row of FROM or USING that it meets. The first columns of its scope are
// the table's, then the row's identity.
type modifying struct {
	b   *binder
	rel *catalog.Relation
	s   *scope
}

// modifying reads the rows of a table with their identity, joined and filtered.
func (b *binder) modifying(t ast.TableRef, from []ast.FromItem, where ast.Expr, ctx *context, what string, want catalog.Privileges) (*modifying, error) {
	rel, access, err := b.writable(t.Name, what, want)
	if err != nil {
		return nil, err
	}
	scan := &plan.TableScan{Table: rel, Columns: append(identity(len(rel.Columns)), plan.RowID)}
	s, err := nodeScope(scan, rel.Name, rel.Schema, t.Alias, false, ctx)
	if err != nil {
		return nil, err
	}
	s.watch(access)
	if len(from) > 0 {
		if s, err = b.modifyingWith(s, from, ctx); err != nil {
			return nil, err
		}
	}
	m := &modifying{b: b, rel: rel, s: s}
	if where == nil {
		return m, nil
	}
	cond, err := b.boolExpr(&clause{s: s, name: "WHERE"}, where)
	if err != nil {
		return nil, err
	}
	if cond, err = b.attach(&s.node, cond); err != nil {
		return nil, err
	}
	s.node = &plan.Filter{Child: s.node, Cond: cond}
	return m, nil
}

// modifyingWith joins the items of FROM or USING to the table that is written, which they
// may not read, LATERAL or not.
func (b *binder) modifyingWith(table *scope, from []ast.FromItem, ctx *context) (*scope, error) {
	others, err := b.from(from, ctx)
	if err == nil {
		s, err := b.joined(table, others, &plan.Join{Kind: plan.InnerJoin}, ctx, itemPos(from[0]))
		if err == nil {
			s.ctx = ctx
		}
		return s, err
	}
	if !slices.ContainsFunc(from, isLateral) {
		return nil, err
	}
	f := &frame{parent: table}
	if _, reads := b.from(from, ctx.after(f)); reads == nil && len(f.outer) > 0 {
		return nil, notReached(table, f).WithHint("There is an entry for table %q, but it cannot be referenced from this part of the query.", table.tables[0].name).At(itemPos(from[0]))
	}
	return nil, err
}

// query plans the statement: the table's columns become values.
func (m *modifying) query(kind plan.ModifyKind, values []expr.Expr, returning []ast.Target, joins bool) (*plan.Query, error) {
	if err := m.b.attachAll(&m.s.node, values); err != nil {
		return nil, err
	}
	n := len(m.rel.Columns)
	schema := m.s.nodeSchema()
	p := &plan.Project{Child: m.s.node}
	p.Values = append([]expr.Expr{m.s.at(n)}, values...)
	p.Cols = append([]types.Column{schema.Columns[n]}, m.rel.Columns...)
	for i := n + 1; i < len(schema.Columns); i++ {
		p.Values, p.Cols = append(p.Values, m.s.at(i)), append(p.Cols, schema.Columns[i])
	}
	w := &plan.Modify{Kind: kind, Target: m.rel, Child: p}
	var err error
	if w.Rules, err = m.b.rules(m.rel); err != nil {
		return nil, err
	}
	if joins { // a row that meets several is written once, by the first
		w.Child = &plan.DistinctOn{Child: p, Keys: []expr.Expr{plan.NewColumn(p.Schema(), 0)}}
	}
	written := &scope{node: &plan.Values{Columns: p.Cols[1:]}, tables: m.s.tables, ctx: m.s.ctx}
	to := make([]int, len(schema.Columns))
	for i := range to {
		if to[i] = i; i >= n {
			to[i] = i - 1 // the identity is gone
		}
	}
	for _, c := range m.s.cols {
		if c.index != n {
			written.cols = append(written.cols, c.moved(to, 0))
		}
	}
	return m.b.modify(w, returning, written)
}

func (b *binder) update(x *ast.Update, ctx *context) (*plan.Query, error) {
	m, err := b.modifying(x.Table, x.From, x.Where, ctx, "update", catalog.MayUpdate)
	if err != nil {
		return nil, err
	}
	values := make([]expr.Expr, len(m.rel.Columns))
	for i := range values {
		values[i] = m.s.at(i)
	}
	if err := b.setAll(m.rel, m.s, x.Set, values); err != nil {
		return nil, err
	}
	return m.query(plan.Update, values, x.Returning, len(x.From) > 0)
}

func (b *binder) delete(x *ast.Delete, ctx *context) (*plan.Query, error) {
	m, err := b.modifying(x.Table, x.Using, x.Where, ctx, "delete from", catalog.MayDelete)
	if err != nil {
		return nil, err
	}
	values := make([]expr.Expr, len(m.rel.Columns))
	for i := range values {
		values[i] = m.s.at(i)
	}
	return m.query(plan.Delete, values, x.Returning, len(x.Using) > 0)
}
