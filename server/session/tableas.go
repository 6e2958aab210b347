package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/distsql/envelope"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// createTag is the tag of a statement that has made a table without rows of its own.
func createTag(x *ast.CreateTable) string {
	switch {
	case x.Materialized:
		return "CREATE MATERIALIZED VIEW"
	case x.As != nil || x.Execute != nil:
		return "CREATE TABLE AS"
	}
	return "CREATE TABLE"
}

// createTableAs runs CREATE TABLE AS and CREATE MATERIALIZED VIEW.
func (s *Session) createTableAs(ctx context.Context, x *ast.CreateTable, schema, name string, out *sink) (string, error) {
	env := s.bindEnv(s.exprContext())
	env.Names = bind.NewNames()
	q, params, err := s.queryOf(env, x)
	if err != nil {
		return "", err
	}
	if len(x.ColumnNames) > len(q.Output) {
		return "", sqlerr.New(sqlerr.SyntaxError, "too many column names were specified")
	}
	if err := checkStorage(x.Options); err != nil {
		return "", err
	}
	rel := &catalog.Relation{Schema: schema, Name: name, Kind: catalog.KindTable, Table: &catalog.Table{OnCommit: onCommitOf[x.OnCommit]}, Created: s.now(), Owner: s.owner()}
	for i, c := range q.Output {
		c.Role, c.NotNull = types.RoleData, false
		if i < len(x.ColumnNames) {
			c.Name = x.ColumnNames[i].Name
		}
		if c.Type.OID == types.Unknown {
			c.Type = types.Of(types.Text)
		}
		rel.Columns = append(rel.Columns, c)
	}
	if x.Materialized {
		switch temporary, err := s.usesTemporary(q); {
		case err != nil:
			return "", err
		case temporary:
			return "", sqlerr.New(sqlerr.FeatureNotSupported, "materialized views must not use temporary tables or views")
		}
		body, err := s.newBody(env, q, x.Source, schema)
		if err != nil {
			return "", err
		}
		rel.Kind = catalog.KindMaterialized
		rel.Materialized = &catalog.Materialized{Populated: !x.WithNoData, View: *body}
	}
	if err := distinctColumns(rel.Columns); err != nil {
		return "", err
	}
	if x.WithNoData {
		return createTag(x), s.create(ctx, rel)
	}
	r, err := s.startQuery(ctx, q, params, false)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.close() }() // its rows are all read, or the statement failed
	if err := s.create(ctx, rel); err != nil {
		return "", err
	}
	rows, err := s.fill(ctx, r, rel, out)
	return fmt.Sprintf("SELECT %d", rows), err
}

// queryOf returns the query whose rows a table is made of, and its parameters.
func (s *Session) queryOf(env *bind.Env, x *ast.CreateTable) (*plan.Query, []types.Datum, error) {
	if x.Execute == nil {
		q, err := bind.Bind(env, x.As, nil)
		return q, nil, err
	}
	p, params, err := s.executed(x.Execute)
	if err != nil {
		return nil, nil, err
	}
	if _, ok := p.stmt.(*ast.Select); !ok {
		return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "prepared statement is not a SELECT").At(x.Execute.Position())
	}
	return p.query, params, nil
}

// fill puts the rows of a query into a table, and returns how many they were. A result
// that is not complete would lose its label there, so it must carry _status or it
// fails (L-7). In a materialized view it fails always: what aggregates the view does not
// look at a column that is one of many there.
func (s *Session) fill(ctx context.Context, r *running, rel *catalog.Relation, out *sink) (rows int, err error) {
	r.settings.PartialResults = envelope.PartialError
	if r.kept = rel.Materialized != nil; r.kept {
		r.said.Shown = false
	}
	for {
		b, err := r.read(ctx, out)
		if err != nil || b == nil {
			return rows, err
		}
		if _, err := s.tx().Insert(ctx, rel, &types.Batch{Cols: b.Cols[:len(rel.Columns)], Rows: b.Rows}); err != nil {
			return rows, err
		}
		rows += b.Rows
	}
}

// refresh runs REFRESH MATERIALIZED VIEW: the rows are kept in a storage of their own,
// so that readers have the old ones until the commit.
func (s *Session) refresh(ctx context.Context, x *ast.Refresh, out *sink) (string, error) {
	const tag = "REFRESH MATERIALIZED VIEW"
	rel, err := s.lookup(x.Name)
	switch {
	case err != nil:
		return "", err
	case rel.Materialized == nil:
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "%q is not a materialized view", rel.Name).At(x.Name.Position())
	case x.Concurrently && x.WithNoData:
		return "", sqlerr.New(sqlerr.SyntaxError, "CONCURRENTLY and WITH NO DATA options cannot be used together")
	case x.Concurrently && !rel.Materialized.Populated:
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "CONCURRENTLY cannot be used when the materialized view is not populated")
	case x.Concurrently && !slices.ContainsFunc(rel.Indexes(), func(i catalog.Index) bool { return i.Unique && !i.Computed() }):
		return "", sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "cannot refresh materialized view \"%s.%s\" concurrently", rel.Schema, rel.Name).
			WithHint("Create a unique index with no WHERE clause on one or more columns of the materialized view.")
	}
	if err := s.mustOwn(rel); err != nil {
		return "", err
	}
	q, err := s.bindBody(rel)
	if err != nil {
		return "", err
	}
	next := copyTable(rel)
	next.Table.Storage = s.engine.Catalog.Reserve()
	next.Materialized = &catalog.Materialized{View: rel.Materialized.View, Populated: !x.WithNoData}
	if !x.WithNoData {
		r, err := s.startQuery(ctx, q, nil, false)
		if err != nil {
			return "", err
		}
		defer func() { _ = r.close() }() // its rows are all read, or the statement failed
		if _, err := s.fill(ctx, r, next, out); err != nil {
			return "", err
		}
	}
	return tag, s.catalog().Update(rel.ID, func(r *catalog.Relation) error {
		*r = *next
		return nil
	})
}

// bindBody binds the query of a materialized view, as that of a plain view of its name.
func (s *Session) bindBody(rel *catalog.Relation) (*plan.Query, error) {
	view := *rel
	view.ID = s.engine.Catalog.Reserve() // of nothing that has to be populated
	view.Kind, view.Table, view.Materialized, view.View = catalog.KindView, nil, nil, &rel.Materialized.View
	now := s.snapshot()
	relations := slices.Clone(now.Relations())
	relations[slices.Index(relations, rel)] = &view
	env := s.bindEnv(s.exprContext())
	env.Snapshot = catalog.NewSnapshot(now.Version, now.Tenant, now.Database, relations)
	env.Snapshot.Schemas, env.Snapshot.Public, env.Snapshot.Types = now.Schemas, now.Public, now.Types
	env.Snapshot.Temporary = now.Temporary
	var names []string
	for _, c := range rel.Columns {
		names = append(names, ast.QuoteIdentifier(c.Name))
	}
	sel, err := parseSelect("SELECT " + strings.Join(names, ", ") + " FROM " + ast.QuoteIdentifier(rel.Schema) + "." + ast.QuoteIdentifier(rel.Name))
	if err != nil {
		return nil, err
	}
	q, err := bind.Bind(env, sel, nil)
	if err == nil {
		q.Access = withoutRelation(q.Access, view.ID) // its body is read as the owner
	}
	return q, err
}
