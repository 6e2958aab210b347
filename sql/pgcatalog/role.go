package pgcatalog

import "slices"

// bootstrapRole owns everything, and exists without having been created.
const bootstrapRole = "tally"

// roles returns all roles: the one that owns everything, those that were
// created, and the session's user, who may be another one that is trusted.
func (c *Catalog) roles() []Role {
	var out []Role
	if c.cfg.Roles != nil {
		out = c.cfg.Roles()
	}
	named := func(name string) bool { return slices.ContainsFunc(out, func(r Role) bool { return r.Name == name }) }
	all := map[string]bool{"superuser": true, "inherit": true, "createrole": true, "createdb": true, "login": true, "replication": true, "bypassrls": true}
	owner := Role{Name: bootstrapRole, ID: ownerOID, Flags: all}
	if i := slices.IndexFunc(out, func(r Role) bool { return r.Name == bootstrapRole }); i >= 0 { // it was given a password
		owner.Password, owner.ValidUntil = out[i].Password, out[i].ValidUntil
		out = slices.Delete(slices.Clone(out), i, i+1)
	}
	if user := c.cfg.User; user != "" && user != bootstrapRole && !named(user) {
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
