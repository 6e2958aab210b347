package bind

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
)

// Rules binds what the rows of a table keep, for who writes it.
func Rules(env *Env, rel *catalog.Relation) (*plan.Rules, error) {
	return newBinder(env, nil, 0).rules(rel)
}

// rules binds the constraints of a table that a statement writes, and of those that
// referential actions write then.
func (b *binder) rules(rel *catalog.Relation) (*plan.Rules, error) {
	if r := b.written[rel.ID]; r != nil {
		return r, nil
	}
	out := &plan.Rules{Table: rel}
	b.written[rel.ID] = out // a cycle of foreign keys comes here again
	var err error
	if out.Checks, err = b.checks(rel); err != nil {
		return nil, err
	}
	for _, r := range b.env.Snapshot.References(rel) {
		out.References = append(out.References, &plan.Reference{Reference: r})
	}
	if rel.Table == nil {
		return out, nil
	}
	for _, r := range b.env.Snapshot.ReferencedBy(rel.ID) {
		ref, err := b.referencedBy(r)
		if err != nil {
			return nil, err
		}
		out.ReferencedBy = append(out.ReferencedBy, ref)
	}
	return out, nil
}

func (b *binder) referencedBy(r catalog.Reference) (*plan.Reference, error) {
	ref := &plan.Reference{Reference: r}
	uses := func(a catalog.ReferentialAction) bool { return r.Key.OnDelete == a || r.Key.OnUpdate == a }
	if !uses(catalog.Cascade) && !uses(catalog.SetNull) && !uses(catalog.SetDefault) {
		return ref, nil
	}
	b.need(r.From, 0) // actions write it as its owner
	var err error
	if ref.FromRules, err = b.rules(r.From); err != nil {
		return nil, err
	}
	if r.Key.OnUpdate == catalog.Cascade {
		for i, c := range r.Columns() {
			e, err := b.assign(r.From, r.Key.Columns[i], plan.NewColumn(r.To.RowSchema(), c))
			if err != nil {
				return nil, err
			}
			ref.Updated = append(ref.Updated, e)
		}
	}
	if uses(catalog.SetNull) {
		ref.Nulls = make([]expr.Expr, len(r.Key.Columns))
		for i, c := range r.Key.Columns {
			if ref.Nulls[i], err = b.assign(r.From, c, expr.NewNull()); err != nil {
				return nil, err
			}
		}
	}
	if uses(catalog.SetDefault) {
		ref.Defaults = make([]expr.Expr, len(r.Key.Columns))
		for i, c := range r.Key.Columns {
			if ref.Defaults[i], err = b.defaultOf(r.From, c); err != nil {
				return nil, err
			}
		}
	}
	return ref, nil
}
