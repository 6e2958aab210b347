package pgcatalog

import (
	"cmp"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/types"
)

// comment is a row of pg_description.
type comment struct {
	oid, class uint32
	sub        int // the number of a column
	text       string
}

// comments calls row for every comment on an object of the user.
func (c *Catalog) comments(row func(comment)) {
	for _, o := range c.objects() {
		c.commentsOf(o, row)
	}
	c.checks(func(r *catalog.Relation, check *catalog.Check) {
		if text := r.Comments[catalog.CommentOf("constraint", check.Name)]; text != "" {
			row(comment{uint32(check.ID), pgConstraintOID, 0, text})
		}
	})
	for _, r := range c.references() {
		if text := r.From.Comments[catalog.CommentOf("constraint", r.Key.Name)]; text != "" {
			row(comment{uint32(r.Key.ID), pgConstraintOID, 0, text})
		}
	}
	for _, s := range c.userSchemas() {
		if s.Comment != "" {
			row(comment{uint32(s.ID), pgNamespaceOID, 0, s.Comment})
		}
	}
	for _, t := range c.userTypes() {
		if t.Comment != "" {
			row(comment{uint32(t.OID), pgTypeOID, 0, t.Comment})
		}
	}
	c.domainChecks(func(_ *catalog.Type, check *catalog.DomainCheck) {
		if check.Comment != "" {
			row(comment{uint32(check.ID), pgConstraintOID, 0, check.Comment})
		}
	})
}

// commentsOf calls row for the comments on a relation, or on an index and its
// constraint: what COMMENT ON said or, of what has no comment, what there is to say.
func (c *Catalog) commentsOf(o *object, row func(comment)) {
	if o.index() {
		said := o.table.Comments
		if text := said[catalog.CommentOf("index", o.name)]; text != "" {
			row(comment{o.oid, pgClassOID, 0, text})
		}
		if text := said[catalog.CommentOf("constraint", o.name)]; text != "" && o.key.constraint != 0 {
			row(comment{o.key.constraint, pgConstraintOID, 0, text})
		}
		return
	}
	var said map[string]string
	if o.relation != nil {
		said = o.relation.Comments
	}
	if text := cmp.Or(said[""], o.about); text != "" {
		row(comment{o.oid, pgClassOID, 0, text})
	}
	for i, col := range o.columns {
		text := said[catalog.CommentOf("column", col.Name)]
		if col.Role == types.RoleEnvelope {
			text = envelopeAbout[col.Name]
		}
		if text != "" {
			row(comment{o.oid, pgClassOID, i + 1, text})
		}
	}
}
