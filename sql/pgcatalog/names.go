package pgcatalog

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// RelationOID implements expr.Catalog.
func (c *Catalog) RelationOID(name string, path []string) (uint32, bool) {
	schema, rest := splitName(name)
	schemas := []string{schema}
	if schema == "" {
		schemas = path
		if path == nil {
			schemas = []string{catalog.PublicSchema}
		}
		if !slices.Contains(path, "pg_catalog") {
			schemas = append([]string{"pg_catalog"}, schemas...)
		}
	}
	for _, s := range schemas {
		if c.cfg.Snapshot != nil {
			if r := c.cfg.Snapshot.ByName(s, rest); r != nil {
				return uint32(r.ID), true
			}
		}
		if t := definitions().byName[s+"."+rest]; t != nil {
			return t.oid, true
		}
		for _, o := range c.objects() {
			if o.relation == nil && o.schema == c.named(s) && o.name == rest {
				return o.oid, true
			}
		}
	}
	return 0, false
}

// named returns the schema that a name in front of a dot means.
func (c *Catalog) named(schema string) string {
	if c.cfg.Snapshot == nil {
		return schema
	}
	return c.cfg.Snapshot.Named(schema)
}

// splitName splits a possibly quoted, possibly qualified name; what is not quoted
// is folded to lower case.
func splitName(name string) (schema, rest string) {
	var parts []string
	var part strings.Builder
	quoted := false
	for i := 0; i < len(name); i++ {
		switch ch := name[i]; {
		case ch == '"' && quoted && i+1 < len(name) && name[i+1] == '"':
			part.WriteByte('"')
			i++
		case ch == '"':
			quoted = !quoted
		case ch == '.' && !quoted:
			parts = append(parts, part.String())
			part.Reset()
		case !quoted && ch >= 'A' && ch <= 'Z':
			part.WriteByte(ch + 'a' - 'A')
		default:
			part.WriteByte(ch)
		}
	}
	parts = append(parts, strings.TrimSpace(part.String()))
	if len(parts) > 1 {
		schema = strings.TrimSpace(parts[len(parts)-2])
	}
	return schema, parts[len(parts)-1]
}

// RelationName implements expr.Catalog.
func (c *Catalog) RelationName(oid uint32, path []string) (string, bool) {
	if path == nil {
		path = []string{catalog.PublicSchema}
	}
	shown := func(schema, name string) (string, bool) {
		q := ast.QuoteIdentifier(name)
		if !c.foundFirst(schema, name, path) {
			q = ast.QuoteIdentifier(schema) + "." + q
		}
		return q, true
	}
	if t := definitions().byOID[oid]; t != nil {
		return shown(t.schema, t.name)
	}
	if c.cfg.Snapshot != nil {
		if r := c.cfg.Snapshot.ByID(id.Relation(oid)); r != nil {
			return shown(r.Schema, r.Name)
		}
	}
	if o := c.object(oid); o != nil {
		return shown(o.schema, o.name)
	}
	return "", false
}

// foundFirst reports whether a name without its schema means the relation of a schema: no
// schema before it on the path has another.
func (c *Catalog) foundFirst(schema, name string, path []string) bool {
	if schema == "pg_catalog" && !slices.Contains(path, schema) {
		return true
	}
	at := slices.Index(path, schema)
	if at < 0 {
		return false
	}
	for _, before := range path[:at] {
		if c.cfg.Snapshot != nil && c.cfg.Snapshot.ByName(before, name) != nil || definitions().byName[before+"."+name] != nil {
			return false
		}
	}
	return true
}

// ViewDefinition implements expr.Catalog.
func (c *Catalog) ViewDefinition(oid uint32) (string, bool) {
	if c.cfg.Snapshot == nil {
		return "", false
	}
	r := c.cfg.Snapshot.ByID(id.Relation(oid))
	if r == nil {
		return "", false
	}
	body, ok := viewBody(r)
	return body, ok
}

func viewBody(r *catalog.Relation) (string, bool) {
	switch {
	case r.Body() != nil:
		return " " + strings.TrimSuffix(strings.TrimSpace(r.Body().SQL), ";") + ";", true
	case r.ContinuousView != nil:
		return " " + strings.TrimSuffix(strings.TrimSpace(r.ContinuousView.SQL), ";") + ";", true
	}
	return "", false
}

// Define implements expr.Definer.
func (c *Catalog) Define(what expr.Definition, oid uint32, sub int) (string, bool) {
	switch what {
	case expr.IndexDefinition, expr.ConstraintDefinition:
		return c.defineKey(what, oid, sub)
	case expr.FunctionArguments, expr.FunctionResult:
		f := c.function(oid)
		switch {
		case f == nil:
			return "", false
		case what == expr.FunctionArguments:
			return f.arguments(), true
		}
		return types.Of(f.result).String(), true
	case expr.RoleName:
		return c.roleName(oid)
	case expr.Description:
		return c.description(oid, sub)
	}
	return "", false
}

func (c *Catalog) defineKey(what expr.Definition, oid uint32, sub int) (text string, ok bool) {
	for _, k := range c.keys() {
		switch {
		case what == expr.IndexDefinition && k.oid == oid:
			return k.definition(sub), true
		case what == expr.ConstraintDefinition && k.constraint == oid && oid != 0:
			return k.constraintText(), true
		}
	}
	c.checks(func(_ *catalog.Relation, check *catalog.Check) {
		if what == expr.ConstraintDefinition && uint32(check.ID) == oid {
			text, ok = "CHECK ("+check.SQL+")", true
		}
	})
	c.domainChecks(func(_ *catalog.Type, check *catalog.DomainCheck) {
		if what == expr.ConstraintDefinition && uint32(check.ID) == oid {
			text, ok = domainCheckText(check), true
		}
	})
	for _, r := range c.references() {
		if what == expr.ConstraintDefinition && uint32(r.Key.ID) == oid {
			return c.foreignKeyText(&r), true
		}
	}
	return text, ok
}

func (c *Catalog) description(oid uint32, sub int) (string, bool) {
	if f := c.function(oid); f != nil && sub == 0 {
		return f.description, f.description != ""
	}
	text := ""
	c.comments(func(x comment) {
		if x.oid == oid && x.sub == sub {
			text = x.text
		}
	})
	return text, text != ""
}

// ObjectName implements expr.Definer.
func (c *Catalog) ObjectName(t types.OID, oid uint32) (string, bool) {
	switch t {
	case types.Regproc:
		if f := c.function(oid); f != nil {
			return f.name, true
		}
	case types.Regnamespace:
		for name, n := range schemaOIDs {
			if n == oid {
				return name, true
			}
		}
		for _, s := range c.userSchemas() {
			if uint32(s.ID) == oid {
				return ast.QuoteIdentifier(s.Name), true
			}
		}
	}
	return "", false
}

// ObjectOID implements expr.Definer.
func (c *Catalog) ObjectOID(t types.OID, name string) (uint32, bool) {
	_, rest := splitName(name)
	switch t {
	case types.Regproc:
		for _, f := range scalarFunctions() {
			if f.name == rest {
				return f.oid, true
			}
		}
		for _, f := range c.registered() {
			if f.name == rest {
				return f.oid, true
			}
		}
	case types.Regnamespace:
		n := c.schemaOID(rest)
		return n, n != 0
	}
	return 0, false
}
