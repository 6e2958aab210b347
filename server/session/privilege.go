package session

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// permitted fails where a statement is about to use a relation in a way that who it runs
// as may not. It is asked at every execution (ADR 11).
func (s *Session) permitted(list []plan.Access) error {
	if len(list) == 0 {
		return nil
	}
	who := s.identity()
	snapshot := s.snapshot()
	for i := range list {
		a := &list[i]
		if rel := snapshot.ByID(a.Relation); rel != nil && snapshot.OfOther(rel.Schema) {
			return s.reachable(rel)
		}
		role := who.role
		if a.As != "" {
			role = who.roles.Owner(a.As)
		} else if who.superuser {
			continue
		}
		if a.System != nil {
			if !who.roles.Superuser(role) {
				kind := "table"
				if a.System.View {
					kind = "view"
				}
				return denied(kind, a.System.Name)
			}
			continue
		}
		// One that is gone has nothing to read; the plan is found to be out of date.
		if rel := snapshot.ByID(a.Relation); rel != nil && !who.roles.Allowed(role, access.OfRelation(rel), a.Want).Has(a.Want) {
			return denied(kindOf(rel), rel.Name)
		}
	}
	return nil
}

// kindOf is how errors about privileges call a relation.
func kindOf(r *catalog.Relation) string {
	if r.Kind == catalog.KindContinuousView {
		return "view"
	}
	return string(r.Kind)
}

func denied(kind, name string) error {
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for %s %s", kind, name)
}

// mayAny fails where the session's role has none of some privileges on a relation.
func (s *Session) mayAny(r *catalog.Relation, of catalog.Privileges) error {
	who := s.identity()
	if who.superuser || who.roles.Allowed(who.role, access.OfRelation(r), of) != 0 {
		return nil
	}
	return denied(kindOf(r), r.Name)
}

// may fails where the session's role may not do something with a relation.
func (s *Session) may(r *catalog.Relation, want catalog.Privileges) error {
	return s.permitted([]plan.Access{{Relation: r.ID, Want: want}})
}

// owns reports whether the session's role has the rights of an object's owner.
func (s *Session) owns(o access.Object) bool {
	who := s.identity()
	return who.superuser || who.roles.Owns(who.role, o)
}

// mustOwn fails where a relation does not belong to the session's role.
func (s *Session) mustOwn(r *catalog.Relation) error {
	if s.owns(access.OfRelation(r)) {
		return nil
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of %s %s", kindOf(r), r.Name)
}

// mayDrop fails where neither a relation nor its schema belong to the session's role.
func (s *Session) mayDrop(r *catalog.Relation) error {
	if schema := s.snapshot().Schema(r.Schema); schema != nil && s.owns(access.OfSchema(schema)) {
		return nil
	}
	return s.mustOwn(r)
}

// mustOwnSchema fails where a schema does not belong to the session's role.
func (s *Session) mustOwnSchema(schema *catalog.Schema) error {
	if s.owns(access.OfSchema(schema)) {
		return nil
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of schema %s", schema.Name)
}

// mayIn reports whether the session's role has privileges on a schema. Those of the system
// may be used by everyone.
func (s *Session) mayIn(schema string, want catalog.Privileges) bool {
	who := s.identity()
	if who.superuser {
		return true
	}
	if isSystemSchema(schema) {
		return want == catalog.MayUse
	}
	snapshot := s.snapshot()
	if own := snapshot.Temporary; own != "" && snapshot.Named(schema) == own {
		return !want.Has(catalog.MayCreate) || s.mayInDatabase(catalog.MayCreateTemporary) == nil
	}
	x := snapshot.Schema(schema)
	return x != nil && who.roles.Allowed(who.role, access.OfSchema(x), want).Has(want)
}

// usable reports whether the session's role may name relations in a schema.
func (s *Session) usable(schema string) bool { return s.mayIn(schema, catalog.MayUse) }

// usablePath returns the search path without the schemas that the session's role may not
// use, which are passed over.
func (s *Session) usablePath() []string { return s.usableOf(s.path()) }

// usableOf returns the schemas of a path that the session's role may use.
func (s *Session) usableOf(path []string) []string {
	if s.superuser() {
		return path
	}
	return slices.DeleteFunc(slices.Clone(path), func(schema string) bool { return s.snapshot().HasSchema(schema) && !s.usable(schema) })
}

// mayInDatabase fails where the session's role lacks a privilege on its database.
func (s *Session) mayInDatabase(want catalog.Privileges) error {
	who, snapshot := s.identity(), s.snapshot()
	if who.superuser || who.roles.Allowed(who.role, access.OfDatabase(snapshot), want).Has(want) {
		return nil
	}
	return denied("database", snapshot.Database)
}

// mayConnect fails where a role may not use a database at all.
func (s *Session) mayConnect() error {
	if err := s.mayInDatabase(catalog.MayConnect); err != nil {
		return sqlerr.From(err).WithDetail("User does not have CONNECT privilege.")
	}
	return nil
}

// mayAny fails where the session's role has none of some privileges on a sequence that a
// function names. That of an identity column is a part of its table.
func (n numbers) mayAny(r *catalog.Relation, of catalog.Privileges) error {
	if table := n.s.snapshot().ByID(ownerOf(r)); n.unchecked && table != nil {
		if _, identity := table.Table.Identity[n.s.columnOf(table, r)]; identity {
			return nil
		}
	}
	return n.s.mayAny(r, of)
}

// namesOfView returns the search path by which the names in the body of a new view are
// looked up: without the schemas that there are not, for who makes one later should
// have no say in what the view reads, and without that of the session's temporary objects,
// unless the view is one.
func (s *Session) namesOfView(schema string) []string {
	snapshot := s.snapshot()
	return slices.DeleteFunc(slices.Clone(s.usablePath()), func(x string) bool {
		return !snapshot.HasSchema(x) && !isSystemSchema(x) || catalog.IsTemporary(x) && x != schema
	})
}

// withoutRelation drops what a statement needs of a relation that is not in the catalog.
func withoutRelation(list []plan.Access, rel id.Relation) []plan.Access {
	var out []plan.Access
	for _, a := range list {
		if a.Relation != rel {
			out = append(out, a)
		}
	}
	return out
}
