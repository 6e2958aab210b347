package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog/id"
)

// PublicSchema is the schema of user relations unless another is named.
const PublicSchema = "public"

// Snapshot is every relation of a database at one version of the catalog. It is
// immutable and safe for concurrent use.
type Snapshot struct {
	Version   uint64
	Tenant    id.Tenant
	Database  string
	Schemas   []Schema // those of the user but public, by name
	Types     []*Type  // of the user, by schema and name
	Public    Schema   // the schema public
	Owner     string   // of the database
	ACL       ACL      // of the database
	byID      map[id.Relation]*Relation
	byName    map[string]*Relation // schema + "." + name
	relations []*Relation          // by schema and name
	// referencing has the tables with foreign keys to each table.
	referencing map[id.Relation][]*Relation
	// Temporary is the schema with the temporary objects of the session that sees it; ""
	// where it has none.
	Temporary string
}

// NewSnapshot builds a snapshot of these relations.
func NewSnapshot(version uint64, tenant id.Tenant, database string, relations []*Relation) *Snapshot {
	s := &Snapshot{
		Version: version, Tenant: tenant, Database: database,
		byID:      make(map[id.Relation]*Relation, len(relations)),
		byName:    make(map[string]*Relation, len(relations)),
		relations: slices.Clone(relations), referencing: map[id.Relation][]*Relation{}, Public: NewPublic(BootstrapRole), Owner: BootstrapRole,
	}
	slices.SortFunc(s.relations, func(a, b *Relation) int {
		return cmp.Or(strings.Compare(a.Schema, b.Schema), strings.Compare(a.Name, b.Name))
	})
	for _, r := range relations {
		s.byID[r.ID] = r
		s.byName[r.Schema+"."+r.Name] = r
		s.noteReferences(r)
	}
	return s
}

// With returns the snapshot with another descriptor of a relation.
func (s *Snapshot) With(r *Relation) *Snapshot {
	relations := slices.Clone(s.relations)
	relations[slices.IndexFunc(relations, func(other *Relation) bool { return other.ID == r.ID })] = r
	out := NewSnapshot(s.Version, s.Tenant, s.Database, relations)
	out.Schemas, out.Types, out.Temporary = s.Schemas, s.Types, s.Temporary
	return out
}

// HasSchema reports whether relations can be in a schema.
func (s *Snapshot) HasSchema(name string) bool {
	return name == PublicSchema || slices.ContainsFunc(s.Schemas, func(x Schema) bool { return x.Name == name })
}

// Schema returns a schema of relations by name, nil if there is none.
func (s *Snapshot) Schema(name string) *Schema {
	if name == PublicSchema {
		return &s.Public
	}
	for i := range s.Schemas {
		if s.Schemas[i].Name == name {
			return &s.Schemas[i]
		}
	}
	return nil
}

// Relations returns all relations by schema and name. Callers only read it.
func (s *Snapshot) Relations() []*Relation { return s.relations }

// ByID returns a relation or nil.
func (s *Snapshot) ByID(n id.Relation) *Relation { return s.byID[n] }

// ByName returns a relation or nil. The schema is as it is named, see Named.
func (s *Snapshot) ByName(schema, name string) *Relation {
	return s.byName[s.Named(schema)+"."+name]
}

// ViewsOf returns the continuous views that read a stream.
func (s *Snapshot) ViewsOf(stream id.Relation) []*Relation {
	var out []*Relation
	for _, r := range s.relations {
		if r.ContinuousView != nil && r.ContinuousView.Stream == stream {
			out = append(out, r)
		}
	}
	return out
}
