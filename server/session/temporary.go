package session

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// temporaryObjects is where the temporary objects of a session are: in a schema of its own,
// of which the catalog has descriptors like any others.
type temporaryObjects struct {
	number int    // of the session among those of its database; 0 until it makes the first
	schema string // may be there or not: the transaction that makes it may roll back
	seen   atomic.Pointer[ownView]
}

// ownView is a snapshot as a session sees it.
type ownView struct{ of, seen *catalog.Snapshot }

// view returns a snapshot as the session sees it.
func (t *temporaryObjects) view(of *catalog.Snapshot) *catalog.Snapshot {
	if t.number == 0 {
		return of
	}
	if v := t.seen.Load(); v != nil && v.of == of {
		return v.seen
	}
	own := ""
	if of.HasSchema(t.schema) {
		own = t.schema
	}
	v := &ownView{of, of.SeenBy(own)}
	t.seen.Store(v)
	return v.seen
}

// numbering gives the sessions of a database that have temporary objects numbers from 1, the
// lowest that is free.
type numbering struct {
	mu    sync.Mutex
	taken map[int]bool
}

func (n *numbering) take() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.taken == nil {
		n.taken = map[int]bool{}
	}
	number := 1
	for n.taken[number] {
		number++
	}
	n.taken[number] = true
	return number
}

func (n *numbering) give(number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.taken, number)
}

// temporarySchema returns the schema of the session's temporary objects, which it makes if
// there is none.
func (s *Session) temporarySchema() (string, error) {
	if own := s.snapshot().Temporary; own != "" {
		if !s.mayIn(own, catalog.MayCreate) {
			return "", denied("schema", own)
		}
		return own, nil
	}
	if s.mayInDatabase(catalog.MayCreateTemporary) != nil {
		return "", sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to create temporary tables in database %q", s.tenant.Database.Name)
	}
	if s.objects.number == 0 {
		s.objects.number = s.tenant.numbering.take()
		s.objects.schema = catalog.TemporarySchema(s.objects.number)
	}
	s.catalog().CreateSchema(s.objects.schema, catalog.BootstrapRole, s.now())
	return s.objects.schema, nil
}

// newRelation checks the name of a table, a view or a sequence to be created, and says
// where it will be. It is temporary if the statement says so, or its schema does.
func (s *Session) newRelation(n ast.ObjectName, temporary bool) (schema, name string, err error) {
	snapshot := s.snapshot()
	switch {
	case n.Schema == "":
		temporary = temporary || s.createsInTemporary()
	case n.Schema == catalog.TemporaryAlias || n.Schema == snapshot.Temporary:
		temporary = true
	case !snapshot.HasSchema(n.Schema) && !isSystemSchema(n.Schema):
		temporary = false // there is no such schema, which newName says
	case temporary && !catalog.IsTemporary(n.Schema):
		return "", "", sqlerr.New(sqlerr.InvalidTableDefinition, "cannot create temporary relation in non-temporary schema").At(n.Position())
	}
	if temporary && !snapshot.OfOther(n.Schema) {
		if n.Schema, err = s.temporarySchema(); err != nil {
			return "", "", sqlerr.From(err).At(n.Position())
		}
	}
	return s.newName(n)
}

// newPermanent checks the name of something to be created of which there are no temporary
// ones.
func (s *Session) newPermanent(n ast.ObjectName, what string) (schema, name string, err error) {
	if n.Schema == "" && s.createsInTemporary() || n.Schema == catalog.TemporaryAlias || catalog.IsTemporary(n.Schema) {
		return "", "", sqlerr.New(sqlerr.FeatureNotSupported, "%s cannot be temporary", what).
			WithHint("Name a schema that is not temporary.").At(n.Position())
	}
	return s.newName(n)
}

// createsInTemporary reports whether what is created without a schema is temporary because
// search_path begins with pg_temp.
func (s *Session) createsInTemporary() bool {
	path := s.settings.meaning().searchPath
	return len(path) > 0 && path[0] == catalog.TemporaryAlias
}

