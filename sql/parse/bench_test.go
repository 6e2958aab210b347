package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tallydb/tallydb/sql/parse"
)

func benchmark(b *testing.B, sql string) {
	b.Helper()
	b.SetBytes(int64(len(sql)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse.Parse(sql); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	benchmark(b, `SELECT campaign, count(*) AS clicks, approx_distinct(user_id) AS users, sum(spend)::numeric / 100 AS cost
		FROM clicks WHERE country = $1 AND event_time > now() - INTERVAL '1 hour' GROUP BY campaign ORDER BY clicks DESC LIMIT 10`)
}

func BenchmarkInsertOne(b *testing.B) {
	benchmark(b, `INSERT INTO clicks (user_id, campaign, spend) VALUES ($1, $2, $3)`)
}

func bulkInsert(rows int, value string) string {
	var s strings.Builder
	s.WriteString("INSERT INTO clicks (user_id, campaign, spend, event_time) VALUES ")
	for i := range rows {
		if i > 0 {
			s.WriteString(", ")
		}
		fmt.Fprintf(&s, "(%d, 'campaign %d', %s, '2026-01-01 00:00:%02d+00')", i, i%7, value, i%60)
	}
	return s.String()
}

func BenchmarkBulkInsert(b *testing.B)    { benchmark(b, bulkInsert(1000, "-12.50")) }
func BenchmarkBulkByGrammar(b *testing.B) { benchmark(b, bulkInsert(1000, "1 + 1")) }
