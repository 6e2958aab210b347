package exec_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tallydb/tallydb/sql/plan"
)

// withEvents returns a database with the rows that the golden tests use.
func withEvents(t *testing.T) *database {
	t.Helper()
	db := newDatabase()
	for _, file := range []string{"testdata/tables", "testdata/streams"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		setup := strings.TrimPrefix(strings.SplitN(string(text), "\n----", 2)[0], "setup\n")
		if out := db.script(setup); strings.Contains(out, "ERROR") {
			t.Fatal(out)
		}
	}
	return db
}

// derived are queries over streams, each with the columns s and _status.
var derived = []string{
	"SELECT clicks AS s, _status FROM campaign_minute",
	"SELECT user_id AS s, _status FROM clicks WHERE spend > 5",
	"SELECT count(*) AS s, _status FROM clicks",
	"SELECT count(*) AS s, _status FROM clicks GROUP BY country",
	"SELECT sum(clicks) AS s, _status FROM campaign_minute GROUP BY campaign",
	"SELECT DISTINCT campaign AS s, _status FROM campaign_minute",
	"SELECT DISTINCT ON (campaign) campaign AS s, _status FROM campaign_minute",
	"SELECT s, _status FROM (SELECT campaign AS s FROM campaign_minute UNION SELECT country FROM clicks) q",
	"SELECT s, _status FROM (SELECT campaign AS s FROM campaign_minute INTERSECT SELECT campaign FROM clicks) q",
	"SELECT s, _status FROM (SELECT campaign AS s FROM campaign_minute EXCEPT ALL SELECT 'b') q",
	"SELECT c.label AS s, m._status FROM campaign_minute m JOIN countries c ON c.code = m.country",
	"SELECT c.label AS s, _status FROM countries c RIGHT JOIN campaign_minute m ON c.code = m.country",
	"SELECT l.n AS s, _status FROM users u, LATERAL (SELECT count(*) AS n FROM clicks WHERE country = u.country) l",
	"SELECT rank() OVER (ORDER BY clicks) AS s, _status FROM campaign_minute ORDER BY s LIMIT 2",
	"SELECT string_agg(user_id, ',' ORDER BY spend) AS s, _status FROM clicks",
	"SELECT combine(users) AS s, _status FROM campaign_minute",
	"WITH w AS (SELECT campaign, clicks FROM campaign_minute) SELECT a.clicks AS s, a._status FROM w a JOIN w b ON a.campaign = b.campaign",
	"SELECT s, _status FROM (SELECT campaign AS s FROM campaign_minute WHERE campaign IN (SELECT campaign FROM clicks)) q",
}

// TestL7EveryRowIsLabelled: whatever a query makes of a partial relation, its
// rows say so.
func TestL7EveryRowIsLabelled(t *testing.T) {
	db := withEvents(t)
	db.partial = true
	for _, sql := range derived {
		lines := strings.Split(strings.TrimSpace(db.script(sql)), "\n")
		if len(lines) < 2 {
			t.Errorf("%s: %q", sql, lines)
			continue
		}
		for _, row := range lines[1:] {
			if !strings.HasSuffix(row, "| "+plan.StatusPartial) {
				t.Errorf("%s: row %q is not labelled", sql, row)
			}
		}
	}
}

// TestL5PartitionsDoNotMatter: folding over any number of partitions gives the
// same rows.
func TestL5PartitionsDoNotMatter(t *testing.T) {
	db := withEvents(t)
	for _, sql := range derived {
		sql = fmt.Sprintf("SELECT s, count(*) FROM (%s) q GROUP BY s ORDER BY s", sql)
		db.partitions = 1
		want := db.script(sql)
		for n := 2; n < 8; n++ {
			db.partitions = n
			if got := db.script(sql); got != want {
				t.Errorf("%s over %d partitions: got %s want %s", sql, n, got, want)
			}
		}
	}
}

// TestL8ErrorIsCarried: a value made of approximate ones has bounds that hold it
// and are not equal, or none.
func TestL8ErrorIsCarried(t *testing.T) {
	db := withEvents(t)
	for _, test := range []struct{ sql, want string }{
		{"users", "4 | 1 | 7"}, // the toy aggregate is off by at most one in each of three rows
		{"combine(users)", "3 | 2 | 4"},
		{"sum(users)", "4 | 1 | 7"},
		{"max(users)", "2 | 1 | 3"},
		{"sum(users) * -2 + 1", "-7 | -13 | -1"},
		{"sum(users) - sum(users)", "0 | -6 | 6"},
		{"sum(users) - sum(clicks)", "0 | -3 | 3"},
		{"sum(users) FILTER (WHERE country = 'VN')", "3 | 1 | 5"},
		{"avg(users)", "1.3333333333333333 | NULL | NULL"},
		{"sum(users) / 2", "2.0000000000000000 | NULL | NULL"},
		{"count(DISTINCT users)", "2 | NULL | NULL"},
		{"sum(users * users)", "6 | NULL | NULL"},
		{"max(users) + avg(users)", "3.3333333333333333 | NULL | NULL"},
		{"CASE WHEN sum(users) > 1 THEN 1 ELSE 0 END", "1 | NULL | NULL"},
		{"sum(clicks) FILTER (WHERE users > 1)", "2 | NULL | NULL"},
	} {
		value := test.sql
		if value == "users" {
			value = "sum(users)"
		}
		sql := fmt.Sprintf("SELECT v, v_lo, v_hi FROM (SELECT %s AS v FROM campaign_minute WHERE campaign = 'a') q", value)
		got := strings.Split(strings.TrimSpace(db.script(sql)), "\n")
		if got[len(got)-1] != test.want {
			t.Errorf("%s: got %q, want %s", sql, got, test.want)
		}
	}
}