// path returns the schemas that names of relations and types are looked up in: those of
// search_path, with the session's own for pg_temp, which comes before all others, that of
// the system included, where it is not listed.
func (s *Session) path() []string {
	listed := s.settings.meaning().searchPath
	own := s.snapshot().Temporary
	if own == "" || slices.Contains(listed, catalog.TemporaryAlias) {
		return s.listedPath()
	}
	path := []string{own}
	if !slices.Contains(listed, "pg_catalog") {
		path = append(path, "pg_catalog")
	}
	return append(path, listed...)
}

// listedPath returns the schemas of search_path alone.
func (s *Session) listedPath() []string {
	listed := s.settings.meaning().searchPath
	at := slices.Index(listed, catalog.TemporaryAlias)
	if at < 0 {
		return listed
	}
	listed = slices.Clone(listed)
	if own := s.snapshot().Temporary; own != "" {
		listed[at] = own
		return listed
	}
	return slices.Delete(listed, at, at+1)
}

// reachable refuses the temporary relations of other sessions, whose rows are theirs alone.
func (s *Session) reachable(r *catalog.Relation) error {
	if s.snapshot().OfOther(r.Schema) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot access temporary tables of other sessions")
	}
	return nil
}

// alterNamed runs ALTER TABLE and its kin, but not for temporary relations of other
// sessions, which change only with what they depend on.
func (s *Session) alterNamed(ctx context.Context, x *ast.AlterTable, out *sink) (string, error) {
	if rel, err := s.find(x.Name); err == nil && s.reachable(rel) != nil {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter temporary tables of other sessions")
	}
	return s.alterTable(ctx, x, out)
}

// errTemporarySchema refuses to change the schema of temporary objects itself.
func errTemporarySchema(name string) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "temporary schema %q cannot be changed", name).
		WithHint("It goes with the session that it is of.")
}

// writesTemporary reports whether all that a plan writes is temporary, which a transaction
// that is read-only may.
func (s *Session) writesTemporary(list []plan.Access) bool {
	const writes = catalog.MayInsert | catalog.MayUpdate | catalog.MayDelete
	snapshot := s.snapshot()
	for i := range list {
		if r := snapshot.ByID(list[i].Relation); list[i].Want&writes != 0 && (r == nil || !r.Temporary()) {
			return false
		}
	}
	return true
}

// usesTemporary returns whether a query reads temporary relations. 0A000 if those of
// another session.
func (s *Session) usesTemporary(q *plan.Query) (yes bool, err error) {
	snapshot := s.snapshot()
	for _, v := range q.Relations {
		r := snapshot.ByID(v.ID)
		if r == nil || !r.Temporary() {
			continue
		}
		if err := s.reachable(r); err != nil {
			return true, err
		}
		yes = true
	}
	return yes, nil
}

