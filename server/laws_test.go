package server_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tallydb/tallydb/server"
	"github.com/tallydb/tallydb/server/servertest"
	"github.com/tallydb/tallydb/storage/vfs"
)

const perKey = `CREATE CONTINUOUS VIEW v AS SELECT key, window_start, window_end, count(*) AS n, approx_distinct(id) AS ids
	FROM TUMBLE(clicks, at, INTERVAL '1 minute') GROUP BY key, window_start, window_end`

// spread inserts events with keys k0 to k9. Of one server in 512 they are all in one
// of its two partitions: the tenant's seed is random.
func spread(from, to int) string { return spreadOver(10, from, to) }

func spreadOver(keys, from, to int) string {
	var rows []string
	for n := from; n < to; n++ {
		rows = append(rows, fmt.Sprintf("(%d, 'k%d', %d, '%s')", n, n%keys, n, at(n%50)))
	}
	return "INSERT INTO clicks VALUES " + strings.Join(rows, ", ")
}

// offlineServer returns a connection to a server whose partition 0 is offline, a
// key of it, and a key of the other partition.
func offlineServer(t *testing.T) (s *servertest.Server, gone, here string) {
	t.Helper()
	s = servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, clicks, perKey, "CREATE TABLE copied (key text, n bigint)", spread(0, 100), "ALTER STREAM clicks PARTITION 0 OFFLINE")
	for k := range 10 {
		key := fmt.Sprintf("k%d", k)
		if _, err := servertest.Query(c, fmt.Sprintf("SELECT count(*) FROM clicks WHERE key = '%s'", key)); err == nil {
			here = key
		} else {
			gone = key
		}
	}
	if gone == "" || here == "" {
		return offlineServer(t)
	}
	return s, gone, here
}

// TestL7NothingPartialIsUnlabelled: with a partition offline, every result that
// does not say itself that it is partial is an error, empty ones included.
func TestL7NothingPartialIsUnlabelled(t *testing.T) {
	s, gone, here := offlineServer(t)
	c := s.Connect()
	for _, sql := range []string{
		"SELECT count(*) FROM clicks",
		"SELECT * FROM clicks WHERE id < 0",
		"SELECT _status FROM clicks WHERE id < 0", // no row carries the label
		"SELECT id FROM clicks",
		"SELECT n FROM v",
		"SELECT sum(n) FROM v",
		"SELECT key, count(*) FROM clicks GROUP BY key",
		"SELECT key, sum(n) FROM v GROUP BY key",
		fmt.Sprintf("SELECT sum(n) FROM v WHERE key = '%s'", gone),
		"SELECT n FROM v WHERE key = 'no such key' OR key IS NULL",
		"SELECT upper(_status) FROM v",
		"SELECT 1 WHERE EXISTS (SELECT 1 FROM v WHERE n < 0)",
		"SELECT count(*) FROM clicks__rejected",
		"COPY clicks TO STDOUT",
		"COPY (SELECT n FROM v) TO STDOUT",
		"CREATE TABLE kept AS SELECT n FROM v",
		"CREATE TABLE kept AS SELECT count(*) FROM clicks",
		"INSERT INTO copied SELECT key, n FROM v",
		"INSERT INTO copied SELECT key, n FROM v WHERE n < 0",
	} {
		servertest.ExpectCode(t, c, "TY001", sql)
	}
	servertest.Expect(t, c, "SELECT count(*) FROM copied", "0")
	servertest.ExpectCode(t, c, "42P01", "SELECT * FROM kept")
	servertest.Expect(t, c, fmt.Sprintf("SELECT count(*), sum(n) FROM v WHERE key = '%s'", here), "1|10")
	servertest.Expect(t, c, "SELECT DISTINCT _status FROM v", "partial")
	servertest.Expect(t, c, "SELECT DISTINCT _status, _coverage < 1 FROM clicks", "partial|t")
}

