package catalog

import (
	"sort"
	"strconv"
	"strings"
)

// TemporaryAlias is what a session may call the schema of its temporary objects.
const TemporaryAlias = "pg_temp"

const temporaryPrefix = TemporaryAlias + "_"

// TemporarySchema is the name of the schema that the temporary objects of the session of a
// number are in. It is there while the session has any; users cannot make one of its name.
func TemporarySchema(session int) string { return temporaryPrefix + strconv.Itoa(session) }

// IsTemporary reports whether a schema is of the temporary objects of a session.
func IsTemporary(schema string) bool { return strings.HasPrefix(schema, temporaryPrefix) }

// Temporary reports whether a relation goes with a session.
func (r *Relation) Temporary() bool { return IsTemporary(r.Schema) }

// OnCommit is what becomes of a temporary table when a transaction commits.
type OnCommit string

// What becomes of temporary tables.
const (
	PreserveRows OnCommit = ""
	DeleteRows   OnCommit = "delete rows"
	DropTable    OnCommit = "drop"
)

// SeenBy returns the snapshot as the session sees it whose temporary objects are in a
// schema; "" is one without any.
func (s *Snapshot) SeenBy(temporary string) *Snapshot {
	if s.Temporary == temporary {
		return s
	}
	out := *s
	out.Temporary = temporary
	return &out
}

// Named returns the schema that a name in front of a dot means: none is public, and
// pg_temp the session's own.
func (s *Snapshot) Named(schema string) string {
	switch {
	case schema == "":
		return PublicSchema
	case schema == TemporaryAlias && s.Temporary != "":
		return s.Temporary
	}
	return schema
}

// OfOther reports whether a schema has the temporary objects of another session.
func (s *Snapshot) OfOther(schema string) bool { return IsTemporary(schema) && schema != s.Temporary }

// Names returns the names of relations for hints: all but those of other sessions.
func (s *Snapshot) Names() []string {
	var out []string
	for _, r := range s.relations {
		if !s.OfOther(r.Schema) {
			out = append(out, r.Name)
		}
	}
	return out
}

// In returns the relations of a schema by name. Callers only read it.
func (s *Snapshot) In(schema string) []*Relation {
	from := sort.Search(len(s.relations), func(i int) bool { return s.relations[i].Schema >= schema })
	to := from
	for to < len(s.relations) && s.relations[to].Schema == schema {
		to++
	}
	return s.relations[from:to]
}
