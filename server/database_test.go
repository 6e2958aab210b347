package server_test

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tallydb/tallydb/server"
	"github.com/tallydb/tallydb/server/servertest"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/vfs"
)

// contents are some of every kind of things that a database can have.
var contents = []string{
	"CREATE SCHEMA s", "CREATE TYPE mood AS ENUM ('sad', 'ok')", "CREATE DOMAIN whole AS int CHECK (value >= 0)",
	"CREATE TABLE t (id serial PRIMARY KEY, m mood, w whole UNIQUE)", "CREATE TABLE s.u (t int REFERENCES t)", "INSERT INTO t (m, w) VALUES ('ok', 1)", "INSERT INTO s.u VALUES (1)",
	"CREATE VIEW v AS SELECT * FROM t", "CREATE MATERIALIZED VIEW mv AS SELECT * FROM t",
	"CREATE STREAM e (id bigint, who text) WITH (partitions = 2, dedup_key = 'id')", "CREATE CONTINUOUS VIEW c AS SELECT who, count(*) AS n FROM e GROUP BY who",
	"INSERT INTO e SELECT g, 'w' || g % 7 FROM generate_series(1, 1000) g", "SELECT count(*) FROM e",
}

// connectTo connects to a database.
func connectTo(t *testing.T, s *servertest.Server, database string) (code string, c *pgx.Conn) {
	t.Helper()
	return logIn(t, s, "sslmode=disable user=tally", func(c *pgx.ConnConfig) { c.Database = database })
}

