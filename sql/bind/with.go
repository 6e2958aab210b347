package bind

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// part binds a statement in WITH that writes. What it returns can be read by others.
func (b *binder) part(w *ast.With, def *ast.CTE, ctx *context) (*cte, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	_, merges := def.Modify.(*ast.Merge)
	switch {
	case merges:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "MERGE not supported in WITH query").At(def.Position())
	case w.Recursive && len(readersOf(def.Modify, def.Name)) > 0:
		return nil, sqlerr.New(recursionError, "recursive query %q must not contain data-modifying statements", def.Name).At(def.Position())
	case w != b.top:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "WITH clause containing a data-modifying statement must be at the top level").At(def.Position())
	}
	q, err := b.dml(def.Modify, ctx, false)
	if err != nil {
		return nil, err
	}
	m := *q.Root.(*plan.Modify)
	m.Part = true
	b.nextShared++
	b.sizes[b.nextShared] = b.planSize(&m)
	shared := &plan.Shared{Name: def.Name, ID: b.nextShared, Child: &m}
	b.parts = append(b.parts, shared)
	r := &result{node: shared}
	for i, c := range m.Cols {
		r.cols = append(r.cols, output{name: c.Name, typ: c.Type, index: i, notNull: c.NotNull, role: c.Role})
	}
	return &cte{def: def, ctx: ctx, shared: r}, nil
}

// withParts puts the parts of WITH that write around a statement.
func (b *binder) withParts(q *plan.Query) *plan.Query {
	if q == nil || len(b.parts) == 0 {
		return q
	}
	q.Root, q.Writes = &plan.With{Child: q.Root, Parts: b.parts}, true
	return q
}
