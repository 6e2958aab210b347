package bind

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// merge binds MERGE: the source is joined with the target, and each row meets the first
// WHEN that fits.
func (b *binder) merge(x *ast.Merge, ctx *context) (*plan.Query, error) {
	if x.With != nil && x.With.Recursive {
		return nil, sqlerr.New(sqlerr.SyntaxError, "WITH RECURSIVE is not supported for MERGE statement")
	}
	if err := reachable(x.When); err != nil {
		return nil, err
	}
	if rel := b.relation(x.Table.Name); rel != nil { // its privileges are looked at first
		b.need(rel, mergeWants(x))
	}
	source, err := b.fromItem(x.Source, ctx)
	if err != nil {
		return nil, err
	}
	target, err := b.modifying(x.Table, nil, nil, ctx, "merge into", mergeWants(x))
	if err != nil {
		return nil, err
	}
	kind := ast.InnerJoin
	for _, w := range x.When {
		if !w.Matched && w.Action != ast.MergeNothing {
			kind = ast.LeftJoin
		}
	}
	s, err := b.joinScopes(source, target.s, &ast.Join{Pos: x.Pos, Kind: kind, On: x.On}, ctx)
	if err != nil {
		return nil, err
	}
	s.ctx = ctx
	m := &merging{b: b, rel: target.rel, s: s, width: len(source.cols), source: source}
	out := &plan.Merge{Target: target.rel}
	if out.Rules, err = b.rules(target.rel); err != nil {
		return nil, err
	}
	for i := range x.When {
		w, err := m.when(&x.When[i])
		if err != nil {
			return nil, err
		}
		out.Whens = append(out.Whens, *w)
	}
	// Identities are the last of the target's columns.
	out.Row = s.at(s.cols[m.width+len(target.s.cols)-1].index)
	out.Child = s.node
	return &plan.Query{Root: out}, nil
}

// mergeWants returns what a MERGE needs to be allowed to do with its target, besides
// reading the columns that it names.
func mergeWants(x *ast.Merge) catalog.Privileges {
	var out catalog.Privileges
	for _, w := range x.When {
		switch w.Action {
		case ast.MergeInsert:
			out |= catalog.MayInsert
		case ast.MergeUpdate:
			out |= catalog.MayUpdate
		case ast.MergeDelete:
			out |= catalog.MayDelete
		}
	}
	if out == 0 {
		return catalog.MaySelect
	}
	return out
}

// reachable fails where a WHEN stands behind one that takes every row.
func reachable(whens []ast.MergeWhen) error {
	all := map[bool]bool{}
	for _, w := range whens {
		if all[w.Matched] {
			return sqlerr.New(sqlerr.SyntaxError, "unreachable WHEN clause specified after unconditional WHEN clause")
		}
		all[w.Matched] = w.Cond == nil
	}
	return nil
}

// merging binds the WHENs of a MERGE over the joined rows.
type merging struct {
	b      *binder
	rel    *catalog.Relation
	s      *scope // the source's columns, then the target's
	width  int    // how many columns of the scope are the source's
	source *scope
}

func (m *merging) when(x *ast.MergeWhen) (*plan.MergeWhen, error) {
	w := &plan.MergeWhen{Matched: x.Matched, Nothing: x.Action == ast.MergeNothing}
	s := m.s
	if !x.Matched { // there is no row of the target
		s = &scope{node: m.s.node, cols: m.s.cols[:m.width], tables: m.source.tables, ctx: m.s.ctx}
	}
	var err error
	if x.Cond != nil {
		if w.Cond, err = m.b.boolExpr(&clause{s: s, name: "MERGE WHEN"}, x.Cond); err != nil {
			return nil, err
		}
		if w.Cond, err = m.b.attach(&s.node, w.Cond); err != nil {
			return nil, err
		}
	}
	switch x.Action {
	case ast.MergeUpdate:
		w.Kind = plan.Update
		for i := range m.rel.Columns {
			w.Values = append(w.Values, s.at(s.cols[m.width+i].index))
		}
		err = m.b.setAll(m.rel, s, x.Set, w.Values)
	case ast.MergeDelete:
		w.Kind = plan.Delete
	case ast.MergeInsert:
		w.Kind = plan.Insert
		w.Values, err = m.insert(s, x.Insert)
	}
	if err != nil {
		return nil, err
	}
	if err := m.b.attachAll(&s.node, w.Values); err != nil {
		return nil, err
	}
	m.s.node = s.node // subqueries have made it grow
	return w, nil
}

// insert binds the row that WHEN NOT MATCHED inserts.
func (m *merging) insert(s *scope, x *ast.Insert) ([]expr.Expr, error) {
	columns, err := insertColumns(m.rel, x)
	if err != nil {
		return nil, err
	}
	var row []ast.Expr
	if x.Source != nil {
		row = x.Source.Body.(*ast.Values).Rows[0]
		if err := countColumns(len(row), len(columns), len(x.Columns) > 0, row[0].Position()); err != nil {
			return nil, err
		}
	}
	return m.b.insertRow(s, m.rel, columns, row, x.Overriding)
}
