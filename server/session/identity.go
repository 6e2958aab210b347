package session

import (
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// login is who a client came as.
type login struct {
	name string
	id   uint32 // of its role
	// guest says that there was no role of that name. Such a client is trusted, as every
	// one of this machine is, who may as well say the name of the bootstrap role; it acts
	// as that one, and what it makes belongs to it.
	guest bool
}

// role is the role that the client's name stands for.
func (l login) role() string {
	if l.guest {
		return catalog.BootstrapRole
	}
	return l.name
}

// logIn returns who a client that was let in comes as.
func (e *Engine) logIn(name string, trusted bool) (login, error) {
	if role, ok := e.Catalog.Access().Lookup(name); ok {
		return login{name: name, id: role.ID}, nil
	}
	if !trusted { // it was dropped since the client proved its password
		return login{}, noRole(sqlerr.InvalidAuthorization, name)
	}
	return login{name: name, guest: true}, nil
}

func noRole(code sqlerr.Code, name string) error {
	return sqlerr.New(code, "role %q does not exist", name)
}

// identity is whose rights the statements of a session have, worked out once for each
// state of the roles and the settings.
type identity struct {
	roles     *access.Roles
	means     *meaning
	role      string // "" has those of PUBLIC only
	superuser bool
}

// identity returns whose rights the next statement has.
func (s *Session) identity() *identity {
	roles, means := s.engine.Catalog.Access(), s.settings.meaning()
	if s.who == nil || s.who.roles != roles || s.who.means != means {
		role := s.rightsOf(means.user)
		s.who = &identity{roles: roles, means: means, role: role, superuser: roles.Superuser(role)}
	}
	return s.who
}

// rightsOf returns the role that the name of one that the session has stands for. The name
// it came with and those that it took stand for the roles that they were then: not for
// others that have the names now.
func (s *Session) rightsOf(name string) string {
	id := s.became[name]
	if name == s.login.name {
		if s.login.guest {
			return catalog.BootstrapRole
		}
		id = s.login.id
	}
	if role, ok := s.engine.Catalog.Access().Lookup(name); !ok || role.ID != id {
		return ""
	}
	return name
}

// take notes which role has a name that the session takes.
func (s *Session) take(role access.Role) {
	if s.became == nil {
		s.became = map[string]uint32{}
	}
	s.became[role.Name] = role.ID
}

// Role returns the role whose rights the session has now.
func (s *Session) Role() string { return s.identity().role }

// User returns the name of the role that statements run as: current_user.
func (s *Session) User() string { return s.settings.meaning().user }

// SessionUser returns the name of the session's user: session_user.
func (s *Session) SessionUser() string { return s.settings.values["session_authorization"] }

// owner returns the role to which belongs what a statement makes.
func (s *Session) owner() string { return s.identity().role }

// become decides what SET ROLE and SET SESSION AUTHORIZATION keep.
func (s *Session) become(setting, name string) (string, error) {
	roles := s.engine.Catalog.Access()
	role, exists := roles.Lookup(name)
	if setting == "role" {
		session := s.rightsOf(s.SessionUser())
		switch {
		case name == "none" || name == s.SessionUser():
			return name, nil
		case !exists:
			return "", noRole(sqlerr.InvalidParameterValue, name)
		case !roles.IsMember(session, name):
			return "", sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to set role %q", name)
		}
		s.take(role)
		return name, nil
	}
	switch {
	case name == "" || strings.EqualFold(name, "default") || name == s.login.name:
		return s.login.name, nil
	case !exists:
		return "", noRole(sqlerr.InvalidParameterValue, name)
	case !roles.Superuser(s.rightsOf(s.login.name)):
		return "", sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to set session authorization")
	}
	s.take(role)
	return name, nil
}

// superuser reports whether the session may do everything now.
func (s *Session) superuser() bool { return s.identity().superuser }

// roleNamed returns the role that a statement names, which may be said by a word; without
// one it is the current user.
func (s *Session) roleNamed(name string) (string, error) {
	roles, role := s.identity().roles, name
	switch name {
	case "", "current_user", "current_role":
		name = s.User()
		role = s.rightsOf(name)
	case "session_user":
		name = s.SessionUser()
		role = s.rightsOf(name)
	case s.login.name:
		if _, ok := roles.Lookup(name); !ok {
			role = s.login.role()
		}
	}
	if _, ok := roles.Lookup(role); !ok {
		return "", noRole(sqlerr.UndefinedObject, name)
	}
	return role, nil
}
