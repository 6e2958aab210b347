package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tallydb/tallydb/server/servertest"
)

// TestL5FinishedWhereTheyAre: a view whose groups lie in one partition each, so that
// owners finish them, gives what one gives whose states are merged at the root: for
// open windows and closed ones, in memory and in the store, with any filter.
func TestL5FinishedWhereTheyAre(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, "SET read_wait = '20s'")
	const view = `CREATE CONTINUOUS VIEW v%[1]s AS SELECT k, window_start, count(*) n, sum(x) s, approx_distinct(u) d, approx_quantile(x, 0.9) q,
		approx_top_k(u, 3) top, max(u) m FROM TUMBLE(e%[1]s, at, INTERVAL '1 minute') GROUP BY k, window_start, window_end`
	for name, key := range map[string]string{"owned": "k", "spread": "id"} {
		servertest.Exec(t, c,
			fmt.Sprintf("CREATE STREAM e%s (id int, k text, u text, x int, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 minute') WITH (partitions = 4, partition_key = '%s')", name, key),
			fmt.Sprintf(view, name))
	}
	fill := func(from, to int) {
		for _, name := range []string{"owned", "spread"} {
			servertest.Exec(t, c, fmt.Sprintf(`INSERT INTO e%s SELECT i, 'k' || i %% 17, 'u' || i %% 101, i * 7919 %% 997,
				'2026-01-01 00:00:00Z'::timestamptz + i * INTERVAL '100 milliseconds' FROM generate_series(%d, %d) i`, name, from, to))
		}
	}
	compare := func(what string) {
		t.Helper()
		for _, where := range []string{
			"true", "k = 'k3'", "k < 'k3'", "window_start = '2026-01-01 00:01:00Z'", "window_start >= '2026-01-01 00:04:00Z'",
			"window_start > '2026-01-01 00:00:00Z' AND k IN ('k1', 'k2')", "n > 40", "window_start = '1999-01-01'",
		} {
			var got [][]string
			for _, name := range []string{"owned", "spread"} {
				rows, err := servertest.Query(c, fmt.Sprintf("SELECT k, window_start, n, s, d, d_lo, d_hi, q, q_lo, q_hi, top, m, _error FROM v%s WHERE %s ORDER BY 1, 2", name, where))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, rows)
			}
			if !slices.Equal(got[0], got[1]) {
				t.Errorf("%s, WHERE %s:\nowned\n%s\nspread\n%s", what, where, strings.Join(got[0], "\n"), strings.Join(got[1], "\n"))
			}
		}
	}
	fill(1, 3000)
	compare("in memory")
	fill(3001, 4000)
	compare("some closed")
	s = s.Reopen()
	c = s.Connect()
	servertest.Exec(t, c, "SET read_wait = '20s'")
	compare("after a restart")
	fill(4001, 4500)
	compare("in memory and in the store")
}

// TestL5GroupsWithoutAPartitionKeyAreOne: events whose partition key is NULL are spread
// by their dedup key, and are one group all the same; what does not merge is refused.
func TestL5GroupsWithoutAPartitionKeyAreOne(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, "SET read_wait = '20s'",
		"CREATE STREAM e (id int, x int, k text) WITH (partitions = 4, partition_key = 'k', dedup_key = 'id')",
		"CREATE CONTINUOUS VIEW v AS SELECT x % 2 AS odd, k, count(*) AS n, sum(x) AS s, approx_distinct(id) AS d FROM e GROUP BY x % 2, k",
		"INSERT INTO e SELECT i, i, CASE WHEN i % 3 > 0 THEN 'k' || i % 3 END FROM generate_series(1, 300) i")
	const query = "SELECT odd, k, n, s, d, _status FROM v ORDER BY odd, k"
	want := []string{
		"0|k1|50|7550|50|complete", "0|k2|50|7450|50|complete", "0|∅|50|7650|50|complete",
		"1|k1|50|7400|50|complete", "1|k2|50|7600|50|complete", "1|∅|50|7500|50|complete",
	}
	servertest.Expect(t, c, query, want...)
	servertest.Expect(t, c, "SELECT n FROM v WHERE k IS NULL AND odd = 1", "50")
	servertest.Expect(t, c, "SELECT n FROM v WHERE k = 'k1' AND odd = 1", "50")
	s = s.Reopen()
	c = s.Connect()
	servertest.Exec(t, c, "SET read_wait = '20s'")
	servertest.Expect(t, c, query, want...)
	servertest.ExpectCode(t, c, "0A000", "CREATE CONTINUOUS VIEW w AS SELECT k, triangle_count(id, x) FROM e GROUP BY k")
	servertest.Expect(t, c, "SELECT count(*) FROM (SELECT k, triangle_count(id, x) FROM e GROUP BY k) t", "3")
	servertest.Exec(t, c, "CREATE STREAM f (id int, x int, k text NOT NULL) WITH (partitions = 4, partition_key = 'k', dedup_key = 'id')",
		"CREATE CONTINUOUS VIEW w AS SELECT k, triangle_count(id, x) FROM f GROUP BY k")
}
