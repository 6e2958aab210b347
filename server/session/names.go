package session

import (
	"strings"
	"sync"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// systemCatalog answers regclass casts, pg_get_viewdef and the like. It is made
// when the first question comes, which in most statements never does.
type systemCatalog struct {
	s    *Session
	once sync.Once
	made bind.VirtualTables
}

var (
	_ expr.Catalog = (*systemCatalog)(nil)
	_ expr.Definer = (*systemCatalog)(nil)
	_ expr.Granter = (*systemCatalog)(nil)
)

func (c *systemCatalog) catalog() (expr.Catalog, bool) {
	c.once.Do(func() { c.made = c.s.engine.Virtual(c.s.tenant, c.s) })
	out, ok := c.made.(expr.Catalog)
	return out, ok
}

func (c *systemCatalog) definer() (expr.Definer, bool) {
	made, _ := c.catalog()
	out, ok := made.(expr.Definer)
	return out, ok
}

// RelationOID implements expr.Catalog.
func (c *systemCatalog) RelationOID(name string, searchPath []string) (uint32, bool) {
	if x, ok := c.catalog(); ok {
		return x.RelationOID(name, searchPath)
	}
	return 0, false
}

// RelationName implements expr.Catalog.
func (c *systemCatalog) RelationName(oid uint32, searchPath []string) (string, bool) {
	if x, ok := c.catalog(); ok {
		return x.RelationName(oid, searchPath)
	}
	return "", false
}

// ViewDefinition implements expr.Catalog.
func (c *systemCatalog) ViewDefinition(oid uint32) (string, bool) {
	if x, ok := c.catalog(); ok {
		return x.ViewDefinition(oid)
	}
	return "", false
}

// Define implements expr.Definer.
func (c *systemCatalog) Define(what expr.Definition, oid uint32, sub int) (string, bool) {
	if x, ok := c.definer(); ok {
		return x.Define(what, oid, sub)
	}
	return "", false
}

// ObjectName implements expr.Definer.
func (c *systemCatalog) ObjectName(t types.OID, oid uint32) (string, bool) {
	if x, ok := c.definer(); ok {
		return x.ObjectName(t, oid)
	}
	return "", false
}

// ObjectOID implements expr.Definer.
func (c *systemCatalog) ObjectOID(t types.OID, name string) (uint32, bool) {
	if x, ok := c.definer(); ok {
		return x.ObjectOID(t, name)
	}
	return 0, false
}

// TypeName implements expr.Definer.
func (c *systemCatalog) TypeName(t types.OID, searchPath []string) (string, bool) {
	if x, ok := c.definer(); ok {
		return x.TypeName(t, searchPath)
	}
	return "", false
}

// TypeOID implements expr.Definer.
func (c *systemCatalog) TypeOID(name string, searchPath []string) (types.OID, bool) {
	if x, ok := c.definer(); ok {
		return x.TypeOID(name, searchPath)
	}
	return 0, false
}

// granter returns what the system catalogs know of privileges.
func (c *systemCatalog) granter() expr.Granter {
	made, _ := c.catalog()
	out, _ := made.(expr.Granter)
	return out
}

// Allowed implements expr.Granter.
func (c *systemCatalog) Allowed(q *expr.PrivilegeQuestion) (yes, known bool, err error) {
	if x := c.granter(); x != nil {
		return x.Allowed(q)
	}
	return true, true, nil
}

// RoleID implements expr.Granter.
func (c *systemCatalog) RoleID(name string) (uint32, bool) {
	if x := c.granter(); x != nil {
		return x.RoleID(name)
	}
	return 0, false
}

// RoleNamed implements expr.Granter.
func (c *systemCatalog) RoleNamed(id uint32) (string, bool) {
	if x := c.granter(); x != nil {
		return x.RoleNamed(id)
	}
	return "", false
}

// lookup returns a user relation by name; 42P01 if there is none, and 0A000 if it is a
// temporary one of another session.
func (s *Session) lookup(n ast.ObjectName) (*catalog.Relation, error) {
	r, err := s.find(n)
	if err == nil {
		err = s.reachable(r)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// find returns a user relation of any session by name; 42P01 if there is none.
func (s *Session) find(n ast.ObjectName) (*catalog.Relation, error) {
	if n.Catalog != "" && n.Catalog != s.tenant.Database.Name {
		return nil, bind.OtherDatabase(n)
	}
	schemas := []string{n.Schema}
	if n.Schema == "" {
		schemas = s.path()
	}
	snapshot := s.snapshot()
	for _, sc := range schemas {
		if r := snapshot.ByName(sc, n.Name); r != nil && s.usable(sc) {
			return r, nil
		}
	}
	if n.Schema != "" && snapshot.HasSchema(n.Schema) && !s.usable(n.Schema) {
		return nil, sqlerr.From(denied("schema", n.Schema)).At(n.Position())
	}
	err := sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", strings.Join(n.Parts(), ".")).At(n.Position())
	if near := expr.NearestName(n.Name, snapshot.Names()); near != "" {
		err = err.WithHint("Perhaps you meant %q.", near)
	}
	return nil, err
}

// newName checks the name of a relation to be created.
func (s *Session) newName(n ast.ObjectName) (schema, name string, err error) {
	schema = n.Schema
	snapshot := s.snapshot()
	if n.Catalog != "" && n.Catalog != s.tenant.Database.Name {
		return "", "", bind.OtherDatabase(n)
	}
	if schema == "" {
		for _, p := range s.settings.meaning().searchPath {
			if snapshot.HasSchema(p) && s.usable(p) {
				schema = p
				break
			}
		}
	}
	switch {
	case schema == "":
		return "", "", sqlerr.New(sqlerr.InvalidSchemaName, "no schema has been selected to create in").At(n.Position())
	case isSystemSchema(schema):
		return "", "", sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to create %q", schema+"."+n.Name).
			WithDetail("System catalog modifications are currently disallowed.").At(n.Position())
	case !snapshot.HasSchema(schema):
		return "", "", sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", schema).At(n.Position())
	case snapshot.OfOther(schema):
		return "", "", sqlerr.New(sqlerr.InvalidTableDefinition, "cannot create relations in temporary schemas of other sessions").At(n.Position())
	case !s.mayIn(schema, catalog.MayCreate):
		return "", "", sqlerr.From(denied("schema", schema)).At(n.Position())
	case len(n.Name) > 63:
		return "", "", sqlerr.New("42622", "name %q is longer than 63 bytes", n.Name).At(n.Position())
	}
	if _, _, side := plan.SideName(n.Name); side {
		return "", "", sqlerr.New(sqlerr.ReservedName, "name %q is reserved", n.Name).
			WithDetail("Names that end in __rejected, __late or __errors belong to the side relations of streams and views.").At(n.Position())
	}
	return schema, n.Name, nil
}

// checkColumns refuses columns of the same name, and those that would hide system
// columns.
func checkColumns(columns []types.Column) error {
	system := map[string]bool{}
	for _, c := range plan.EnvelopeColumns() {
		system[c.Name] = true
	}
	for _, c := range columns {
		if system[c.Name] && strings.HasPrefix(c.Name, "_") {
			return sqlerr.New(sqlerr.ReservedName, "column name %q is reserved for the envelope", c.Name)
		}
	}
	return distinctColumns(columns)
}

// distinctColumns refuses two columns of one name in what a query makes, and those that
// nothing can be made of.
func distinctColumns(columns []types.Column) error {
	seen := map[string]bool{}
	for _, c := range columns {
		if seen[c.Name] {
			return sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", c.Name)
		}
		seen[c.Name] = true
	}
	return storable(columns)
}

// storable refuses columns of types that have no values of their own, such as records.
func storable(columns []types.Column) error {
	for _, c := range columns {
		if info, ok := types.Lookup(c.Type.OID); ok && info.Type == 'p' && c.Type.OID != types.Unknown {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "column %q has pseudo-type %s", c.Name, c.Type)
		}
	}
	return nil
}
