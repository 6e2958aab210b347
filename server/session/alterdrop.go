package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// readerOf returns a view whose text names a column of a table, or may by *; nil if
// there is none.
func (s *Session) readerOf(table *catalog.Relation, column string) *catalog.Relation {
	for _, view := range s.dependents(table) {
		if view.Body() == nil {
			continue
		}
		body, err := parseSelect(view.Body().SQL)
		if err != nil || mentions(body, column) {
			return view
		}
	}
	return nil
}

// mentions reports whether an expression or a query names a column, or every column.
func mentions(n ast.Node, column string) bool {
	found := false
	ast.Walk(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ColumnRef:
			found = found || x.Name() == column
		case *ast.Star:
			found = true
		}
		return !found
	})
	return found
}

// dropColumn drops a column and what is made of it: indexes, checks and, with
// CASCADE, views.
func (c *tableChange) dropColumn(ctx context.Context, x *ast.TableChange, out *sink) error {
	n, err := c.column(x)
	if err != nil {
		if !x.IfColumn {
			return err
		}
		return out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "column %q of relation %q does not exist, skipping", x.OldName, c.next.Name))
	}
	for view := c.s.readerOf(c.next, x.OldName); view != nil; view = c.s.readerOf(c.next, x.OldName) {
		if !x.Cascade {
			return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop column %s of table %s because other objects depend on it", x.OldName, c.next.Name).
				WithDetail("view %s depends on column %s of table %s", view.Name, x.OldName, c.next.Name).
				WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
		}
		if err := out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "drop cascades to view %s", view.Name)); err != nil {
			return err
		}
		if err := c.s.dropRelation(ctx, view, true, out); err != nil {
			return err
		}
	}
	if err := c.dropSequenceUses(ctx, n, x.Cascade, out); err != nil {
		return err
	}
	old := copyTable(c.next)
	t := c.next.Table
	if slices.Contains(t.PrimaryKey, n) {
		t.PrimaryKey = nil
	}
	t.Indexes = slices.DeleteFunc(t.Indexes, func(i catalog.Index) bool { return slices.Contains(i.Columns, n) })
	if err := changeIndexTexts(t, func(e ast.Expr) bool { return !mentions(e, x.OldName) }); err != nil {
		return err
	}
	if t.Checks, err = checksWithout(t.Checks, x.OldName); err != nil {
		return err
	}
	// The columns behind it move up.
	for i := range t.PrimaryKey {
		t.PrimaryKey[i] = moved(t.PrimaryKey[i], n)
	}
	for i := range t.Indexes {
		t.Indexes[i].Columns = slices.Clone(t.Indexes[i].Columns)
		for k := range t.Indexes[i].Columns {
			t.Indexes[i].Columns[k] = moved(t.Indexes[i].Columns[k], n)
		}
	}
	err = c.dropForeignKey(ctx, func(k *catalog.ForeignKey) bool { return slices.Contains(k.Columns, n) })
	if err != nil {
		return err
	}
	moveReferencing(t, n)
	t.Defaults, t.Identity = movedKeys(t.Defaults, n), movedKeys(t.Identity, n)
	c.next.Columns = slices.Delete(c.next.Columns, n, n+1)
	return c.rewrite(ctx, old, func(b *types.Batch) (*types.Batch, error) {
		return &types.Batch{Cols: slices.Delete(slices.Clone(b.Cols), n, n+1), Rows: b.Rows}, nil
	})
}

