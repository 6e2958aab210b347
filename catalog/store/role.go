package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
}

func (s *Store) loadRoles() error {
	return s.kv.Scan(rolePrefix, kv.PrefixEnd(rolePrefix), func(_, value []byte) error {
		var r Role
		if err := decode(value, &r); err != nil {
			return err
		}
		s.roles[r.Name] = r
		return nil
	})
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
	if !ok {
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
	return nil
}

// DropRole removes a role.
func (s *Store) DropRole(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.roles[name]; !ok {
		return noRole(name)
	}
	err := s.commit(counter{s.counter.last, s.counter.version + 1}, func(b *kv.Batch) error { return b.Delete(roleKey(name)) })
	if err != nil {
		return err
	}
	delete(s.roles, name)
	return nil
}

func noRole(name string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "role %q does not exist", name)
}
