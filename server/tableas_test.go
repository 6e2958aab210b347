package server_test

import (
	"testing"

	"github.com/tallydb/tallydb/server/servertest"
)

// TestTableAsIsWholeAfterACrash cuts the power at every write of CREATE TABLE AS:
// afterwards the table has all rows, or there is none.
func TestTableAsIsWholeAfterACrash(t *testing.T) {
	const query = "SELECT g AS n, 'row ' || g AS t FROM generate_series(1, 3000) AS g"
	s, cuts := startCut(t, 1, 1, 40)
	c := s.Connect()
	cuts.arm(true)
	servertest.Exec(t, c, "CREATE TABLE kept AS "+query)
	cuts.arm(false)
	servertest.Expect(t, c, "SELECT count(*), sum(n) FROM kept", "3000|4501500")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	cuts.now()
	whole := 0
	for i, fs := range cuts.left {
		r := servertest.Start(t, servertest.Options{FS: fs})
		c := r.Connect()
		_, err := servertest.Query(c, "SELECT 1 FROM kept LIMIT 1")
		switch servertest.Code(err) {
		case "":
			servertest.Expect(t, c, "SELECT count(*), sum(n) FROM kept", "3000|4501500")
			whole++
		case "42P01":
			servertest.Exec(t, c, "CREATE TABLE kept AS "+query)
			servertest.Expect(t, c, "SELECT count(*), sum(n) FROM kept", "3000|4501500")
		default:
			t.Fatalf("crash %d: %v", i, err)
		}
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if whole == 0 || whole == len(cuts.left) {
		t.Errorf("%d of %d crashes left the table: the test saw one side only", whole, len(cuts.left))
	}
}

// TestTableAsThatFailsLeavesNothing: an error in the middle of its rows, or a name
// that is taken, leaves no table.
func TestTableAsThatFailsLeavesNothing(t *testing.T) {
	c := servertest.Start(t, servertest.Options{}).Connect()
	for sql, want := range map[string]string{
		"CREATE TABLE kept AS SELECT 1 / (5000 - g) AS n FROM generate_series(1, 6000) AS g": "22012",
		"CREATE TABLE kept AS SELECT repeat('x', 1000) AS t FROM generate_series(1, 400000)": "54000",
	} {
		if _, err := servertest.Query(c, sql); servertest.Code(err) != want {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
		if _, err := servertest.Query(c, "SELECT 1 FROM kept"); servertest.Code(err) != "42P01" {
			t.Errorf("%s: afterwards %v, want no table", sql, err)
		}
	}
}
