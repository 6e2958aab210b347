package access

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
)

// Role is what decides about a role's rights.
type Role struct {
	Name      string
	ID        uint32
	Superuser bool
	Inherit   bool // it has the rights of the roles that it is a member of
	// CreateRole and CreateDatabase are the attributes of these names.
	CreateRole, CreateDatabase bool
	Memberships                []Membership // by name of the role
}

// Membership is that a role is a member of another.
type Membership struct {
	Of      string
	Grantor string
	Admin   bool `json:",omitempty"` // the member may grant it to others
}

// Roles are the roles of a server as they are at a moment. They are immutable and safe
// for concurrent use.
type Roles struct {
	byName map[string]Role
}

// NewRoles returns these roles, with the bootstrap role among them.
func NewRoles(list []Role) *Roles {
	r := &Roles{byName: make(map[string]Role, len(list)+1)}
	for _, x := range list {
		r.byName[x.Name] = x
	}
	r.byName[catalog.BootstrapRole] = Role{
		Name: catalog.BootstrapRole, ID: BootstrapID, Superuser: true, Inherit: true, CreateRole: true, CreateDatabase: true,
		Memberships: r.byName[catalog.BootstrapRole].Memberships,
	}
	return r
}

// BootstrapID is the number of the bootstrap role.
const BootstrapID = 10

// Lookup returns a role by name.
func (r *Roles) Lookup(name string) (Role, bool) {
	x, ok := r.byName[name]
	return x, ok
}

// ByID returns the name of a role by its number.
func (r *Roles) ByID(n uint32) (string, bool) {
	for _, x := range r.byName {
		if x.ID == n {
			return x.Name, true
		}
	}
	return "", false
}

// Names returns the names of all roles, sorted.
func (r *Roles) Names() []string {
	out := make([]string, 0, len(r.byName))
	for name := range r.byName {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Superuser reports whether a role may do everything.
func (r *Roles) Superuser(name string) bool { return r.byName[name].Superuser }

// Owner returns who an object belongs to, of whose owner this is noted.
func (r *Roles) Owner(noted string) string {
	if _, ok := r.byName[noted]; ok {
		return noted
	}
	return catalog.BootstrapRole
}

// HasRightsOf reports whether a role may do what another may: it is the other one or
// a superuser, or inherits it.
func (r *Roles) HasRightsOf(role, other string) bool {
	return role == other || r.Superuser(role) || slices.Contains(r.closure(role, true), other)
}

// IsMember reports whether a role may become another: it is the other one or a
// superuser, or a member, whether it inherits or not.
func (r *Roles) IsMember(role, other string) bool {
	return r.Superuser(role) || r.BelongsTo(role, other)
}

// BelongsTo is IsMember without what superusers may.
func (r *Roles) BelongsTo(role, other string) bool {
	return role == other || slices.Contains(r.closure(role, false), other)
}

// IsAdmin reports whether a role may make others members of a role.
func (r *Roles) IsAdmin(role, of string) bool {
	if r.Superuser(role) {
		return true
	}
	for _, name := range r.closure(role, false) {
		for _, m := range r.byName[name].Memberships {
			if m.Of == of && m.Admin {
				return true
			}
		}
	}
	return false
}

// closure returns a role and all that it is a member of; where inheriting, those whose
// rights it has without becoming them.
func (r *Roles) closure(role string, inheriting bool) []string {
	out := []string{role}
	for i := 0; i < len(out); i++ {
		x := r.byName[out[i]]
		if inheriting && !x.Inherit {
			continue
		}
		for _, m := range x.Memberships {
			if !slices.Contains(out, m.Of) {
				out = append(out, m.Of)
			}
		}
	}
	return out
}

// WithMembership returns the memberships of a role with one of another role in it.
func WithMembership(list []Membership, m Membership) []Membership {
	out := slices.DeleteFunc(slices.Clone(list), func(x Membership) bool { return x.Of == m.Of })
	out = append(out, m)
	slices.SortFunc(out, func(a, b Membership) int { return strings.Compare(a.Of, b.Of) })
	return out
}
