package pgcatalog

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
)

// roles returns all roles: the one that owns everything, those that were
// created, and the session's user, who may be another one that is trusted.
func (c *Catalog) roles() []Role {
	var out []Role
	if c.cfg.Roles != nil {
		out = c.cfg.Roles()
	}
	named := func(name string) bool { return slices.ContainsFunc(out, func(r Role) bool { return r.Name == name }) }
	all := map[string]bool{"superuser": true, "inherit": true, "createrole": true, "createdb": true, "login": true, "replication": true, "bypassrls": true}
	owner := Role{Name: catalog.BootstrapRole, ID: ownerOID, Flags: all}
	if i := slices.IndexFunc(out, func(r Role) bool { return r.Name == catalog.BootstrapRole }); i >= 0 { // it was given a password
		owner.Password, owner.ValidUntil, owner.Memberships = out[i].Password, out[i].ValidUntil, out[i].Memberships
		out = slices.Delete(slices.Clone(out), i, i+1)
	}
	if user := c.cfg.User; c.cfg.Role == catalog.BootstrapRole && user != "" && user != catalog.BootstrapRole && !named(user) {
		out = append(slices.Clone(out), Role{Name: user, ID: numbering{}.number("role", user, nil), Flags: all})
	}
	return append([]Role{owner}, out...)
}

// roleOID returns the number of a role, nil if there is none.
func (c *Catalog) roleOID(name string) any {
	for _, r := range c.roles() {
		if r.Name == name {
			return r.ID
		}
	}
	return nil
}

// roleName returns the name of a role.
func (c *Catalog) roleName(oid uint32) (string, bool) {
	for _, r := range c.roles() {
		if r.ID == oid {
			return r.Name, true
		}
	}
	return "", false
}

const roleColumns = `oid rolname rolsuper rolinherit rolcreaterole rolcreatedb rolcanlogin rolreplication rolbypassrls
	rolvaliduntil rolpassword`

func fillAuthID(c *Catalog, w *writer) {
	fillRoleColumns(c, w, func(r Role) any { return orNull(r.Password) })
}

func fillRoles(c *Catalog, w *writer) {
	fillRoleColumns(c, w, func(Role) any { return "********" })
}

func fillRoleColumns(c *Catalog, w *writer, password func(Role) any) {
	w.columns(roleColumns)
	w.always("rolconnlimit", -1)
	for _, r := range c.roles() {
		f := r.Flags
		w.add(r.ID, r.Name, f["superuser"], f["inherit"], f["createrole"], f["createdb"], f["login"], f["replication"], f["bypassrls"],
			timeOrNull(r.ValidUntil), password(r))
	}
}

const userColumns = "usename usesysid usecreatedb usesuper userepl usebypassrls valuntil passwd"

// fillUsers lists the roles that may log in; pg_user hides their passwords.
func fillUsers(c *Catalog, w *writer) {
	fillUserColumns(c, w, func(Role) any { return "********" })
}

func fillShadow(c *Catalog, w *writer) {
	fillUserColumns(c, w, func(r Role) any { return orNull(r.Password) })
}

func fillUserColumns(c *Catalog, w *writer, password func(Role) any) {
	w.columns(userColumns)
	for _, r := range c.roles() {
		if f := r.Flags; f["login"] {
			w.add(r.Name, r.ID, f["createdb"], f["superuser"], f["replication"], f["bypassrls"], timeOrNull(r.ValidUntil), password(r))
		}
	}
}

// fillMembers writes pg_auth_members.
func fillMembers(c *Catalog, w *writer) {
	w.columns("roleid member grantor admin_option")
	for _, r := range c.roles() {
		for _, m := range r.Memberships {
			w.add(c.roleOID(m.Of), r.ID, c.roleOID(c.cfg.Rights.Owner(m.Grantor)), m.Admin)
		}
	}
}

// enabled returns the roles whose rights the session's has.
func (c *Catalog) enabled() []string {
	var out []string
	for _, name := range c.cfg.Rights.Names() {
		if c.cfg.Rights.HasRightsOf(c.cfg.Role, name) {
			out = append(out, name)
		}
	}
	return out
}

// fillApplicableRoles lists the memberships of the roles that the session's role may
// become, and fillAdministrableRoles those that they may grant.
func fillApplicableRoles(c *Catalog, w *writer) {
	c.eachMembership(w, func(bool) bool { return true })
}

func fillAdministrableRoles(c *Catalog, w *writer) {
	c.eachMembership(w, func(admin bool) bool { return admin })
}

func (c *Catalog) eachMembership(w *writer, listed func(admin bool) bool) {
	w.columns("grantee role_name is_grantable")
	for _, r := range c.roles() {
		for _, m := range r.Memberships {
			if c.cfg.Rights.IsMember(c.cfg.Role, r.Name) && listed(m.Admin) {
				w.add(r.Name, m.Of, yesNo(m.Admin))
			}
		}
	}
}
