package store

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
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
