package session

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// grant runs GRANT and REVOKE of privileges.
func (s *Session) grant(x *ast.Grant, out *sink) (string, error) {
	tag := "GRANT"
	if x.Revoke {
		tag = "REVOKE"
	}
	g := &granting{s: s, x: x, out: out, change: access.Change{Revoke: x.Revoke, Option: x.Option, Cascade: x.Cascade}}
	if err := g.grantees(); err != nil {
		return "", err
	}
	switch x.Kind {
	case "TABLE", "SEQUENCE":
		return tag, g.relations()
	case "ALL TABLES IN SCHEMA", "ALL SEQUENCES IN SCHEMA":
		return tag, g.inSchemas()
	case "SCHEMA":
		return tag, g.schemas()
	case "DATABASE":
		return tag, g.databases()
	}
	for _, name := range x.Names { // functions, of which there are none to grant on
		if _, err := g.schema(name); err != nil {
			return "", err
		}
	}
	return tag, nil
}

// granting is a GRANT or REVOKE that runs.
type granting struct {
	s      *Session
	x      *ast.Grant
	out    *sink
	change access.Change
}

// grantees finds the roles that something is granted to.
func (g *granting) grantees() error {
	if g.x.By != "" {
		by, err := g.s.roleNamed(g.x.By)
		if err == nil && by != g.s.Role() {
			err = sqlerr.New(sqlerr.FeatureNotSupported, "grantor must be current user")
		}
		if err != nil {
			return err
		}
	}
	for _, name := range g.x.Roles {
		if name != "public" {
			var err error
			if name, err = g.s.roleNamed(name); err != nil {
				return err
			}
		} else {
			name = ""
		}
		g.change.Grantees = append(g.change.Grantees, name)
	}
	return nil
}

// privileges returns what is granted of what there is of a kind of object.
func (g *granting) privileges(all catalog.Privileges, kind string) (catalog.Privileges, error) {
	if g.all() {
		return all, nil
	}
	var out catalog.Privileges
	for _, word := range g.x.Privileges {
		p := catalog.PrivilegeNamed(word)
		if p&all == 0 {
			return 0, sqlerr.New(sqlerr.InvalidGrantOperation, "invalid privilege type %s for %s", p, kind)
		}
		out |= p
	}
	return out, nil
}

func (g *granting) all() bool { return slices.Contains(g.x.Privileges, "ALL") }

// relations grants on the relations that are named.
func (g *granting) relations() error {
	kind, all := "relation", catalog.TablePrivileges|catalog.SequencePrivileges
	if g.x.Kind == "SEQUENCE" {
		kind, all = "sequence", catalog.SequencePrivileges
	}
	privileges, err := g.privileges(all, kind)
	if err != nil {
		return err
	}
	for _, n := range g.x.Relations {
		if _, index := g.s.indexNamed(n); index != nil {
			return sqlerr.New(sqlerr.WrongObjectType, "%q is an index", index.Name)
		}
		rel, err := g.s.lookup(n)
		switch {
		case err != nil && g.ofSystem(n):
			return sqlerr.New(sqlerr.FeatureNotSupported, "privileges on system relation %q cannot be changed", n.Name).At(n.Position())
		case err != nil:
			return err
		case g.x.Kind == "SEQUENCE" && rel.Sequence == nil:
			return sqlerr.New(sqlerr.WrongObjectType, "%q is not a sequence", rel.Name)
		}
		if err := g.relation(rel, privileges); err != nil {
			return err
		}
	}
	return nil
}

// ofSystem reports whether a name is that of a relation of the system catalogs.
func (g *granting) ofSystem(n ast.ObjectName) bool {
	name := ast.QuoteIdentifier(n.Name)
	if n.Schema != "" {
		name = ast.QuoteIdentifier(n.Schema) + "." + name
	}
	_, ok := (&systemCatalog{s: g.s}).RelationOID(name, []string{})
	return ok
}

// relation grants on one relation.
func (g *granting) relation(rel *catalog.Relation, privileges catalog.Privileges) error {
	if more := privileges &^ rel.AllPrivileges(); more != 0 && !g.all() {
		if rel.Sequence == nil {
			return sqlerr.New(sqlerr.InvalidGrantOperation, "invalid privilege type %s for table", more)
		}
		err := g.out.writer.Notice("WARNING", sqlerr.New(sqlerr.InvalidGrantOperation, "sequence %q only supports USAGE, SELECT, and UPDATE privileges", rel.Name))
		if err != nil {
			return err
		}
	}
	change, err := g.allowed(access.OfRelation(rel), kindOf(rel), rel.Name, privileges&rel.AllPrivileges())
	if err != nil || change == nil {
		return err
	}
	acl, err := change(access.OfRelation(rel))
	if err != nil {
		return err
	}
	return g.s.catalog().SetACL(rel.ID, acl)
}

