package bind

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// need notes that a statement uses a relation, and what it must be allowed to do with
// it. Nothing else notes a relation, so that nothing is used without being looked at.
func (b *binder) need(r *catalog.Relation, want catalog.Privileges) *plan.Access {
	if !b.used[r.ID] {
		b.used[r.ID] = true
		b.relations = append(b.relations, plan.RelationVersion{ID: r.ID, Version: r.Version})
	}
	for _, a := range b.access {
		if a.Relation == r.ID && a.As == b.checkAs && a.System == nil {
			a.Want |= want
			return a
		}
	}
	a := &plan.Access{Relation: r.ID, Want: want, As: b.checkAs}
	b.access = append(b.access, a)
	return a
}

// needSystem notes that a statement reads a relation of the system catalogs.
func (b *binder) needSystem(v *plan.VirtualTable) {
	if v.Restricted {
		b.access = append(b.access, &plan.Access{System: v, As: b.checkAs})
	}
}

// needs returns what was noted.
func (b *binder) needs() []plan.Access {
	out := make([]plan.Access, len(b.access))
	for i, a := range b.access {
		out[i] = *a
	}
	return out
}

// watch makes reading a column of a scope's relation need SELECT, as it is with a
// relation that is written: what is only written need not be readable.
func (s *scope) watch(a *plan.Access) *scope {
	if s != nil {
		for i := range s.cols {
			s.cols[i].access = a
		}
	}
	return s
}

// needLocks makes FOR UPDATE and its relatives need UPDATE on the relations of FROM that
// they are of, all without names.
func (b *binder) needLocks(from []ast.FromItem, of []ast.ObjectName, ctx *context) {
	locks := func(name string, alias *ast.Alias) bool {
		if alias != nil && alias.Name != "" {
			name = alias.Name
		}
		return len(of) == 0 || slices.ContainsFunc(of, func(n ast.ObjectName) bool { return n.Name == name })
	}
	for _, item := range from {
		switch x := item.(type) {
		case *ast.Join:
			b.needLocks([]ast.FromItem{x.Left, x.Right}, of, ctx)
		case *ast.SubqueryRef:
			if core, ok := x.Query.Body.(*ast.SelectCore); ok && locks("", x.Alias) {
				b.needLocks(core.From, nil, ctx)
			}
		case *ast.TableRef:
			rel := b.relation(x.Name)
			if rel != nil && locks(x.Name.Name, x.Alias) && !(x.Name.Schema == "" && ctx.hasCTE(x.Name.Name)) {
				b.need(rel, catalog.MayUpdate)
			}
		}
	}
}

// hasCTE reports whether a name is that of a common table expression in reach.
func (c *context) hasCTE(name string) bool {
	for x := c.ctes; x != nil; x = x.next {
		if x.def.Name == name {
			return true
		}
	}
	return false
}

// usable reports whether names are looked up in a schema: the body of a view was looked
// up by who created it.
func (b *binder) usable(schema string) bool {
	return b.viewPath != nil || b.env.Usable == nil || b.env.Usable(schema)
}

// unusable refuses a name in a schema that may not be used; nil where that is not why
// nothing was found.
func (b *binder) unusable(n ast.ObjectName) error {
	if n.Schema == "" || b.env.Snapshot.Schema(n.Schema) == nil || b.usable(n.Schema) {
		return nil
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for schema %s", n.Schema).At(n.Position())
}

// guarded makes sure that every relation which a plan reads or writes was noted with a
// right to it. One that was not is a mistake of the binder, and is not run.
func guarded(n plan.Node, access []plan.Access, seen map[int]bool) error {
	if s, ok := n.(*plan.Shared); ok {
		if seen[s.ID] {
			return nil
		}
		seen[s.ID] = true
	}
	for _, r := range touched(n) {
		noted := func(a plan.Access) bool { return a.Relation == r && a.Want != 0 }
		if !slices.ContainsFunc(access, noted) {
			return sqlerr.New(sqlerr.InternalError, "relation %d is used without a look at its privileges", r)
		}
	}
	for _, c := range n.Children() {
		if err := guarded(c, access, seen); err != nil {
			return err
		}
	}
	return nil
}

// touched returns the relations that a node itself reads or writes.
func touched(n plan.Node) []id.Relation {
	switch x := n.(type) {
	case *plan.TableScan:
		return []id.Relation{x.Table.ID}
	case *plan.KeyLookup:
		return []id.Relation{x.Table.ID}
	case *plan.StreamScan:
		return []id.Relation{x.Stream.ID}
	case *plan.SideScan:
		return []id.Relation{x.Stream.ID}
	case *plan.FoldScan:
		if x.View != nil {
			return []id.Relation{x.View.ID, x.Fold.Stream.ID}
		}
		return []id.Relation{x.Fold.Stream.ID}
	case *plan.Modify:
		return []id.Relation{x.Target.ID}
	case *plan.Merge:
		return []id.Relation{x.Target.ID}
	}
	return nil
}
