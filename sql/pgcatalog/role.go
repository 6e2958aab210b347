package pgcatalog

import (
	"maps"
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
		owner.Password, owner.ValidUntil, owner.Memberships, owner.Settings = out[i].Password, out[i].ValidUntil, out[i].Memberships, out[i].Settings
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
	w.columns(roleColumns)
	fillRoleColumns(c, w, func(r Role) []any { return []any{orNull(r.Password)} })
}

func fillRoles(c *Catalog, w *writer) {
	w.columns(roleColumns + " rolconfig")
	fillRoleColumns(c, w, func(r Role) []any { return []any{"********", settingList(r.Settings[0])} })
}

// fillRoleColumns writes roleColumns, of which last returns the password and what follows.
func fillRoleColumns(c *Catalog, w *writer, last func(Role) []any) {
	w.always("rolconnlimit", -1)
	for _, r := range c.roles() {
		f := r.Flags
		row := []any{r.ID, r.Name, f["superuser"], f["inherit"], f["createrole"], f["createdb"], f["login"], f["replication"], f["bypassrls"], timeOrNull(r.ValidUntil)}
		w.add(append(row, last(r)...)...)
	}
}

// settingList returns settings as name=value, sorted; NULL for none.
func settingList(of map[string]string) any {
	if len(of) == 0 {
		return nil
	}
	out := make([]string, 0, len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		out = append(out, name+"="+of[name])
	}
	return out
}

// fillRoleSettings writes pg_db_role_setting.
func fillRoleSettings(c *Catalog, w *writer) {
	w.columns("setdatabase setrole setconfig")
	for _, d := range c.databases() {
		if len(d.Settings) > 0 {
			w.add(d.ID, 0, settingList(d.Settings))
		}
	}
	for _, r := range c.roles() {
		for _, database := range slices.Sorted(maps.Keys(r.Settings)) {
			w.add(database, r.ID, settingList(r.Settings[database]))
		}
	}
}

const userColumns = "usename usesysid usecreatedb usesuper userepl usebypassrls valuntil passwd useconfig"

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
			w.add(r.Name, r.ID, f["createdb"], f["superuser"], f["replication"], f["bypassrls"], timeOrNull(r.ValidUntil), password(r), settingList(r.Settings[0]))
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
