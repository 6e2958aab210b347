package server_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/server/servertest"
)

const crashPartitions = 3

// wide folds every admitted event: its windows do not close within a test.
// narrow meets late rows, rows that fail, and keeps order-sensitive states;
// budgeted has more groups than it may keep.
var crashSchema = []string{
	fmt.Sprintf(`CREATE STREAM events (id bigint, key text, source text, usr text, value bigint, share double precision, at timestamptz,
		WATERMARK FOR at AS at - INTERVAL '5 seconds')
		WITH (partitions = %d, partition_key = 'key', dedup_key = 'id', dedup_horizon = '3 hours', source_key = 'source', idle_timeout = '10 seconds')`, crashPartitions),
	`CREATE CONTINUOUS VIEW wide WITH (allowed_lateness = '2 hours') AS
		SELECT key, window_start, window_end, count(*) AS n, sum(value) AS total, min(value) AS low, max(value) AS high
		FROM TUMBLE(events, at, INTERVAL '1 minute') GROUP BY key, window_start, window_end`,
	`CREATE CONTINUOUS VIEW narrow AS ` + narrowBody,
	`CREATE CONTINUOUS VIEW budgeted WITH (max_groups = 12) AS SELECT usr, tumble(at, INTERVAL '20 seconds'), count(*) AS n FROM events GROUP BY 1, 2`,
}

const narrowBody = `SELECT key, window_start, window_end, count(*) AS n, sum(100 / value) AS parts, sum(share) AS share, avg(share) AS mean,
		approx_distinct(usr) AS users, approx_quantile(share, 0.9) AS p90, approx_top_k(usr, 3) AS top
		FROM TUMBLE(events, at, INTERVAL '10 seconds') GROUP BY key, window_start, window_end`

// workload does random things to a server as its clients and operators would.
type workload struct {
	t     *testing.T
	s     *servertest.Server
	c     *pgx.Conn
	rng   *rand.Rand
	truth *truth
}

func (w *workload) step() {
	switch n := w.rng.IntN(100); {
	case n < 25:
		w.send(w.fresh(1+w.rng.IntN(4)), w.insert)
	case n < 55:
		w.send(w.fresh(1+w.rng.IntN(25)), w.copy)
	case n < 62:
		w.send(append(w.again(), w.fresh(1+w.rng.IntN(5))...), w.copy)
	case n < 68:
		w.send(w.fresh(2+w.rng.IntN(8)), w.block)
	case n < 74:
		w.checkpoint()
	case n < 80:
		w.s.Clock.Advance(time.Duration(w.rng.IntN(20)) * time.Second)
		w.s.Tick()
	case n < 85:
		w.exec("ALTER STREAM events PARTITION %d OFFLINE", w.rng.IntN(crashPartitions))
	case n < 93:
		w.exec("ALTER STREAM events PARTITION %d ONLINE", w.rng.IntN(crashPartitions))
	case n < 97:
		w.exec("CREATE CONTINUOUS VIEW extra%d AS %s", w.rng.IntN(2), narrowBody)
	default:
		w.exec("DROP CONTINUOUS VIEW IF EXISTS extra%d", w.rng.IntN(2))
	}
}

// exec runs a definition; that a view exists already is no failure.
func (w *workload) exec(format string, args ...any) {
	sql := fmt.Sprintf(format, args...)
	_, err := servertest.Query(w.c, sql)
	if code := servertest.Code(err); code != "" && code != "42P07" {
		w.t.Fatalf("%s\n%v", sql, err)
	}
}

func (w *workload) checkpoint() {
	p := id.Partition(w.rng.IntN(crashPartitions))
	worker, err := w.s.Tenant().Streams.Worker(streamOf(w.t, w.s, "events").ID, p)
	if err == nil {
		_, err = worker.Checkpoint(context.Background())
	}
	if err != nil {
		w.t.Fatalf("checkpoint of partition %d: %v", p, err)
	}
}

