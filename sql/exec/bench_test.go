package exec_test

import (
	"testing"

	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/parse"
)

func BenchmarkStatements(b *testing.B) {
	db := newDatabase()
	for _, c := range []struct{ name, sql string }{
		{"group_int", "SELECT g % 1000 AS k, count(*), sum(g) FROM generate_series(1, 200000) g GROUP BY k"},
		{"filter", "SELECT count(*) FROM generate_series(1, 200000) g WHERE g % 3 = 0"},
		{"sort", "SELECT g FROM generate_series(1, 200000) g ORDER BY g % 1000, g DESC"},
		{"top", "SELECT g FROM generate_series(1, 200000) g ORDER BY g % 1000, g DESC LIMIT 10"},
		{"join", "SELECT count(*) FROM generate_series(1, 100000) a JOIN generate_series(1, 100000) b ON a = b"},
	} {
		p, err := parse.ParseOne(c.sql)
		if err != nil {
			b.Fatal(err)
		}
		q, err := bind.Bind(db.bind, p.Statement, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := db.rows(q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
