package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tallydb/tallydb/server/servertest"
)

// noticed returns the notices that a query brings.
func noticed(t *testing.T, s *servertest.Server, statements ...string) []string {
	t.Helper()
	cfg := s.Connect().Config()
	var notices []string
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices = append(notices, n.Severity+": "+n.Message) }
	c, err := pgx.ConnectConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	servertest.Exec(t, c, statements...)
	return notices
}

// TestL7DegradedWithoutALabelIsAWarning: a result whose windows lack rows that
// failed says so, in its _status or in a warning.
func TestL7DegradedWithoutALabelIsAWarning(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c,
		"CREATE STREAM g (k text, v bigint, at timestamptz, WATERMARK FOR at AS at) WITH (partitions = 2)",
		"CREATE CONTINUOUS VIEW gv WITH (max_groups = 2) AS SELECT k, count(*) n FROM g GROUP BY k",
		"INSERT INTO g SELECT 'k' || x, x, '2026-01-01' FROM generate_series(1, 100) x")
	got := noticed(t, s, "SELECT sum(n) FROM gv")
	if len(got) != 1 || !strings.HasPrefix(got[0], `WARNING: result from "gv" is degraded`) {
		t.Errorf("notices %q", got)
	}
	if got := noticed(t, s, "SELECT k, n, _status FROM gv", "SELECT count(*) FROM g"); len(got) != 0 {
		t.Errorf("a labelled and a healthy result brought %q", got)
	}
}

// TestL7InaccurateWithoutALabelIsAWarning: values beyond the accuracy contract of a view
// say so, in their row or in one warning, whoever finished them and whatever became of
// them; what keeps the contract, or is exact, brings none.
func TestL7InaccurateWithoutALabelIsAWarning(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, "CREATE STREAM a (k text, v bigint) WITH (partitions = 2, partition_key = 'k')")
	for view, with := range map[string]string{"al": "label", "an": "null", "ae": "exact"} {
		servertest.Exec(t, c, fmt.Sprintf("CREATE CONTINUOUS VIEW %s WITH (max_error = 0.01, on_bound_exceeded = '%s') AS SELECT k, count(*) AS n, approx_distinct(v, 10) AS d FROM a GROUP BY k", view, with))
	}
	servertest.Exec(t, c, "INSERT INTO a SELECT CASE WHEN g <= 9 THEN 'small' ELSE 'large' END, g FROM generate_series(1, 5000) g")
	for _, query := range []string{
		"SELECT k, d FROM al", "SELECT k, d, n FROM an", "SELECT sum(d) FROM al", "SELECT max(d) FROM an", "SELECT count(*) FROM an WHERE d > 100",
		"SELECT k, _status FROM an WHERE d IS NOT NULL", "SELECT combine(d) FROM an", "SELECT n FROM al WHERE d > 100", "SELECT d FROM al UNION SELECT 1",
		"WITH x AS (SELECT d FROM al) SELECT count(*) FROM x WHERE d > 1", "SELECT (SELECT max(d) FROM al)",
	} {
		got := noticed(t, s, query)
		if len(got) == 0 || !strings.HasPrefix(got[0], `WARNING: result from "a`) || !strings.HasSuffix(got[0], `is degraded: the error of 1 rows is beyond the view's max_error`) {
			t.Errorf("%s: notices %q", query, got)
		}
	}
	got := noticed(t, s, "SELECT k, d, _status FROM al", "SELECT k, d, _status FROM an", "SELECT n FROM al", "SELECT d FROM an WHERE k = 'small'",
		"SELECT combine(d) FROM al WHERE k = 'small'", "SELECT k, d FROM ae", "SELECT sum(d) FROM ae", "SET confidence = 0.05", "SELECT d FROM al")
	if len(got) != 0 {
		t.Errorf("results that keep the contract or say that they do not brought %q", got)
	}
}

