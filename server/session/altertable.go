package session

import (
	"context"
	"maps"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/tablestore"
	"github.com/tallydb/tallydb/sql/types"
)

// tableChange is a change of a table's descriptor and rows, which take effect
// together.
type tableChange struct {
	s    *Session
	tx   *tablestore.Tx
	next *catalog.Relation // the descriptor so far
}

// changeTable changes a table.
func (s *Session) changeTable(rel *catalog.Relation, change func(*tableChange) error) error {
	c := &tableChange{s: s, tx: s.tx(), next: copyTable(rel)}
	if err := change(c); err != nil {
		return err
	}
	dropComments(c.next)
	return s.catalog().Update(rel.ID, func(r *catalog.Relation) error {
		*r = *c.next
		return nil
	})
}

// rewrite puts what convert makes of a table's rows in their place; old describes them.
func (c *tableChange) rewrite(ctx context.Context, old *catalog.Relation, convert func(*types.Batch) (*types.Batch, error)) error {
	c.next.Table.Storage = c.s.engine.Catalog.Reserve()
	c.s.indexed = indexedTable{} // next has other columns than before
	return c.tx.Rewrite(ctx, old, c.next, convert)
}

// errChanged says that a relation is not what a statement was planned for.
func errChanged(name string) error {
	return sqlerr.New(sqlerr.SerializationFailure, "relation %q was changed by another session", name).WithHint("Try again.")
}

// copyTable returns a descriptor whose parts can be changed.
func copyTable(rel *catalog.Relation) *catalog.Relation {
	r, t := *rel, *rel.Table
	r.Table = &t
	r.Columns = slices.Clone(rel.Columns)
	t.ForeignKeys = slices.Clone(t.ForeignKeys)
	t.PrimaryKey, t.Indexes, t.Checks = slices.Clone(t.PrimaryKey), slices.Clone(t.Indexes), slices.Clone(t.Checks)
	t.Defaults, t.Identity = map[int]string{}, map[int]bool{}
	maps.Copy(t.Defaults, rel.Table.Defaults)
	maps.Copy(t.Identity, rel.Table.Identity)
	return &r
}

// errRead refuses to change what a view reads: its text would mean something else.
func errRead(name, view string) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "%q cannot be changed because view %q reads it", name, view).
		WithHint("Drop the view and create it again.")
}

// dropUnusedSequences drops the sequences of a table whose columns it has no more.
func (s *Session) dropUnusedSequences(table id.Relation) error {
	rel := s.snapshot().ByID(table)
	for _, q := range s.ownedSequences(rel) {
		if s.columnOf(rel, q) >= 0 {
			continue
		}
		if err := s.catalog().Drop(q.ID); err != nil {
			return err
		}
	}
	return nil
}

// apply makes one change.
func (c *tableChange) apply(ctx context.Context, x *ast.TableChange, out *sink) error {
	switch x.Action {
	case ast.AddColumn:
		return c.addColumn(ctx, x, out)
	case ast.DropColumn:
		return c.dropColumn(ctx, x, out)
	case ast.RenameColumn:
		return c.renameColumn(x)
	case ast.RenameTo, ast.SetSchema:
		return c.place(x)
	case ast.RenameConstraint:
		return c.renameConstraint(x)
	case ast.SetOptions, ast.ResetOptions:
		return checkStorage(x.Options)
	case ast.AddConstraint:
		if x.Constraint.UsingIndex != "" {
			return c.constrainUsing(ctx, *x.Constraint, out)
		}
		return c.addConstraint(ctx, x)
	case ast.DropConstraint:
		return c.dropConstraint(ctx, x, out)
	case ast.ValidateConstraint:
		return c.validateConstraint(ctx, x)
	case ast.AlterConstraint:
		return c.alterConstraint(x)
	case ast.SetOwner:
		return c.setOwner(x.NewName)
	}
	n, err := c.column(x)
	if err != nil {
		return err
	}
	switch x.Action {
	case ast.SetDefault:
		c.next.Table.Defaults[n] = c.s.storedText(x.Expr)
		_, err := bind.Default(c.s.bindEnv(c.s.exprContext()), c.next, n)
		return err
	case ast.DropDefault:
		delete(c.next.Table.Defaults, n)
	case ast.SetNotNull:
		c.next.Columns[n].NotNull = true
		return c.validate(ctx, nil)
	case ast.DropNotNull:
		if slices.Contains(c.next.Table.PrimaryKey, n) {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "column %q is in a primary key", x.OldName)
		}
		c.next.Columns[n].NotNull = false
	case ast.SetType:
		return c.setType(ctx, n, x)
	}
	return nil
}

