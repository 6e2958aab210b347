package store

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage/kv"
)

var schemaPrefix = []byte("c/schema/") // + tenant (big-endian), name

func schemaKey(t id.Tenant, name string) []byte {
	return append(binary.BigEndian.AppendUint32(slices.Clone(schemaPrefix), uint32(t)), name...)
}

func (s *Store) loadSchemas(old *upgrade) error {
	return s.kv.Scan(schemaPrefix, kv.PrefixEnd(schemaPrefix), func(key, value []byte) error {
		var schema catalog.Schema
		if err := decode(value, &schema); err != nil {
			return err
		}
		if value[0] < privilegesVersion {
			schema.Open(s.Access().Owner(schema.Owner))
			old.add(key, schema)
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

// schemasOf returns the schemas of a database but public, by name; s.mu is held.
func (s *Store) schemasOf(t id.Tenant) []catalog.Schema {
	var out []catalog.Schema
	for _, name := range slices.Sorted(maps.Keys(s.schemas[t])) {
		if name != catalog.PublicSchema {
			out = append(out, s.schemas[t][name])
		}
	}
	return out
}

// public returns the schema public of a database; s.mu is held.
func (s *Store) public(d Database) catalog.Schema {
	if p, ok := s.schemas[d.Tenant][catalog.PublicSchema]; ok {
		return p
	}
	return catalog.NewPublic(d.Owner)
}