// dropSequenceUses sees to what names the sequence that goes with a column.
func (c *tableChange) dropSequenceUses(ctx context.Context, column int, cascade bool, out *sink) error {
	name := c.next.Columns[column].Name
	for _, q := range c.s.ownedSequences(c.next) {
		if c.s.columnOf(c.next, q) != column {
			continue
		}
		own := func(d textDependent) bool { return d.rel != nil && d.rel.ID == c.next.ID }
		list := slices.DeleteFunc(c.s.sequenceDependents(q, nil), func(d textDependent) bool { return own(d) && d.drop != nil && d.drop.OldName == name })
		if len(list) > 0 && !cascade {
			return errDependOn(fmt.Sprintf("column %s of table %s", name, c.next.Name), dependentLines(list, "sequence "+q.Name))
		}
		for _, d := range list {
			var err error
			switch {
			case !own(d):
				err = c.s.dropTextDependents(ctx, []textDependent{d}, out)
			case d.index != 0:
				err = c.dropIndex(ctx, d.index)
			default:
				err = c.apply(ctx, d.drop, out)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// moveReferencing gives foreign keys the numbers of their columns after one was dropped.
func moveReferencing(t *catalog.Table, gone int) {
	move := func(columns []int) []int {
		out := slices.Clone(columns)
		for i := range out {
			out[i] = moved(out[i], gone)
		}
		return out
	}
	for i := range t.ForeignKeys {
		k := &t.ForeignKeys[i]
		k.Columns, k.SetColumns = move(k.Columns), move(k.SetColumns)
	}
}

// moved is the number of a column after column gone was dropped.
func moved(column, gone int) int {
	if column > gone {
		return column - 1
	}
	return column
}

func movedKeys[V any](of map[int]V, gone int) map[int]V {
	out := map[int]V{}
	for k, v := range of {
		if k != gone {
			out[moved(k, gone)] = v
		}
	}
	return out
}

// checksWithout returns the checks that do not name a column.
func checksWithout(checks []catalog.Check, column string) ([]catalog.Check, error) {
	var out []catalog.Check
	for _, c := range checks {
		e, err := storedExpr(c.SQL)
		if err != nil {
			return nil, err
		}
		if !mentions(e, column) {
			out = append(out, c)
		}
	}
	return out, nil
}

// renameRefs renames a column of the only table that an expression reads.
func renameRefs(e ast.Expr, x *ast.TableChange) {
	ast.Walk(e, func(n ast.Node) bool {
		if ref, ok := n.(*ast.ColumnRef); ok && ref.Name() == x.OldName {
			ref.Parts[len(ref.Parts)-1] = x.NewName
		}
		return true
	})
}

func (c *tableChange) renameColumn(x *ast.TableChange) error {
	n, err := c.column(x)
	switch {
	case err != nil:
		return err
	case c.next.Column(x.NewName) >= 0:
		return sqlerr.New(sqlerr.DuplicateColumn, "column %q of relation %q already exists", x.NewName, c.next.Name)
	}
	old := copyTable(c.next)
	for i := range c.next.Table.Checks {
		check := &c.next.Table.Checks[i]
		e, err := storedExpr(check.SQL)
		if err != nil {
			return err
		}
		renameRefs(e, x)
		check.SQL = ast.String(e)
	}
	err = changeIndexTexts(c.next.Table, func(e ast.Expr) bool {
		renameRefs(e, x)
		return true
	})
	if err != nil {
		return err
	}
	c.next.Columns[n].Name = x.NewName
	renameComment(c.next, "column", x.OldName, x.NewName)
	for _, q := range c.s.ownedSequences(c.next) {
		if q.Sequence.Column != x.OldName {
			continue
		}
		err := c.s.catalog().Update(q.ID, func(r *catalog.Relation) error {
			r.Sequence.Column = x.NewName
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := checkColumns(c.next.Columns); err != nil {
		return err
	}
	return c.s.renameInViews(old, c.next)
}

// place moves the table; its sequences follow it to another schema.
func (c *tableChange) place(x *ast.TableChange) error {
	schema := c.next.Schema
	for _, i := range c.next.Indexes() {
		if i.Primary {
			c.next.Table.PrimaryKeyName = i.Name // which stays
		}
		if x.Action == ast.SetSchema && x.NewName != schema && c.s.nameTaken(x.NewName, i.Name) {
			return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists in schema %q", i.Name, x.NewName)
		}
	}
	if err := c.s.place(c.next, x); err != nil || c.next.Schema == schema {
		return err
	}
	for _, q := range c.s.ownedSequences(c.next) {
		if err := c.s.move(q, c.next.Schema, q.Name); err != nil {
			return err
		}
		was, is := nextCall(schema, q.Name), nextCall(c.next.Schema, q.Name)
		for i, d := range c.next.Table.Defaults {
			c.next.Table.Defaults[i] = strings.ReplaceAll(d, was, is)
		}
	}
	return nil
}

// dropIndex drops an index of the table by its number.
func (c *tableChange) dropIndex(ctx context.Context, number id.Relation) error {
	for i, x := range c.next.Table.Indexes {
		if x.ID != number {
			continue
		}
		if err := c.tx.DropIndex(ctx, c.next, x); err != nil {
			return err
		}
		c.next.Table.Indexes = slices.Delete(c.next.Table.Indexes, i, i+1)
		return nil
	}
	return nil
}

func (c *tableChange) dropConstraint(ctx context.Context, x *ast.TableChange, out *sink) error {
	t := c.next.Table
	for _, i := range c.next.Indexes() {
		switch {
		case i.Name != x.OldName || !i.Constraint:
			continue
		case i.Primary:
			if err := c.tx.DropIndex(ctx, c.next, i); err != nil {
				return err
			}
			t.PrimaryKey = nil
			return nil
		}
		return c.dropIndex(ctx, i.ID)
	}
	if k := c.foreignKeyNamed(x.OldName); k != nil {
		number := k.ID
		return c.dropForeignKey(ctx, func(k *catalog.ForeignKey) bool { return k.ID == number })
	}
	kept := slices.DeleteFunc(slices.Clone(t.Checks), func(k catalog.Check) bool { return k.Name == x.OldName })
	switch {
	case len(kept) < len(t.Checks):
		t.Checks = kept
		return nil
	case x.IfColumn:
		return out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "constraint %q of relation %q does not exist, skipping", x.OldName, c.next.Name))
	}
	return sqlerr.New(sqlerr.UndefinedObject, "constraint %q of relation %q does not exist", x.OldName, c.next.Name)
}
