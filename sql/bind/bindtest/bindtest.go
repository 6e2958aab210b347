// Package bindtest is a small catalog for the tests of the binder and of the
// executor: streams, tables and views made of SQL, and a toy approximate
// aggregate whose bounds are easy to check by eye.
package bindtest

import (
	"fmt"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// Env returns an environment over the fixture's catalog.
func Env() *bind.Env {
	r := agg.NewRegistry()
	agg.RegisterExact(r)
	registerToy(r)
	env := &bind.Env{
		Registry: r, Parse: Parse, Virtual: virtual{},
		Expr: &expr.Context{Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Location: time.UTC, User: "tester", Database: "tally"},
	}
	relations := base()
	env.Snapshot = catalog.NewSnapshot(1, 1, "tally", relations)
	for i, v := range continuousViews {
		body, err := Parse(v.sql)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", v.name, err))
		}
		p, err := bind.ContinuousView(env, body, nil)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", v.name, err))
		}
		relations = append(relations, &catalog.Relation{
			ID: id.Relation(17000 + i), Version: 1, Schema: "public", Name: v.name, Kind: catalog.KindContinuousView,
			Columns: p.Columns, ContinuousView: &catalog.ContinuousView{Stream: p.Stream.ID, SQL: v.sql, Fingerprint: p.Fold.Fingerprint()},
		})
	}
	env.Snapshot = catalog.NewSnapshot(2, 1, "tally", relations)
	return env
}

// Parse parses one query.
func Parse(sql string) (*ast.Select, error) {
	p, err := parse.ParseOne(sql)
	if err != nil {
		return nil, err
	}
	s, ok := p.Statement.(*ast.Select)
	if !ok {
		return nil, fmt.Errorf("%q is not a query", sql)
	}
	return s, nil
}

var continuousViews = []struct{ name, sql string }{
	{"campaign_minute", `SELECT campaign, country, window_start, window_end, count(*) AS clicks, sum(spend) AS spend,
		approx_distinct(user_id) AS users FROM TUMBLE(clicks, event_time, INTERVAL '1 minute')
		GROUP BY campaign, country, window_start, window_end`},
	{"user_totals", `SELECT user_id, count(*) AS clicks, avg(latency_ms) AS latency, min(latency_ms) AS best
		FROM clicks WHERE spend > 0 GROUP BY user_id HAVING count(*) > 1`},
	{"totals", `SELECT count(*) AS n, sum(spend) / count(*) AS per_click FROM clicks`},
}

func col(name string, oid types.OID) types.Column {
	return types.Column{Name: name, Type: types.Of(oid)}
}

func base() []*catalog.Relation {
	required := func(c types.Column) types.Column {
		c.NotNull = true
		return c
	}
	return []*catalog.Relation{
		{
			ID: 16500, Version: 3, Schema: "public", Name: "clicks", Kind: catalog.KindStream,
			Columns: []types.Column{
				col("user_id", types.Text), col("campaign", types.Text), col("country", types.Text),
				col("latency_ms", types.Float8), col("spend", types.Int8), col("event_time", types.Timestamptz),
			},
			Stream: &catalog.Stream{
				TimeColumn: 5, WatermarkDelay: 30 * eventtime.Second,
				Options: catalog.StreamOptions{Partitions: 2, PartitionKey: []int{0}, SourceKey: -1},
				Epochs:  []catalog.RoutingEpoch{{Partitions: []id.Partition{0, 1}}},
			},
		},
		{
			ID: 16501, Version: 1, Schema: "public", Name: "logs", Kind: catalog.KindStream,
			Columns: []types.Column{col("host", types.Text), required(col("n", types.Int4)), col("at", types.Timestamptz)},
			Stream: &catalog.Stream{
				TimeColumn: -1, Options: catalog.StreamOptions{Partitions: 1, SourceKey: -1},
				Epochs: []catalog.RoutingEpoch{{Partitions: []id.Partition{0}}},
			},
		},
		table(16600, "users", nil, required(col("id", types.Int4)), col("name", types.Text), col("country", types.Text)),
		table(16601, "countries", nil, col("code", types.Text), col("label", types.Text)),
		table(16602, "nums", map[int]string{1: "7"}, col("a", types.Int4), col("b", types.Int8), col("c", types.Numeric), col("d", types.Float8)),
		{
			ID: 16700, Version: 1, Schema: "public", Name: "vn_users", Kind: catalog.KindView,
			Columns: []types.Column{col("id", types.Int4), col("name", types.Text)},
			View:    &catalog.View{SQL: "SELECT id, name FROM users WHERE country = 'VN'"},
		},
	}
}

func table(n id.Relation, name string, defaults map[int]string, cols ...types.Column) *catalog.Relation {
	return &catalog.Relation{
		ID: n, Version: 1, Schema: "public", Name: name, Kind: catalog.KindTable, Columns: cols,
		Table: &catalog.Table{Defaults: defaults, PrimaryKey: keys[name]},
	}
}

var keys = map[string][]int{"users": {0}}

// registerToy registers approx_distinct: it counts exactly, and claims to be
// within one of the truth.
func registerToy(r *agg.Registry) {
	r.Register(&agg.Function{
		Descriptor: agg.Descriptor{Name: "approx_distinct", Family: "toy", MergeAlgebra: agg.Idempotent},
		Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
			b, err := r.Lookup("count").Bind(args, consts)
			if err != nil {
				return b, err
			}
			if b, err = agg.Distinct(b); err != nil {
				return b, err
			}
			b.Final = toyFinal{b.Final}
			return b, nil
		},
	})
}

type toyFinal struct{ agg.Finaliser }

// Approximate implements agg.Finaliser.
func (toyFinal) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (toyFinal) Kind() agg.ErrorKind { return agg.WorstCase }

// String implements agg.Finaliser.
func (toyFinal) String() string { return "approx_distinct" }

// Finalise implements agg.Finaliser.
func (f toyFinal) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	if err := f.Finaliser.Finalise(states, n, confidence, out, nil); err != nil {
		return err
	}
	for i := range n {
		bounds.Lo.AppendInt(out.Ints[i] - 1)
		bounds.Hi.AppendInt(out.Ints[i] + 1)
		bounds.Error.AppendFloat(1)
	}
	return nil
}
