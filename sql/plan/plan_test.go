package plan_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/bind/bindtest"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

func bound(t *testing.T, sql string) *plan.Query {
	t.Helper()
	p, err := parse.ParseOne(sql)
	if err != nil {
		t.Fatal(err)
	}
	q, err := bind.Bind(bindtest.Env(), p.Statement, nil)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func find[T plan.Node](n plan.Node) (out T) {
	plan.Visit(n, func(x plan.Node) {
		if f, ok := x.(T); ok {
			out = f
		}
	})
	return out
}

// TestPruningKeepsTheFoldOfAView: states keep their numbers, whatever is read.
func TestPruningKeepsTheFoldOfAView(t *testing.T) {
	whole := find[*plan.FoldScan](bound(t, "SELECT * FROM campaign_minute").Root)
	for _, c := range []struct {
		sql    string
		needed []bool
	}{
		{"SELECT clicks FROM campaign_minute", []bool{true, false, false}},
		{"SELECT users_hi, campaign FROM campaign_minute", []bool{false, false, true}},
		{"SELECT combine(users) FROM campaign_minute WHERE spend > 1", []bool{false, true, true}},
		{"SELECT campaign FROM campaign_minute", []bool{false, false, false}},
	} {
		s := find[*plan.FoldScan](bound(t, c.sql).Root)
		if s.View == nil || s.Fold.Fingerprint() != whole.Fold.Fingerprint() || len(s.Fold.States) != len(whole.Fold.States) {
			t.Errorf("%s: the view's fold changed", c.sql)
		}
		if !slices.Equal(s.Needed, c.needed) {
			t.Errorf("%s: needed %v, want %v", c.sql, s.Needed, c.needed)
		}
		for i, col := range s.Schema().Columns {
			if col.Name != s.Layout().Schema.Columns[s.Columns[i]].Name {
				t.Errorf("%s: column %d is %s", c.sql, i, col.Name)
			}
		}
	}
}

// TestExprsRoundTrip: every node of a plan takes its own expressions back.
func TestExprsRoundTrip(t *testing.T) {
	for _, sql := range []string{
		"SELECT campaign, count(*) FILTER (WHERE spend > 1), sum(spend) FROM clicks WHERE user_id = 'a' GROUP BY campaign",
		"SELECT u.name, (SELECT label FROM countries WHERE code = u.country) FROM users u JOIN nums n ON n.a = u.id AND n.b > 3 ORDER BY 1 LIMIT 2 OFFSET 1",
		"SELECT DISTINCT ON (country) name, rank() OVER (PARTITION BY country ORDER BY id ROWS 2 PRECEDING), sum(id) FILTER (WHERE id > 1) OVER () FROM users",
		"SELECT unnest(ARRAY[id]), generate_series(1, id) FROM users",
		"SELECT id FROM users INTERSECT ALL SELECT a FROM nums",
		"SELECT string_agg(name, ',' ORDER BY id DESC) FROM users WHERE id IN (SELECT a FROM nums)",
		"WITH RECURSIVE t(n) AS (SELECT 1 UNION SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t",
		"UPDATE users SET name = 'x' WHERE id = 3 RETURNING id",
		"INSERT INTO nums VALUES (1, 2, 3, 4), (5, 6, 7, 8)",
		"SELECT reason FROM clicks__late WHERE reason <> ''",
	} {
		root := bound(t, sql).Root
		before := plan.Explain(root, nil)
		same := plan.MapExprs(root, func(e expr.Expr) expr.Expr { return e })
		if after := plan.Explain(same, nil); after != before {
			t.Errorf("%s: %s became %s", sql, before, after)
		}
	}
}

func TestConjunctsAndEquality(t *testing.T) {
	a := &expr.Column{Index: 0, Typ: types.Of(types.Int4), Name: "a"}
	one := expr.NewConst(types.IntDatum(types.Int4, 1))
	eq, err := expr.NewOperator("=", a, one)
	if err != nil {
		t.Fatal(err)
	}
	lt, err := expr.NewOperator("<", a, one)
	if err != nil {
		t.Fatal(err)
	}
	and, err := expr.NewAnd(eq, lt, eq)
	if err != nil {
		t.Fatal(err)
	}
	or, err := expr.NewOr(eq, lt)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(plan.Conjuncts(and)); n != 3 {
		t.Errorf("AND of three has %d conjuncts", n)
	}
	if n := len(plan.Conjuncts(or)); n != 1 {
		t.Errorf("OR has %d conjuncts", n)
	}
	if _, _, ok := plan.Equality(eq); !ok {
		t.Error("a = 1 is an equality")
	}
	for _, e := range []expr.Expr{lt, and, a, one} {
		if _, _, ok := plan.Equality(e); ok {
			t.Errorf("%s is no equality", e)
		}
	}
}

func TestExplainJSON(t *testing.T) {
	q := bound(t, "SELECT country, count(*) FROM users WHERE id > 1 GROUP BY country ORDER BY 2")
	var out []struct {
		Plan map[string]any `json:"Plan"`
	}
	if err := json.Unmarshal([]byte(plan.ExplainJSON(q.Root, nil)), &out); err != nil {
		t.Fatal(err)
	}
	if out[0].Plan["Node Type"] != "Sort" || len(out[0].Plan["Plans"].([]any)) != 1 {
		t.Errorf("got %v", out)
	}
}

func TestSideName(t *testing.T) {
	for _, c := range []struct {
		name, relation string
		kind           plan.SideKind
		ok             bool
	}{
		{"clicks__rejected", "clicks", plan.SideRejected, true},
		{"a__b__late", "a__b", plan.SideLate, true},
		{"v__errors", "v", plan.SideErrors, true},
		{"v__other", "", "", false},
		{"__late", "", "", false},
		{"late", "", "", false},
	} {
		if r, k, ok := plan.SideName(c.name); r != c.relation || ok != c.ok || ok && k != c.kind {
			t.Errorf("%s: got %s %s %t", c.name, r, k, ok)
		}
	}
}

// TestCorrelatedSubqueriesOfStreamsAreJoins: unless the envelope of their rows is read,
// which a join would lose.
func TestCorrelatedSubqueriesOfStreamsAreJoins(t *testing.T) {
	for _, c := range []struct {
		sql    string
		joined bool
	}{
		{"SELECT count(*) FROM clicks a WHERE EXISTS (SELECT 1 FROM clicks b WHERE b.spend = a.spend + 1 AND b.latency_ms > 2)", true},
		{"SELECT a.campaign FROM clicks a WHERE NOT EXISTS (SELECT 1 FROM clicks b WHERE b.user_id = a.campaign AND b.latency_ms > a.latency_ms)", true},
		{"SELECT a.name FROM users a WHERE a.name IN (SELECT user_id FROM clicks b WHERE b.country = a.country)", true},
		{"SELECT a.name, EXISTS (SELECT 1 FROM clicks b WHERE b.user_id = a.name) FROM users a", true},
		{"SELECT a.campaign, a._status FROM clicks a WHERE EXISTS (SELECT 1 FROM clicks b WHERE b.spend = a.spend + 1)", false},
		{"SELECT a.name, a.id FROM users a WHERE a.name IN (SELECT user_id FROM clicks b WHERE b.country = a.country AND b._status = 'complete')", true},
	} {
		root := bound(t, c.sql).Root
		if joined := find[*plan.Apply](root) == nil; joined != c.joined {
			t.Errorf("%s:\n%s", c.sql, plan.Explain(root, nil))
		}
	}
}
