package session

import (
	"slices"

	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// reindex runs REINDEX, of which all that is left to do is to say who may not: indexes are
// written with their rows.
func (s *Session) reindex(x *ast.Reindex, out *sink) error {
	for _, o := range x.Options {
		if !slices.Contains([]string{"verbose", "concurrently", "tablespace"}, o.Name) {
			return sqlerr.New(sqlerr.SyntaxError, "unrecognized REINDEX option %q", o.Name).At(o.Position())
		}
	}
	if err := s.mayReindex(x); err != nil {
		return err
	}
	return out.complete("REINDEX")
}

func (s *Session) mayReindex(x *ast.Reindex) error {
	snapshot := s.snapshot()
	table, index := s.indexNamed(x.Name)
	switch x.Kind {
	case ast.SchemaObject:
		schema := snapshot.Schema(x.Name.Name)
		if schema == nil {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", x.Name.Name)
		}
		if !s.owns(access.OfSchema(schema)) {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of schema %s", schema.Name)
		}
	case ast.DatabaseObject:
		switch what := map[bool]string{false: "DATABASE", true: "SYSTEM"}[x.System]; {
		case s.txn.open():
			return sqlerr.New(sqlerr.ActiveSQLTransaction, "REINDEX %s cannot run inside a transaction block", what)
		case x.Name.Name != snapshot.Database:
			return sqlerr.New(sqlerr.FeatureNotSupported, "can only reindex the currently open database")
		case !s.owns(access.OfDatabase(snapshot)):
			return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of database %s", snapshot.Database)
		}
	case ast.IndexObject:
		if index != nil {
			return s.mayAlterIndex(table, index)
		}
		if _, err := s.lookup(x.Name); err != nil {
			return err
		}
		return sqlerr.New(sqlerr.WrongObjectType, "%q is not an index", x.Name.Name)
	default:
		rel, err := s.lookup(x.Name)
		if index != nil || err == nil && rel.Table == nil && rel.Materialized == nil {
			return sqlerr.New(sqlerr.WrongObjectType, "%q is not a table or materialized view", x.Name.Name)
		}
		if err != nil {
			return err
		}
		return s.mustOwn(rel)
	}
	return nil
}
