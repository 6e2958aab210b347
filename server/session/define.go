package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// definition runs the statements that change the catalog, in the transaction of the
// tables' rows; some take effect at once (ADR 8).
func (s *Session) definition(ctx context.Context, stmt ast.Statement, out *sink) error {
	if err := s.writable("data definition"); err != nil {
		return err
	}
	if s.owner() == "" { // nobody would own what it makes
		return sqlerr.New(sqlerr.InsufficientPrivilege, "role %q was dropped", s.User())
	}
	atOnce := takesEffectAtOnce(stmt)
	if err := s.beginDefinition(ctx, stmt, atOnce, out); err != nil {
		return err
	}
	var tag string
	var err error
	switch x := stmt.(type) {
	case *ast.CreateStream:
		tag, err = s.createStream(x, out)
	case *ast.CreateContinuousView:
		tag, err = s.createContinuousView(ctx, x, out)
	case *ast.CreateTable:
		tag, err = s.createTable(ctx, x, out)
	case *ast.CreateIndex:
		tag, err = s.createIndex(ctx, x, out)
	case *ast.CreateSequence:
		tag, err = s.createSequence(ctx, x, out)
	case *ast.AlterTable:
		tag, err = s.alterNamed(ctx, x, out)
	case *ast.Refresh:
		tag, err = s.refresh(ctx, x, out)
	case *ast.AlterSchema:
		tag, err = s.alterSchema(x)
	case *ast.CommentOn:
		tag, err = s.commentOn(x)
	case *ast.CreateView:
		tag, err = s.createView(ctx, x, out)
	case *ast.CreateEnum:
		tag, err = s.createEnum(x)
	case *ast.AlterType:
		tag, err = s.alterType(x, out)
	case *ast.CreateDomain:
		tag, err = s.createDomain(x)
	case *ast.AlterDomain:
		tag, err = s.alterDomain(ctx, x, out)
	case *ast.CreateSchema:
		tag, err = s.createSchema(x, out)
	case *ast.CreateDatabase, *ast.DropDatabase, *ast.AlterDatabase, *ast.AlterSettings:
		tag, err = s.databaseStatement(ctx, stmt, out)
	case *ast.CreateRole, *ast.AlterRole, *ast.DropRole, *ast.GrantRole:
		tag, err = s.roleStatement(stmt, out)
	case *ast.Grant:
		tag, err = s.grant(x, out)
	case *ast.Drop:
		tag, err = s.drop(ctx, x, out)
	case *ast.AlterStream:
		tag, err = s.alterStream(ctx, x)
	case *ast.AlterContinuousView:
		tag, err = s.alterContinuousView(ctx, x)
	case *ast.Truncate:
		tag, err = s.truncate(x, out)
	default:
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not supported", statementName(stmt))
	}
	if err != nil {
		return err
	}
	if s.txn.open() && atOnce {
		s.txn.ddl = append(s.txn.ddl, tag)
	}
	// The acknowledgement comes after it is durable.
	if err := s.endStatement(ctx, out); err != nil {
		return err
	}
	return out.complete("%s", tag)
}

// statementName is a statement's name for an error.
func statementName(stmt ast.Statement) string {
	switch stmt.(type) {
	case *ast.CreateSink:
		return "CREATE SINK"
	case *ast.Subscribe:
		return "SUBSCRIBE"
	case *ast.Explain:
		return "EXPLAIN of EXPLAIN"
	case *ast.CreateDatabase:
		return "CREATE DATABASE"
	case *ast.DropDatabase:
		return "DROP DATABASE"
	case *ast.CreateTable, *ast.CreateStream, *ast.CreateView, *ast.CreateContinuousView:
		return "CREATE"
	case *ast.Prepare, *ast.Execute, *ast.Deallocate:
		return "PREPARE, EXECUTE and DEALLOCATE"
	case *ast.DeclareCursor:
		return "DECLARE CURSOR"
	}
	return "this statement"
}