// TestL7DegradedWithoutRowsIsAWarning: rows that failed may be all that there was,
// or what the filter asked for, so no row is there to say so.
func TestL7DegradedWithoutRowsIsAWarning(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c,
		"CREATE STREAM h (k text, v bigint, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 day') WITH (partitions = 2)",
		"CREATE CONTINUOUS VIEW hv AS SELECT k, window_start, sum(1 / v) n FROM TUMBLE(h, at, INTERVAL '1 minute') GROUP BY k, window_start, window_end",
		"CREATE CONTINUOUS VIEW ht WITH (max_groups = 1) AS SELECT k, count(*) n FROM h GROUP BY k",
		"INSERT INTO h VALUES ('a', 0, '2026-01-01 00:00:30'), ('b', 1, '2026-01-01 00:01:30')")
	const warning = `WARNING: result from "hv" is degraded: 1 rows failed`
	for sql, want := range map[string]string{
		"SELECT * FROM hv WHERE window_start = '2026-01-01 00:00'":                                warning,
		"SELECT count(*) FROM hv WHERE k = 'a'":                                                   warning,
		"SELECT k, n, _status FROM hv WHERE k = 'a'":                                              warning,
		"SELECT k, n, _status FROM hv":                                                            warning,
		"SELECT count(*) FROM hv WHERE window_start = '2026-01-01 00:01'":                         "",
		"SELECT k, _status FROM hv WHERE window_start IN ('2026-01-01 00:01','2026-01-01 00:02')": "",
		"SELECT count(*) FROM hv a, (SELECT count(*) FROM h) b":                                   warning, // a healthy relation comes last
	} {
		got := noticed(t, s, sql)
		if len(got) != min(len(want), 1) || len(got) == 1 && !strings.HasPrefix(got[0], want) {
			t.Errorf("%s: notices %q, want %q", sql, got, want)
		}
	}
	got := noticed(t, s, "SELECT count(*) FROM hv, ht")
	if len(got) != 2 {
		t.Errorf("two degraded relations brought %q", got)
	}
	servertest.Expect(t, c, "SELECT count(*), _status FROM hv WHERE k = 'a'", "0|degraded")
}

// TestL7PartialIsAWarningWhateverComesAfterIt: a healthy relation of the same
// statement does not take the warning about another away.
func TestL7PartialIsAWarningWhateverComesAfterIt(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	servertest.Exec(t, s.Connect(),
		"CREATE STREAM p (k int)", "CREATE STREAM q (k int)",
		"CREATE CONTINUOUS VIEW pv AS SELECT k, count(*) n FROM p GROUP BY k",
		"CREATE CONTINUOUS VIEW qv AS SELECT k, count(*) n FROM q GROUP BY k",
		"INSERT INTO p VALUES (1)", "INSERT INTO q VALUES (1)", "ALTER STREAM p PARTITION 0 OFFLINE")
	for _, sql := range []string{"SELECT sum(pv.n) FROM pv JOIN qv USING (k)", "SELECT sum(pv.n) FROM qv JOIN pv USING (k)"} {
		got := noticed(t, s, "SET partial_results = 'warn'", sql)
		if len(got) != 1 || !strings.HasPrefix(got[0], `WARNING: result from "pv" is partial`) {
			t.Errorf("%s: notices %q", sql, got)
		}
	}
}

// TestL7OuterJoinsLabelTheRowsThatTheyExtend: a row without a partner is as
// partial as the relation in which its partner may be.
func TestL7OuterJoinsLabelTheRowsThatTheyExtend(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c,
		"CREATE STREAM f (k text, at timestamptz, WATERMARK FOR at AS at) WITH (partitions = 2, partition_key = 'k')",
		"CREATE CONTINUOUS VIEW fv AS SELECT k, count(*) n FROM f GROUP BY k",
		"INSERT INTO f SELECT 'k' || x, '2026-01-01' FROM generate_series(1, 60) x",
		"CREATE TABLE t (k text)",
		"INSERT INTO t SELECT 'k' || x FROM generate_series(1, 70) x",
		"ALTER STREAM f PARTITION 0 OFFLINE")
	for _, join := range []string{"t LEFT JOIN fv ON t.k = fv.k", "fv RIGHT JOIN t ON t.k = fv.k", "t FULL JOIN fv ON t.k = fv.k"} {
		rows, err := servertest.Query(c, "SELECT t.k, fv.n, fv._status FROM "+join)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if !strings.HasSuffix(r, "|partial") {
				t.Fatalf("%s: row %q is not labelled", join, r)
			}
		}
	}
	servertest.Exec(t, c, "ALTER STREAM f PARTITION 0 ONLINE")
	servertest.Expect(t, c, "SELECT count(*) FROM t LEFT JOIN fv ON t.k = fv.k WHERE fv._status IS NULL", "10")
}

