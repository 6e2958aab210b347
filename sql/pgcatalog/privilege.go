package pgcatalog

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/sql/types"
)

// restricted reports whether only superusers read a table: it has verifiers of passwords.
func (t *tableDef) restricted() bool {
	return t.schema == "pg_catalog" && (t.name == "pg_authid" || t.name == "pg_shadow")
}

// acl is that of a relation of the system.
func (t *tableDef) acl() catalog.ACL {
	out := catalog.ACL{{Grantee: catalog.BootstrapRole, Grantor: catalog.BootstrapRole, Privileges: catalog.TablePrivileges}}
	if !t.restricted() {
		out = append(out, catalog.Grant{Grantor: catalog.BootstrapRole, Privileges: catalog.MaySelect})
	}
	return out
}

// schema returns a schema by name; those of the system may be used by everyone.
func (c *Catalog) schema(name string) catalog.Schema {
	if c.cfg.Snapshot != nil {
		if s := c.cfg.Snapshot.Schema(name); s != nil {
			return *s
		}
	}
	owner := catalog.BootstrapRole
	return catalog.Schema{Name: name, Owner: owner, ACL: catalog.ACL{
		{Grantee: owner, Grantor: owner, Privileges: catalog.SchemaPrivileges}, {Grantor: owner, Privileges: catalog.MayUse},
	}}
}

// aclOrNull is an ACL as a column shows it.
func aclOrNull(acl catalog.ACL) any {
	if acl == nil {
		return nil
	}
	return access.Items(acl)
}

// acl is that of a relation; those that are a part of another have none of their own.
func (o *object) acl() catalog.ACL {
	if o.relation == nil {
		return nil
	}
	return o.relation.ACL
}

// owner is the role to which an object belongs.
func (c *Catalog) owner(o *object) string { return c.cfg.Rights.Owner(o.guard.Owner) }

// owns reports whether the session's role has the rights of an object's owner.
func (c *Catalog) owns(o *object) bool {
	return c.cfg.Rights.Owns(c.cfg.Role, access.OfRelation(o.guard))
}

// visible returns the catalog as information_schema shows it: without the relations that
// the session's role may do nothing with, and the temporary ones of other sessions.
func (c *Catalog) visible() *Catalog {
	superuser := c.cfg.Rights.Superuser(c.cfg.Role)
	out := &Catalog{cfg: c.cfg}
	out.objectsOnce.Do(func() {
		out.objectByOID = map[uint32]*object{}
		for _, o := range c.objects() {
			of := access.OfRelation(o.guard)
			if c.cfg.Snapshot.OfOther(o.schema) {
				continue
			}
			if superuser || c.owns(o) || c.cfg.Rights.Allowed(c.cfg.Role, of, of.Kind.All()) != 0 {
				out.objectList, out.objectByOID[o.oid] = append(out.objectList, o), o
			}
		}
	})
	return out
}

// eachGrant calls row for every privilege on a relation that information_schema lists,
// where enabled says who of both must be a role of the session's.
func (c *Catalog) eachGrant(public bool, row func(o *object, grantor, grantee, privilege, grantable string)) {
	roles := c.cfg.Rights
	enabled := func(name string) bool { return name != "" && roles.HasRightsOf(c.cfg.Role, name) }
	for _, o := range c.listed() {
		all := catalog.TablePrivileges
		if o.relation == nil { // who reads the stream reads its side relations
			all = catalog.MaySelect
		}
		owner, acl := c.owner(o), o.guard.ACL
		if acl == nil {
			acl = access.Default(access.Table, owner)
		}
		for _, g := range acl {
			if !enabled(g.Grantor) && !enabled(g.Grantee) && (g.Grantee != "" || !public) {
				continue
			}
			grantee := g.Grantee
			if grantee == "" {
				grantee = access.Public
			}
			for _, name := range (g.Privileges & all).Names() {
				grantable := g.Options.Has(catalog.PrivilegeNamed(name)) || g.Grantee != "" && roles.HasRightsOf(g.Grantee, owner)
				row(o, g.Grantor, grantee, name, yesNo(grantable))
			}
		}
	}
}

// fillTableGrants writes table_privileges, and fillRoleTableGrants role_table_grants,
// which has nothing that only PUBLIC has.
func fillTableGrants(c *Catalog, w *writer) { c.addTableGrants(w, true) }

func fillRoleTableGrants(c *Catalog, w *writer) { c.addTableGrants(w, false) }

func (c *Catalog) addTableGrants(w *writer, public bool) {
	w.columns("grantor grantee table_schema table_name privilege_type is_grantable with_hierarchy")
	w.always("table_catalog", c.database())
	c.eachGrant(public, func(o *object, grantor, grantee, privilege, grantable string) {
		w.add(grantor, grantee, o.schema, o.name, privilege, grantable, yesNo(privilege == "SELECT"))
	})
}

// fillColumnGrants writes column_privileges, and fillRoleColumnGrants
// role_column_grants: what is granted on a table is on its columns.
func fillColumnGrants(c *Catalog, w *writer) { c.addColumnGrants(w, true) }

func fillRoleColumnGrants(c *Catalog, w *writer) { c.addColumnGrants(w, false) }

func (c *Catalog) addColumnGrants(w *writer, public bool) {
	w.columns("grantor grantee table_schema table_name column_name privilege_type is_grantable")
	w.always("table_catalog", c.database())
	c.eachGrant(public, func(o *object, grantor, grantee, privilege, grantable string) {
		if !columnPrivileges.Has(catalog.PrivilegeNamed(privilege)) {
			return
		}
		for _, col := range o.columns {
			if col.Role == types.RoleData {
				w.add(grantor, grantee, o.schema, o.name, col.Name, privilege, grantable)
			}
		}
	})
}

// columnPrivileges are those that there are of columns.
const columnPrivileges = catalog.MaySelect | catalog.MayInsert | catalog.MayUpdate | catalog.MayReference

// fillUsageGrants writes usage_privileges, and fillRoleUsageGrants role_usage_grants: of
// sequences.
func fillUsageGrants(c *Catalog, w *writer) { c.addUsageGrants(w, true) }

func fillRoleUsageGrants(c *Catalog, w *writer) { c.addUsageGrants(w, false) }

func (c *Catalog) addUsageGrants(w *writer, public bool) {
	w.columns("grantor grantee object_schema object_name is_grantable")
	w.always("object_catalog", c.database(), "object_type", "SEQUENCE", "privilege_type", "USAGE")
	roles := c.cfg.Rights
	enabled := func(name string) bool { return name != "" && roles.HasRightsOf(c.cfg.Role, name) }
	c.sequences(func(r *catalog.Relation, _ *catalog.Sequence) {
		owner, acl := roles.Owner(r.Owner), r.ACL
		if acl == nil {
			acl = access.Default(access.Sequence, owner)
		}
		acl = slices.DeleteFunc(slices.Clone(acl), func(g catalog.Grant) bool {
			return !g.Privileges.Has(catalog.MayUse) || !enabled(g.Grantor) && !enabled(g.Grantee) && (g.Grantee != "" || !public)
		})
		for _, g := range acl {
			grantee := g.Grantee
			if grantee == "" {
				grantee = access.Public
			}
			w.add(g.Grantor, grantee, r.Schema, r.Name, yesNo(g.Options.Has(catalog.MayUse) || g.Grantee != "" && roles.HasRightsOf(g.Grantee, owner)))
		}
	})
}