// column returns the number of the column that a change is about.
func (c *tableChange) column(x *ast.TableChange) (int, error) {
	if n := c.next.Column(x.OldName); n >= 0 {
		return n, nil
	}
	return -1, sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", x.OldName, c.next.Name)
}

func (c *tableChange) addColumn(ctx context.Context, x *ast.TableChange, out *sink) error {
	if c.next.Column(x.Column.Name) >= 0 {
		err := sqlerr.New(sqlerr.DuplicateColumn, "column %q of relation %q already exists", x.Column.Name, c.next.Name)
		if !x.IfColumn {
			return err
		}
		return out.writer.Notice("NOTICE", sqlerr.New(sqlerr.DuplicateColumn, "column %q of relation %q already exists, skipping", x.Column.Name, c.next.Name))
	}
	old := copyTable(c.next)
	d := &definer{s: c.s, table: c.next, taken: map[string]bool{}}
	if err := d.column(x.Column); err != nil {
		return err
	}
	if err := checkColumns(c.next.Columns); err != nil {
		return err
	}
	key := c.next.Table.PrimaryKey
	if x.Column.PrimaryKey {
		c.next.Table.PrimaryKey = nil // until its column has values
	}
	if err := c.s.create(ctx, d.sequences...); err != nil { // its numbers are taken now
		return err
	}
	ec := c.s.exprContext()
	value, err := bind.Default(c.s.bindEnv(ec), c.next, len(old.Columns))
	if err != nil {
		return err
	}
	err = c.rewrite(ctx, old, func(b *types.Batch) (*types.Batch, error) {
		v, err := value.Eval(ec, b)
		if err != nil {
			return nil, err
		}
		return &types.Batch{Cols: append(slices.Clone(b.Cols), v), Rows: b.Rows}, nil
	})
	if err != nil {
		return err
	}
	if x.Column.PrimaryKey {
		c.next.Table.PrimaryKey = key
		if err := c.tx.BuildIndex(ctx, c.next, c.next.Indexes()[0]); err != nil {
			return err
		}
	}
	if err := c.validate(ctx, nil); err != nil {
		return err
	}
	for _, own := range x.Column.Constraints {
		if err := c.constrain(ctx, own, x.Column.Name); err != nil {
			return err
		}
	}
	return nil
}

// addConstraint adds a table constraint.
func (c *tableChange) addConstraint(ctx context.Context, x *ast.TableChange) error {
	return c.constrain(ctx, *x.Constraint, "")
}

// constrain adds a constraint that the rows there are have to keep.
func (c *tableChange) constrain(ctx context.Context, own ast.Constraint, column string) error {
	before := len(c.next.Table.Indexes)
	hadKey := len(c.next.Table.PrimaryKey) > 0
	d := &definer{s: c.s, table: c.next, taken: map[string]bool{}}
	if err := d.constraint(own, column); err != nil {
		return err
	}
	if len(d.foreign) > 0 {
		if err := d.foreignKey(own); err != nil {
			return err
		}
		return c.addForeignKey(ctx, &c.next.Table.ForeignKeys[len(c.next.Table.ForeignKeys)-1])
	}
	switch {
	case len(c.next.Table.Indexes) > before:
		return c.tx.BuildIndex(ctx, c.next, c.next.Table.Indexes[before])
	case !hadKey && len(c.next.Table.PrimaryKey) > 0:
		if err := c.validate(ctx, nil); err != nil {
			return err
		}
		return c.tx.BuildIndex(ctx, c.next, c.next.Indexes()[0])
	}
	return c.validate(ctx, c.next.Table.Checks[len(c.next.Table.Checks)-1:])
}

