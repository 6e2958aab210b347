package store

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage/kv"
)

var schemaPrefix = []byte("c/schema/") // + tenant (big-endian), name

func schemaKey(t id.Tenant, name string) []byte {
	return append(binary.BigEndian.AppendUint32(slices.Clone(schemaPrefix), uint32(t)), name...)
}

func (s *Store) loadSchemas() error {
	return s.kv.Scan(schemaPrefix, kv.PrefixEnd(schemaPrefix), func(key, value []byte) error {
		var schema catalog.Schema
		if err := decode(value, &schema); err != nil {
			return err
		}
		s.addSchema(id.Tenant(binary.BigEndian.Uint32(key[len(schemaPrefix):])), schema)
		return nil
	})
}

func (s *Store) addSchema(t id.Tenant, schema catalog.Schema) {
	if s.schemas[t] == nil {
		s.schemas[t] = map[string]catalog.Schema{}
	}
	s.schemas[t][schema.Name] = schema
}

// schemasOf returns the schemas of a database by name; s.mu is held.
func (s *Store) schemasOf(t id.Tenant) []catalog.Schema {
	return slices.SortedFunc(maps.Values(s.schemas[t]), func(a, b catalog.Schema) int { return strings.Compare(a.Name, b.Name) })
}

// CreateSchema adds a schema to a database. 42P06 if there is one.
func (s *Store) CreateSchema(d Database, name, owner string, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.schemas[d.Tenant][name]; ok {
		return sqlerr.New(sqlerr.DuplicateSchema, "schema %q already exists", name)
	}
	next := counter{s.counter.last + 1, s.counter.version + 1}
	schema := catalog.Schema{ID: id.Relation(next.last), Name: name, Owner: owner, Created: now}
	value, err := encode(schema)
	if err != nil {
		return err
	}
	if err := s.commit(next, func(b *kv.Batch) error { return b.Set(schemaKey(d.Tenant, name), value) }); err != nil {
		return err
	}
	s.addSchema(d.Tenant, schema)
	s.refresh(d)
	return nil
}

// DropSchema removes a schema, which has to be empty: 2BP01 otherwise.
func (s *Store) DropSchema(d Database, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.relations[d.Tenant] {
		if r.Schema == name {
			return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop schema %s because other objects depend on it", name)
		}
	}
	next := counter{s.counter.last, s.counter.version + 1}
	if err := s.commit(next, func(b *kv.Batch) error { return b.Delete(schemaKey(d.Tenant, name)) }); err != nil {
		return err
	}
	delete(s.schemas[d.Tenant], name)
	s.refresh(d)
	return nil
}
