package session

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// kindsToAlter maps what ALTER says to the kinds of relations that it changes; ALTER
// TABLE changes what all have in common of any of them.
var kindsToAlter = map[ast.ObjectKind][]catalog.Kind{
	ast.TableObject:        {catalog.KindTable, catalog.KindView, catalog.KindMaterialized, catalog.KindSequence},
	ast.ViewObject:         {catalog.KindView},
	ast.MaterializedObject: {catalog.KindMaterialized},
	ast.SequenceObject:     {catalog.KindSequence},
}

// kindsWithOwner are those of which ALTER changes nothing but the owner.
var kindsWithOwner = map[ast.ObjectKind][]catalog.Kind{
	ast.TableObject: {catalog.KindStream, catalog.KindContinuousView},
	ast.ViewObject:  {catalog.KindContinuousView},
}

// onlyOwner reports whether an ALTER is OWNER TO.
func onlyOwner(x *ast.AlterTable) bool {
	return !slices.ContainsFunc(x.Changes, func(c ast.TableChange) bool { return c.Action != ast.SetOwner })
}

// alterTable runs ALTER TABLE, VIEW, MATERIALIZED VIEW, SEQUENCE and INDEX.
func (s *Session) alterTable(ctx context.Context, x *ast.AlterTable, out *sink) (string, error) {
	tag := "ALTER " + string(x.Kind)
	if rel, index := s.indexNamed(x.Name); index != nil && (x.Kind == ast.IndexObject || x.Kind == ast.TableObject) {
		if err := s.reachable(rel); err != nil {
			return "", err
		}
		if err := s.mayAlterIndex(rel, index); err != nil {
			return "", err
		}
		return tag, s.alterIndex(rel, index, x)
	}
	rel, err := s.find(x.Name)
	switch {
	case err != nil && x.IfExists:
		return tag, out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "relation %q does not exist, skipping", x.Name.Name))
	case err != nil:
		return "", err
	case onlyOwner(x) && containsKind(kindsWithOwner[x.Kind], rel.Kind):
	case !containsKind(kindsToAlter[x.Kind], rel.Kind):
		return "", sqlerr.New(sqlerr.WrongObjectType, "%q is not %s", rel.Name, article(x.Kind)).
			WithHint("Use ALTER %s.", upper(string(rel.Kind))).At(x.Name.Position())
	}
	if err := s.mustOwn(rel); err != nil {
		return "", err
	}
	if rel.Kind == catalog.KindTable {
		if err := s.settled(rel, "ALTER TABLE"); err != nil {
			return "", err
		}
		if err := s.freeReferenced(ctx, rel, x, out); err != nil {
			return "", err
		}
		if rel, err = s.find(x.Name); err != nil { // it may have lost a foreign key to itself
			return "", err
		}
		err = s.changeTable(rel, func(c *tableChange) error {
			for i := range x.Changes {
				if err := c.apply(ctx, &x.Changes[i], out); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return "", err
		}
		return tag, s.dropUnusedSequences(rel.ID)
	}
	for i := range x.Changes {
		if err := s.alterOther(ctx, s.snapshot().ByID(rel.ID), &x.Changes[i]); err != nil {
			return "", err
		}
	}
	return tag, nil
}

// article is a kind of object behind "is not".
func article(k ast.ObjectKind) string {
	if k == ast.IndexObject {
		return "an index"
	}
	return "a " + lower(k)
}

// alterOther makes a change of a view, a materialized view or a sequence.
func (s *Session) alterOther(ctx context.Context, rel *catalog.Relation, x *ast.TableChange) error {
	switch {
	case x.Action == ast.SequenceChange && rel.Sequence != nil:
		return s.alterSequence(ctx, rel, &x.Sequence)
	case x.Action == ast.RenameColumn && rel.Sequence == nil:
		next := *rel
		if err := s.renameViewColumn(&next, x); err != nil {
			return err
		}
		return s.catalog().Update(rel.ID, func(r *catalog.Relation) error {
			*r = next
			return nil
		})
	case (x.Action == ast.SetDefault || x.Action == ast.DropDefault) && rel.Kind == catalog.KindView:
		return sqlerr.New(sqlerr.FeatureNotSupported, "columns of views have no defaults").
			WithHint("Views take no rows; set the default of the table.").At(x.Position())
	}
	if done, err := s.alterPlace(rel, x); done || err != nil {
		return err
	}
	return sqlerr.New(sqlerr.WrongObjectType, "this ALTER action cannot be performed on relation %q", rel.Name).
		WithDetail("This operation is not supported for %ss.", rel.Kind).At(x.Position())
}

// alterPlace makes a change that every relation can have: of its name, schema or owner.
func (s *Session) alterPlace(rel *catalog.Relation, x *ast.TableChange) (done bool, err error) {
	switch x.Action {
	case ast.SetOwner:
		return true, s.catalog().Update(rel.ID, func(r *catalog.Relation) error { return s.setOwner(r, x.NewName) })
	case ast.RenameTo, ast.SetSchema:
		if owner := s.snapshot().ByID(ownerOf(rel)); owner != nil && x.Action == ast.SetSchema {
			return false, sqlerr.New(sqlerr.FeatureNotSupported, "cannot move an owned sequence into another schema").
				WithDetail("Sequence %q is linked to table %q.", rel.Name, owner.Name)
		}
		next := *rel
		if err := s.place(&next, x); err != nil {
			return false, err
		}
		return true, s.move(rel, next.Schema, next.Name)
	}
	return false, nil
}

func ownerOf(rel *catalog.Relation) id.Relation {
	if rel.Sequence == nil {
		return 0
	}
	return rel.Sequence.Table
}

// place gives a descriptor the name or the schema that a change asks for.
func (s *Session) place(r *catalog.Relation, x *ast.TableChange) error {
	n := ast.ObjectName{Pos: x.Pos, Schema: r.Schema, Name: x.NewName}
	if x.Action == ast.SetSchema {
		n.Schema, n.Name = x.NewName, r.Name
	}
	if x.Action == ast.SetSchema {
		if to := s.snapshot().Named(x.NewName); to == catalog.TemporaryAlias || catalog.IsTemporary(to) || r.Temporary() {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot move objects into or out of temporary schemas")
		}
	}
	schema, name, err := s.newName(n)
	switch {
	case err != nil:
		return err
	case schema == r.Schema && x.Action == ast.SetSchema:
		return nil
	case s.nameTaken(schema, name) && x.Action == ast.SetSchema:
		return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists in schema %q", name, schema)
	case s.nameTaken(schema, name):
		return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", name)
	}
	was := *r
	r.Schema, r.Name = schema, name
	if err := s.freeOfTypes(r); err != nil {
		return err
	}
	return s.renameInViews(&was, r)
}

// move gives a relation that is in the catalog another place, and with a table its
// sequences; what calls a sequence by its name calls it by the new one.
func (s *Session) move(rel *catalog.Relation, schema, name string) error {
	err := s.catalog().Update(rel.ID, func(r *catalog.Relation) error {
		r.Schema, r.Name = schema, name
		return nil
	})
	if err != nil || rel.Sequence == nil {
		return err
	}
	was, is := nextCall(rel.Schema, rel.Name), nextCall(schema, name)
	for _, t := range s.snapshot().Relations() {
		if t.Table == nil || !slices.ContainsFunc(slices.Collect(maps.Values(t.Table.Defaults)), func(d string) bool { return strings.Contains(d, was) }) {
			continue
		}
		err := s.catalog().Update(t.ID, func(r *catalog.Relation) error {
			r.Table.Defaults = maps.Clone(r.Table.Defaults)
			for i, d := range r.Table.Defaults {
				r.Table.Defaults[i] = strings.ReplaceAll(d, was, is)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// nextCall is the default that takes numbers of a sequence.
func nextCall(schema, name string) string {
	return "nextval(" + ast.QuoteString(sequenceName(schema, name)) + "::regclass)"
}

// renameViewColumn renames a column of a view.
func (s *Session) renameViewColumn(r *catalog.Relation, x *ast.TableChange) error {
	n := r.Column(x.OldName)
	switch {
	case n < 0:
		return sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", x.OldName)
	case r.Column(x.NewName) >= 0:
		return sqlerr.New(sqlerr.DuplicateColumn, "column %q of relation %q already exists", x.NewName, r.Name)
	}
	was := *r
	r.Columns = slices.Clone(r.Columns)
	r.Columns[n].Name = x.NewName
	renameComment(r, "column", x.OldName, x.NewName)
	if err := checkColumns(r.Columns); err != nil {
		return err
	}
	return s.renameInViews(&was, r)
}

// indexNamed looks an index up by the search path.
func (s *Session) indexNamed(n ast.ObjectName) (*catalog.Relation, *catalog.Index) {
	schemas := []string{n.Schema}
	if n.Schema == "" {
		schemas = s.path()
	}
	for _, sc := range schemas {
		if s.snapshot().ByName(sc, n.Name) != nil {
			return nil, nil
		}
		if rel, index := s.findIndex(sc, n.Name); index != nil {
			return rel, index
		}
	}
	return nil, nil
}

// alterIndex renames an index, and the constraint that it is of.
func (s *Session) alterIndex(rel *catalog.Relation, index *catalog.Index, x *ast.AlterTable) error {
	c := &x.Changes[0]
	if len(x.Changes) > 1 || c.Action != ast.RenameTo {
		return sqlerr.New(sqlerr.FeatureNotSupported, "this form of ALTER INDEX is not supported").At(c.Position())
	}
	if s.nameTaken(rel.Schema, c.NewName) {
		return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", c.NewName)
	}
	return s.changeTable(rel, func(t *tableChange) error {
		t.renameIndex(index, c.NewName)
		return nil
	})
}

func (c *tableChange) renameIndex(index *catalog.Index, name string) {
	if index.Primary {
		c.next.Table.PrimaryKeyName = name
	}
	for i := range c.next.Table.Indexes {
		if x := &c.next.Table.Indexes[i]; x.ID == index.ID {
			x.Name = name
		}
	}
	renameComment(c.next, "index", index.Name, name)
	if index.Constraint {
		renameComment(c.next, "constraint", index.Name, name)
	}
}

// renameConstraint renames a constraint, and the index that it has.
func (c *tableChange) renameConstraint(x *ast.TableChange) error {
	switch {
	case !hasConstraint(c.next, x.OldName):
		return sqlerr.New(sqlerr.UndefinedObject, "constraint %q for table %q does not exist", x.OldName, c.next.Name)
	case hasConstraint(c.next, x.NewName):
		return sqlerr.New(sqlerr.DuplicateObject, "constraint %q for relation %q already exists", x.NewName, c.next.Name)
	}
	for _, i := range c.next.Indexes() {
		if i.Name != x.OldName || !i.Constraint {
			continue
		}
		if c.s.nameTaken(c.next.Schema, x.NewName) {
			return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", x.NewName)
		}
		c.renameIndex(&i, x.NewName)
		return nil
	}
	for i := range c.next.Table.Checks {
		if c.next.Table.Checks[i].Name == x.OldName {
			c.next.Table.Checks[i].Name = x.NewName
		}
	}
	for i := range c.next.Table.ForeignKeys {
		if c.next.Table.ForeignKeys[i].Name == x.OldName {
			c.next.Table.ForeignKeys[i].Name = x.NewName
		}
	}
	renameComment(c.next, "constraint", x.OldName, x.NewName)
	return nil
}

// hasConstraint reports whether a constraint of a table has a name.
func hasConstraint(table *catalog.Relation, name string) bool {
	return slices.ContainsFunc(table.Indexes(), func(i catalog.Index) bool { return i.Constraint && i.Name == name }) ||
		slices.ContainsFunc(table.Table.Checks, func(k catalog.Check) bool { return k.Name == name }) ||
		slices.ContainsFunc(table.Table.ForeignKeys, func(k catalog.ForeignKey) bool { return k.Name == name })
}
