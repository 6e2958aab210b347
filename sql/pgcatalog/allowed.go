package pgcatalog

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Allowed implements expr.Granter.
func (c *Catalog) Allowed(q *expr.PrivilegeQuestion) (yes, known bool, err error) {
	role, err := c.asked(q)
	if err != nil {
		return false, false, err
	}
	if q.Object == "role" {
		return c.allowedRole(q, role)
	}
	o, known, err := c.objectAsked(q)
	if err != nil || !known {
		return false, known, err
	}
	for _, w := range q.Wants {
		got := catalog.Privileges(0)
		if w.Option {
			got = c.cfg.Rights.Grantable(role, o, w.Privilege)
		} else {
			got = c.cfg.Rights.Allowed(role, o, w.Privilege)
		}
		yes = yes || got != 0
	}
	return yes, true, nil
}

// asked is the role that a question is about. A number without a role may nothing but
// what all may.
func (c *Catalog) asked(q *expr.PrivilegeQuestion) (string, error) {
	if q.Role.Null {
		return c.cfg.Role, nil
	}
	if q.Role.Type.OID == types.Oid {
		name, _ := c.RoleNamed(uint32(q.Role.Int))
		return c.standsFor(name), nil
	}
	name := string(q.Role.Bytes)
	if name == "public" && q.Object != "role" {
		return "", nil
	}
	return c.roleAsked(name)
}

// roleAsked returns a role by name.
func (c *Catalog) roleAsked(name string) (string, error) {
	if _, ok := c.RoleID(name); !ok {
		return "", sqlerr.New(sqlerr.UndefinedObject, "role %q does not exist", name)
	}
	return c.standsFor(name), nil
}

// standsFor returns the role whose rights a name has: the session's user need not be one.
func (c *Catalog) standsFor(name string) string {
	if _, ok := c.cfg.Rights.Lookup(name); !ok && name != "" && name == c.cfg.User {
		return c.cfg.Role
	}
	return name
}

// allowedRole answers pg_has_role.
func (c *Catalog) allowedRole(q *expr.PrivilegeQuestion, role string) (yes, known bool, err error) {
	of := ""
	if q.Of.Type.OID == types.Oid {
		of, _ = c.RoleNamed(uint32(q.Of.Int))
	} else if of, err = c.roleAsked(string(q.Of.Bytes)); err != nil {
		return false, false, err
	}
	roles := c.cfg.Rights
	for _, w := range q.Wants {
		switch {
		case w.Option:
			yes = yes || roles.IsAdmin(role, of)
		case w.Word == "MEMBER":
			yes = yes || roles.IsMember(role, of)
		default:
			yes = yes || roles.HasRightsOf(role, of)
		}
	}
	return yes, true, nil
}

// objectAsked returns the object that a question is about.
func (c *Catalog) objectAsked(q *expr.PrivilegeQuestion) (o access.Object, known bool, err error) {
	byNumber := q.Of.Type.OID == types.Oid
	switch q.Object {
	case "schema":
		return c.schemaAsked(q, byNumber)
	case "database":
		for _, d := range c.databases() {
			if byNumber && q.Of.Int == int64(d.ID) || !byNumber && d.Name == string(q.Of.Bytes) {
				return access.Object{Kind: access.Database, Owner: d.Owner, ACL: d.ACL}, true, nil
			}
		}
		if !byNumber {
			err = sqlerr.New(sqlerr.InvalidCatalogName, "database %q does not exist", q.Of.Bytes)
		}
		return o, false, err
	}
	oid := uint32(q.Of.Int)
	if !byNumber {
		if oid, known = c.RelationOID(string(q.Of.Bytes), q.Path); !known {
			return o, false, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", q.Of.Bytes)
		}
	}
	return c.relationAsked(q, oid)
}

func (c *Catalog) schemaAsked(q *expr.PrivilegeQuestion, byNumber bool) (o access.Object, known bool, err error) {
	for _, name := range schemaNames {
		if byNumber && q.Of.Int == int64(schemaOIDs[name]) || !byNumber && name == string(q.Of.Bytes) {
			s := c.schema(name)
			return access.OfSchema(&s), true, nil
		}
	}
	for _, s := range c.userSchemas() {
		if c.cfg.Snapshot.Temporary == s.Name {
			s = c.ownTemporary(s)
		}
		if byNumber && q.Of.Int == int64(s.ID) || !byNumber && s.Name == string(q.Of.Bytes) {
			return access.OfSchema(&s), true, nil
		}
	}
	if !byNumber {
		err = sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", q.Of.Bytes)
	}
	return o, false, err
}

// ownTemporary returns the schema of the session's temporary objects as its role may use it:
// to create there takes a privilege on the database.
func (c *Catalog) ownTemporary(s catalog.Schema) catalog.Schema {
	may := catalog.MayUse
	if c.cfg.Rights.Allowed(c.cfg.Role, access.OfDatabase(c.cfg.Snapshot), catalog.MayCreateTemporary) != 0 {
		may |= catalog.MayCreate
	}
	s.ACL = catalog.ACL{{Grantor: s.Owner, Grantee: c.cfg.Role, Privileges: may}, {Grantor: s.Owner, Grantee: s.Owner, Privileges: catalog.SchemaPrivileges}}
	return s
}

// relationAsked returns a relation, whose column is there if the question names one.
func (c *Catalog) relationAsked(q *expr.PrivilegeQuestion, oid uint32) (o access.Object, known bool, err error) {
	var name, kind string
	var columns []types.Column
	if t := definitions().byOID[oid]; t != nil {
		name, kind, columns = t.name, t.kind, t.columns
		o = access.Object{Kind: access.Table, Owner: catalog.BootstrapRole, ACL: t.acl()}
	} else if x := c.object(oid); x != nil {
		name, kind, columns = x.name, x.kind, x.columns
		o = access.OfRelation(x.guard)
	} else {
		return o, false, nil
	}
	if q.Object == "sequence" && kind != "S" {
		return o, false, sqlerr.New(sqlerr.WrongObjectType, "%q is not a sequence", name)
	}
	if q.Object != "column" {
		return o, true, nil
	}
	if q.Column.Type.OID == types.Int2 {
		n := q.Column.Int
		return o, n >= 1 && n <= int64(len(columns)), nil
	}
	for _, col := range columns {
		if col.Name == string(q.Column.Bytes) {
			return o, true, nil
		}
	}
	return o, false, sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", q.Column.Bytes, name)
}

// RoleID implements expr.Granter.
func (c *Catalog) RoleID(name string) (uint32, bool) {
	for _, r := range c.roles() {
		if r.Name == name {
			return r.ID, true
		}
	}
	return 0, false
}

// RoleNamed implements expr.Granter.
func (c *Catalog) RoleNamed(oid uint32) (string, bool) { return c.roleName(oid) }
