package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tallydb/tallydb/server/servertest"
)

// TestOrigins: a result says of which column of which relation each of its
// columns is, as PostgreSQL 15 does; editors of rows and BI tools rely on it.
func TestOrigins(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, "CREATE TABLE o (a int PRIMARY KEY, b text)", "CREATE VIEW v AS SELECT b AS x, a AS y FROM o",
		"CREATE STREAM s (k text, n int)", "CREATE CONTINUOUS VIEW cv AS SELECT k, count(*) AS n FROM s GROUP BY k")
	names := map[uint32]string{0: "-"}
	for _, name := range []string{"o", "v", "s", "cv", "pg_class"} {
		var oid uint32
		if err := c.QueryRow(t.Context(), "SELECT oid FROM pg_class WHERE relname = $1", name).Scan(&oid); err != nil {
			t.Fatal(err)
		}
		names[oid] = name
	}
	for sql, want := range map[string]string{
		"SELECT a, b, a + 1, b || '' FROM o":                              "o.1 o.2 -.0 -.0",
		"SELECT * FROM v":                                                 "v.1 v.2",
		"SELECT q.a FROM (SELECT a FROM o) q":                             "o.1",
		"WITH w AS (SELECT b FROM o) SELECT b FROM w":                     "o.2",
		"SELECT o.a, v.x FROM o JOIN v ON o.a = v.y":                      "o.1 v.1",
		"SELECT a FROM o UNION SELECT a FROM o":                           "-.0",
		"SELECT a, count(*) FROM o GROUP BY a":                            "o.1 -.0",
		"SELECT a FROM o LEFT JOIN (SELECT 1 AS z) k ON z = a ORDER BY 1": "o.1",
		"SELECT relname FROM pg_class LIMIT 1":                            "pg_class.2",
		"SELECT DISTINCT b FROM o":                                        "o.2",
		"SELECT a FROM o o1 JOIN o o2 USING (a)":                          "o.1",
		"SELECT n, k FROM s":                                              "s.2 s.1",
		"SELECT n AS m, k FROM cv":                                        "cv.2 cv.1",
		"SELECT sum(n) FROM cv":                                           "-.0",
	} {
		for _, mode := range []string{"simple", "extended"} {
			var got []string
			if mode == "simple" {
				rows, err := c.Query(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
				if err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
				for _, f := range rows.FieldDescriptions() {
					got = append(got, fmt.Sprintf("%s.%d", names[f.TableOID], f.TableAttributeNumber))
				}
				rows.Close()
			} else {
				d, err := c.Prepare(t.Context(), "", sql)
				if err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
				for _, f := range d.Fields {
					got = append(got, fmt.Sprintf("%s.%d", names[f.TableOID], f.TableAttributeNumber))
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s, %s: got %v, want %s", sql, mode, got, want)
			}
		}
	}
}

// TestPreparedCatalogQuery: a prepared query over a system catalog sees what there
// is when it is executed, not what there was the first time.
func TestPreparedCatalogQuery(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	count := func() (n int) {
		if err := c.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for want := 1; want < 4; want++ {
		if n := count(); n != want {
			t.Errorf("prepared: %d sessions, want %d", n, want)
		}
		servertest.Expect(t, c, "SELECT count(*) FROM pg_stat_activity", fmt.Sprint(want))
		s.Connect()
	}
}