// beforeCommit does what belongs to a transaction at its end: it checks what was
// postponed, and empties or drops the temporary tables that ask for it.
func (s *Session) beforeCommit(ctx context.Context, out *sink) error {
	if err := s.checkPostponed(ctx, true); err != nil {
		return err
	}
	if s.objects.number == 0 || s.txn.tables == nil || !s.txn.tables.Writing() {
		return nil
	}
	snapshot := s.snapshot()
	if snapshot.Temporary == "" {
		return nil
	}
	changed := s.txn.tables.Changed()
	for _, r := range snapshot.In(snapshot.Temporary) {
		if r.Table == nil {
			continue
		}
		switch r.Table.OnCommit {
		case catalog.PreserveRows:
		case catalog.DropTable:
			if err := s.dropQuietly(ctx, r, out); err != nil {
				return err
			}
		case catalog.DeleteRows:
			if err := alsoDeletes(snapshot, r); err != nil {
				return err
			}
			if slices.Contains(changed, r.StorageID()) { // it was empty before
				if err := s.txn.tables.Free(r.StorageID()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// alsoDeletes fails where a table whose rows are deleted at a commit is referenced by one
// that keeps its own.
func alsoDeletes(snapshot *catalog.Snapshot, table *catalog.Relation) error {
	for _, ref := range snapshot.ReferencedBy(table.ID) {
		if ref.From.Table.OnCommit != catalog.DeleteRows {
			return sqlerr.New(sqlerr.FeatureNotSupported, "unsupported ON COMMIT and foreign key combination").
				WithDetail("Table %q references %q, but they do not have the same ON COMMIT setting.", ref.From.Name, table.Name)
		}
	}
	return nil
}

// dropQuietly drops a temporary relation, and what depends on it, without a word.
func (s *Session) dropQuietly(ctx context.Context, r *catalog.Relation, out *sink) error {
	said := out.writer.Silent
	out.writer.Silent = func(string) bool { return true }
	defer func() { out.writer.Silent = said }()
	if s.snapshot().ByID(r.ID) == nil {
		return nil // an earlier one took it along
	}
	return s.dropRelation(ctx, r, true, out)
}

// discardTemporary drops all temporary objects of the session.
func (s *Session) discardTemporary(ctx context.Context, out *sink) error {
	snapshot := s.snapshot()
	if snapshot.Temporary == "" || len(snapshot.In(snapshot.Temporary)) == 0 {
		return nil
	}
	tx := s.tx()
	tx.LockTimeout = s.settings.meaning().lockTimeout
	if err := tx.Lock(ctx); err != nil {
		return err
	}
	for _, r := range s.snapshot().In(snapshot.Temporary) {
		if err := s.dropQuietly(ctx, r, out); err != nil {
			return err
		}
	}
	return nil
}

// endTemporary drops the temporary objects of a session that ends.
func (s *Session) endTemporary() {
	if s.objects.number == 0 {
		return
	}
	if err := DropTemporary(s.engine.Catalog, s.tenant, s.objects.schema); err != nil {
		// Its number stays taken, so that nobody meets what is left until the next start.
		s.engine.Logger.Error("temporary objects were not dropped", slog.String("schema", s.objects.schema), slog.String("error", err.Error()))
		return
	}
	s.tenant.numbering.give(s.objects.number)
}

// DropTemporary drops the temporary objects in a schema, whose session has ended. Where a
// transaction of another session has changed something there, it waits for its end.
func DropTemporary(from *store.Store, t *Tenant, schema string) error {
	for {
		without := func(r *catalog.Relation) *catalog.Relation { return withoutTemporary(r, schema) }
		done, err := from.DropTemporary(t.Database, schema, without, t.Tables.Erase)
		if done || err != nil {
			return err
		}
		tx := t.Tables.Begin()
		if err := tx.Lock(context.Background()); err != nil {
			return err
		}
		tx.Rollback()
	}
}

// withoutTemporary returns a table without the defaults and checks that name a sequence in
// a schema of temporary objects, which goes; nil if it has none.
func withoutTemporary(r *catalog.Relation, schema string) *catalog.Relation {
	if r.Table == nil {
		return nil
	}
	names := func(text string) (found bool) {
		if !strings.Contains(text, schema+".") {
			return false
		}
		e, err := storedExpr(text)
		if err != nil {
			return false
		}
		ast.Walk(e, func(n ast.Node) bool {
			l := relationLiteral(n)
			found = found || l != nil && strings.HasPrefix(l.Text, schema+".")
			return !found
		})
		return found
	}
	inCheck := func(c catalog.Check) bool { return names(c.SQL) }
	if !slices.ContainsFunc(slices.Collect(maps.Values(r.Table.Defaults)), names) && !slices.ContainsFunc(r.Table.Checks, inCheck) {
		return nil // as nearly all, which are not copied
	}
	next := copyTable(r)
	maps.DeleteFunc(next.Table.Defaults, func(_ int, text string) bool { return names(text) })
	next.Table.Checks = slices.DeleteFunc(next.Table.Checks, inCheck)
	dropComments(next)
	return next
}

// forgetGone drops what is remembered of sequences that are gone, once that is much.
func (t *taken) forgetGone(snapshot *catalog.Snapshot) {
	const many = 64
	if len(t.of) < max(many, t.kept*2) {
		return
	}
	for n := range t.of {
		if n != t.last && snapshot.ByID(n) == nil {
			delete(t.of, n)
		}
	}
	t.kept = len(t.of)
}

// remember notes the number that was taken of a sequence.
func (t *taken) remember(rel id.Relation, value int64, snapshot *catalog.Snapshot) {
	if t.of == nil {
		t.of = map[id.Relation]int64{}
	}
	t.forgetGone(snapshot)
	t.of[rel] = value
}
