package session

import (
	"context"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// constrainUsing makes an index of the table that of a constraint: UNIQUE or PRIMARY KEY
// USING INDEX.
func (c *tableChange) constrainUsing(ctx context.Context, own ast.Constraint, out *sink) error {
	i := slices.IndexFunc(c.next.Indexes(), func(x catalog.Index) bool { return x.Name == own.UsingIndex })
	if i < 0 {
		if _, other := c.s.findIndex(c.next.Schema, own.UsingIndex); other != nil {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "index %q does not belong to table %q", own.UsingIndex, c.next.Name).At(own.Position())
		}
		return sqlerr.New(sqlerr.UndefinedObject, "index %q does not exist", own.UsingIndex).At(own.Position())
	}
	index := c.next.Indexes()[i]
	unusable := func(format string) error {
		return sqlerr.New(sqlerr.WrongObjectType, format, index.Name).
			WithDetail("Cannot create a primary key or unique constraint using such an index.").At(own.Position())
	}
	switch {
	case index.Constraint:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "index %q is already associated with a constraint", index.Name).At(own.Position())
	case !index.Unique:
		return unusable("%q is not a unique index")
	case len(index.Exprs) > 0:
		return unusable("index %q contains expressions")
	case index.Where != "":
		return unusable("%q is a partial index")
	case own.Kind == ast.PrimaryKeyConstraint && len(c.next.Table.PrimaryKey) > 0:
		return sqlerr.New(sqlerr.InvalidTableDefinition, "multiple primary keys for table %q are not allowed", c.next.Name)
	}
	if own.Name == "" {
		own.Name = index.Name
	}
	if own.Name != index.Name {
		if c.s.nameTaken(c.next.Schema, own.Name) || hasConstraint(c.next, own.Name) {
			return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", own.Name)
		}
		err := out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index %q to %q", index.Name, own.Name))
		if err != nil {
			return err
		}
		c.renameIndex(&index, own.Name)
	}
	if own.Kind == ast.UniqueConstraint {
		at := slices.IndexFunc(c.next.Table.Indexes, func(x catalog.Index) bool { return x.ID == index.ID })
		c.next.Table.Indexes = slices.Clone(c.next.Table.Indexes)
		c.next.Table.Indexes[at].Constraint = true
		return nil
	}
	// The rows are found by another kind of index where it is of the primary key.
	if err := c.dropIndex(ctx, index.ID); err != nil {
		return err
	}
	for _, n := range index.Columns {
		c.next.Columns[n].NotNull = true
	}
	c.next.Table.PrimaryKey, c.next.Table.PrimaryKeyName = index.Columns, own.Name
	if err := c.validate(ctx, nil); err != nil {
		return err
	}
	return c.tx.BuildIndex(ctx, c.next, c.next.Indexes()[0])
}
