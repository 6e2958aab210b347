package session

import (
	"maps"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// likeness is a relation whose columns a new table has, from the column at on.
type likeness struct {
	of   *catalog.Relation
	at   int
	with *ast.TableLike
}

// like adds the columns of another relation, and what of them does not name others.
func (d *definer) like(x *ast.TableLike) error {
	of, err := d.s.lookup(x.Name)
	if err != nil {
		return err
	}
	if of.Kind == catalog.KindSequence {
		return sqlerr.New(sqlerr.WrongObjectType, "relation %q is invalid in LIKE clause", of.Name).
			WithDetail("This operation is not supported for sequences.").At(x.Name.Position())
	}
	if err := d.s.may(of, catalog.MaySelect); err != nil {
		return err
	}
	l := likeness{of: of, at: len(d.table.Columns), with: x}
	d.likes = append(d.likes, l)
	for i, c := range of.Columns {
		if d.table.Column(c.Name) >= 0 {
			return sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", c.Name)
		}
		d.table.Columns = append(d.table.Columns, types.Column{Name: c.Name, Type: c.Type, NotNull: c.NotNull})
		if of.Table == nil {
			continue
		}
		_, identity := of.Table.Identity[i]
		switch text := of.Table.Defaults[i]; {
		case identity && x.Includes("identity"):
			d.identityLike(of, i)
		case text != "" && !identity && x.Includes("defaults"):
			d.table.Table.Defaults[l.at+i] = text
		}
	}
	if x.Includes("comments") {
		for _, c := range of.Columns {
			d.commentLike(l, "column", c.Name, c.Name)
		}
	}
	if of.Table == nil || !x.Includes("constraints") {
		return nil
	}
	for _, c := range of.Table.Checks {
		if d.hasCheck(c.Name) {
			return sqlerr.New(sqlerr.DuplicateObject, "check constraint %q already exists", c.Name)
		}
		c.ID = d.s.engine.Catalog.Reserve()
		d.table.Table.Checks = append(slices.Clone(d.table.Table.Checks), c)
		d.commentLike(l, "constraint", c.Name, c.Name)
	}
	return nil
}

// commentLike takes the comment on a part over, if comments are.
func (d *definer) commentLike(l likeness, part, from, to string) {
	text, ok := l.of.Comments[catalog.CommentOf(part, from)]
	if !ok || !l.with.Includes("comments") {
		return
	}
	d.table.Comments = maps.Clone(d.table.Comments)
	if d.table.Comments == nil {
		d.table.Comments = map[string]string{}
	}
	d.table.Comments[catalog.CommentOf(part, to)] = text
}

// identityLike makes the last column an identity column as column i of another table is.
func (d *definer) identityLike(of *catalog.Relation, i int) {
	n := len(d.table.Columns) - 1
	d.table.Table.Identity[n] = of.Table.Identity[i]
	for _, r := range d.s.ownedSequences(of) {
		if r.Sequence.Column != of.Columns[i].Name {
			continue
		}
		q := *r.Sequence
		d.ownSequence(&q, n)
		return
	}
}

// likeIndexes makes the indexes that the table has after others, with names of its own.
func (d *definer) likeIndexes(l likeness) error {
	if l.of.Table == nil || !l.with.Includes("indexes") {
		return nil
	}
	for _, x := range l.of.Indexes() {
		from := x.Name
		x.Columns = slices.Clone(x.Columns)
		for i, c := range x.Columns {
			if c != catalog.IndexColumnExpr {
				x.Columns[i] = c + l.at
			}
		}
		if x.Primary {
			if err := d.primaryKey(x.Columns, "", 0); err != nil {
				return err
			}
			d.taken[d.table.Name+"_pkey"] = true
			for _, part := range []string{"index", "constraint"} {
				d.commentLike(l, part, from, d.table.Name+"_pkey")
			}
			continue
		}
		names := make([]string, len(x.Columns))
		for i := range names {
			names[i] = x.Column(d.table, i).Name
		}
		suffix := "idx"
		if x.Constraint {
			suffix = "key"
		}
		x.ID, x.Name = d.s.engine.Catalog.Reserve(), d.free(d.table.Name+"_"+strings.Join(names, "_"), suffix)
		d.table.Table.Indexes = append(slices.Clone(d.table.Table.Indexes), x)
		for _, part := range []string{"index", "constraint"} {
			d.commentLike(l, part, from, x.Name)
		}
	}
	return nil
}
