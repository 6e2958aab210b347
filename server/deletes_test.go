package server_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tallydb/tallydb/server"
	"github.com/tallydb/tallydb/server/servertest"
	"github.com/tallydb/tallydb/storage/vfs"
)

// edgeEvent is an update of the links between people of a region.
type edgeEvent struct {
	id, region, a, b int
	amount           int
	weight           int
}

func (e edgeEvent) copyRow() string {
	return fmt.Sprintf("%d\tr%d\tp%d\tp%d\t%d\t%d\t%s\n", e.id, e.region, e.a, e.b, e.amount, e.weight, servertest.Epoch.Format(time.RFC3339))
}

// edgeEvents are n updates: inserts, and deletes of what was inserted before.
func edgeEvents(rng *rand.Rand, n int) []edgeEvent {
	var out, live []edgeEvent
	for id := range n {
		if len(live) > 0 && rng.IntN(5) < 2 {
			i := rng.IntN(len(live))
			e := live[i]
			e.id, e.weight = id, -e.weight
			live = slices.Delete(live, i, i+1)
			out = append(out, e)
			continue
		}
		e := edgeEvent{id: id, region: rng.IntN(3), a: rng.IntN(14), b: rng.IntN(14), amount: rng.IntN(2000) - 1000, weight: 1 + rng.IntN(3)}
		for e.b == e.a { // a graph has no loops
			e.b = rng.IntN(14)
		}
		live, out = append(live, e), append(out, e)
	}
	return out
}

// edgeResult is what is left of a region's updates, in plain Go: the weight of its
// rows, the weighted sum of their amounts, how many p's are left, and the components of
// the graph of what is left.
func edgeResult(events []edgeEvent) []string {
	var out []string
	for region := range 3 {
		count, sum, people, links := 0, 0, map[int]int{}, map[[2]int]int{}
		for _, e := range events {
			if e.region != region {
				continue
			}
			count, sum = count+e.weight, sum+e.weight*e.amount
			people[e.a] += e.weight
			links[[2]int{min(e.a, e.b), max(e.a, e.b)}] += e.weight
		}
		distinct := 0
		for _, n := range people {
			if n != 0 {
				distinct++
			}
		}
		total := fmt.Sprint(sum)
		if count == 0 && sum == 0 {
			total = "∅"
		}
		out = append(out, fmt.Sprintf("r%d|%d|%s|%d|%d|%d", region, count, total, distinct, components(links), people[7]))
	}
	return out
}

// components counts those of a graph by searching it.
func components(links map[[2]int]int) int {
	next := map[int][]int{}
	for l, weight := range links {
		if weight != 0 {
			next[l[0]], next[l[1]] = append(next[l[0]], l[1]), append(next[l[1]], l[0])
		}
	}
	seen, count := map[int]bool{}, 0
	var visit func(v int)
	visit = func(v int) {
		seen[v] = true
		for _, u := range next[v] {
			if !seen[u] {
				visit(u)
			}
		}
	}
	for v := range next {
		if !seen[v] {
			count++
			visit(v)
		}
	}
	return count
}

const edgeBody = `SELECT region, count(*) AS n, sum(amount) AS total, count(DISTINCT a) AS people, graph_agg(a, b) AS g, freq_agg(a) AS f
	FROM links GROUP BY region`

// TestL2L9DeletesTakeAwayWhatWasInserted: what events brought and others took away again
// leaves what an exact map says, in views and in queries over the stream, for any
// batches, partitions and moments of the view's birth, with duplicates, restarts and
// crashes between.
func TestL2L9DeletesTakeAwayWhatWasInserted(t *testing.T) {
	for n, sh := range []shape{
		{partitions: 1, batch: 300},
		{partitions: 3, batch: 20, restarts: true, duplicates: true, viewAt: 50},
		{partitions: 4, batch: 9, crashes: true, duplicates: true},
		{partitions: 7, batch: 40, crashes: true, restarts: true, viewAt: 100},
	} {
		t.Run(fmt.Sprintf("%+v", sh), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(n), 77))
			fs := vfs.NewCrashable()
			s := servertest.Start(t, servertest.Options{FS: fs, Config: func(cfg *server.Config) {
				cfg.SegmentBytes, cfg.CheckpointRows = 16<<10, 25
			}})
			c := s.Connect()
			servertest.Exec(t, c, fmt.Sprintf(`CREATE STREAM links (id bigint, region text, a text, b text, amount int, w int, at timestamptz)
				WITH (partitions = %d, dedup_key = 'id', kind = 'strict_turnstile', weight = 'w')`, sh.partitions))
			events := edgeEvents(rng, 300)
			made := false
			for sent := 0; ; {
				if !made && sent >= sh.viewAt*len(events)/100 {
					made = true
					servertest.Exec(t, c, "CREATE CONTINUOUS VIEW v AS "+edgeBody)
				}
				if sent == len(events) {
					break
				}
				n := min(1+rng.IntN(sh.batch), len(events)-sent)
				batch := slices.Clone(events[sent : sent+n])
				if sh.duplicates {
					batch = append(batch, events[rng.IntN(sent+n)])
				}
				var rows strings.Builder
				for _, e := range batch {
					rows.WriteString(e.copyRow())
				}
				if err := servertest.Copy(c, "links", rows.String()); err != nil {
					t.Fatal(err)
				}
				sent += n
				switch {
				case sh.restarts && rng.IntN(5) == 0:
					s = s.Reopen()
					c = s.Connect()
				case sh.crashes && rng.IntN(5) == 0:
					left := fs.Crash(rng.IntN(101), rng)
					if err := s.Stop(); err != nil {
						t.Fatal(err)
					}
					fs = left
					s = servertest.Start(t, s.On(fs))
					c = s.Connect()
				}
				if rng.IntN(4) == 0 && made {
					expectEdges(t, c, edgeResult(events[:sent]))
				}
			}
			expectEdges(t, c, edgeResult(events))
			compareWithCleanRun(t, s, "links", "at the end")
		})
	}
}

// expectEdges compares a view and the query over the stream with what is left.
func expectEdges(t *testing.T, c *pgx.Conn, want []string) {
	t.Helper()
	servertest.Exec(t, c, "SET read_wait = '20s'", "SET confidence = 0.999999")
	for _, from := range []string{"v", "(" + edgeBody + ") x"} {
		got, err := servertest.Query(c, "SELECT region, n, total, people, graph_components(g), freq(f, 'p7') FROM "+from)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		left := slices.DeleteFunc(slices.Clone(want), func(w string) bool {
			return !slices.ContainsFunc(got, func(g string) bool { return g[:2] == w[:2] }) // of a region that had no event yet
		})
		if !slices.Equal(got, left) {
			t.Fatalf("from %s\ngot  %s\nwant %s", from, strings.Join(got, "  "), strings.Join(left, "  "))
		}
	}
}
