package session

import (
	"maps"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// commentOn runs COMMENT ON.
func (s *Session) commentOn(x *ast.CommentOn) (string, error) {
	const tag = "COMMENT"
	text := ""
	if x.Comment != nil {
		text = *x.Comment
	}
	switch x.Kind {
	case ast.SchemaObject:
		return tag, s.commentOnSchema(x, text)
	case ast.TypeObject, ast.DomainObject:
		return tag, s.commentOnType(x, text)
	case ast.IndexObject:
		rel, index := s.indexNamed(x.Name)
		if index != nil {
			if err := s.reachable(rel); err != nil {
				return "", err
			}
			if err := s.mayAlterIndex(rel, index); err != nil {
				return "", err
			}
		}
		if index == nil {
			r, err := s.lookup(x.Name)
			if err == nil {
				err = sqlerr.New(sqlerr.WrongObjectType, "%q is not an index", r.Name).At(x.Name.Position())
			}
			return "", err
		}
		return tag, s.setComment(rel, catalog.CommentOf("index", index.Name), text)
	case ast.DatabaseObject, ast.SinkObject:
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "COMMENT ON %s is not supported", x.Kind).At(x.Position())
	}
	if x.OfDomain {
		return tag, s.commentOnDomainConstraint(x, text)
	}
	name, column := x.Name, ""
	if x.Kind == ast.ColumnObject {
		if name.Schema == "" {
			return "", sqlerr.New(sqlerr.SyntaxError, "column name must be qualified").At(name.Position())
		}
		column = name.Name
		name = ast.ObjectName{Pos: name.Pos, Schema: name.Catalog, Name: name.Schema}
	}
	rel, err := s.lookup(name)
	if err == nil && x.Kind == ast.ColumnObject && !s.owns(access.OfRelation(rel)) {
		return "", sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of relation %s", rel.Name)
	}
	if err == nil {
		err = s.mustOwn(rel)
	}
	if err != nil {
		return "", err
	}
	switch {
	case x.Kind == ast.ColumnObject && rel.Column(column) < 0:
		return "", sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", column, rel.Name)
	case x.Kind == ast.ColumnObject:
		return tag, s.setComment(rel, catalog.CommentOf("column", column), text)
	case x.Kind == ast.ConstraintObject && (rel.Kind != catalog.KindTable || !hasConstraint(rel, x.Constraint)):
		return "", sqlerr.New(sqlerr.UndefinedObject, "constraint %q for table %q does not exist", x.Constraint, rel.Name)
	case x.Kind == ast.ConstraintObject:
		return tag, s.setComment(rel, catalog.CommentOf("constraint", x.Constraint), text)
	case !containsKind(kindsOf[x.Kind], rel.Kind):
		return "", sqlerr.New(sqlerr.WrongObjectType, "%q is not %s", rel.Name, article(x.Kind)).At(name.Position())
	}
	return tag, s.setComment(rel, "", text)
}

func (s *Session) commentOnSchema(x *ast.CommentOn, text string) error {
	for _, schema := range s.snapshot().Schemas {
		if schema.Name == x.Name.Name {
			if catalog.IsTemporary(schema.Name) {
				return errTemporarySchema(schema.Name)
			}
			if err := s.mustOwnSchema(&schema); err != nil {
				return err
			}
			schema.Comment = text
			s.catalog().SetSchema(schema)
			return nil
		}
	}
	if s.snapshot().HasSchema(x.Name.Name) || isSystemSchema(x.Name.Name) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "COMMENT ON SCHEMA %s is not supported", x.Name.Name).At(x.Name.Position())
	}
	return sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", x.Name.Name).At(x.Name.Position())
}

// setComment sets the comment on a relation or a part of it; "" is none.
func (s *Session) setComment(rel *catalog.Relation, key, text string) error {
	return s.catalog().Update(rel.ID, func(r *catalog.Relation) error {
		r.Comments = maps.Clone(r.Comments)
		if text == "" {
			delete(r.Comments, key)
			return nil
		}
		if r.Comments == nil {
			r.Comments = map[string]string{}
		}
		r.Comments[key] = text
		return nil
	})
}

// renameComment moves the comment on a part of a relation.
func renameComment(r *catalog.Relation, part, from, to string) {
	if text, ok := r.Comments[catalog.CommentOf(part, from)]; ok {
		r.Comments = maps.Clone(r.Comments)
		delete(r.Comments, catalog.CommentOf(part, from))
		r.Comments[catalog.CommentOf(part, to)] = text
	}
}

// dropComments forgets the comments on parts that a table has no more.
func dropComments(r *catalog.Relation) {
	if len(r.Comments) == 0 {
		return
	}
	there := []string{""}
	for _, c := range r.Columns {
		there = append(there, catalog.CommentOf("column", c.Name))
	}
	for _, i := range r.Indexes() {
		there = append(there, catalog.CommentOf("index", i.Name))
	}
	r.Comments = maps.Clone(r.Comments)
	maps.DeleteFunc(r.Comments, func(key, _ string) bool {
		name, isConstraint := strings.CutPrefix(key, catalog.CommentOf("constraint", ""))
		if isConstraint {
			return !hasConstraint(r, name)
		}
		return !slices.Contains(there, key)
	})
}