// TestSilentSourceFallsIdleWhileOthersSpeak: a source that is silent for the idle
// timeout no longer holds the watermark back, although its partition is busy.
func TestSilentSourceFallsIdleWhileOthersSpeak(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c, `CREATE STREAM w (id int, src text, at timestamptz, WATERMARK FOR at AS at - INTERVAL '10 seconds')
		WITH (partitions = 1, source_key = 'src', idle_timeout = '4 seconds')`,
		"INSERT INTO w VALUES (1, 'b', '2026-01-01 00:01:30Z')")
	for minute := 3; minute <= 8; minute++ {
		s.Clock.Advance(2 * time.Second)
		servertest.Exec(t, c, fmt.Sprintf("INSERT INTO w VALUES (2, 'a', '2026-01-01 00:%02d:00Z')", minute))
		s.Tick()
	}
	servertest.Eventually(t, "the watermark to follow the source that speaks", func() bool {
		got, err := servertest.Query(c, "SELECT watermark >= '2026-01-01 00:07:50Z' FROM tally_catalog.partitions WHERE stream = 'w'")
		return err == nil && len(got) == 1 && got[0] == "t"
	})
}

// TestDropUnderOpenRowsIsAnError: rows of a COPY or of a transaction whose stream
// was dropped meanwhile are refused, not acknowledged.
func TestDropUnderOpenRowsIsAnError(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c, other := s.Connect(), s.Connect()
	const create = "CREATE STREAM d (id int, at timestamptz, WATERMARK FOR at AS at)"
	servertest.Exec(t, c, create, "BEGIN", "INSERT INTO d VALUES (1, '2026-01-01')")
	servertest.Exec(t, other, "DROP STREAM d", create)
	servertest.ExpectCode(t, c, "42P01", "COMMIT")

	code := copyAround(t, s.Connect(), "COPY d FROM STDIN", "1\t2026-01-01\n", func() { servertest.Exec(t, other, "DROP STREAM d", create) })
	if code != "42P01" {
		t.Errorf("COPY into a stream that was dropped: %q", code)
	}
	servertest.Expect(t, c, "SELECT count(*) FROM d", "0")
}

// copyAround copies rows and calls during after the server began the COPY and got
// the rows, before their end. It returns the SQLSTATE of the COPY.
func copyAround(t *testing.T, c *pgx.Conn, sql, rows string, during func()) string {
	t.Helper()
	h, err := c.PgConn().Hijack()
	if err != nil {
		t.Fatal(err)
	}
	defer h.Conn.Close()
	h.Frontend.Send(&pgproto3.Query{String: sql})
	if err := h.Frontend.Flush(); err != nil {
		t.Fatal(err)
	}
	code := ""
	for {
		msg, err := h.Frontend.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := msg.(type) {
		case *pgproto3.CopyInResponse:
			h.Frontend.Send(&pgproto3.CopyData{Data: []byte(rows)})
			err := h.Frontend.Flush()
			during()
			h.Frontend.Send(&pgproto3.CopyDone{})
			if err = errors.Join(err, h.Frontend.Flush()); err != nil {
				t.Fatal(err)
			}
		case *pgproto3.ErrorResponse:
			code = m.Code
		case *pgproto3.ReadyForQuery:
			return code
		}
	}
}

// TestTransactionOverStreamsIsAtomic: the rows of a transaction for two streams
// become durable together.
func TestTransactionOverStreamsIsAtomic(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c, other := s.Connect(), s.Connect()
	servertest.Exec(t, c, "CREATE STREAM a (id int)", "CREATE STREAM b (id int)",
		"BEGIN", "INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1)")
	servertest.Exec(t, other, "DROP STREAM b")
	servertest.ExpectCode(t, c, "42P01", "COMMIT")
	servertest.Expect(t, other, "SELECT count(*) FROM a", "0")
	servertest.Exec(t, other, "CREATE STREAM b (id int)")
	servertest.Exec(t, c, "BEGIN", "INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (2)", "COMMIT")
	servertest.Expect(t, other, "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)", "1|1")
}
