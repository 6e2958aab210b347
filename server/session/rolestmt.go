package session

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// roleStatement runs the statements about roles, which take effect at once.
func (s *Session) roleStatement(stmt ast.Statement, out *sink) (string, error) {
	switch x := stmt.(type) {
	case *ast.CreateRole:
		return "CREATE ROLE", s.createRole(x)
	case *ast.AlterRole:
		return "ALTER ROLE", s.alterRole(x)
	case *ast.DropRole:
		return "DROP ROLE", s.dropRoles(x, out)
	case *ast.GrantRole:
		return s.grantRoles(x, out)
	}
	return "", sqlerr.New(sqlerr.InternalError, "%T is not about roles", stmt)
}

func roleDenied(format string, args ...any) error {
	return sqlerr.New(sqlerr.InsufficientPrivilege, format, args...)
}

// createsRoles reports whether the session's role may make roles and change them.
func (s *Session) createsRoles() bool {
	role, _ := s.identity().roles.Lookup(s.Role())
	return role.Superuser || role.CreateRole
}

func (s *Session) createRole(x *ast.CreateRole) error {
	switch f := x.Options.Flags; {
	case s.superuser():
	case f["superuser"]:
		return roleDenied("must be superuser to create superusers")
	case f["replication"]:
		return roleDenied("must be superuser to create replication users")
	case f["bypassrls"]:
		return roleDenied("must be superuser to create bypassrls users")
	case !s.createsRoles():
		return roleDenied("permission denied to create role")
	}
	switch x.Name {
	case "public", "none":
		return sqlerr.New(sqlerr.ReservedName, "role name %q is reserved", x.Name).At(x.Position())
	case catalog.BootstrapRole:
		return sqlerr.New(sqlerr.DuplicateObject, "role %q already exists", x.Name).WithHint("Use ALTER ROLE to give it a password.")
	}
	r := store.Role{Name: x.Name, Flags: map[string]bool{"inherit": true}, Created: s.now()}
	change, err := s.roleChange(x.Options)
	if err != nil {
		return sqlerr.From(err).At(x.Position())
	}
	change(&r)
	return s.engine.Catalog.CreateRole(r)
}

func (s *Session) alterRole(x *ast.AlterRole) error {
	name, err := s.roleNamed(x.Name)
	if err != nil {
		return err
	}
	role, _ := s.identity().roles.Lookup(name)
	f := x.Options.Flags
	_, superuser := f["superuser"]
	_, replication := f["replication"]
	_, bypass := f["bypassrls"]
	onlyPassword := len(f) == 0 && x.Options.ValidUntil == nil && x.Options.ConnectionLimit == nil
	switch {
	case name == catalog.BootstrapRole && superuser && !f["superuser"]:
		return sqlerr.New(sqlerr.FeatureNotSupported, "the bootstrap role %q must have the SUPERUSER attribute", name)
	case s.superuser():
	case role.Superuser || superuser:
		return roleDenied("must be superuser to alter superuser roles or change superuser attribute")
	case replication:
		return roleDenied("must be superuser to alter replication roles or change replication attribute")
	case bypass:
		return roleDenied("must be superuser to change bypassrls attribute")
	case !s.createsRoles() && (name != s.Role() || !onlyPassword):
		return roleDenied("permission denied")
	}
	change, err := s.roleChange(x.Options)
	if err != nil {
		return sqlerr.From(err).At(x.Position())
	}
	return s.engine.Catalog.UpdateRole(name, change)
}

func (s *Session) dropRoles(x *ast.DropRole, out *sink) error {
	if !s.createsRoles() {
		return roleDenied("permission denied to drop role")
	}
	for _, n := range x.Names {
		role, ok := s.identity().roles.Lookup(n.Name)
		switch {
		case n.Name == s.User():
			return sqlerr.New(sqlerr.ObjectInUse, "current user cannot be dropped").At(n.Position())
		case n.Name == s.SessionUser():
			return sqlerr.New(sqlerr.ObjectInUse, "session user cannot be dropped").At(n.Position())
		case n.Name == catalog.BootstrapRole:
			return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop role %s because it is required by the database system", n.Name)
		case !ok && x.IfExists:
			if err := out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "role %q does not exist, skipping", n.Name)); err != nil {
				return err
			}
			continue
		case role.Superuser && !s.superuser():
			return roleDenied("must be superuser to drop superusers")
		}
		if err := s.engine.Catalog.DropRole(n.Name); err != nil {
			return err
		}
	}
	return nil
}

// grantRoles runs GRANT and REVOKE of roles.
func (s *Session) grantRoles(x *ast.GrantRole, out *sink) (string, error) {
	tag := "GRANT ROLE"
	if x.Revoke {
		tag = "REVOKE ROLE"
	}
	grantor := s.Role()
	if x.By != "" {
		var err error
		if grantor, err = s.roleNamed(x.By); err != nil {
			return "", err
		}
		if grantor != s.Role() && !s.superuser() {
			return "", roleDenied("must be superuser to set grantor")
		}
	}
	for _, granted := range x.Roles {
		of, err := s.roleNamed(granted)
		if err != nil {
			return "", err
		}
		for _, name := range x.Members {
			member, err := s.roleNamed(name)
			if err == nil {
				err = s.mayGrantRole(of)
			}
			if err == nil && x.Revoke {
				err = s.revokeRole(of, member, x.Admin, out)
			} else if err == nil {
				err = s.grantRole(access.Membership{Of: of, Grantor: grantor, Admin: x.Admin}, member, out)
			}
			if err != nil {
				return "", err
			}
		}
	}
	return tag, nil
}

// mayGrantRole fails where the session's role may not say who is a member of a role.
func (s *Session) mayGrantRole(of string) error {
	who := s.identity()
	switch {
	case who.superuser:
	case who.roles.Superuser(of):
		return roleDenied("must be superuser to alter superusers")
	case !s.createsRoles() && !who.roles.IsAdmin(who.role, of):
		return roleDenied("must have admin option on role %q", of)
	}
	return nil
}

// grantRole makes a role a member of another.
func (s *Session) grantRole(m access.Membership, member string, out *sink) error {
	roles := s.engine.Catalog.Access()
	if roles.BelongsTo(m.Of, member) {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "role %q is a member of role %q", m.Of, member)
	}
	if old := membership(roles, m.Of, member); old != nil && (old.Admin || !m.Admin) {
		return out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "role %q is already a member of role %q", member, m.Of))
	}
	return s.engine.Catalog.UpdateRole(member, func(r *store.Role) { r.Memberships = access.WithMembership(r.Memberships, m) })
}

// revokeRole ends that a role is a member of another or, with admin, may grant it.
func (s *Session) revokeRole(of, member string, admin bool, out *sink) error {
	old := membership(s.engine.Catalog.Access(), of, member)
	if old == nil {
		return out.writer.Notice("WARNING", sqlerr.New(sqlerr.Warning, "role %q is not a member of role %q", member, of))
	}
	return s.engine.Catalog.UpdateRole(member, func(r *store.Role) {
		if admin {
			next := *old
			next.Admin = false
			r.Memberships = access.WithMembership(r.Memberships, next)
			return
		}
		r.Memberships = slices.DeleteFunc(slices.Clone(r.Memberships), func(m access.Membership) bool { return m.Of == of })
	})
}

// membership returns that of a role in another, nil if it is no member.
func membership(roles *access.Roles, of, member string) *access.Membership {
	role, _ := roles.Lookup(member)
	for _, m := range role.Memberships {
		if m.Of == of {
			return &m
		}
	}
	return nil
}
