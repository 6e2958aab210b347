package session

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// newOwner returns the role that an object is given to, which the session's role has to
// be a member of.
func (s *Session) newOwner(name string) (string, error) {
	to, err := s.roleNamed(name)
	if err != nil {
		return "", err
	}
	if who := s.identity(); !who.roles.IsMember(who.role, to) {
		return "", sqlerr.New(sqlerr.InsufficientPrivilege, "must be member of role %q", to)
	}
	return to, nil
}

// setOwner gives a relation to another role, which must be able to create in its schema.
func (s *Session) setOwner(r *catalog.Relation, name string) error {
	to, err := s.newOwner(name)
	if err != nil {
		return err
	}
	from := s.identity().roles.Owner(r.Owner)
	if to == from {
		return nil
	}
	if ownerOf(r) != 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot change owner of sequence %q", r.Name).
			WithDetail("Sequence %q is linked to table %q.", r.Name, s.snapshot().ByID(ownerOf(r)).Name)
	}
	schema := s.snapshot().Schema(r.Schema)
	if !s.superuser() && !s.mayCreateIn(to, schema) {
		return denied("schema", schema.Name)
	}
	handOver(r, from, to)
	return nil
}

// handOver makes another role the owner of a relation.
func handOver(r *catalog.Relation, from, to string) {
	r.Owner, r.ACL = to, access.NewOwner(r.ACL, from, to)
}

// setOwner gives a table to another role, and the sequences of its columns with it.
func (c *tableChange) setOwner(name string) error {
	from := c.s.identity().roles.Owner(c.next.Owner)
	if err := c.s.setOwner(c.next, name); err != nil {
		return err
	}
	for _, q := range c.s.ownedSequences(c.next) {
		err := c.s.catalog().Update(q.ID, func(r *catalog.Relation) error {
			handOver(r, from, c.next.Owner)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// setSchemaOwner gives a schema to another role.
func (s *Session) setSchemaOwner(schema catalog.Schema, name string) error {
	to, err := s.newOwner(name)
	if err == nil {
		err = s.mayInDatabase(catalog.MayCreate)
	}
	if err != nil {
		return err
	}
	schema.ACL = access.NewOwner(schema.ACL, s.identity().roles.Owner(schema.Owner), to)
	schema.Owner = to
	s.catalog().SetSchema(schema)
	return nil
}

// mustOwnType fails where a type does not belong to the session's role.
func (s *Session) mustOwnType(t *catalog.Type) error {
	if s.owns(access.Object{Owner: t.Owner}) {
		return nil
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of type %s", t.Name)
}

// mayDropType fails where neither a type nor its schema belong to the session's role.
func (s *Session) mayDropType(t *catalog.Type) error {
	if schema := s.snapshot().Schema(t.Schema); schema != nil && s.owns(access.OfSchema(schema)) {
		return nil
	}
	return s.mustOwnType(t)
}

// setTypeOwner gives a type to another role, which must be able to create in its schema.
func (s *Session) setTypeOwner(t *catalog.Type, name string) error {
	to, err := s.newOwner(name)
	if err != nil {
		return err
	}
	if schema := s.snapshot().Schema(t.Schema); !s.superuser() && !s.mayCreateIn(to, schema) {
		return denied("schema", schema.Name)
	}
	t.Owner = to
	s.catalog().SetType(t)
	return nil
}

// mayCreateIn reports whether a role may create in a schema.
func (s *Session) mayCreateIn(role string, schema *catalog.Schema) bool {
	return s.identity().roles.Allowed(role, access.OfSchema(schema), catalog.MayCreate) != 0
}

// mayAlterIndex fails where the table of an index does not belong to the session's role.
func (s *Session) mayAlterIndex(table *catalog.Relation, index *catalog.Index) error {
	if s.owns(access.OfRelation(table)) {
		return nil
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of index %s", index.Name)
}

// mayDropIndex fails where neither the table of an index nor its schema belong to the
// session's role.
func (s *Session) mayDropIndex(table *catalog.Relation, index *catalog.Index) error {
	if schema := s.snapshot().Schema(table.Schema); schema != nil && s.owns(access.OfSchema(schema)) {
		return nil
	}
	return s.mayAlterIndex(table, index)
}