// validate makes sure that the rows keep NOT NULL and these checks.
func (c *tableChange) validate(ctx context.Context, checks []catalog.Check) error {
	of := copyTable(c.next)
	of.Table.Checks = checks
	ec := c.s.exprContext()
	bound, err := bind.Checks(c.s.bindEnv(ec), of)
	if err != nil {
		return err
	}
	return c.tx.EachBatch(ctx, c.next, func(b *types.Batch) error {
		for i, col := range c.next.Columns {
			if col.NotNull && b.Cols[i].Nulls.Any() {
				return sqlerr.New(sqlerr.NotNullViolation, "column %q of relation %q contains null values", col.Name, c.next.Name)
			}
		}
		for _, check := range bound {
			v, err := check.Cond.Eval(ec, b)
			if err != nil {
				return err
			}
			for i := range b.Rows {
				if !v.IsNull(i) && v.Ints[i] == 0 {
					return sqlerr.New(sqlerr.CheckViolation, "check constraint %q of relation %q is violated by some row", check.Name, c.next.Name)
				}
			}
		}
		return nil
	})
}

func (c *tableChange) setType(ctx context.Context, n int, x *ast.TableChange) error {
	t, err := bind.TypeOf(c.s.bindEnv(c.s.exprContext()), x.Type)
	if err != nil {
		return err
	}
	if view := c.s.readerOf(c.next, x.OldName); view != nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type of a column used by a view or rule").
			WithDetail("view %s depends on column %q", view.Name, x.OldName)
	}
	old := copyTable(c.next)
	using := x.Expr
	if using == nil {
		using = &ast.ColumnRef{Parts: []string{x.OldName}}
	}
	ec := c.s.exprContext()
	value, err := bind.RowExpr(c.s.bindEnv(ec), old, using)
	if err != nil {
		return err
	}
	value, err = bind.Coerce(c.s.bindEnv(ec), value, t, expr.Assignment)
	switch {
	case err != nil && x.Expr != nil:
		return sqlerr.New(sqlerr.DatatypeMismatch, "result of USING clause for column %q cannot be cast automatically to type %s", x.OldName, t).
			WithHint("You might need to add an explicit cast.")
	case err != nil:
		return sqlerr.New(sqlerr.DatatypeMismatch, "column %q cannot be cast automatically to type %s", x.OldName, t).
			WithHint("You might need to specify \"USING %s::%s\".", ast.QuoteIdentifier(x.OldName), t)
	}
	c.next.Columns[n].Type = t
	if err := c.setKeyType(n); err != nil {
		return err
	}
	if err := c.retypeIndexes(); err != nil {
		return err
	}
	err = c.rewrite(ctx, old, func(b *types.Batch) (*types.Batch, error) {
		v, err := value.Eval(ec, b)
		if err != nil {
			return nil, err
		}
		cols := slices.Clone(b.Cols)
		cols[n] = v
		return &types.Batch{Cols: cols, Rows: b.Rows}, nil
	})
	if err != nil {
		return err
	}
	if _, err := bind.Default(c.s.bindEnv(ec), c.next, n); err != nil {
		return sqlerr.New(sqlerr.DatatypeMismatch, "default for column %q cannot be cast automatically to type %s", x.OldName, t)
	}
	if err := c.checkKeysOf(ctx, n); err != nil {
		return err
	}
	return c.validate(ctx, c.next.Table.Checks)
}