// exists handles IF NOT EXISTS: it reports whether there is nothing to do.
func (s *Session) exists(schema, name string, ifNotExists bool, out *sink) (bool, error) {
	if !s.nameTaken(schema, name) {
		return false, nil
	}
	if !ifNotExists {
		return false, sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", name)
	}
	return true, out.writer.Notice("NOTICE", sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists, skipping", name))
}

// createView runs CREATE VIEW of the ordinary kind.
func (s *Session) createView(ctx context.Context, x *ast.CreateView, out *sink) (string, error) {
	env := s.bindEnv(s.exprContext())
	env.Names = bind.NewNames()
	q, err := bind.Bind(env, x.Query, nil)
	if err != nil {
		return "", err
	}
	switch {
	case len(x.Columns) > len(q.Output):
		return "", sqlerr.New(sqlerr.SyntaxError, "CREATE VIEW specifies more column names than columns").At(x.Columns[len(q.Output)].Position())
	case q.Writes:
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "views must not contain data-modifying statements in WITH")
	}
	var cols []types.Column
	for i, c := range q.Output {
		if i < len(x.Columns) {
			c.Name = x.Columns[i].Name
		}
		if c.Type.OID == types.Unknown {
			c.Type = types.Of(types.Text)
		}
		cols = append(cols, types.Column{Name: c.Name, Type: c.Type})
	}
	if err := distinctColumns(cols); err != nil {
		return "", err
	}
	schema, name, err := s.newView(x, q, out)
	if err != nil {
		return "", err
	}
	invoker, err := viewOptions(x.Options)
	if err != nil {
		return "", err
	}
	view, err := s.newBody(env, q, x.Source, schema)
	if err != nil {
		return "", err
	}
	view.Invoker = invoker
	old := s.snapshot().ByName(schema, name)
	if old != nil && x.OrReplace {
		if old.View == nil {
			return "", sqlerr.New(sqlerr.WrongObjectType, "%q is not a view", name).At(x.Name.Position())
		}
		if err := s.mustOwn(old); err != nil {
			return "", err
		}
		if err := replaces(old.Columns, cols); err != nil {
			return "", err
		}
		return "CREATE VIEW", s.catalog().Update(old.ID, func(r *catalog.Relation) error {
			r.View, r.Columns = view, cols
			return nil
		})
	}
	return "CREATE VIEW", s.create(ctx, &catalog.Relation{
		Schema: schema, Name: name, Kind: catalog.KindView, Columns: cols, View: view, Created: s.now(), Owner: s.owner(),
	})
}

// newView checks the name of a view to be created, which is temporary if what it reads is.
func (s *Session) newView(x *ast.CreateView, q *plan.Query, out *sink) (schema, name string, err error) {
	temporary, err := s.usesTemporary(q)
	if err == nil && temporary && !x.Temporary && x.Name.Schema != catalog.TemporaryAlias && !catalog.IsTemporary(x.Name.Schema) && !s.createsInTemporary() {
		err = out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "view %q will be a temporary view", x.Name.Name))
	}
	if err != nil {
		return "", "", err
	}
	n := x.Name
	n.Pos = 0 // PostgreSQL says of a view only what is wrong
	return s.newRelation(n, temporary || x.Temporary)
}

// replaces refuses columns of a view that are not those of the one it replaces, and more
// behind them: others read these.
func replaces(old, cols []types.Column) error {
	if len(cols) < len(old) {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot drop columns from view")
	}
	for i, was := range old {
		switch is := cols[i]; {
		case is.Name != was.Name:
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change name of view column %q to %q", was.Name, is.Name).
				WithHint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
		case is.Type != was.Type:
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change data type of view column %q from %s to %s", was.Name, was.Type, is.Type)
		}
	}
	return nil
}

