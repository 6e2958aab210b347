package session

import (
	"context"
	"slices"
	"time"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// lockTable runs LOCK TABLE. The modes that keep writers away take the lock of writers,
// which is one for all tables; readers never wait, they see what was committed.
func (s *Session) lockTable(ctx context.Context, x *ast.LockTable, out *sink) error {
	if !s.txn.open() {
		return sqlerr.New(sqlerr.NoActiveSQLTransaction, "LOCK TABLE can only be used in transaction blocks")
	}
	keepsWriters := !slices.Contains([]string{"ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE"}, x.Mode)
	for _, n := range x.Names {
		rel, err := s.lookup(n)
		switch {
		case err != nil:
			return err
		case rel.Table == nil && rel.View == nil || rel.Table == nil && keepsWriters:
			return sqlerr.New(sqlerr.FeatureNotSupported, "a %s cannot be locked", rel.Kind).At(n.Position())
		case !keepsWriters:
			continue
		}
		tx := s.tx()
		tx.LockTimeout = s.settings.meaning().lockTimeout
		if x.NoWait {
			tx.LockTimeout = time.Nanosecond
		}
		err = tx.Lock(ctx)
		if x.NoWait && sqlerr.CodeOf(err) == sqlerr.LockNotAvailable {
			err = sqlerr.New(sqlerr.LockNotAvailable, "could not obtain lock on relation %q", rel.Name)
		}
		if err != nil {
			return err
		}
	}
	return out.complete("LOCK TABLE")
}

// grant runs GRANT. Every role may do everything in the databases that it can connect
// to, so there is nothing to do but to see that what is named exists.
func (s *Session) grant(x *ast.Grant, out *sink) error {
	for _, n := range x.Relations {
		if _, err := s.lookup(n); err != nil {
			return err
		}
	}
	for _, name := range x.Names {
		if x.Kind == "DATABASE" {
			if _, err := s.engine.Catalog.Database(name); err != nil {
				return err
			}
			continue
		}
		if !s.snapshot().HasSchema(name) && !isSystemSchema(name) {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", name)
		}
	}
	for _, name := range x.Roles {
		_, ok := s.engine.Catalog.Role(name)
		if !ok && name != s.User() && !slices.Contains([]string{"public", "current_user", "current_role", "session_user"}, name) {
			return sqlerr.New(sqlerr.UndefinedObject, "role %q does not exist", name)
		}
	}
	return out.complete("GRANT")
}
