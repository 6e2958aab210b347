package server_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tallydb/tallydb/server/servertest"
)

// family is tables that reference each other in every way.
var family = []string{
	"CREATE TABLE p (id int PRIMARY KEY, n int)",
	"CREATE TABLE plain (id int PRIMARY KEY, p int REFERENCES p)",
	"CREATE TABLE follows (id int PRIMARY KEY, p int REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE)",
	"CREATE TABLE forgets (id int PRIMARY KEY, p int REFERENCES p ON DELETE SET NULL ON UPDATE SET NULL)",
	"CREATE TABLE later (id int PRIMARY KEY, p int REFERENCES p DEFERRABLE INITIALLY DEFERRED)",
}

var members = []string{"plain", "follows", "forgets", "later"}

// quarrel is one statement or transaction about few keys, so that they get into each
// other's way.
func quarrel(rng *rand.Rand) string {
	a, b := rng.IntN(6), rng.IntN(6)
	child := members[rng.IntN(len(members))]
	switch rng.IntN(9) {
	case 0, 1:
		return fmt.Sprintf("INSERT INTO p VALUES (%d, 0) ON CONFLICT (id) DO UPDATE SET n = p.n + 1", a)
	case 2, 3:
		return fmt.Sprintf("INSERT INTO %s VALUES (%d, %d) ON CONFLICT (id) DO UPDATE SET p = excluded.p", child, rng.IntN(20), a)
	case 4:
		return fmt.Sprintf("DELETE FROM p WHERE id = %d", a)
	case 5:
		return fmt.Sprintf("UPDATE p SET id = %d WHERE id = %d", a+b, a)
	case 6:
		return fmt.Sprintf("BEGIN; INSERT INTO later VALUES (%d, %d) ON CONFLICT (id) DO NOTHING; INSERT INTO p VALUES (%d, 1) ON CONFLICT DO NOTHING; COMMIT", rng.IntN(20), a, b)
	case 7:
		return fmt.Sprintf("WITH gone AS (DELETE FROM %s WHERE p = %d RETURNING p) DELETE FROM p USING gone WHERE p.id = gone.p", child, a)
	default:
		return fmt.Sprintf("MERGE INTO %s c USING (VALUES (%d, %d)) v (id, p) ON c.id = v.id WHEN MATCHED AND c.p = v.p THEN DELETE WHEN MATCHED THEN UPDATE SET p = v.p WHEN NOT MATCHED THEN INSERT VALUES (v.id, v.p)", child, rng.IntN(20), a)
	}
}

// expectNoOrphans makes sure that every reference is kept, and that the foreign keys
// know exactly the rows that reference.
func expectNoOrphans(t *testing.T, c *pgx.Conn) {
	t.Helper()
	for _, child := range members {
		servertest.Expect(t, c, "SELECT count(*) FROM "+child+" WHERE p IS NOT NULL AND p NOT IN (SELECT id FROM p)", "0")
	}
	parents, err := servertest.Query(c, "SELECT id FROM p ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range parents {
		var counts [2]string
		for i, child := range []string{"plain", "later"} {
			rows, err := servertest.Query(c, fmt.Sprintf("SELECT count(*) > 0 FROM %s WHERE p = %s", child, id))
			if err != nil {
				t.Fatal(err)
			}
			counts[i] = rows[0]
		}
		_, err := servertest.Query(c, "BEGIN; DELETE FROM p WHERE id = "+id+"; SET CONSTRAINTS ALL IMMEDIATE")
		if referenced := slices.Contains(counts[:], "t"); referenced != (servertest.Code(err) == "23503") {
			t.Errorf("key %s, referenced: %v: its deletion ends with %v", id, counts, err)
		}
		servertest.Exec(t, c, "ROLLBACK")
	}
	servertest.ExpectCode(t, c, "23503", "INSERT INTO plain VALUES (1000, 1000)")
}