// viewOptions reads the WITH list of a view: whether it is read with the rights of who
// reads it.
func viewOptions(options []ast.Option) (invoker bool, err error) {
	for _, o := range options {
		name, value := strings.ToLower(o.Name), "on"
		if o.Value != nil {
			value = optionText(o.Value)
		}
		on, err := boolean(name)(value)
		switch {
		case name != "security_invoker" && name != "security_barrier":
			return false, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter %q", o.Name).At(o.Position())
		case err != nil:
			return false, sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for boolean option %q: %s", o.Name, value).At(o.Position())
		case name == "security_barrier" && on == "on":
			return false, sqlerr.New(sqlerr.FeatureNotSupported, "security_barrier views are not supported").
				WithHint("Conditions of who reads the view may be looked at before its own. Use a materialized view.").At(o.Position())
		case name == "security_invoker":
			invoker = on == "on"
		}
	}
	return invoker, nil
}

// kindsOf maps what DROP says to kinds of relations.
var kindsOf = map[ast.ObjectKind][]catalog.Kind{
	ast.TableObject:          {catalog.KindTable},
	ast.StreamObject:         {catalog.KindStream},
	ast.ViewObject:           {catalog.KindView, catalog.KindContinuousView},
	ast.ContinuousViewObject: {catalog.KindContinuousView},
	ast.MaterializedObject:   {catalog.KindMaterialized},
	ast.SequenceObject:       {catalog.KindSequence},
}

// drop runs DROP.
func (s *Session) drop(ctx context.Context, x *ast.Drop, out *sink) (string, error) {
	tag := "DROP " + string(x.Kind)
	if x.Kind == ast.IndexObject {
		return tag, s.dropIndexes(ctx, x, out)
	}
	if x.Kind == ast.SchemaObject {
		return tag, s.dropSchemas(ctx, x, out)
	}
	if x.Kind == ast.TypeObject || x.Kind == ast.DomainObject {
		return tag, s.dropTypes(ctx, x, out)
	}
	kinds, ok := kindsOf[x.Kind]
	if !ok {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "%s is not supported", tag).At(x.Position())
	}
	var with []id.Relation
	for _, n := range x.Names {
		if rel, err := s.find(n); err == nil {
			with = append(with, rel.ID)
		}
	}
	for _, n := range x.Names {
		rel, err := s.find(n)
		if err != nil {
			if !x.IfExists {
				return "", err
			}
			if err := out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "%s %q does not exist, skipping", lower(x.Kind), n.Name)); err != nil {
				return "", err
			}
			continue
		}
		if !containsKind(kinds, rel.Kind) {
			return "", sqlerr.New(sqlerr.WrongObjectType, "%q is not a %s", rel.Name, lower(x.Kind)).
				WithHint("Use DROP %s to remove it.", upper(string(rel.Kind))).At(n.Position())
		}
		if err := s.mayDrop(rel); err != nil {
			return "", err
		}
		if err := s.ofIdentity(rel); err != nil {
			return "", err
		}
		if err := s.dropRelation(ctx, rel, x.Cascade, out, with...); err != nil {
			return "", err
		}
	}
	return tag, nil
}

