package store

import (
	"encoding/binary"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage/kv"
)

// DropDatabase removes a database with all that is defined in it, and what is kept below
// other prefixes of keys, at once.
func (s *Store) DropDatabase(d Database, kept ...[]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now, ok := s.databases[d.Name]; !ok || now.Tenant != d.Tenant {
		return sqlerr.New(sqlerr.InvalidCatalogName, "database %q does not exist", d.Name)
	}
	for _, prefix := range [][]byte{schemaPrefix, typePrefix, relationPrefix} {
		kept = append(kept, binary.BigEndian.AppendUint32(slices.Clone(prefix), uint32(d.Tenant)))
	}
	next := counter{s.counter.last, s.counter.version + 1}
	err := s.commit(next, func(b *kv.Batch) error {
		for _, prefix := range kept {
			if err := b.DeleteRange(prefix, kv.PrefixEnd(prefix)); err != nil {
				return err
			}
		}
		return b.Delete(append(slices.Clone(databasePrefix), d.Name...))
	})
	if err != nil {
		return err
	}
	delete(s.databases, d.Name)
	delete(s.relations, d.Tenant)
	delete(s.snapshots, d.Tenant)
	delete(s.schemas, d.Tenant)
	delete(s.types, d.Tenant)
	delete(s.open, d.Tenant)
	return nil
}

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
