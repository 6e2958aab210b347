package session

import (
	"errors"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// renameInViews makes the views that read a relation name it, and its columns, as next
// does: a view keeps the text of its query. It refuses where that text would not mean
// what it meant, as with NATURAL.
func (s *Session) renameInViews(rel, next *catalog.Relation) error {
	var renamed []renamedView
	after := s.snapshot().With(next)
	for _, view := range s.dependents(rel) {
		if view.Body() == nil {
			return errRead(rel.Name, view.Name)
		}
		r, err := s.renamedBody(view, rel, next)
		if err != nil {
			return errReadBy(rel, view, err)
		}
		if r == nil {
			continue // it reads another view that does
		}
		renamed = append(renamed, *r)
		after = after.With(r.view)
	}
	for _, r := range renamed {
		again, err := parseSelect(r.view.Body().SQL)
		if err != nil {
			return errReadBy(rel, r.view, err)
		}
		names, err := s.namesIn(r.view, again, after)
		if err != nil {
			return errReadBy(rel, r.view, err)
		}
		if !slices.Equal(meanings(again, names), r.means) {
			return errReadBy(rel, r.view, errors.New("other names in its query would mean something else"))
		}
		err = s.catalog().Update(r.view.ID, func(now *catalog.Relation) error {
			now.View, now.Materialized = r.view.View, r.view.Materialized
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func errReadBy(rel, view *catalog.Relation, why error) error {
	return sqlerr.From(errRead(rel.Name, view.Name)).WithDetail("%s", sqlerr.From(why).Message)
}

// renamedView is a view with another text, and what the names in that have to mean.
type renamedView struct {
	view  *catalog.Relation
	means []plan.Origin
}

// renamedBody makes a view whose query has other names; nil if it names nothing of rel.
func (s *Session) renamedBody(view, rel, next *catalog.Relation) (*renamedView, error) {
	body, err := parseSelect(view.Body().SQL)
	if err != nil {
		return nil, err
	}
	names, err := s.namesIn(view, body, s.snapshot())
	if err != nil {
		return nil, err
	}
	means := meanings(body, names)
	if !slices.ContainsFunc(means, func(o plan.Origin) bool { return isColumnOf(o, rel) }) {
		return nil, nil
	}
	moved := rel.Name != next.Name || rel.Schema != next.Schema
	natural := false
	ast.Walk(body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.Join:
			natural = natural || x.Natural
		case *ast.SelectCore:
			renameTargets(x, names, rel, next)
		case *ast.TableRef:
			if moved && names.Relations[x] == rel.ID {
				if x.Alias == nil {
					x.Alias = &ast.Alias{Name: x.Name.Name}
				}
				x.Name = ast.ObjectName{Schema: next.Schema, Name: next.Name}
			}
		case *ast.ColumnRef:
			if moved && isColumnOf(names.Columns[x], rel) && len(x.Parts) > 2 {
				x.Parts = x.Parts[len(x.Parts)-2:] // the alias has no schema
			}
			rename(x, names, rel, next)
		}
		return true
	})
	if natural && !moved {
		return nil, errors.New("its query has a NATURAL JOIN, which goes by the names of columns")
	}
	out := *view
	query := *view.Body()
	query.SQL = ast.String(body)
	if view.Materialized != nil {
		out.Materialized = &catalog.Materialized{View: query, Populated: view.Materialized.Populated}
	} else {
		out.View = &query
	}
	return &renamedView{view: &out, means: means}, nil
}

// namesIn returns what the names in the query of a view mean.
func (s *Session) namesIn(view *catalog.Relation, body *ast.Select, snapshot *catalog.Snapshot) (*bind.Names, error) {
	env := s.bodyEnv(view.Body().Path)
	env.Snapshot, env.Names = snapshot, bind.NewNames()
	_, err := bind.Bind(env, body, nil)
	return env.Names, err
}

// meanings lists what the names under n mean, in the order of the text.
func meanings(n ast.Node, names *bind.Names) []plan.Origin {
	var out []plan.Origin
	ast.Walk(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.TableRef:
			out = append(out, plan.Origin{Relation: uint32(names.Relations[x])})
		case *ast.ColumnRef:
			out = append(out, names.Columns[x])
		}
		return true
	})
	return out
}

// isColumnOf reports whether a column is one of a relation.
func isColumnOf(o plan.Origin, rel *catalog.Relation) bool { return o.Relation == uint32(rel.ID) }

// rename gives the name of a column the new one.
func rename(x *ast.ColumnRef, names *bind.Names, rel, next *catalog.Relation) {
	if o := names.Columns[x]; isColumnOf(o, rel) && o.Column <= len(next.Columns) {
		if is := next.Columns[o.Column-1].Name; rel.Columns[o.Column-1].Name != is {
			x.Parts[len(x.Parts)-1] = is
		}
	}
}

// renameTargets renames in the targets of a SELECT, whose columns keep their names.
func renameTargets(core *ast.SelectCore, names *bind.Names, rel, next *catalog.Relation) {
	for i := range core.Targets {
		t := &core.Targets[i]
		if _, star := t.Expr.(*ast.Star); star || t.Alias != "" {
			continue
		}
		was := bind.ColumnName(t.Expr)
		ast.WalkExprs(t.Expr, func(e ast.Expr) bool {
			if ref, ok := e.(*ast.ColumnRef); ok {
				rename(ref, names, rel, next)
			}
			return true
		})
		if bind.ColumnName(t.Expr) != was {
			t.Alias = was
		}
	}
}