// dropRelation removes a relation and what depends on it. What a stream or a continuous
// view kept goes after the commit, the rows of a table with it. with are those that are
// dropped by the same statement.
func (s *Session) dropRelation(ctx context.Context, rel *catalog.Relation, cascade bool, out *sink, with ...id.Relation) error {
	what := fmt.Sprintf("%s %s", rel.Kind, rel.Name)
	dependents, foreign := s.dependents(rel), s.tableDependents(rel, with)
	var lines []string
	for _, d := range dependents {
		lines = append(lines, fmt.Sprintf("%s %s depends on %s", d.Kind, d.Name, what))
	}
	lines = append(lines, keyLines(foreign)...)
	var named []textDependent // by a sequence that goes
	for _, q := range s.sequencesOf(rel) {
		list := s.sequenceDependents(q, append(with, rel.ID))
		named, lines = append(named, list...), append(lines, dependentLines(list, "sequence "+q.Name)...)
	}
	if len(lines) > 0 && !cascade {
		return errDependOn(what, lines)
	}
	for _, d := range dependents {
		if err := out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "drop cascades to %s %s", d.Kind, d.Name)); err != nil {
			return err
		}
		if err := s.dropRelation(ctx, d, true, out); err != nil {
			return err
		}
	}
	if err := s.dropDependents(ctx, foreign, out); err != nil {
		return err
	}
	if err := s.dropTextDependents(ctx, named, out); err != nil {
		return err
	}
	if s.snapshot().ByID(rel.ID) == nil {
		return nil // a cascade came here already
	}
	if err := s.settled(rel, "DROP TABLE"); err != nil {
		return err
	}
	gone := []id.Relation{rel.ID}
	for _, owned := range s.ownedSequences(rel) {
		gone = append(gone, owned.ID)
	}
	switch {
	case rel.Stream != nil:
		s.afterCommit(func(context.Context) error { return s.tenant.Streams.DropStream(rel.ID) })
	case rel.ContinuousView != nil:
		s.afterCommit(func(ctx context.Context) error { return s.tenant.Streams.DropView(ctx, rel) })
	}
	return s.catalog().Drop(gone...)
}

// dependents returns the relations that read a relation: continuous views by
// their stream, plain views by what their bodies use.
func (s *Session) dependents(rel *catalog.Relation) []*catalog.Relation {
	var out []*catalog.Relation
	for _, r := range s.snapshot().Relations() {
		switch {
		case r.ContinuousView != nil && r.ContinuousView.Stream == rel.ID:
			out = append(out, r)
		case r.Body() != nil && s.viewReads(r, rel.ID):
			out = append(out, r)
		}
	}
	return out
}

// bodyEnv is for the text of a view, whose names were looked up by who created it; nil is
// the path of the session.
func (s *Session) bodyEnv(path []string) *bind.Env {
	env := s.bindEnv(s.exprContext())
	env.Usable = nil
	if path != nil {
		env.SearchPath = path
	}
	return env
}

func (s *Session) viewReads(view *catalog.Relation, rel id.Relation) bool {
	if view.ID == rel {
		return false
	}
	sel, err := parseSelect(view.Body().SQL)
	if err != nil {
		return false
	}
	q, err := bind.Bind(s.bodyEnv(view.Body().Path), sel, nil)
	if err != nil {
		return false // it reads something that is gone
	}
	for _, v := range q.Relations {
		if v.ID == rel {
			return true
		}
	}
	return false
}

// truncate empties tables.
func (s *Session) truncate(x *ast.Truncate, out *sink) (string, error) {
	var named []*catalog.Relation
	for _, n := range x.Names {
		rel, err := s.find(n)
		switch {
		case err != nil:
			return "", err
		case s.reachable(rel) != nil:
			return "", sqlerr.New(sqlerr.FeatureNotSupported, "cannot truncate temporary tables of other sessions")
		}
		if rel.Kind != catalog.KindTable {
			return "", sqlerr.New(sqlerr.WrongObjectType, "%q is not a table", rel.Name).WithHint("Drop the %s and create it again.", rel.Kind).At(n.Position())
		}
		named = append(named, rel)
	}
	list, err := s.truncated(named, x.Cascade, out)
	if err != nil {
		return "", err
	}
	for _, rel := range list {
		if err := s.may(rel, catalog.MayTruncate); err != nil {
			return "", err
		}
		if err := s.settled(rel, "TRUNCATE"); err != nil {
			return "", err
		}
		err = s.catalog().Update(rel.ID, func(r *catalog.Relation) error {
			r.Table.Storage = s.engine.Catalog.Reserve()
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return "TRUNCATE TABLE", nil
}