// TestFoldIsAggregate: partitions that fold give what one node gives that reads
// every event and groups it.
func TestFoldIsAggregate(t *testing.T) {
	db := withEvents(t)
	for _, list := range []string{
		"count(*), count(spend), sum(spend), avg(spend), min(spend), max(spend)",
		"sum(latency_ms), avg(latency_ms), min(user_id), max(event_time)",
		"count(DISTINCT country), approx_distinct(user_id), bool_and(spend > 3), stddev(spend)",
		"count(*) FILTER (WHERE country = 'VN'), sum(spend + 1) FILTER (WHERE latency_ms > 15)",
	} {
		for _, rest := range []string{
			"", "WHERE country = 'VN'", "WHERE false", "GROUP BY campaign ORDER BY campaign",
			"WHERE spend > 1 GROUP BY campaign, country HAVING count(*) > 1 ORDER BY campaign, country",
			"GROUP BY tumble(event_time, INTERVAL '1 minute') ORDER BY tumble(event_time, INTERVAL '1 minute')",
			"GROUP BY date_trunc('hour', event_time), upper(country) ORDER BY 1, 2",
		} {
			folded := db.script("SELECT " + list + " FROM clicks " + rest)
			grouped := db.script("SELECT " + list + " FROM (SELECT * FROM clicks OFFSET 0) clicks " + rest)
			if folded != grouped || strings.Contains(folded, "ERROR") {
				t.Errorf("%s %s: folded %s grouped %s", list, rest, folded, grouped)
			}
		}
	}
}

// TestPushedFiltersChangeNothing: a filter over a query keeps the same rows
// whether or not it can move into the query; OFFSET 0 holds it back.
func TestPushedFiltersChangeNothing(t *testing.T) {
	db := withEvents(t)
	queries := []string{
		"SELECT id AS k, name AS s FROM users",
		"SELECT u.id AS k, c.label AS s FROM users u JOIN countries c ON c.code = u.country",
		"SELECT u.id AS k, c.label AS s FROM users u LEFT JOIN countries c ON c.code = u.country AND u.id > 1",
		"SELECT u.id AS k, c.label AS s FROM users u RIGHT JOIN countries c ON c.code = u.country AND c.code <> 'SE'",
		"SELECT u.id AS k, c.label AS s FROM users u FULL JOIN countries c ON c.code = u.country",
		"SELECT u.id AS k, v.name AS s FROM users u LEFT JOIN users v ON u.id < v.id",
		"SELECT count(*)::int AS k, country AS s FROM users GROUP BY country",
		"SELECT DISTINCT id % 2 AS k, country AS s FROM users",
		"SELECT DISTINCT ON (country) id AS k, country AS s FROM users ORDER BY country, id",
		"SELECT id AS k, name AS s FROM users UNION SELECT a, 'n' FROM nums",
		"SELECT a AS k, 'an' AS s FROM nums EXCEPT ALL SELECT id, 'an' FROM users",
		"SELECT a AS k, 'x' AS s FROM nums INTERSECT SELECT id, 'x' FROM users",
		"SELECT row_number() OVER (PARTITION BY country ORDER BY id) AS k, country AS s FROM users",
		"SELECT id AS k, (SELECT label FROM countries c WHERE c.code = u.country) AS s FROM users u",
		"SELECT u.id AS k, l.label AS s FROM users u LEFT JOIN LATERAL (SELECT label FROM countries c WHERE c.code = u.country) l ON true",
		"SELECT id AS k, unnest(ARRAY[name, country]) AS s FROM users",
		"SELECT id AS k, name AS s FROM users ORDER BY id DESC LIMIT 3",
		"SELECT clicks AS k, campaign AS s FROM campaign_minute",
		"SELECT count(*) AS k, country AS s FROM clicks GROUP BY country",
		"SELECT count(*) AS k, max(country) AS s FROM clicks",
		"SELECT spend AS k, campaign AS s FROM clicks",
		"SELECT m.clicks AS k, c.label AS s FROM campaign_minute m LEFT JOIN countries c ON c.code = m.country",
		"SELECT x.id AS k, x.name AS s FROM users x NATURAL FULL JOIN (SELECT 1 AS id, 'an' AS name UNION ALL SELECT 9, 'zz') y",
	}
	for _, q := range queries {
		for _, cond := range []string{
			"k > 1", "k IS NULL", "s = 'an'", "s IS NULL", "s IS NOT NULL AND k < 4", "k = 2 OR s LIKE '%a%'", "false", "coalesce(k, 0) % 2 = 0", "k IN (1, 2)",
			"k = (SELECT max(id) FROM users) - 2", "EXISTS (SELECT 1 FROM nums WHERE a = k)",
		} {
			moved := db.script("SELECT k, s FROM (" + q + ") q WHERE " + cond + " ORDER BY k, s")
			held := db.script("SELECT k, s FROM (SELECT * FROM (" + q + ") i OFFSET 0) q WHERE " + cond + " ORDER BY k, s")
			if moved != held || strings.Contains(moved, "ERROR") {
				t.Errorf("%s WHERE %s: moved %s held %s", q, cond, moved, held)
			}
		}
	}
}