// filled makes a database with contents, and leaves it.
func filled(t *testing.T, s *servertest.Server, name string) {
	t.Helper()
	servertest.Exec(t, s.Connect(), "CREATE DATABASE "+name)
	_, c := connectTo(t, s, name)
	servertest.Exec(t, c, contents...)
	servertest.Expect(t, c, "SELECT sum(n) FROM c", "1000")
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// keys returns what a stopped server keeps, but for the counter and the fencing token.
func keys(t *testing.T, fs vfs.FS) []string {
	t.Helper()
	store, err := kv.Open("data/kv", kv.Config{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	err = store.Scan(nil, bytes.Repeat([]byte{0xff}, 16), func(key, _ []byte) error {
		if k := string(key); k != "c/counter" && k != "c/owner" {
			out = append(out, k)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDropDatabaseLeavesNothing: after DROP DATABASE there is what there was before CREATE
// DATABASE, also after a restart, and another one of the name is empty.
func TestDropDatabaseLeavesNothing(t *testing.T) {
	fs := vfs.Memory()
	s := servertest.Start(t, servertest.Options{FS: fs})
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	before := keys(t, fs)
	s = servertest.Start(t, servertest.Options{FS: fs})
	filled(t, s, "gone")
	c := s.Connect()
	servertest.Exec(t, c, "DROP DATABASE gone")
	servertest.Expect(t, c, "SELECT count(*) FROM pg_database WHERE datname = 'gone'", "0")
	if code, _ := connectTo(t, s, "gone"); code != "3D000" {
		t.Errorf("connected to a dropped database: %q", code)
	}
	servertest.ExpectCode(t, c, "3D000", "DROP DATABASE gone")
	servertest.Exec(t, c, "DROP DATABASE IF EXISTS gone", "CREATE DATABASE gone")
	_, again := connectTo(t, s, "gone")
	servertest.Expect(t, again, "SELECT count(*) FROM pg_class WHERE relname IN ('t', 'e', 'c', 'u')", "0")
	servertest.Exec(t, again, contents...)
	servertest.Expect(t, again, "SELECT sum(n) FROM c", "1000")
	servertest.Exec(t, c, "DROP DATABASE gone WITH (FORCE)")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if after := keys(t, fs); !slices.Equal(after, before) {
		t.Errorf("%d keys are left, %d were there before: %q", len(after), len(before), after)
	}
}

// TestDropDatabaseWaitsForSessions: a database that somebody uses is dropped once they
// have left, or is not; FORCE ends them. It is never that of the session, nor part of a
// transaction.
func TestDropDatabaseWaitsForSessions(t *testing.T) {
	s := servertest.Start(t, servertest.Options{Config: func(c *server.Config) { c.LeavePatience = time.Millisecond }})
	filled(t, s, "used")
	c := s.Connect()
	servertest.ExpectCode(t, c, "55006", "DROP DATABASE tally")
	_, user := connectTo(t, s, "used")
	servertest.ExpectCode(t, c, "55006", "DROP DATABASE used")
	servertest.Expect(t, user, "SELECT count(*) FROM t", "1")
	servertest.Exec(t, c, "BEGIN")
	servertest.ExpectCode(t, c, "25001", "DROP DATABASE used")
	servertest.Exec(t, c, "ROLLBACK")
	servertest.Exec(t, user, "BEGIN", "INSERT INTO t (m) VALUES ('sad')")
	s.Node.Engine().LeavePatience = servertest.Patience
	servertest.Exec(t, c, "DROP DATABASE used WITH (FORCE)")
	servertest.ExpectCode(t, user, "57P01", "SELECT 1")

	filled(t, s, "later")
	_, user = connectTo(t, s, "later")
	go func() { _ = user.Close(t.Context()) }() // the server sees it go, and that is what counts
	servertest.Exec(t, c, "DROP DATABASE later")
}

// TestDatabasesComeAndGo: who connects, makes and drops at the same time gets an answer
// each, and the server goes on.
func TestDatabasesComeAndGo(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	expected := []string{"", "3D000", "42P04", "57P01"}
	var group sync.WaitGroup
	for range 3 {
		c := s.Connect()
		group.Go(func() {
			for range 10 {
				for _, sql := range []string{"CREATE DATABASE hot", "DROP DATABASE hot WITH (FORCE)"} {
					if _, err := servertest.Query(c, sql); !slices.Contains(expected, servertest.Code(err)) {
						t.Errorf("%s: %v", sql, err)
					}
				}
			}
		})
		group.Go(func() {
			for range 20 {
				code, c := connectTo(t, s, "hot")
				if code == "" {
					_, err := servertest.Query(c, "CREATE TABLE t AS SELECT 1 AS a")
					code = servertest.Code(err)
				}
				if !slices.Contains(append(expected, "42P07"), code) && !strings.HasPrefix(code, "08") {
					t.Errorf("connect: %s", code)
				}
			}
		})
	}
	group.Wait()
	servertest.Exec(t, s.Connect(), "DROP DATABASE IF EXISTS hot WITH (FORCE)", "CREATE DATABASE hot")
}

// TestDropDatabaseIsWholeAfterACrash cuts the power at every write of DROP DATABASE:
// afterwards all of the database is there, or nothing, and it can be dropped.
func TestDropDatabaseIsWholeAfterACrash(t *testing.T) {
	s, cuts := startCut(t, 5, 1, 20)
	filled(t, s, "gone")
	c := s.Connect()
	cuts.arm(true)
	servertest.Exec(t, c, "DROP DATABASE gone")
	cuts.arm(false)
	cuts.now()
	there := 0
	for i, fs := range cuts.left {
		r := servertest.Start(t, servertest.Options{FS: fs})
		code, c := connectTo(t, r, "gone")
		switch code {
		case "":
			there++
			servertest.Expect(t, c, "SELECT sum(n), (SELECT count(*) FROM t), (SELECT count(*) FROM e) FROM c", "1000|1|1000")
			servertest.Exec(t, r.Connect(), "DROP DATABASE gone WITH (FORCE)")
		case "3D000":
		default:
			t.Fatalf("crash %d: %s", i, code)
		}
		servertest.Exec(t, r.Connect(), "CREATE DATABASE gone")
		_, c = connectTo(t, r, "gone")
		servertest.Exec(t, c, contents...)
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if there == 0 || there == len(cuts.left) {
		t.Errorf("%d of %d crashes left the database: the test saw one side only", there, len(cuts.left))
	}
}

// TestAlterDatabase: a database that is renamed or given away is the same one.
func TestAlterDatabase(t *testing.T) {
	s := servertest.Start(t, servertest.Options{Config: func(c *server.Config) { c.LeavePatience = time.Millisecond }})
	filled(t, s, "old")
	c := s.Connect()
	servertest.Exec(t, c, "CREATE ROLE maker LOGIN CREATEDB", "CREATE ROLE other LOGIN")
	servertest.ExpectCode(t, c, "42P04", "ALTER DATABASE old RENAME TO tally")
	servertest.ExpectCode(t, c, "0A000", "ALTER DATABASE tally RENAME TO other")
	_, user := connectTo(t, s, "old")
	servertest.ExpectCode(t, c, "55006", "ALTER DATABASE old RENAME TO new")
	if err := user.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Node.Engine().LeavePatience = servertest.Patience
	servertest.Exec(t, c, "ALTER DATABASE old RENAME TO new", "ALTER DATABASE new OWNER TO maker")
	if code, _ := connectTo(t, s, "old"); code != "3D000" {
		t.Errorf("connected to the old name: %q", code)
	}
	s = s.Reopen()
	_, user = logIn(t, s, "sslmode=disable user=maker", func(c *pgx.ConnConfig) { c.Database = "new" })
	servertest.Exec(t, user, "CREATE SCHEMA mine")
	_, user = connectTo(t, s, "new")
	servertest.Exec(t, user, "INSERT INTO e VALUES (2000, 'w1')")
	servertest.Expect(t, user, "SELECT sum(n), (SELECT count(*) FROM t) FROM c", "1001|1")
	servertest.Expect(t, user, "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()", "maker")
	servertest.ExpectCode(t, s.Connect(), "2BP01", "DROP ROLE maker")
}

// TestSettingsThatSessionsBeginWith: those of the database, of the role, of the role in the
// database and of the client, of which the later ones win; RESET returns to them.
func TestSettingsThatSessionsBeginWith(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, "CREATE ROLE app LOGIN", "CREATE DATABASE other")
	const shown = "SELECT current_setting('timezone'), current_setting('statement_timeout')"
	sessions := func(want, inOther string) {
		t.Helper()
		for database, want := range map[string]string{"tally": want, "other": inOther} {
			code, c := logIn(t, s, "sslmode=disable user=app", func(c *pgx.ConnConfig) { c.Database = database })
			if code != "" {
				t.Fatal(code)
			}
			servertest.Expect(t, c, shown, want)
			servertest.Exec(t, c, "SET timezone = 'Asia/Tokyo'", "SET statement_timeout = '9s'", "RESET timezone", "RESET ALL")
			servertest.Expect(t, c, shown, want)
			servertest.Exec(t, c, "SET timezone = 'Asia/Tokyo'", "DISCARD ALL")
			servertest.Expect(t, c, shown, want)
			servertest.Expect(t, c, "SELECT reset_val FROM pg_settings WHERE name = 'TimeZone'", strings.Split(want, "|")[0])
		}
	}
	sessions("UTC|0", "UTC|0")
	servertest.Exec(t, c, "ALTER DATABASE tally SET timezone = 'Europe/Paris'", "ALTER DATABASE tally SET statement_timeout = '5s'")
	sessions("Europe/Paris|5s", "UTC|0")
	servertest.Exec(t, c, "ALTER ROLE app SET timezone = 'Europe/Rome'")
	sessions("Europe/Rome|5s", "Europe/Rome|0")
	servertest.Exec(t, c, "ALTER ROLE app IN DATABASE other SET timezone = 'Europe/Oslo'")
	sessions("Europe/Rome|5s", "Europe/Oslo|0")
	s = s.Reopen()
	sessions("Europe/Rome|5s", "Europe/Oslo|0")
	_, asking := logIn(t, s, "sslmode=disable user=app timezone=Asia/Tokyo", nil)
	servertest.Expect(t, asking, shown, "Asia/Tokyo|5s")
	servertest.Exec(t, asking, "SET timezone = 'UTC'", "RESET timezone")
	servertest.Expect(t, asking, shown, "Asia/Tokyo|5s")
	servertest.Exec(t, asking, "ALTER ROLE CURRENT_USER SET timezone = 'Asia/Seoul'")
	servertest.ExpectCode(t, asking, "42501", "ALTER DATABASE tally RESET timezone")
	sessions("Asia/Seoul|5s", "Europe/Oslo|0")
	c = s.Connect()
	servertest.Exec(t, c, "ALTER ROLE app RESET ALL", "ALTER ROLE app IN DATABASE other RESET ALL", "ALTER ROLE ALL IN DATABASE tally RESET ALL")
	sessions("UTC|0", "UTC|0")
	servertest.Exec(t, c, "CREATE ROLE gone", "ALTER ROLE app SET role = 'gone'", "DROP ROLE gone")
	sessions("UTC|0", "UTC|0")
}

// TestDatabasesGoWhileAllAreGoneThrough: metrics and retention, which go through all
// databases, meet those that are dropped meanwhile.
func TestDatabasesGoWhileAllAreGoneThrough(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	catalog := s.Node.Engine().Catalog
	filled(t, s, "gone")
	d, err := catalog.Database("gone")
	if err != nil {
		t.Fatal(err)
	}
	servertest.Exec(t, s.Connect(), "DROP DATABASE gone")
	if n := len(catalog.Snapshot(d.Tenant).Relations()); n != 0 {
		t.Errorf("a dropped database has %d relations", n)
	}
	if err := s.Node.Retain(t.Context()); err != nil {
		t.Error(err)
	}
}
