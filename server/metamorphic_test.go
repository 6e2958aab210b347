package server_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/server"
	"github.com/tallydb/tallydb/server/servertest"
	"github.com/tallydb/tallydb/storage/vfs"
)

// shape is how one run of the same events differs from another.
type shape struct {
	partitions int
	batch      int // largest
	restarts   bool
	crashes    bool
	duplicates bool
	viewAt     int // percent of the events after which the view is created
}

// TestL2L3SameEventsSameResults: the same events give the same exact results for
// any arrival order within lateness, any batches, any number of partitions, and
// with restarts, crashes, checkpoints and duplicates in between (L-2, L-3, L-9).
func TestL2L3SameEventsSameResults(t *testing.T) {
	events := metamorphicEvents(400)
	want := metamorphicResult(events)
	for n, s := range []shape{
		{partitions: 1, batch: 400},
		{partitions: 1, batch: 1, viewAt: 50},
		{partitions: 2, batch: 40, restarts: true, viewAt: 0},
		{partitions: 3, batch: 7, crashes: true, duplicates: true},
		{partitions: 8, batch: 60, restarts: true, crashes: true, duplicates: true, viewAt: 70},
		{partitions: 16, batch: 200, viewAt: 100},
	} {
		t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
			t.Parallel()
			runShape(t, s, events, want, rand.New(rand.NewPCG(uint64(n), 5)))
		})
	}
}

func metamorphicEvents(n int) []event {
	rng := rand.New(rand.NewPCG(42, 42))
	out := make([]event, n)
	for i := range out {
		out[i] = event{
			id: i, key: "k" + strconv.Itoa(rng.IntN(20)), source: "s", user: "u" + strconv.Itoa(rng.IntN(9)), value: rng.IntN(1000) - 500,
			share: float64(rng.IntN(64)) / 4, at: servertest.Epoch.Add(time.Duration(rng.IntN(600_000)) * time.Millisecond),
		}
	}
	return out
}

// metamorphicResult is the view's rows in plain Go.
func metamorphicResult(events []event) []string {
	type sums struct {
		n, total, low, high int
		share               float64 // quarters: exact in any order
	}
	groups := map[string]*sums{}
	for _, e := range events {
		k := fmt.Sprintf("%s|%d", e.user, e.at.Truncate(2*time.Minute).Unix())
		s := groups[k]
		if s == nil {
			s = &sums{low: e.value, high: e.value}
			groups[k] = s
		}
		s.n, s.total, s.share = s.n+1, s.total+e.value, s.share+e.share
		s.low, s.high = min(s.low, e.value), max(s.high, e.value)
	}
	var out []string
	for k, s := range groups {
		out = append(out, fmt.Sprintf("%s|%d|%d|%d|%d|%g", k, s.n, s.total, s.low, s.high, s.share))
	}
	slices.Sort(out)
	return out
}

const metamorphicColumns = "usr, extract(epoch FROM window_start)::bigint, n, total, low, high, share"

const metamorphicBody = `SELECT usr, window_start, window_end, count(*) AS n, sum(value) AS total, min(value) AS low, max(value) AS high, sum(share) AS share
	FROM TUMBLE(events, at, INTERVAL '2 minutes') GROUP BY usr, window_start, window_end`

func runShape(t *testing.T, sh shape, events []event, want []string, rng *rand.Rand) {
	fs := vfs.NewCrashable()
	s := servertest.Start(t, servertest.Options{FS: fs, Config: func(cfg *server.Config) {
		cfg.SegmentBytes, cfg.CheckpointRows, cfg.MemoryBytes = 16<<10, 25, 16<<10
	}})
	s.Clock.Advance(10 * time.Minute)
	c := s.Connect()
	servertest.Exec(t, c, fmt.Sprintf(`CREATE STREAM events (id bigint, key text, source text, usr text, value bigint, share double precision, at timestamptz,
		WATERMARK FOR at AS at - INTERVAL '1 minute') WITH (partitions = %d, partition_key = 'key', dedup_key = 'id', dedup_horizon = '3 hours')`, sh.partitions))
	order := slices.Clone(events)
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	made := false
	for sent := 0; ; {
		if !made && sent >= sh.viewAt*len(order)/100 {
			made = true
			servertest.Exec(t, c, "CREATE CONTINUOUS VIEW v WITH (allowed_lateness = '1 hour') AS "+metamorphicBody)
		}
		if sent == len(order) {
			break
		}
		n := min(1+rng.IntN(sh.batch), len(order)-sent)
		batch := slices.Clone(order[sent : sent+n])
		if sh.duplicates {
			batch = append(batch, order[rng.IntN(sent+n)])
		}
		if err := servertest.Copy(c, "events", copyRows(batch)); err != nil {
			t.Fatal(err)
		}
		sent += n
		switch {
		case sh.restarts && rng.IntN(6) == 0:
			s = s.Reopen()
			c = s.Connect()
		case sh.crashes && rng.IntN(6) == 0:
			left := fs.Crash(rng.IntN(101), rng)
			if err := s.Stop(); err != nil {
				t.Fatal(err)
			}
			fs = left
			s = servertest.Start(t, s.On(fs))
			c = s.Connect()
		}
	}
	servertest.Exec(t, c, "SET read_wait = '20s'")
	for _, from := range []string{"v", "(" + metamorphicBody + ") x"} {
		got, err := servertest.Query(c, "SELECT "+metamorphicColumns+" FROM "+from)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("from %s\ngot  %s\nwant %s", from, strings.Join(got, "  "), strings.Join(want, "  "))
		}
	}
	compareWithCleanRun(t, s, "events", "at the end")
}

// TestL4WatermarkOfAPartitionNeverGoesBack: late events, idle sources, ticks and
// restarts included.
func TestL4WatermarkOfAPartitionNeverGoesBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	fs := vfs.NewCrashable()
	s := servertest.Start(t, servertest.Options{FS: fs})
	servertest.Exec(t, s.Connect(), crashSchema...)
	w := &workload{t: t, s: s, c: s.Connect(), rng: rng, truth: newTruth()}
	last := map[id.Partition]int64{}
	for n := range 150 {
		w.send(w.fresh(1+rng.IntN(6)), w.copy)
		if rng.IntN(3) == 0 {
			s.Clock.Advance(time.Duration(rng.IntN(15)) * time.Second)
			s.Tick()
		}
		if n%50 == 49 {
			s = s.Reopen()
			w.s, w.c = s, s.Connect()
		}
		servertest.Exec(t, w.c, "SET read_wait = '10s'", "SELECT count(*) FROM events")
		for p := range id.Partition(crashPartitions) {
			worker, err := s.Tenant().Streams.Worker(streamOf(t, s, "events").ID, p)
			if err != nil {
				t.Fatal(err)
			}
			now := int64(worker.Pulse().Watermark)
			if before, ok := last[p]; ok && now < before {
				t.Fatalf("step %d: the watermark of partition %d went from %d back to %d", n, p, before, now)
			}
			last[p] = now
		}
	}
}