// TestL7ConsumersMayAskForPartialResults: warn and label return the rows.
func TestL7ConsumersMayAskForPartialResults(t *testing.T) {
	s, _, _ := offlineServer(t)
	c := s.Connect()
	servertest.Exec(t, c, "SET partial_results = 'label'")
	servertest.Expect(t, c, "SELECT count(*) > 0 FROM clicks", "t")
	servertest.Exec(t, c, "SET partial_results = 'warn'")
	servertest.Expect(t, c, "SELECT count(*) > 0 FROM v", "t")
	servertest.Expect(t, c, "SELECT _status, count(*) > 0 FROM v GROUP BY _status", "partial|t")
	for _, sql := range []string{"CREATE TABLE kept AS SELECT n FROM v", "INSERT INTO copied SELECT key, n FROM v"} {
		servertest.ExpectCode(t, c, "TY001", sql)
	}
}

// TestL6CompleteIsProven: a row becomes complete when its window is final in
// every partition, stops being so while a partition is missing, and is so again.
func TestL6CompleteIsProven(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, clicks, perKey, spreadOver(50, 0, 100))
	const status = "SELECT DISTINCT _status FROM v"
	servertest.Expect(t, c, status, "provisional")
	s.Clock.Advance(12 * time.Second)
	s.Tick()
	servertest.Expect(t, c, status, "provisional")
	servertest.Exec(t, c, "ALTER STREAM clicks PARTITION 1 OFFLINE")
	s.Clock.Advance(2 * time.Minute)
	s.Tick()
	servertest.Expect(t, c, status, "partial")
	servertest.Exec(t, c, spreadOver(50, 100, 120)) // partition 1 keeps its part in the log
	servertest.Exec(t, c, "ALTER STREAM clicks PARTITION 1 ONLINE")
	s.Clock.Advance(30 * time.Second)
	servertest.Eventually(t, "the windows are final", func() bool {
		s.Tick()
		rows, err := servertest.Query(c, status)
		return err == nil && len(rows) == 1 && rows[0] == "complete"
	})
	servertest.Expect(t, c, "SELECT (SELECT sum(n) FROM v) + (SELECT count(*) FROM v__late)", "120")
}

// TestL8ErrorIsCarried: merged estimates keep bounds around their values; what
// has none says NULL, never 0.
func TestL8ErrorIsCarried(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, clicks, perKey)
	for n := range 20 {
		servertest.Exec(t, c, spread(n*500, n*500+500))
	}
	servertest.Expect(t, c, "SELECT bool_and(_error > 0 AND ids_lo <= ids AND ids <= ids_hi AND ids_lo < ids_hi) FROM v", "t")
	servertest.Expect(t, c, "SELECT _error > 0, _err_kind <> 'exact' FROM (SELECT combine(ids) AS all_ids, _error, _err_kind FROM v) x", "t|t")
}

// TestL9ADuplicateNeverCountsTwice: in views that saw it live, in views that read
// it back, in ad-hoc reads, after restarts; and what is too old to tell is refused.
func TestL9ADuplicateNeverCountsTwice(t *testing.T) {
	fs := vfs.NewCrashable()
	s := servertest.Start(t, servertest.Options{FS: fs})
	c := s.Connect()
	servertest.Exec(t, c, clicks, "CREATE CONTINUOUS VIEW live AS SELECT count(*) AS n FROM clicks")
	servertest.Exec(t, c, spread(0, 40), spread(20, 60), spread(0, 60))
	servertest.Exec(t, c, "CREATE CONTINUOUS VIEW backfilled AS SELECT count(*) AS n FROM clicks")
	const counts = "SELECT (SELECT n FROM live), (SELECT n FROM backfilled), (SELECT count(*) FROM clicks)"
	servertest.Expect(t, c, counts, "60|60|60")
	s = servertest.Start(t, s.On(fs.Crash(0, nil)))
	c = s.Connect()
	servertest.Exec(t, c, "SET read_wait = '10s'", spread(0, 60), spread(0, 70))
	servertest.Expect(t, c, counts, "70|70|70")
	s = s.Reopen()
	c = s.Connect()
	servertest.Exec(t, c, "SET read_wait = '10s'", spread(0, 70))
	servertest.Expect(t, c, counts, "70|70|70")
	s.Clock.Advance(2 * time.Hour) // the horizon is an hour
	var far []string
	for k := range 10 {
		far = append(far, fmt.Sprintf("(%d, 'k%d', 1, '%s')", 1000+k, k, s.Clock.Now().Format(time.RFC3339)))
	}
	servertest.Exec(t, c, "INSERT INTO clicks VALUES "+strings.Join(far, ", "), spread(0, 70))
	servertest.Expect(t, c, counts, "80|80|80")
	servertest.Expect(t, c, "SELECT count(*), min(reason) FROM clicks__rejected", "70|event time is older than the deduplication horizon")
}

