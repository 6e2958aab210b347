package exec_test

import (
	"context"
	"slices"
	"testing"

	"github.com/tallydb/tallydb/storage/vfs"
)

// TestSharedRowsAreReadAsTheyCome: readers of one common table expression see the same
// rows in the same order, also where its rows go to a file while some are in the middle
// of them, or do not want them all.
func TestSharedRowsAreReadAsTheyCome(t *testing.T) {
	s := newSpilling(t, vfs.Memory())
	const big = "WITH RECURSIVE big AS MATERIALIZED (SELECT g, CASE WHEN g % 7 > 0 THEN md5(g::text) END AS t FROM generate_series(1, 20000) g), endless (g, t) AS (SELECT 1, repeat('x', 40) UNION ALL SELECT g + 1, t FROM endless) "
	for _, c := range []struct {
		sql  string
		rows int
	}{
		{"(SELECT g, t FROM big LIMIT 3000) UNION ALL SELECT g, t FROM big", 23_000},
		{"(SELECT g, t FROM big LIMIT 1) UNION ALL (SELECT g, t FROM big LIMIT 5000) UNION ALL (SELECT g, t FROM big OFFSET 19990)", 5011},
		{"SELECT g, (SELECT t FROM big WHERE big.g = x.g LIMIT 1) FROM generate_series(6000, 6010) x(g) ORDER BY 1", 11},
		{"SELECT g FROM big LIMIT 2", 2},
		{"(SELECT g, t FROM endless LIMIT 9000) UNION ALL (SELECT g, t FROM endless LIMIT 12000) UNION ALL (SELECT g, t FROM endless OFFSET 14000 LIMIT 1)", 21_001},
	} {
		want, _, err := s.run(context.Background(), big+c.sql, 64<<20)
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		got, _, err := s.run(context.Background(), big+c.sql, small)
		if err != nil {
			t.Fatalf("%s with little memory: %v", c.sql, err)
		}
		if len(want) != c.rows || !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, with little memory %d, want %d", c.sql, len(want), len(got), c.rows)
		}
		s.empty()
	}
}
