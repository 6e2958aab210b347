package stream_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sketchfn"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/copyfmt"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/ingestlog/segmentlog"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/stream"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/ingest"
	"github.com/tallydb/tallydb/stream/partition"
)

// The views of BenchmarkIngest.
const (
	// totals keeps state that does not grow with the events.
	totals = "SELECT key, count(*) AS n, sum(value) AS total FROM events GROUP BY key"
	// minutes is the view of "tally bench ingest": new windows and sketches all the time.
	minutes = `SELECT key, window_start, window_end, count(*) AS n, sum(value) AS total,
		approx_distinct(usr) AS users, approx_quantile(value, 0.99) AS p99
		FROM TUMBLE(events, at, INTERVAL '1 minute') GROUP BY key, window_start, window_end`
)

// BenchmarkIngest is the hot path without a socket: COPY text of five columns is
// parsed, routed, logged with a sync, admitted and folded into a view over 1,000
// groups. It reports what an event costs and how many bytes it allocates: on the
// way (totals, where no state grows), and with what is kept of it (minutes: the
// ids to deduplicate by, the windows and their sketches).
func BenchmarkIngest(b *testing.B) {
	b.Run("view=totals", func(b *testing.B) { benchmarkIngest(b, totals, false) })
	b.Run("view=minutes", func(b *testing.B) { benchmarkIngest(b, minutes, true) })
}

func benchmarkIngest(b *testing.B, view string, dedup bool) {
	m, rel := newBenchStream(b, view, dedup)
	in, err := m.Ingest(rel.ID)
	if err != nil {
		b.Fatal(err)
	}
	const rows = 50_000
	batch := types.NewBatch(rel.RowSchema(), 4096)
	event := 0
	statement := func(text []byte) {
		a := in.NewAppender()
		r := copyfmt.NewReader("events", rel.Columns, copyfmt.Defaults(copyfmt.Text), &types.TextOptions{})
		for at := 0; at < len(text); at += 64 << 10 {
			if err := r.Feed(text[at:min(at+64<<10, len(text))], batch); err != nil {
				b.Fatal(err)
			}
			if _, err := a.Add(context.Background(), batch); err != nil {
				b.Fatal(err)
			}
			batch.Reset()
		}
		if results, err := ingest.Commit(context.Background(), []*ingest.Appender{a}, nil); err != nil || results[0].Durable != rows || !results[0].Applied {
			b.Fatalf("%+v, %v", results, err)
		}
	}
	makeText := func() []byte {
		var text []byte
		for range rows {
			event++
			text = fmt.Appendf(text, "%d\tsensor-%06d\tuser-%07d\t%d.%03d\t2026-01-%02d %02d:%02d:%02d.%03d+00\n", event, event*7919%1000, event*104729%100_000,
				event%1000, event%999, 1+event/86_400_000, event/3_600_000%24, event/60_000%60, event/1000%60, event%1000)
		}
		return text
	}
	for range 20 { // buffers, tables and windows reach their size
		statement(makeText())
	}
	var before, after runtime.MemStats
	var allocated uint64
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		text := makeText()
		runtime.ReadMemStats(&before)
		b.StartTimer()
		statement(text)
		b.StopTimer()
		runtime.ReadMemStats(&after)
		allocated += after.TotalAlloc - before.TotalAlloc
		b.StartTimer()
	}
	n := float64(b.N) * rows
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/event")
	b.ReportMetric(float64(allocated)/n, "B/event")
}

// newBenchStream starts a stream of eight partitions with one view.
func newBenchStream(b *testing.B, viewSQL string, dedup bool) (*stream.Manager, *catalog.Relation) {
	b.Helper()
	rel := &catalog.Relation{ID: id.FirstRelation, Version: 1, Schema: "public", Name: "events", Kind: catalog.KindStream}
	rel.Columns = []types.Column{
		{Name: "id", Type: types.Of(types.Int8)},
		{Name: "key", Type: types.Of(types.Text)},
		{Name: "usr", Type: types.Of(types.Text)},
		{Name: "value", Type: types.Of(types.Float8)},
		{Name: "at", Type: types.Of(types.Timestamptz), NotNull: true},
	}
	rel.Stream = &catalog.Stream{
		TimeColumn: 4, WatermarkDelay: 5 * eventtime.Minute, Seed: keyhash.Seed{K0: 1, K1: 2},
		Epochs: []catalog.RoutingEpoch{{Partitions: []id.Partition{0, 1, 2, 3, 4, 5, 6, 7}}},
		Options: catalog.StreamOptions{
			Partitions: 8, PartitionKey: []int{1}, DedupKey: []int{0}, DedupHorizon: 10 * eventtime.Minute, SourceKey: -1,
		},
	}
	view := &catalog.Relation{
		ID: id.FirstRelation + 1, Version: 1, Schema: "public", Name: "minute", Kind: catalog.KindContinuousView,
		ContinuousView: &catalog.ContinuousView{Stream: rel.ID, SQL: viewSQL},
	}
	if !dedup {
		rel.Stream.Options.DedupKey = nil
	}
	snapshot := catalog.NewSnapshot(1, 1, "tally", []*catalog.Relation{rel, view})
	registry := agg.NewRegistry()
	agg.RegisterExact(registry)
	sketchfn.Register(registry)
	store, err := kv.Open(b.TempDir(), kv.Config{})
	if err != nil {
		b.Fatal(err)
	}
	log, err := segmentlog.Open(b.TempDir(), segmentlog.Config{Fence: 1})
	if err != nil {
		b.Fatal(err)
	}
	m, err := stream.Open(stream.Config{
		Tenant: 1, Log: log, Store: store, Now: time.Now,
		Compile: func(v *catalog.Relation) (partition.Compiled, error) {
			ec := &expr.Context{}
			p, err := bind.ViewOf(&bind.Env{Snapshot: snapshot, Registry: registry, Parse: parseQuery, Expr: ec, SearchPath: []string{"public"}}, v)
			if err != nil {
				return partition.Compiled{}, err
			}
			return partition.Compiled{Fold: p.Fold, Context: ec}, nil
		},
	}, snapshot)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := m.Close(); err != nil {
			b.Error(err)
		}
		_ = log.Close()   // the benchmark is over
		_ = store.Close() // likewise
	})
	return m, rel
}

func parseQuery(sql string) (*ast.Select, error) {
	p, err := parse.ParseOne(sql)
	if err != nil {
		return nil, err
	}
	return p.Statement.(*ast.Select), nil
}
