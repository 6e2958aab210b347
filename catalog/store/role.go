package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage/kv"
)

var rolePrefix = []byte("c/role/") // + name

// Role is who may log in, in every database.
type Role struct {
	Name  string
	ID    id.Relation // of the numbers of relations
	Flags map[string]bool
	// Password is a SCRAM verifier as PostgreSQL stores it; "" is none.
	Password   string
	ValidUntil time.Time // zero: for ever
	Created    time.Time
	// Memberships are the roles that it is a member of, by name.
	Memberships []access.Membership `json:",omitempty"`
	// Settings are what its sessions begin with, by database; those of 0 in any.
	Settings map[id.Tenant]map[string]string `json:",omitempty"`
}

// rights is what decides about the role's rights.
func (r *Role) rights() access.Role {
	return access.Role{
		Name: r.Name, ID: uint32(r.ID), Superuser: r.Flags["superuser"], Inherit: r.Flags["inherit"],
		CreateRole: r.Flags["createrole"], CreateDatabase: r.Flags["createdb"], Memberships: r.Memberships,
	}
}

// Access returns the roles of now, for decisions about rights. It is another one after
// every change of a role.
func (s *Store) Access() *access.Roles { return s.access.Load() }

// refreshAccess makes the roles known that there are now.
func (s *Store) refreshAccess() {
	list := make([]access.Role, 0, len(s.roles))
	for _, r := range s.roles {
		list = append(list, r.rights())
	}
	s.access.Store(access.NewRoles(list))
}

func (s *Store) loadRoles() error {
	err := s.kv.Scan(rolePrefix, kv.PrefixEnd(rolePrefix), func(_, value []byte) error {
		var r Role
		if err := decode(value, &r); err != nil {
			return err
		}
		s.roles[r.Name] = r
		return nil
	})
	s.refreshAccess()
	return err
}

func roleKey(name string) []byte { return append(slices.Clone(rolePrefix), name...) }

// Roles returns all roles by name.
func (s *Store) Roles() []Role {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]Role, 0, len(s.roles))
	for _, r := range s.roles {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Role) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Role returns a role by name; ok is false if there is none.
func (s *Store) Role(name string) (r Role, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, ok = s.roles[name]
	return r, ok
}

// CreateRole adds a role and gives it its number.
func (s *Store) CreateRole(r Role) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.roles[r.Name]; ok {
		return sqlerr.New(sqlerr.DuplicateObject, "role %q already exists", r.Name)
	}
	next := counter{s.counter.last + 1, s.counter.version + 1}
	r.ID = id.Relation(next.last)
	return s.putRole(next, r)
}

// UpdateRole changes a role.
func (s *Store) UpdateRole(name string, change func(*Role)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.roles[name]
	switch {
	case ok:
	case name == catalog.BootstrapRole: // nothing was to be kept of it so far
		r = Role{Name: name, ID: access.BootstrapID, Flags: map[string]bool{"login": true}}
	default:
		return noRole(name)
	}
	change(&r)
	return s.putRole(counter{s.counter.last, s.counter.version + 1}, r)
}

// putRole writes a role; s.mu is held.
func (s *Store) putRole(next counter, r Role) error {
	value, err := encode(r)
	if err != nil {
		return fmt.Errorf("encode role: %w", err)
	}
	if err := s.commit(next, func(b *kv.Batch) error { return b.Set(roleKey(r.Name), value) }); err != nil {
		return err
	}
	s.roles[r.Name] = r
	s.refreshAccess()
	return nil
}

// DropRole removes a role, with its memberships and those in it. 2BP01 if something
// belongs to it or names it in an ACL.
func (s *Store) DropRole(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.roles[name]; !ok {
		return noRole(name)
	}
	if detail := s.dependOn(name); len(detail) > 0 {
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "role %q cannot be dropped because some objects depend on it", name).
			WithDetail("%s", strings.Join(detail, "\n"))
	}
	var members []Role
	for _, r := range s.roles {
		if slices.ContainsFunc(r.Memberships, func(m access.Membership) bool { return m.Of == name }) {
			r.Memberships = slices.DeleteFunc(slices.Clone(r.Memberships), func(m access.Membership) bool { return m.Of == name })
			members = append(members, r)
		}
	}
	err := s.commit(counter{s.counter.last, s.counter.version + 1}, func(b *kv.Batch) error {
		for i := range members {
			if err := setOrDelete(b, roleKey(members[i].Name), &members[i]); err != nil {
				return err
			}
		}
		return b.Delete(roleKey(name))
	})
	if err != nil {
		return err
	}
	delete(s.roles, name)
	for _, r := range members {
		s.roles[r.Name] = r
	}
	s.refreshAccess()
	return nil
}

// dependOn says what belongs to a role or names it in an ACL, committed or in a
// transaction that has not ended; s.mu is held.
func (s *Store) dependOn(role string) []string {
	var out []string
	add := func(what, owner string, acl catalog.ACL) {
		if owner == role {
			out = append(out, "owner of "+what)
		} else if access.Names(acl, role) {
			out = append(out, "privileges for "+what)
		}
	}
	of := func(r *catalog.Relation) {
		if r != nil {
			add(string(r.Kind)+" "+r.Name, r.Owner, r.ACL)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.databases)) {
		d := s.databases[name]
		add("database "+d.Name, d.Owner, d.ACL)
		for _, schema := range append(s.schemasOf(d.Tenant), s.public(d)) {
			add("schema "+schema.Name, schema.Owner, schema.ACL)
		}
		for _, r := range s.snapshots[d.Tenant].Relations() {
			of(r)
		}
		for _, t := range s.snapshots[d.Tenant].Types {
			add("type "+t.Name, t.Owner, nil)
		}
		t := s.open[d.Tenant]
		if t == nil {
			continue
		}
		for _, r := range t.relations {
			of(r)
		}
		for _, x := range t.types {
			if x != nil {
				add("type "+x.Name, x.Owner, nil)
			}
		}
		for _, schema := range t.schemas {
			if schema != nil {
				add("schema "+schema.Name, schema.Owner, schema.ACL)
			}
		}
	}
	return slices.Compact(out)
}

func noRole(name string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "role %q does not exist", name)
}
