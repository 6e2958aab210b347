package stream_test

import (
	"context"
	"testing"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/ingestlog/memlog"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/vfs"
	"github.com/tallydb/tallydb/stream"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/ingest"
)

// TestNothingIsAppendedToADroppedStream drops a stream between the moment at which
// the ticker finds that a tick is due and the append: no record is left that nobody
// would trim.
func TestNothingIsAppendedToADroppedStream(t *testing.T) {
	store, err := kv.Open("data", kv.Config{FS: vfs.Memory()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	wall := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var inTick func()
	log := memlog.New(func() time.Time { return wall })
	m, err := stream.Open(stream.Config{
		Tenant: 1, Log: log, Store: store, TickEvery: time.Hour,
		Now: func() time.Time {
			if f := inTick; f != nil {
				inTick = nil
				f()
			}
			return wall
		},
	}, catalog.NewSnapshot(1, 1, "tally", nil))
	if err != nil {
		t.Fatal(err)
	}
	rel := &catalog.Relation{
		ID: 7, Name: "s", Kind: catalog.KindStream,
		Columns: []types.Column{{Name: "at", Type: types.Of(types.Timestamptz), NotNull: true}},
		Stream: &catalog.Stream{
			Seed: keyhash.Seed{K0: 1, K1: 2}, TimeColumn: 0,
			Options: catalog.StreamOptions{Partitions: 1, SourceKey: -1, IdleTimeout: time.Second},
			Epochs:  []catalog.RoutingEpoch{{Partitions: []id.Partition{0}}},
		},
	}
	if err := m.CreateStream(rel); err != nil {
		t.Fatal(err)
	}
	in, err := m.Ingest(rel.ID)
	if err != nil {
		t.Fatal(err)
	}
	a := in.NewAppender()
	b := types.NewBatch(rel.RowSchema(), 1)
	b.Cols[0].AppendInt(int64(eventtime.FromUnixMicro(wall.UnixMicro())))
	b.Rows++
	if _, err := a.Add(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	if r, err := ingest.Commit(context.Background(), []*ingest.Appender{a}, nil); err != nil || !r[0].Applied {
		t.Fatal(r, err)
	}
	sp := id.StreamPartition{Tenant: 1, Stream: rel.ID}
	wall = wall.Add(time.Minute)
	if err := m.Tick(context.Background()); err != nil || log.Head(sp) != 2 {
		t.Fatalf("the test's tick is not due: head %d, %v", log.Head(sp), err)
	}
	wall = wall.Add(time.Minute)
	inTick = func() {
		if err := m.DropStream(rel.ID); err != nil {
			t.Error(err)
		}
	}
	if err := m.Tick(context.Background()); err != nil {
		t.Fatal(err)
	}
	if base, head := log.Base(sp), log.Head(sp); base != head || head != 2 {
		t.Errorf("the log of the dropped stream has records from %d to %d", base, head)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}
