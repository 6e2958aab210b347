package ast_test

import (
	"strings"
	"testing"

	"github.com/tallydb/tallydb/sql/ast"
)

func column(name string) *ast.ColumnRef { return &ast.ColumnRef{Parts: []string{name}} }

// query is SELECT a AS x FROM t WHERE b IN (SELECT c) ORDER BY d, built by hand.
func query() *ast.Select {
	inner := &ast.Select{Body: &ast.SelectCore{Targets: []ast.Target{{Expr: column("c")}}}}
	return &ast.Select{
		Body: &ast.SelectCore{
			Targets: []ast.Target{{Expr: column("a"), Alias: "x"}},
			From:    []ast.FromItem{&ast.TableRef{Name: ast.ObjectName{Name: "t"}}},
			Where:   &ast.In{Arg: column("b"), Query: inner},
		},
		OrderBy: []ast.SortKey{{Expr: column("d")}},
	}
}

func TestWalk(t *testing.T) {
	var all, level []string
	ast.Walk(query(), func(n ast.Node) bool {
		if c, ok := n.(*ast.ColumnRef); ok {
			all = append(all, c.Name())
		}
		return true
	})
	ast.WalkExprs(query(), func(e ast.Expr) bool {
		if c, ok := e.(*ast.ColumnRef); ok {
			level = append(level, c.Name())
		}
		return true
	})
	if got := strings.Join(all, ""); got != "abcd" {
		t.Errorf("Walk saw %s", got)
	}
	if got := strings.Join(level, ""); got != "abd" {
		t.Errorf("WalkExprs saw %s", got)
	}
}

func TestString(t *testing.T) {
	const want = "SELECT a AS x FROM t WHERE b IN (SELECT c) ORDER BY d"
	if got := ast.String(query()); got != want {
		t.Errorf("%s", got)
	}
}

func TestQuote(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "_a1$": "_a1$", "A": `"A"`, "select": `"select"`, "1a": `"1a"`, `a"b`: `"a""b"`, "é": `"é"`, "": `""`,
	} {
		if got := ast.QuoteIdentifier(name); got != want {
			t.Errorf("%s is quoted as %s", name, got)
		}
	}
	for s, want := range map[string]string{"it's": "'it''s'", `a\b`: `E'a\\b'`, "": "''"} {
		if got := ast.QuoteString(s); got != want {
			t.Errorf("%s is quoted as %s", s, got)
		}
	}
}
