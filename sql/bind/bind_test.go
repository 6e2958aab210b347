package bind_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/bind/bindtest"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// TestPlans binds the statements in testdata. "plan" prints the output columns
// and the plan, "view" a continuous view's fold. go test -rewrite renews the
// results.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		env := bindtest.Env()
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
			env.HideEnvelope = d.HasArg("envelope-off")
			switch d.Cmd {
			case "plan":
				return planText(env, d.Input)
			case "view":
				return viewText(env, d.Input)
			}
			return "unknown command"
		})
	})
}

func planText(env *bind.Env, sql string) string {
	p, err := parse.ParseOne(sql)
	if err != nil {
		return errorText(err)
	}
	q, err := bind.Bind(env, p.Statement, nil)
	if err != nil {
		return errorText(err)
	}
	var b strings.Builder
	for i, c := range q.Output {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s", c.Name, c.Type)
	}
	if q.StreamDerived {
		fmt.Fprintf(&b, " [stream, status shown: %t]", q.StatusShown)
	}
	for i, t := range q.Params {
		fmt.Fprintf(&b, " $%d=%s", i+1, t)
	}
	return b.String() + "\n" + plan.Explain(q.Root, nil)
}

func viewText(env *bind.Env, sql string) string {
	p, err := parse.ParseOne(sql)
	if err != nil {
		return errorText(err)
	}
	body, ok := p.Statement.(*ast.Select)
	if !ok {
		return "not a query"
	}
	v, err := bind.ContinuousView(env, body, nil)
	if err != nil {
		return errorText(err)
	}
	var b strings.Builder
	for i, c := range v.Columns {
		fmt.Fprintf(&b, "%s %s = %s\n", c.Name, c.Type, v.Output[i])
	}
	if v.Having != nil {
		fmt.Fprintf(&b, "having %s\n", v.Having)
	}
	fmt.Fprintf(&b, "states: %d\n", len(v.Fold.States))
	return b.String() + plan.Explain(plan.NewFoldScan(v.Fold, nil), nil)
}

func errorText(err error) string {
	e := sqlerr.From(err)
	out := fmt.Sprintf("%s at %d: %s\n", e.Code, e.Position, e.Message)
	if e.Detail != "" {
		out += "detail: " + e.Detail + "\n"
	}
	if e.Hint != "" {
		out += "hint: " + e.Hint + "\n"
	}
	return out
}

// TestManySiblings: the sides of a UNION and the members of WITH are not levels
// of nesting, and binding them takes time in proportion to their number.
func TestManySiblings(t *testing.T) {
	const n = 2000
	var sides, nulls, ctes []string
	for i := range n {
		sides = append(sides, fmt.Sprintf("SELECT %d AS a", i))
		nulls = append(nulls, "SELECT NULL")
		from := ""
		if i > 0 {
			from = fmt.Sprintf(" FROM c%d", i-1)
		}
		ctes = append(ctes, fmt.Sprintf("c%d AS (SELECT %d AS a%s)", i, i, from))
	}
	for name, sql := range map[string]string{
		"union all": strings.Join(sides, " UNION ALL "),
		"union":     strings.Join(sides, " UNION "),
		"nulls":     "SELECT 1 UNION ALL " + strings.Join(nulls, " UNION ALL "),
		"with":      "WITH " + strings.Join(ctes, ", ") + fmt.Sprintf(" SELECT * FROM c%d", n-1),
	} {
		q, err := bind.Bind(bindtest.Env(), mustParse(t, sql), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := q.Output[0].Type.String(); got != "integer" {
			t.Errorf("%s: type %s", name, got)
		}
	}
	twice := "WITH c0 AS (SELECT 1 AS a)"
	for i := range 60 {
		twice += fmt.Sprintf(", c%d AS (SELECT x.a FROM c%d x JOIN c%d y USING (a))", i+1, i, i)
	}
	if _, err := bind.Bind(bindtest.Env(), mustParse(t, twice+" SELECT * FROM c60 x, c60 y"), nil); sqlerr.CodeOf(err) != sqlerr.StatementTooComplex {
		t.Errorf("doubled plans: %v", err)
	}
	deep := strings.Repeat("SELECT * FROM (", 70) + "SELECT 1" + strings.Repeat(") x", 70)
	if _, err := bind.Bind(bindtest.Env(), mustParse(t, deep), nil); sqlerr.CodeOf(err) != sqlerr.StatementTooComplex {
		t.Errorf("nested queries: %v", err)
	}
}

func mustParse(t *testing.T, sql string) ast.Statement {
	t.Helper()
	p, err := parse.ParseOne(sql)
	if err != nil {
		t.Fatal(err)
	}
	return p.Statement
}
