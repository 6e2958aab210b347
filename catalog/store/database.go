package store

import (
	"encoding/binary"
	"slices"

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

// UpdateDatabase changes the owner, the ACL or the settings of a database, at once. What
// change replaces is not to be changed in place.
func (s *Store) UpdateDatabase(name string, change func(*Database) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.databases[name]
	if !ok {
		return sqlerr.New(sqlerr.InvalidCatalogName, "database %q does not exist", name)
	}
	if err := change(&d); err != nil {
		return err
	}
	next := counter{s.counter.last, s.counter.version + 1}
	err := s.commit(next, func(b *kv.Batch) error { return setOrDelete(b, append(slices.Clone(databasePrefix), name...), &d) })
	if err != nil {
		return err
	}
	s.databases[name] = d
	s.refresh(d)
	return nil
}

// RenameDatabase gives a database another name, which it returns it with.
func (s *Store) RenameDatabase(name, to string) (Database, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.databases[name]
	if !ok {
		return d, sqlerr.New(sqlerr.InvalidCatalogName, "database %q does not exist", name)
	}
	if _, ok := s.databases[to]; ok {
		return d, sqlerr.New(sqlerr.DuplicateDatabase, "database %q already exists", to)
	}
	d.Name = to
	next := counter{s.counter.last, s.counter.version + 1}
	err := s.commit(next, func(b *kv.Batch) error {
		if err := b.Delete(append(slices.Clone(databasePrefix), name...)); err != nil {
			return err
		}
		return setOrDelete(b, append(slices.Clone(databasePrefix), to...), &d)
	})
	if err != nil {
		return d, err
	}
	delete(s.databases, name)
	s.databases[to] = d
	s.refresh(d)
	return d, nil
}