// fresh makes new events, out of order, some too late for narrow windows, a few
// in the future.
func (w *workload) fresh(n int) []event {
	w.truth.mu.Lock()
	next := len(w.truth.events) + 1
	w.truth.mu.Unlock()
	now := w.s.Clock.Now()
	out := make([]event, n)
	for i := range out {
		e := event{
			id: next + i, key: "k" + strconv.Itoa(w.rng.IntN(7)), source: "s" + strconv.Itoa(w.rng.IntN(2)), user: "u" + strconv.Itoa(w.rng.IntN(50)),
			value: w.rng.IntN(9), share: float64(w.rng.IntN(1000)) / 7, at: now.Add(-time.Duration(w.rng.IntN(20_000)) * time.Millisecond),
		}
		switch w.rng.IntN(15) {
		case 0:
			e.at = now.Add(-time.Duration(w.rng.IntN(600)) * time.Second)
		case 1:
			e.at, e.future = servertest.Epoch.Add(48*time.Hour), true
		}
		out[i] = e
	}
	return out
}

// again returns the events of a batch that was sent before.
func (w *workload) again() []event {
	w.truth.mu.Lock()
	defer w.truth.mu.Unlock()
	if len(w.truth.batches) == 0 {
		return nil
	}
	var out []event
	for _, n := range w.truth.batches[w.rng.IntN(len(w.truth.batches))] {
		out = append(out, w.truth.events[n])
	}
	return out
}

func (w *workload) send(events []event, how func([]event) error) {
	batch := w.truth.sending(events)
	if err := how(events); err != nil {
		w.t.Fatalf("send batch %d: %v", batch, err)
	}
	w.truth.ack(batch)
}

func (w *workload) copy(events []event) error {
	return servertest.Copy(w.c, "events", copyRows(events))
}

func copyRows(events []event) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(e.copyRow())
	}
	return b.String()
}

func insertStatement(events []event) string {
	rows := make([]string, len(events))
	for i, e := range events {
		rows[i] = e.insertRow()
	}
	return "INSERT INTO events VALUES " + strings.Join(rows, ", ")
}

func (w *workload) insert(events []event) error {
	_, err := servertest.Query(w.c, insertStatement(events))
	return err
}

// block sends the events as two statements of one transaction.
func (w *workload) block(events []event) error {
	half := len(events) / 2
	_, err := servertest.Query(w.c, "BEGIN; "+insertStatement(events[:half])+"; "+insertStatement(events[half:])+"; COMMIT")
	return err
}

// checkAfterCrash checks what a crash left, then sends everything again and
// checks that it counts once.
func checkAfterCrash(t *testing.T, s *servertest.Server, crash crash, what string) {
	t.Helper()
	c := s.Connect()
	servertest.Exec(t, c, "SET read_wait = '20s'")
	for p := range crashPartitions {
		servertest.Exec(t, c, fmt.Sprintf("ALTER STREAM events PARTITION %d ONLINE", p))
	}
	ids := checkEvents(t, c, crash.truth, what)
	compareWithCleanRun(t, s, "events", what)
	var all []event
	for _, e := range crash.truth.events {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b event) int { return a.id - b.id })
	if err := servertest.Copy(c, "events", copyRows(all)); err != nil {
		t.Fatalf("%s: send again: %v", what, err)
	}
	for b := range crash.truth.batches {
		crash.truth.acked[b] = true
	}
	after := checkEvents(t, c, crash.truth, what+", all sent again")
	if t.Failed() {
		t.Logf("%s: %d events before, %d after sending again", what, len(ids), len(after))
	}
}

// checkEvents compares the stream, ad-hoc counts and the views with the truth.
func checkEvents(t *testing.T, c *pgx.Conn, truth *truth, what string) []int {
	t.Helper()
	rows, err := servertest.Query(c, "SELECT id FROM events ORDER BY id")
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	ids := make([]int, len(rows))
	for i, r := range rows {
		if ids[i], err = strconv.Atoi(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, wrong := range truth.judge(ids) {
		t.Errorf("%s: %s", what, wrong)
	}
	servertest.Expect(t, c, "SELECT count(*) FROM events", strconv.Itoa(len(ids)))
	got, err := servertest.Query(c, `SELECT key || '|' || extract(epoch FROM window_start)::bigint || '|' || n || '|' || total || '|' || low || '|' || high
		FROM wide`)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	slices.Sort(got)
	if want := truth.recount(ids); !slices.Equal(got, want) {
		t.Errorf("%s: the view wide\nholds  %v\nevents %v", what, got, want)
	}
	servertest.Expect(t, c, `SELECT (SELECT coalesce(sum(n), 0) FROM narrow) + (SELECT count(*) FROM narrow__late) + (SELECT count(*) FROM narrow__errors)`, strconv.Itoa(len(ids)))
	return ids
}