// TestL10OneNodeForADirectory: a second node on the same data directory is
// refused, in memory and on disk, and takes nothing from the first.
func TestL10OneNodeForADirectory(t *testing.T) {
	for name, opts := range map[string]servertest.Options{
		"memory": {FS: vfs.Memory()},
		"disk":   {FS: vfs.OS(), Dir: t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			s := servertest.Start(t, opts)
			servertest.Exec(t, s.Connect(), clicks, spread(0, 10))
			if second, err := servertest.Open(t, opts); err == nil {
				_ = second.Stop() // only the refusal matters
				t.Error("a second node opened the directory, want an error")
			} else if !strings.Contains(err.Error(), "in use by another process") {
				t.Errorf("the second node says %v", err)
			}
			servertest.Exec(t, s.Connect(), spread(10, 20))
			s = s.Reopen()
			servertest.Expect(t, s.Connect(), "SELECT count(*) FROM clicks", "20")
		})
	}
}

// TestL11BudgetsAreHard: what exceeds a budget is refused with a clear error and
// changes nothing.
func TestL11BudgetsAreHard(t *testing.T) {
	s := servertest.Start(t, servertest.Options{Config: func(cfg *server.Config) {
		cfg.SegmentBytes = 64 << 20
		cfg.StatementMemory = 1 << 20
		cfg.MemoryBytes = 16 << 20
	}})
	c := s.Connect()
	servertest.Exec(t, c, clicks)
	servertest.ExpectCode(t, c, "53400", "CREATE CONTINUOUS VIEW v WITH (max_groups = 1000000) AS SELECT id, count(*) AS n FROM clicks GROUP BY id")
	servertest.Exec(t, c, "CREATE CONTINUOUS VIEW v WITH (max_groups = 5) AS SELECT id, count(*) AS n FROM clicks GROUP BY id", spread(0, 100))
	servertest.Expect(t, c, "SELECT count(*) FROM v", "10") // in two partitions
	servertest.Expect(t, c, "SELECT DISTINCT sqlstate FROM v__errors", "53400")
	servertest.Expect(t, c, "SELECT DISTINCT _status FROM v", "degraded")
	servertest.ExpectCode(t, c, "53200", "SELECT array_agg(a.n) FROM generate_series(1, 1000000) a(n)")
	const large = "SELECT count(*), sum(n) FROM (SELECT a.n, lag(b.n) OVER (PARTITION BY a.n / 100 ORDER BY a.n) FROM generate_series(1, 100000) a(n) JOIN generate_series(1, 100000) b(n) ON a.n = b.n ORDER BY 1) s"
	servertest.Expect(t, c, large, "100000|5000050000") // in temporary files
	servertest.Exec(t, c, "SET temp_file_limit = '100kB'")
	servertest.ExpectCode(t, c, "53400", large)
	servertest.Expect(t, c, "SHOW temp_file_limit", "100kB")
	servertest.Exec(t, c, "RESET temp_file_limit")

	servertest.Exec(t, c, "BEGIN")
	row := "1\tk\t1\t" + at(1) + "\n"
	err := servertest.Copy(c, "clicks", strings.Repeat(row, 70<<20/24))
	if got := servertest.Code(err); got != "54000" {
		t.Errorf("a transaction with more than 64 MiB of stream rows: %v, want SQLSTATE 54000", err)
	}
	servertest.Exec(t, c, "ROLLBACK")
	servertest.Expect(t, c, "SELECT count(*) FROM clicks", "100")

	if _, err = servertest.Query(c, "SELECT '"+strings.Repeat("x", 17<<20)+"'"); err == nil { // the connection may be cut before 08P01 is read
		t.Error("a message over the limit was accepted, want an error")
	}
	servertest.Expect(t, s.Connect(), "SELECT count(*) FROM clicks", "100")
}

