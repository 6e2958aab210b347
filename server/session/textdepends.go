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

// textDependent is what uses a type, or a sequence by its name in a text, and what takes it
// away.
type textDependent struct {
	what   string
	drop   *ast.TableChange // of a table; nil drops the relation
	rel    *catalog.Relation
	index  id.Relation   // of the relation, that is dropped
	domain *catalog.Type // that is dropped, where there is no relation
}

// textDependents returns what has a text that names something, or is of a type.
func (s *Session) textDependents(names func(n ast.Node, path []string) bool, of func(types.Type) bool) []textDependent {
	var out []textDependent
	for _, d := range s.snapshot().Types {
		named := slices.ContainsFunc(domainTexts(d), func(text string) bool {
			e, err := storedExpr(text)
			return err == nil && names(e, storedPath)
		})
		if d.Domain != nil && (of(d.Domain.Of) || named) {
			out = append(out, textDependent{what: "type " + d.Shown(), domain: d})
		}
	}
	for _, r := range s.snapshot().Relations() {
		if body, path := s.bodyOf(r); body != nil {
			if slices.ContainsFunc(r.Columns, func(c types.Column) bool { return of(c.Type) }) || names(body, path) {
				out = append(out, textDependent{what: fmt.Sprintf("%s %s", r.Kind, r.Name), rel: r})
			}
			continue
		}
		for i, c := range r.Columns {
			if of(c.Type) {
				out = append(out, textDependent{
					what: fmt.Sprintf("column %s of %s %s", c.Name, r.Kind, r.Name), rel: r,
					drop: &ast.TableChange{Action: ast.DropColumn, OldName: c.Name, IfColumn: true, Cascade: true},
				})
				continue
			}
			if e, err := storedExpr(r.Default(i)); err == nil && names(e, storedPath) {
				out = append(out, textDependent{
					what: fmt.Sprintf("default value for column %s of %s %s", c.Name, r.Kind, r.Name), rel: r,
					drop: &ast.TableChange{Action: ast.DropDefault, OldName: c.Name},
				})
			}
		}
		if r.Table == nil {
			continue
		}
		for i := range r.Table.Indexes {
			x := &r.Table.Indexes[i]
			if named, err := indexTextsHave(x, func(e ast.Expr) bool { return names(e, storedPath) }); err == nil && named {
				out = append(out, textDependent{what: "index " + x.Name, rel: r, index: x.ID})
			}
		}
		for _, check := range r.Table.Checks {
			if e, err := storedExpr(check.SQL); err == nil && names(e, storedPath) {
				out = append(out, textDependent{
					what: fmt.Sprintf("constraint %s on table %s", check.Name, r.Name), rel: r,
					drop: &ast.TableChange{Action: ast.DropConstraint, OldName: check.Name, IfColumn: true, Cascade: true},
				})
			}
		}
	}
	return out
}

// sequenceDependents returns what names a sequence, but for what goes with some relations.
func (s *Session) sequenceDependents(q *catalog.Relation, without []id.Relation) []textDependent {
	names := func(n ast.Node, path []string) (found bool) {
		ast.Walk(n, func(n ast.Node) bool {
			if l := relationLiteral(n); l != nil && strings.Contains(l.Text, q.Name) {
				rel := s.relationOn(l.Text, path)
				found = found || rel != nil && rel.ID == q.ID
			}
			return !found
		})
		return found
	}
	list := s.textDependents(names, func(types.Type) bool { return false })
	return slices.DeleteFunc(list, func(d textDependent) bool { return d.rel != nil && slices.Contains(without, d.rel.ID) })
}

// dependentLines are the lines of an error that say what depends on something.
func dependentLines(list []textDependent, on string) []string {
	lines := make([]string, len(list))
	for i, d := range list {
		lines[i] = d.what + " depends on " + on
	}
	return lines
}

// errDependOn says that something cannot be dropped, and what is in the way.
func errDependOn(what string, lines []string) error {
	return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop %s because other objects depend on it", what).
		WithDetail("%s", strings.Join(lines, "\n")).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
}

// dropTextDependents drops what depends on a type or a sequence that is dropped, whoever
// owns it, and says so.
func (s *Session) dropTextDependents(ctx context.Context, list []textDependent, out *sink) error {
	for _, d := range list {
		if d.rel != nil && d.rel.Stream != nil {
			return sqlerr.New(sqlerr.FeatureNotSupported, "DROP ... CASCADE does not change stream %s", d.rel.Name).WithHint("Drop the stream first.")
		}
	}
	for _, d := range list {
		if d.domain != nil {
			if err := s.dropDomain(ctx, d, out); err != nil {
				return err
			}
			continue
		}
		rel := s.snapshot().ByID(d.rel.ID)
		if rel == nil {
			continue // an earlier one took it along
		}
		if err := out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "drop cascades to %s", d.what)); err != nil {
			return err
		}
		var err error
		switch {
		case d.index != 0:
			err = s.changeTable(rel, func(c *tableChange) error { return c.dropIndex(ctx, d.index) })
		case d.drop == nil:
			err = s.dropRelation(ctx, rel, true, out)
		case d.drop.Action == ast.DropColumn:
			_, err = s.alterTable(ctx, &ast.AlterTable{Kind: ast.TableObject, Name: ast.ObjectName{Schema: rel.Schema, Name: rel.Name}, Changes: []ast.TableChange{*d.drop}}, out)
		default:
			err = s.changeTable(rel, func(c *tableChange) error { return c.apply(ctx, d.drop, out) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropDomain drops a domain that a type takes along.
func (s *Session) dropDomain(ctx context.Context, d textDependent, out *sink) error {
	domain := s.snapshot().TypeByOID(d.domain.OID)
	if domain == nil {
		return nil // an earlier one took it along
	}
	if err := out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "drop cascades to %s", d.what)); err != nil {
		return err
	}
	return s.dropType(ctx, domain, true, out)
}
