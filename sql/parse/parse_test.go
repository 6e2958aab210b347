package parse_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// corpus returns the statements of a file, each behind a line "-- @ name".
func corpus(t testing.TB, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for _, part := range strings.Split("\n"+string(data), "\n-- @ ")[1:] {
		name, sql, _ := strings.Cut(part, "\n")
		list[name] = strings.TrimSpace(sql)
	}
	return list
}

var corpora = []string{"testdata/statements.sql", "testdata/tally.sql", "fidelity/testdata/clauses.sql"}

// sameTree compares trees without positions and source texts.
var sameTree = cmp.Options{
	cmpopts.IgnoreTypes(ast.Pos(0)),
	cmpopts.IgnoreFields(ast.CreateView{}, "Source"),
	cmpopts.IgnoreFields(ast.CreateTable{}, "Source"),
	cmpopts.IgnoreFields(ast.CreateContinuousView{}, "Source"),
	cmpopts.IgnoreFields(ast.CreateSink{}, "Source"),
	cmpopts.IgnoreFields(ast.AlterContinuousView{}, "Source"),
	cmpopts.IgnoreFields(ast.Prepare{}, "Source"),
}

// TestRoundTrip demands that the text of a tree parses to the same tree.
func TestRoundTrip(t *testing.T) {
	for _, file := range corpora {
		for name, sql := range corpus(t, file) {
			list, err := parse.Parse(sql)
			if err != nil || len(list) != 1 {
				t.Errorf("%s: %v\n%s", name, err, sql)
				continue
			}
			text := ast.String(list[0].Statement)
			again, err := parse.Parse(text)
			if err != nil || len(again) != 1 {
				t.Errorf("%s: the text does not parse: %v\n%s", name, err, text)
				continue
			}
			if diff := cmp.Diff(list[0].Statement, again[0].Statement, sameTree); diff != "" {
				t.Errorf("%s: the text has another tree\nsource: %s\ntext:   %s\n%s", name, sql, text, diff)
			}
			if second := ast.String(again[0].Statement); second != text {
				t.Errorf("%s: the text is not canonical\n%s\n%s", name, text, second)
			}
		}
	}
}

// TestPositions demands that every name and constant points at itself.
func TestPositions(t *testing.T) {
	for _, file := range corpora {
		for name, sql := range corpus(t, file) {
			list, err := parse.Parse(sql)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			chars := []rune(sql)
			ast.Walk(list[0].Statement, func(n ast.Node) bool {
				if ref, ok := n.(*ast.ColumnRef); ok {
					checkPosition(t, name, chars, ref.Position(), ref.Parts[0])
				}
				if op, ok := n.(*ast.Binary); ok && op.Op.Schema == "" && op.Op.Name != "<>" {
					checkPosition(t, name, chars, op.Position(), op.Op.Name)
				}
				return true
			})
		}
	}
}

func checkPosition(t *testing.T, name string, chars []rune, pos int, want string) {
	t.Helper()
	if pos < 1 || pos > len(chars) {
		t.Errorf("%s: position %d of %q", name, pos, want)
		return
	}
	got := strings.ToLower(strings.TrimLeft(string(chars[pos-1:]), `"`))
	got = strings.ReplaceAll(got, `""`, `"`)
	if !strings.HasPrefix(got, strings.ToLower(want)) && !strings.HasPrefix(strings.ToLower(got), "operator(") {
		t.Errorf("%s: position %d has %.20q, not %q", name, pos, got, want)
	}
}

func TestMultipleStatements(t *testing.T) {
	list, err := parse.Parse(" ;; select $3 ; insert into t values ($1);\n;")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].SQL != "select $3" || list[0].Start != 4 || list[0].Params != 3 ||
		list[1].SQL != "insert into t values ($1)" || list[1].Start != 16 || list[1].Params != 1 {
		t.Errorf("%+v", list)
	}
	if list, err = parse.Parse(" -- nothing\n ; "); err != nil || list != nil {
		t.Errorf("%v %v", list, err)
	}
	if _, err := parse.ParseOne("select 1; select 2"); sqlerr.CodeOf(err) != sqlerr.SyntaxError {
		t.Error(err)
	}
}

