package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// isSystemSchema reports whether a schema is the server's.
func isSystemSchema(name string) bool {
	return slices.Contains([]string{"pg_catalog", "information_schema", "tally_catalog"}, name)
}

// createSchema runs CREATE SCHEMA.
func (s *Session) createSchema(x *ast.CreateSchema, out *sink) (string, error) {
	const tag = "CREATE SCHEMA"
	owner, name := s.owner(), x.Name
	if x.Owner != "" {
		var err error
		if owner, err = s.newOwner(x.Owner); err != nil {
			return "", err
		}
	}
	name = cmp.Or(name, owner)
	if err := s.mayInDatabase(catalog.MayCreate); err != nil {
		return "", err
	}
	switch {
	case strings.HasPrefix(name, "pg_") || name == "tally_catalog":
		return "", sqlerr.New(sqlerr.ReservedName, "unacceptable schema name %q", name).
			WithDetail("The prefix \"pg_\" is reserved for system schemas.").At(x.Position())
	case !s.snapshot().HasSchema(name) && !isSystemSchema(name):
		s.catalog().CreateSchema(name, owner, s.now())
		return tag, nil
	case x.IfNotExists:
		return tag, out.writer.Notice("NOTICE", sqlerr.New(sqlerr.DuplicateSchema, "schema %q already exists, skipping", name))
	}
	return "", sqlerr.New(sqlerr.DuplicateSchema, "schema %q already exists", name)
}

// alterSchema runs ALTER SCHEMA.
func (s *Session) alterSchema(x *ast.AlterSchema) (string, error) {
	const tag = "ALTER SCHEMA"
	at := slices.IndexFunc(s.snapshot().Schemas, func(o catalog.Schema) bool { return o.Name == x.Name })
	switch {
	case at < 0 && (x.Name == catalog.PublicSchema || isSystemSchema(x.Name)):
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "schema %q cannot be changed", x.Name).At(x.Position())
	case at < 0:
		return "", sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", x.Name)
	}
	schema := s.snapshot().Schemas[at]
	if catalog.IsTemporary(schema.Name) {
		return "", errTemporarySchema(schema.Name)
	}
	if err := s.mustOwnSchema(&schema); err != nil {
		return "", err
	}
	if x.Action == ast.SetOwner {
		return tag, s.setSchemaOwner(schema, x.NewName)
	}
	if err := s.mayInDatabase(catalog.MayCreate); err != nil {
		return "", err
	}
	switch {
	case s.snapshot().HasSchema(x.NewName) || isSystemSchema(x.NewName):
		return "", sqlerr.New(sqlerr.DuplicateSchema, "schema %q already exists", x.NewName)
	case strings.HasPrefix(x.NewName, "pg_"):
		return "", sqlerr.New(sqlerr.ReservedName, "unacceptable schema name %q", x.NewName).
			WithDetail("The prefix \"pg_\" is reserved for system schemas.")
	}
	for _, view := range s.snapshot().Relations() {
		if view.Schema == x.Name && (view.Stream != nil || view.ContinuousView != nil) {
			return "", sqlerr.New(sqlerr.FeatureNotSupported, "schema %q cannot be renamed because %s %q is in it", x.Name, view.Kind, view.Name)
		}
		if body := view.Body(); body != nil && (slices.Contains(body.Path, x.Name) || namesSchema(body.SQL, x.Name)) {
			return "", errRead(x.Name, view.Name)
		}
	}
	var sequences []*catalog.Relation
	for _, r := range s.snapshot().Relations() {
		if r.Schema == x.Name && r.Sequence != nil {
			sequences = append(sequences, r)
		}
	}
	for _, t := range s.snapshot().Types {
		if t.Schema == x.Name {
			next := *t
			next.Schema = x.NewName
			if err := s.renameTypeInTexts(t, &next); err != nil {
				return "", err
			}
		}
	}
	if err := s.catalog().RenameSchema(schema, x.NewName); err != nil {
		return "", err
	}
	for _, q := range sequences {
		if err := s.move(q, x.NewName, q.Name); err != nil {
			return "", err
		}
	}
	return tag, nil
}

// namesSchema reports whether a query names a relation with this schema.
func namesSchema(sql, schema string) bool {
	body, err := parseSelect(sql)
	if err != nil {
		return true
	}
	found := false
	ast.Walk(body, func(n ast.Node) bool {
		if ref, ok := n.(*ast.TableRef); ok {
			found = found || ref.Name.Schema == schema
		}
		return !found
	})
	return found
}

// dropSchemas runs DROP SCHEMA.
func (s *Session) dropSchemas(ctx context.Context, x *ast.Drop, out *sink) error {
	for _, n := range x.Names {
		switch {
		case n.Name == catalog.PublicSchema || isSystemSchema(n.Name):
			return sqlerr.New(sqlerr.FeatureNotSupported, "schema %q cannot be dropped", n.Name).At(n.Position())
		case catalog.IsTemporary(n.Name) && s.snapshot().HasSchema(n.Name):
			return errTemporarySchema(n.Name)
		case s.snapshot().HasSchema(n.Name):
		case x.IfExists:
			if err := out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "schema %q does not exist, skipping", n.Name)); err != nil {
				return err
			}
			continue
		default:
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", n.Name).At(n.Position())
		}
		if err := s.mustOwnSchema(s.snapshot().Schema(n.Name)); err != nil {
			return err
		}
		if err := s.emptySchema(ctx, n.Name, x.Cascade, out); err != nil {
			return err
		}
		if err := s.catalog().DropSchema(n.Name); err != nil {
			return err
		}
	}
	return nil
}

// emptySchema drops what is in a schema, where CASCADE allows it.
func (s *Session) emptySchema(ctx context.Context, name string, cascade bool, out *sink) error {
	var in []*catalog.Relation
	var detail []string
	for _, r := range s.snapshot().Relations() {
		if r.Schema == name && (r.Sequence == nil || r.Sequence.Table == 0) {
			in = append(in, r)
			detail = append(detail, fmt.Sprintf("%s %s.%s depends on schema %s", r.Kind, r.Schema, r.Name, name))
		}
	}
	var owned []*catalog.Type
	for _, t := range s.snapshot().Types {
		if t.Schema == name {
			owned = append(owned, t)
			detail = append(detail, fmt.Sprintf("type %s depends on schema %s", t.Shown(), name))
		}
	}
	if len(detail) > 0 && !cascade {
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop schema %s because other objects depend on it", name).
			WithDetail("%s", strings.Join(detail, "\n")).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
	}
	for _, r := range in {
		if s.snapshot().ByID(r.ID) == nil {
			continue // an earlier one took it along
		}
		if err := out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "drop cascades to %s %s.%s", r.Kind, r.Schema, r.Name)); err != nil {
			return err
		}
		if err := s.dropRelation(ctx, r, true, out); err != nil {
			return err
		}
	}
	for _, t := range owned {
		if err := out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "drop cascades to type %s", t.Shown())); err != nil {
			return err
		}
		if err := s.dropType(ctx, t, true, out); err != nil {
			return err
		}
	}
	return nil
}
