package session

import (
	"context"
	"slices"
	"time"

	"github.com/tallydb/tallydb/catalog"
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
		case s.mayAny(rel, lockWants(x.Mode)) != nil:
			return s.mayAny(rel, lockWants(x.Mode))
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

// lockWants returns the privileges of which a role needs one to lock in a mode.
func lockWants(mode string) catalog.Privileges {
	const writes = catalog.MayUpdate | catalog.MayDelete | catalog.MayTruncate
	switch mode {
	case "ACCESS SHARE":
		return writes | catalog.MayInsert | catalog.MaySelect
	case "ROW EXCLUSIVE":
		return writes | catalog.MayInsert
	}
	return writes
}
