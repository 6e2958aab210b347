package session

import (
	"context"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// takesEffectAtOnce reports whether a definition is not part of the transaction: what
// follows it works on what runs and not on what is written (ADR 8).
func takesEffectAtOnce(stmt ast.Statement) bool {
	switch stmt.(type) {
	case *ast.CreateStream, *ast.AlterStream, *ast.CreateContinuousView, *ast.AlterContinuousView,
		*ast.CreateDatabase, *ast.DropDatabase, *ast.AlterDatabase, *ast.AlterSettings, *ast.CreateRole, *ast.AlterRole, *ast.DropRole, *ast.GrantRole:
		return true
	}
	g, ok := stmt.(*ast.Grant)
	return ok && g.Kind == "DATABASE"
}

// beginDefinition makes the session ready for a definition: its transaction is the one
// that writes and defines. What takes effect at once commits what came before it
// in a message of several statements.
func (s *Session) beginDefinition(ctx context.Context, stmt ast.Statement, atOnce bool, out *sink) error {
	if !atOnce {
		tx := s.tx()
		tx.LockTimeout = s.settings.meaning().lockTimeout
		return tx.Lock(ctx)
	}
	if s.txn.open() {
		switch stmt.(type) {
		case *ast.CreateDatabase, *ast.DropDatabase:
			return sqlerr.New(sqlerr.ActiveSQLTransaction, "%s cannot run inside a transaction block", statementName(stmt))
		}
		return nil
	}
	implicit := s.txn.implicit
	if err := s.commit(ctx, out); err != nil {
		return err
	}
	if implicit {
		s.beginSequence()
	}
	return nil
}

// catalog returns the transaction on the catalog. Who changes it has called
// beginDefinition.
func (s *Session) catalog() *store.Tx {
	if s.txn.catalog == nil {
		s.txn.catalog = s.engine.Catalog.Begin(s.tenant.Database)
	}
	return s.txn.catalog
}

// create adds relations in the transaction.
func (s *Session) create(ctx context.Context, rels ...*catalog.Relation) error {
	for _, r := range rels {
		if err := s.freeOfTypes(r); err != nil {
			return err
		}
	}
	if err := s.catalog().Create(rels...); err != nil {
		return err
	}
	for _, r := range rels {
		if r.Sequence == nil {
			continue
		}
		if err := s.tx().HoldSequence(ctx, r, &r.Sequence.Start); err != nil {
			return err
		}
	}
	return nil
}

// afterCommit has something done once the transaction is durable.
func (s *Session) afterCommit(effect func(context.Context) error) {
	s.txn.effects = append(s.txn.effects, effect)
}

// commitTables makes what a transaction wrote to tables and the catalog durable, in one
// batch, without the rows that no table has any more.
func (t *transaction) commitTables() error {
	switch {
	case t.tables == nil:
		return nil
	case t.catalog == nil || !t.catalog.Changes():
		return t.tables.Commit()
	}
	live := map[id.Relation]bool{}
	for _, r := range t.catalog.Snapshot().Relations() {
		live[r.StorageID()] = true
	}
	for _, storage := range append(t.tables.Changed(), t.catalog.Replaced()...) {
		if live[storage] {
			continue
		}
		if err := t.tables.Free(storage); err != nil {
			return err
		}
	}
	return t.tables.CommitWith(t.catalog.Commit)
}
