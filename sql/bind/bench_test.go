package bind_test

import (
	"testing"

	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/bind/bindtest"
	"github.com/tallydb/tallydb/sql/parse"
)

func BenchmarkBind(b *testing.B) {
	env := bindtest.Env()
	for _, c := range []struct{ name, sql string }{
		{"select_table", "SELECT id, name FROM users WHERE id = 3"},
		{"insert_literals", "INSERT INTO clicks VALUES ('u1', 'a', 'VN', 10, 5, '2026-01-01 00:00:10+00')"},
		{"insert_params", "INSERT INTO clicks VALUES ($1, $2, $3, $4, $5, $6)"},
		{"select_view", "SELECT * FROM campaign_minute ORDER BY window_start DESC LIMIT 10"},
		{"group_view", "SELECT campaign, combine(users) FROM campaign_minute GROUP BY campaign"},
	} {
		p, err := parse.ParseOne(c.sql)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bind.Bind(env, p.Statement, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