// allowed returns what changes the ACL of an object, as far as the session's role may;
// nil where it may not at all.
func (g *granting) allowed(o access.Object, kind, name string, privileges catalog.Privileges) (func(access.Object) (catalog.ACL, error), error) {
	who := g.s.identity()
	grantor, may := who.roles.Grantor(who.role, o, privileges)
	if may == 0 && !who.roles.AnyOf(who.role, o, o.Kind.All()) {
		return nil, denied(kind, name)
	}
	if err := g.warn(name, privileges, may); err != nil {
		return nil, err
	}
	change := g.change
	if change.Privileges = privileges & may; change.Privileges == 0 {
		return nil, nil
	}
	return func(o access.Object) (catalog.ACL, error) { return who.roles.Apply(o, grantor, change) }, nil
}

// warn says what of the change is not made.
func (g *granting) warn(name string, privileges, may catalog.Privileges) error {
	code, done := sqlerr.PrivilegeNotGranted, "were granted"
	if g.x.Revoke {
		code, done = sqlerr.PrivilegeNotRevoked, "could be revoked"
	}
	switch {
	case privileges&may == 0:
		return g.out.writer.Notice("WARNING", sqlerr.New(code, "no privileges %s for %q", done, name))
	case !g.all() && !may.Has(privileges):
		return g.out.writer.Notice("WARNING", sqlerr.New(code, "not all privileges %s for %q", done, name))
	}
	return nil
}

// inSchemas grants on all tables or sequences that schemas have now.
func (g *granting) inSchemas() error {
	kind, sequences := "relation", g.x.Kind == "ALL SEQUENCES IN SCHEMA"
	all := catalog.TablePrivileges
	if sequences {
		kind, all = "sequence", catalog.SequencePrivileges
	}
	privileges, err := g.privileges(all, kind)
	if err != nil {
		return err
	}
	for _, name := range g.x.Names {
		schema, err := g.schema(name)
		if err != nil {
			return err
		}
		if !g.s.usable(schema.Name) {
			return denied("schema", schema.Name)
		}
		for _, rel := range g.s.snapshot().Relations() {
			if rel.Schema != name || (rel.Sequence != nil) != sequences {
				continue
			}
			if err := g.relation(rel, privileges); err != nil {
				return err
			}
		}
	}
	return nil
}

// schema returns a schema by name; 0A000 for those of the system, whose relations all
// may read.
func (g *granting) schema(name string) (*catalog.Schema, error) {
	if isSystemSchema(name) {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "privileges on schema %q cannot be changed", name)
	}
	if schema := g.s.snapshot().Schema(name); schema != nil {
		if catalog.IsTemporary(name) {
			return nil, errTemporarySchema(name)
		}
		return schema, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", name)
}

// schemas grants on schemas.
func (g *granting) schemas() error {
	privileges, err := g.privileges(catalog.SchemaPrivileges, "schema")
	if err != nil {
		return err
	}
	for _, name := range g.x.Names {
		schema, err := g.schema(name)
		if err != nil {
			return err
		}
		change, err := g.allowed(access.OfSchema(schema), "schema", name, privileges)
		if err != nil {
			return err
		}
		if change == nil {
			continue
		}
		next := *schema
		if next.ACL, err = change(access.OfSchema(schema)); err != nil {
			return err
		}
		g.s.catalog().SetSchema(next)
	}
	return nil
}

// databases grants on databases, at once.
func (g *granting) databases() error {
	privileges, err := g.privileges(catalog.DatabasePrivileges, "database")
	if err != nil {
		return err
	}
	for _, name := range g.x.Names {
		d, err := g.s.engine.Catalog.Database(name)
		if err != nil {
			return err
		}
		change, err := g.allowed(access.Object{Kind: access.Database, Owner: d.Owner, ACL: d.ACL}, "database", name, privileges)
		if err != nil {
			return err
		}
		if change == nil {
			continue
		}
		err = g.s.engine.Catalog.UpdateDatabase(name, func(d *store.Database) (err error) {
			d.ACL, err = change(access.Object{Kind: access.Database, Owner: d.Owner, ACL: d.ACL})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
