package server_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/server/servertest"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/vfs"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/partition"
	"github.com/tallydb/tallydb/stream/rows"
)

func streamOf(t *testing.T, s *servertest.Server, name string) *catalog.Relation {
	t.Helper()
	rel := s.Node.Engine().Catalog.Snapshot(s.Tenant().Database.Tenant).ByName("public", name)
	if rel == nil {
		t.Fatalf("relation %s does not exist", name)
	}
	return rel
}

// compareWithCleanRun folds the whole log of a stream into fresh state, without
// checkpoints, evictions or crashes, and compares everything with what the server
// holds (L-2). No time may pass meanwhile.
func compareWithCleanRun(t *testing.T, s *servertest.Server, stream, what string) {
	t.Helper()
	tenant := s.Tenant()
	rel := streamOf(t, s, stream)
	views := s.Node.Engine().Catalog.Snapshot(tenant.Database.Tenant).ViewsOf(rel.ID)
	store, err := kv.Open("clean", kv.Config{FS: vfs.Memory()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	expectRowsBack(t, s, stream)
	for _, p := range rel.Stream.Partitions() {
		live, err := tenant.Streams.Worker(rel.ID, p)
		if err != nil {
			t.Fatal(err)
		}
		got := describe(t, live, tenant.Streams.Log().Head(id.StreamPartition{Tenant: tenant.Database.Tenant, Stream: rel.ID, Partition: p}), views)
		want := cleanRun(t, s, store, rel, views, p)
		for name := range want {
			if !reflect.DeepEqual(got[name], want[name]) {
				t.Errorf("%s: partition %d, %s\nserver    %v\nclean run %v", what, p, name, got[name], want[name])
			}
		}
	}
}

// expectRowsBack waits until nobody holds rows of a stream: not a statement that
// ended with an error, nor the log, nor a partition that is online.
func expectRowsBack(t *testing.T, s *servertest.Server, stream string) {
	t.Helper()
	pool, err := s.Tenant().Streams.Pool(streamOf(t, s, stream).ID)
	if err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "all rows are given back", func() bool { return pool.Out() == 0 })
}

func cleanRun(t *testing.T, s *servertest.Server, store *kv.Store, rel *catalog.Relation, views []*catalog.Relation, p id.Partition) map[string]any {
	t.Helper()
	tenant := s.Tenant()
	sp := id.StreamPartition{Tenant: tenant.Database.Tenant, Stream: rel.ID, Partition: p}
	log := tenant.Streams.Log()
	w, err := partition.Open(partition.Config{Partition: sp, Stream: rel, Log: log, Store: store, Pool: rows.NewPool(rel.RowSchema()), Now: s.Clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		compiled, err := s.Node.Engine().Compile(tenant.Database, v)
		if err == nil {
			err = w.OpenView(v, compiled)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	out := describe(t, w, log.Head(sp), views)
	cancel()
	if err := <-done; err != nil {
		t.Fatalf("clean run: %v", err)
	}
	return out
}

// describe waits until a worker has applied its log and returns everything it
// knows that is a function of it.
func describe(t *testing.T, w *partition.Worker, head id.Offset, views []*catalog.Relation) map[string]any {
	t.Helper()
	ctx := context.Background()
	var st partition.Status
	servertest.Eventually(t, "the log is applied and every view is live", func() bool {
		var err error
		if st, err = w.Status(ctx); err != nil {
			t.Fatal(err)
		}
		live := st.Applied >= head && len(st.Views) == len(views)
		for _, v := range st.Views {
			live = live && v.Live
		}
		return live
	})
	out := map[string]any{"applied": st.Applied, "watermark": st.Watermark, "idle": st.AllIdle, "sources": st.Sources, "counters": st.Counters}
	for _, v := range views {
		folded, err := w.Fold(ctx, head, nil, partition.FoldRequest{View: v.ID, WindowFrom: eventtime.Min, WindowTo: eventtime.Max})
		if err != nil {
			t.Fatal(err)
		}
		out[v.Name+": counters"] = st.Views[v.ID].Counters
		out[v.Name+": degraded"] = folded[0].Degraded
		out[v.Name+": states"] = portable(folded[0])
	}
	return out
}

// portable lists groups by window, in the order in which they are numbered.
func portable(a *partition.FoldAnswer) []string {
	order := make([]int, a.Groups.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return int(a.Groups.Windows[x]/1000) - int(a.Groups.Windows[y]/1000)
	})
	var out []string
	for _, i := range order {
		row := fmt.Sprintf("%d %x", a.Groups.Windows[i], a.Groups.Keys.At(i))
		for _, s := range a.Groups.States {
			row += fmt.Sprintf(" %x", s.Append(nil, uint32(i)))
		}
		out = append(out, row)
	}
	return out
}