// TestReferencesHoldAmongWriters: whatever many clients write at the same time, and
// whenever the power is cut, no row references what is not there.
func TestReferencesHoldAmongWriters(t *testing.T) {
	s, cuts := startCut(t, 5, 97, 12)
	c := s.Connect()
	servertest.Exec(t, c, family...)
	cuts.arm(true)
	var group sync.WaitGroup
	var refused, done atomic.Int64
	for k := range 4 {
		conn, rng := s.Connect(), rand.New(rand.NewPCG(7, uint64(k)))
		group.Go(func() {
			for range 250 {
				_, err := servertest.Query(conn, quarrel(rng))
				switch code := servertest.Code(err); code {
				case "":
					done.Add(1)
				case "23503", "23505", "21000":
					refused.Add(1)
				default:
					t.Errorf("%s: %v", code, err)
				}
				if _, err := servertest.Query(conn, "ROLLBACK"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	cuts.arm(false)
	if refused.Load() < 50 || done.Load() < 50 {
		t.Errorf("%d succeeded, %d were refused: the test saw one side only", done.Load(), refused.Load())
	}
	expectNoOrphans(t, c)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if len(cuts.left) < 5 {
		t.Errorf("only %d crashes", len(cuts.left))
	}
	cuts.now()
	for _, fs := range cuts.left {
		r := servertest.Start(t, servertest.Options{FS: fs})
		expectNoOrphans(t, r.Connect())
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestForeignKeyThatComesMeanwhile: a statement that waited while a foreign key was
// added does not write by the rules of before.
func TestForeignKeyThatComesMeanwhile(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c, waiter := s.Connect(), s.Connect()
	servertest.Exec(t, c, "CREATE TABLE p (id int PRIMARY KEY)", "CREATE TABLE c (p int)", "CREATE TABLE other (a int)",
		"INSERT INTO p VALUES (1)", "INSERT INTO c VALUES (1)", "PREPARE d AS DELETE FROM p")
	servertest.Exec(t, waiter, "PREPARE d AS DELETE FROM p")
	servertest.Exec(t, c, "ALTER TABLE c ADD FOREIGN KEY (p) REFERENCES p")
	servertest.ExpectCode(t, waiter, "23503", "EXECUTE d")
	servertest.ExpectCode(t, c, "23503", "EXECUTE d")
	servertest.Exec(t, c, "ALTER TABLE c DROP CONSTRAINT c_p_fkey")
	servertest.Exec(t, waiter, "EXECUTE d")
	servertest.Expect(t, c, "SELECT count(*) FROM p", "0")
}

// TestForeignKeysOfCopy: rows that COPY brings are checked when it ends.
func TestForeignKeysOfCopy(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, "CREATE TABLE tree (id int PRIMARY KEY, up int REFERENCES tree)")
	if err := servertest.Copy(c, "tree", "3\t2\n2\t1\n1\t\\N\n"); err != nil {
		t.Fatal(err)
	}
	if err := servertest.Copy(c, "tree", "5\t4\n6\t1\n"); servertest.Code(err) != "23503" {
		t.Errorf("a row without its parent: %v", err)
	}
	servertest.Expect(t, c, "SELECT id, up FROM tree ORDER BY id", "1|∅", "2|1", "3|2")
	servertest.ExpectCode(t, c, "23503", "DELETE FROM tree WHERE id = 1")
	servertest.Exec(t, c, "CREATE STREAM events (id int, at timestamptz, WATERMARK FOR at AS at)")
	servertest.ExpectCode(t, c, "42809", "CREATE TABLE bad (id int REFERENCES events (id))")
	servertest.ExpectCode(t, c, "0A000", "CREATE STREAM bad (id int REFERENCES tree, at timestamptz, WATERMARK FOR at AS at)")
	servertest.ExpectCode(t, c, "0A000", "CREATE STREAM bad (id int, at timestamptz, FOREIGN KEY (id) REFERENCES tree, WATERMARK FOR at AS at)")
}
