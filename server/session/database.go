package session

import (
	"context"
	"time"

	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// databaseStatement runs the statements about databases, which take effect at once.
func (s *Session) databaseStatement(ctx context.Context, stmt ast.Statement, out *sink) (string, error) {
	switch x := stmt.(type) {
	case *ast.CreateDatabase:
		return "CREATE DATABASE", s.createDatabase(x)
	case *ast.DropDatabase:
		return "DROP DATABASE", s.dropDatabase(ctx, x, out)
	case *ast.AlterDatabase:
		return "ALTER DATABASE", s.alterDatabase(ctx, x)
	case *ast.AlterSettings:
		return s.alterSettings(x)
	}
	return "", sqlerr.New(sqlerr.InternalError, "%T is not about databases", stmt)
}

// createDatabase runs CREATE DATABASE.
func (s *Session) createDatabase(x *ast.CreateDatabase) error {
	if role, _ := s.identity().roles.Lookup(s.Role()); !role.Superuser && !role.CreateDatabase {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to create database")
	}
	return s.engine.CreateTenant(x.Name, s.owner())
}

// dropDatabase runs DROP DATABASE: no session can come to the database any more once
// none is there, and then all that is in it goes.
func (s *Session) dropDatabase(ctx context.Context, x *ast.DropDatabase, out *sink) error {
	d, err := s.engine.Catalog.Database(x.Name)
	switch {
	case err != nil && x.IfExists:
		return out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "database %q does not exist, skipping", x.Name))
	case err != nil:
		return err
	case !s.owns(access.OfDatabase(s.engine.Catalog.Snapshot(d.Tenant))):
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of database %s", x.Name)
	case x.Name == s.tenant.Database.Name:
		return sqlerr.New(sqlerr.ObjectInUse, "cannot drop the currently open database")
	}
	t, err := s.engine.Tenant(x.Name)
	if err != nil {
		return err
	}
	if err := s.empty(ctx, t, x.Force); err != nil {
		return err
	}
	if err := s.engine.DropTenant(t); err != nil {
		s.engine.directory.reopen(t)
		return err
	}
	return nil
}

// alterDatabase runs ALTER DATABASE RENAME, for which no session may be there, and OWNER.
func (s *Session) alterDatabase(ctx context.Context, x *ast.AlterDatabase) error {
	d, err := s.engine.Catalog.Database(x.Name)
	if err != nil {
		return err
	}
	if !s.owns(access.OfDatabase(s.engine.Catalog.Snapshot(d.Tenant))) {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of database %s", x.Name)
	}
	role, _ := s.identity().roles.Lookup(s.Role())
	mayMake := role.Superuser || role.CreateDatabase
	if x.NewName == "" {
		to, err := s.newOwner(x.Owner)
		if err != nil {
			return err
		}
		if !mayMake {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to change owner of database")
		}
		return s.engine.Catalog.UpdateDatabase(x.Name, func(d *store.Database) error {
			d.Owner, d.ACL = to, access.NewOwner(d.ACL, s.engine.Catalog.Access().Owner(d.Owner), to)
			return nil
		})
	}
	switch {
	case !mayMake:
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to rename database")
	case x.Name == s.tenant.Database.Name:
		return sqlerr.New(sqlerr.FeatureNotSupported, "current database cannot be renamed")
	}
	t, err := s.engine.Tenant(x.Name)
	if err != nil {
		return err
	}
	if err := s.empty(ctx, t, false); err != nil {
		return err
	}
	if err := s.engine.RenameTenant(t, x.NewName); err != nil {
		s.engine.directory.reopen(t)
		return err
	}
	return nil
}

// empty closes a database to sessions once the last one has left it; those that are there
// are ended if that is wanted.
func (s *Session) empty(ctx context.Context, t *Tenant, force bool) error {
	patience := time.NewTimer(s.engine.LeavePatience)
	defer patience.Stop()
	for {
		others, left, err := s.engine.directory.shut(t)
		if len(others) == 0 {
			return err
		}
		for _, other := range others {
			if !force {
				break
			}
			if _, err := s.Terminate(int64(other.startup.ProcessID)); err != nil {
				return err
			}
		}
		select {
		case <-left:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-patience.C:
			err := sqlerr.New(sqlerr.ObjectInUse, "database %q is being accessed by other users", t.Database.Name)
			if len(others) == 1 {
				return err.WithDetail("There is 1 other session using the database.")
			}
			return err.WithDetail("There are %d other sessions using the database.", len(others))
		}
	}
}
