package store

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage/kv"
)

// UpdateDatabaseACL replaces the ACL of a database by what change makes of it, at once.
func (s *Store) UpdateDatabaseACL(name string, change func(owner string, acl catalog.ACL) (catalog.ACL, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.databases[name]
	if !ok {
		return sqlerr.New(sqlerr.InvalidCatalogName, "database %q does not exist", name)
	}
	var err error
	if d.ACL, err = change(d.Owner, d.ACL); err != nil {
		return err
	}
	next := counter{s.counter.last, s.counter.version + 1}
	err = s.commit(next, func(b *kv.Batch) error { return setOrDelete(b, append(slices.Clone(databasePrefix), name...), &d) })
	if err != nil {
		return err
	}
	s.databases[name] = d
	s.refresh(d)
	return nil
}
