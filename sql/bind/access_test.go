package bind_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryNodeOfRelationsIsGuarded: the nodes of plans that hold a relation of the
// catalog are those whose privileges guarded looks at. A new one has to be listed in
// touched, or here with the reason why it need not be.
func TestEveryNodeOfRelationsIsGuarded(t *testing.T) {
	no := map[string]string{
		"Fold": "no node: what a FoldScan reads", "Rules": "no node: of a Modify or a Merge", "RelationVersion": "no node",
	}
	touched := cases(t, "access.go", "touched")
	files, err := filepath.Glob("../plan/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	inspect := func(n ast.Node) bool {
		s, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		fields, ok := s.Type.(*ast.StructType)
		if !ok || !slices.ContainsFunc(fields.Fields.List, holdsRelation) {
			return true
		}
		found++
		if !slices.Contains(touched, s.Name.Name) && no[s.Name.Name] == "" {
			t.Errorf("nobody looks at the privileges on the relation of a %s", s.Name.Name)
		}
		return true
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, inspect)
	}
	if found < 7 {
		t.Errorf("found %d nodes with relations", found)
	}
}

func holdsRelation(f *ast.Field) bool {
	star, ok := f.Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Relation"
}

// cases returns the types that the type switch of a function has cases for.
func cases(t *testing.T, file, function string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != function {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			c, ok := n.(*ast.CaseClause)
			if !ok {
				return true
			}
			for _, e := range c.List {
				if star, ok := e.(*ast.StarExpr); ok {
					out = append(out, strings.TrimPrefix(star.X.(*ast.SelectorExpr).Sel.Name, "plan."))
				}
			}
			return true
		})
	}
	return out
}
