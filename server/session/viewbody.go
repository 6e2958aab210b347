package session

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// newBody makes what is kept of the query of a new view in a schema: its text, and how
// names in that are looked up.
//
// env has told the names of the query where it was bound to q.
func (s *Session) newBody(env *bind.Env, q *plan.Query, source, schema string) (*catalog.View, error) {
	view := &catalog.View{SQL: source, TimeZone: s.settings.values["timezone"], Path: s.namesOfView(schema)}
	if len(env.Names.Stars) == 0 && len(view.Path) < 2 {
		return view, nil
	}
	body, err := parseSelect(source)
	if err != nil {
		return nil, err
	}
	env.Names = bind.NewNames() // of these nodes
	if _, err := bind.Bind(env, body, nil); err != nil {
		return nil, err
	}
	named := s.nameSchemas(body, env, view.Path)
	if expanded := expandStars(body, env.Names); !named && !expanded {
		return view, nil
	}
	view.SQL = ast.String(body)
	again, err := parseSelect(view.SQL)
	if err != nil {
		return nil, err
	}
	env.Names = nil
	after, err := bind.Bind(env, again, nil)
	if err != nil {
		return nil, err
	}
	same := func(a, b types.Column) bool { return a.Name == b.Name && a.Type == b.Type }
	if !slices.EqualFunc(q.Output, after.Output, same) {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "the columns that * stands for cannot be written out").WithHint("Name them.")
	}
	return view, nil
}

// nameSchemas puts the schema in front of the names in the query of a view that another
// relation or type could take: one that comes later to a schema that is before theirs in
// the path of the view, as temporary ones often do. It reports whether there are any.
func (s *Session) nameSchemas(body *ast.Select, env *bind.Env, path []string) (named bool) {
	takeable := func(schema string) bool {
		at := slices.Index(path, schema)
		return at > 0 || at < 0 && catalog.IsTemporary(schema) // of a sequence, which makes no view temporary
	}
	ast.Walk(body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.TableRef:
			if in := env.Names.Schemas[x]; x.Name.Schema == "" && takeable(in) {
				x.Name.Schema, named = in, true
			}
		case *ast.TypeName:
			if t, _ := bind.UserType(s.snapshot(), env.SearchPath, x.Name); t != nil && x.Name.Schema == "" && takeable(t.Schema) {
				x.Name.Schema, named = t.Schema, true
			}
		}
		if l := relationLiteral(n); l != nil {
			if rel := s.relationNamed(l.Text); rel != nil && takeable(rel.Schema) {
				l.Text, named = ast.QuoteIdentifier(rel.Schema)+"."+ast.QuoteIdentifier(rel.Name), true
			}
		}
		return true
	})
	return named
}

// expandStars puts the columns that the stars of a query stand for now in their place:
// columns that come later are not the view's. What shows the envelope of streams keeps its
// stars. It reports whether there are any.
func expandStars(body *ast.Select, names *bind.Names) bool {
	ast.Walk(body, func(n ast.Node) bool {
		core, ok := n.(*ast.SelectCore)
		if !ok {
			return true
		}
		var targets []ast.Target
		for _, t := range core.Targets {
			if star, ok := t.Expr.(*ast.Star); ok && names.Stars[star] != nil {
				targets = append(targets, names.Stars[star]...)
			} else {
				targets = append(targets, t)
			}
		}
		core.Targets = targets
		return true
	})
	return len(names.Stars) > 0
}