// TestL11RefusalsNameWhatFits: a view whose groups do not fit into memory is refused with
// parameters of its sketches, and with a number of groups, that do fit.
func TestL11RefusalsNameWhatFits(t *testing.T) {
	s := servertest.Start(t, servertest.Options{Config: func(cfg *server.Config) { cfg.MemoryBytes = 16 << 20 }})
	c := s.Connect()
	servertest.Exec(t, c, "CREATE STREAM f (k text, u text, x double precision, w int) WITH (partitions = 2)",
		"CREATE STREAM d (k text, u text, w int) WITH (partitions = 2, kind = 'turnstile', weight = 'w')")
	n := 0
	for _, c1 := range []struct {
		groups     int
		from, list string
		want       string // of the hint
	}{
		{10_000, "f", "approx_distinct(u)", "It fits with rse => 0.05 in approx_distinct, or with max_groups = "},
		{1500, "f", "approx_distinct(u, 14), approx_quantile(x, 0.5, k => 1000), approx_quantile(x, 0.9, 1000), count(*)", " in approx_distinct and k => "},
		{2000, "f", "approx_distinct(u, rse => 0.0025), max(x)", "It fits with rse => 0.02 in approx_distinct, or with max_groups = "},
		{1000, "f", "hll_agg(u, 18), theta_agg(u)", " in hll_agg"},
		{1000, "f", "approx_frequency(u, 'a')", "It fits with eps => "},
		{1000, "d", "count_sketch_agg(u, 1)", "It fits with width => 200 in count_sketch_agg, or with max_groups = "},
		{1000, "f", "bloom_agg(u)", " in bloom_agg, or with max_groups = "},
		{900_000_000, "f", "approx_distinct(u)", "It fits with max_groups = "},
	} {
		create := func(list string, groups int) string {
			n++
			return fmt.Sprintf("CREATE CONTINUOUS VIEW v%d WITH (max_groups = %d) AS SELECT k, %s FROM %s GROUP BY k", n, groups, named(list), c1.from)
		}
		refused := wantCode(t, c, "53400", create(c1.list, c1.groups))
		if !strings.Contains(refused.Hint, c1.want) {
			t.Errorf("%s: hint %q, want %q", c1.list, refused.Hint, c1.want)
			continue
		}
		// What is named is accepted.
		list := c1.list
		for _, m := range regexp.MustCompile(`(\w+) => ([0-9.e+]+) in (\w+)`).FindAllStringSubmatch(refused.Hint, -1) {
			calls := regexp.MustCompile(m[3] + `\((\w+)(, 0\.\d|, 'a'|, 1\b)?[^)]*\)`)
			list = calls.ReplaceAllString(list, m[3]+"($1$2, "+m[1]+" => "+m[2]+")")
		}
		if list != c1.list {
			mustExec(t, c, create(list, c1.groups))
		}
		if m := regexp.MustCompile(`max_groups = (\d+)`).FindStringSubmatch(refused.Hint); m != nil {
			most, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			mustExec(t, c, create(c1.list, most))
			wantCode(t, c, "53400", create(c1.list, most+1))
		}
	}
}

// named gives the columns of a list names of their own.
func named(list string) string {
	parts := strings.Split(list, "), ")
	for i, p := range parts {
		parts[i] = strings.TrimSuffix(p, ")") + fmt.Sprintf(") AS c%d", i)
	}
	return strings.Join(parts, ", ")
}