// TestLimits demands an error, soon, for texts that nest or chain without end.
func TestLimits(t *testing.T) {
	const many = 200_000
	for name, sql := range map[string]string{
		"parentheses": "select " + strings.Repeat("(", many) + "1" + strings.Repeat(")", many),
		"open":        "select " + strings.Repeat("(", many),
		"queries":     strings.Repeat("(select ", many),
		"subqueries":  strings.Repeat("select * from (", many),
		"joins":       "select * from " + strings.Repeat("(a join ", many),
		"not":         "select " + strings.Repeat("not ", many) + "a",
		"minus":       "select " + strings.Repeat("- ", many) + "1",
		"calls":       "select " + strings.Repeat("f(", many) + "1",
		"arrays":      "select array" + strings.Repeat("[", many),
		"case":        "select " + strings.Repeat("case when ", many),
		"sum":         "select 1" + strings.Repeat(" + 1", many),
		"concat":      "select a" + strings.Repeat(" || a", many),
		"and":         "select a" + strings.Repeat(" and a", many),
		"union":       "select 1" + strings.Repeat(" union select 1", many),
		"subscripts":  "select a" + strings.Repeat("[1]", many),
		"casts":       "select a" + strings.Repeat("::int", many),
		"grouping":    "select 1 group by " + strings.Repeat("rollup(", many),
		"power":       "select a" + strings.Repeat(" ^ (a", many),
		"tall sums":   "select " + strings.Repeat("(", 800) + "1" + strings.Repeat(strings.Repeat(" + 1", 500)+")", 800),
		"tall ands":   "select " + strings.Repeat("(", 800) + "1" + strings.Repeat(strings.Repeat(" and a", 500)+" or b)", 800),
		"with":        strings.Repeat("with a as (", many),
	} {
		if _, err := parse.Parse(sql); sqlerr.CodeOf(err) != sqlerr.StatementTooComplex {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, sql := range map[string]string{
		"parentheses": "select " + strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300),
		"and":         "select a" + strings.Repeat(" and a", 5000),
		"sum":         "select 1" + strings.Repeat(" + 1", 5000),
		"list":        "select a in (1" + strings.Repeat(", 1", 50_000) + ")",
		"union":       "select 1" + strings.Repeat(" union select 1", 500),
		"nested list": "select " + strings.Repeat("((", 200) + "select a in (1" + strings.Repeat(", 1", 50_000) + ")" + strings.Repeat("))", 200),
	} {
		if _, err := parse.Parse(sql); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPlainValues demands that the fast path for bulk INSERT and the grammar agree.
func TestPlainValues(t *testing.T) {
	rows := "VALUES (1, -2.5, 'a', NULL, TRUE, DEFAULT, $1, '2020-01-01'::date, E'x\\n', B'1', 1::int8::text)"
	fast, err := parse.ParseOne("INSERT INTO t " + rows)
	if err != nil {
		t.Fatal(err)
	}
	slow, err := parse.ParseOne("INSERT INTO t " + rows + " LIMIT ALL")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fast.Statement, slow.Statement, sameTree); diff != "" {
		t.Error(diff)
	}
}

func TestParseExprAndType(t *testing.T) {
	e, err := parse.ParseExpr("a + 1 > 2")
	if err != nil || ast.String(e) != "(a + 1) > 2" {
		t.Errorf("%v %v", e, err)
	}
	typ, err := parse.ParseType("Varchar(10)[]")
	if err != nil || ast.String(typ) != "character varying(10)[]" {
		t.Errorf("%v %v", typ, err)
	}
	for _, sql := range []string{"", "a b", "a;"} {
		if _, err := parse.ParseExpr(sql); sqlerr.CodeOf(err) != sqlerr.SyntaxError {
			t.Errorf("%q: %v", sql, err)
		}
	}
}
