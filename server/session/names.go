package session

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// relationNames answers regclass casts and the like.
type relationNames struct{ s *Session }

var _ expr.Catalog = relationNames{}

// RelationOID implements expr.Catalog.
func (r relationNames) RelationOID(name string, path []string) (uint32, bool) {
	schema, rest, qualified := strings.Cut(name, ".")
	if !qualified {
		schema, rest = "", name
	}
	schema, rest = strings.Trim(schema, `"`), strings.Trim(rest, `"`)
	schemas := []string{schema}
	if !qualified {
		schemas = append([]string{"pg_catalog"}, path...)
	}
	virtual := r.s.engine.Virtual(r.s.tenant, r.s)
	for _, sc := range schemas {
		if rel := r.s.snapshot().ByName(sc, rest); rel != nil {
			return uint32(rel.ID), true
		}
		if t := virtual.Lookup(sc, rest); t != nil {
			return t.OID, true
		}
	}
	return 0, false
}

// RelationName implements expr.Catalog.
func (r relationNames) RelationName(oid uint32, path []string) (string, bool) {
	rel := r.s.snapshot().ByID(id.Relation(oid))
	if rel == nil {
		return virtualName(r.s, oid)
	}
	name := ast.QuoteIdentifier(rel.Name)
	if !slices.Contains(path, rel.Schema) {
		name = ast.QuoteIdentifier(rel.Schema) + "." + name
	}
	return name, true
}

// virtualName finds a system table by number.
func virtualName(s *Session, oid uint32) (string, bool) {
	virtual := s.engine.Virtual(s.tenant, s)
	for _, n := range virtual.Names() {
		schema, name, ok := strings.Cut(n, ".")
		if !ok {
			continue
		}
		if t := virtual.Lookup(schema, name); t != nil && t.OID == oid {
			if schema == "pg_catalog" {
				return name, true
			}
			return n, true
		}
	}
	return "", false
}

// ViewDefinition implements expr.Catalog.
func (r relationNames) ViewDefinition(oid uint32) (string, bool) {
	rel := r.s.snapshot().ByID(id.Relation(oid))
	switch {
	case rel == nil:
		return "", false
	case rel.View != nil:
		return rel.View.SQL + ";", true
	case rel.ContinuousView != nil:
		return rel.ContinuousView.SQL + ";", true
	}
	return "", false
}

// lookup returns a user relation by name; 42P01 if there is none.
func (s *Session) lookup(n ast.ObjectName) (*catalog.Relation, error) {
	schemas := []string{n.Schema}
	if n.Schema == "" {
		schemas = s.settings.searchPath(s.startup.User)
	}
	snapshot := s.snapshot()
	for _, sc := range schemas {
		if r := snapshot.ByName(sc, n.Name); r != nil {
			return r, nil
		}
	}
	var names []string
	for _, r := range snapshot.Relations() {
		names = append(names, r.Name)
	}
	err := sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", strings.Join(n.Parts(), ".")).At(n.Position())
	if near := expr.NearestName(n.Name, names); near != "" {
		err = err.WithHint("Perhaps you meant %q.", near)
	}
	return nil, err
}

// newName checks the name of a relation to be created.
func (s *Session) newName(n ast.ObjectName) (schema, name string, err error) {
	schema = n.Schema
	if schema == "" {
		schema = catalog.PublicSchema
	}
	switch {
	case schema != catalog.PublicSchema:
		return "", "", sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", schema).
			WithHint("Relations live in the schema public.").At(n.Position())
	case len(n.Name) > 63:
		return "", "", sqlerr.New("42622", "name %q is longer than 63 bytes", n.Name).At(n.Position())
	}
	if _, _, side := plan.SideName(n.Name); side {
		return "", "", sqlerr.New(sqlerr.ReservedName, "name %q is reserved", n.Name).
			WithDetail("Names that end in __rejected, __late or __errors belong to the side relations of streams and views.").At(n.Position())
	}
	return schema, n.Name, nil
}

// checkColumns refuses column names that would hide system columns.
func checkColumns(names []string) error {
	seen := map[string]bool{}
	for _, c := range plan.EnvelopeColumns() {
		seen[c.Name] = true
	}
	for _, n := range names {
		if !seen[n] {
			continue
		}
		if strings.HasPrefix(n, "_") {
			return sqlerr.New(sqlerr.ReservedName, "column name %q is reserved for the envelope", n)
		}
	}
	return nil
}
