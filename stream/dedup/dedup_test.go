package dedup

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/routing"
)

// digest spreads a small number over a table's shards and slots.
func digest(n uint64) routing.Digest {
	return routing.Digest{Lo: n*0x9e3779b97f4a7c15 + 1, Hi: n * 0xd6e8feb86659fd93}
}

// TestL9SeenUntilExpiry: against a map, an id counts as new exactly when it was
// not added before or the watermark has passed its expiry; and a table that was
// checkpointed and loaded at any moments answers the same.
func TestL9SeenUntilExpiry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, model := New(), map[uint64]eventtime.Time{}
		var chunks [][]byte
		now := eventtime.Watermark(eventtime.Min)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			switch rapid.IntRange(0, 19).Draw(t, "step") {
			case 0:
				now = now.Advance(eventtime.Time(rapid.Int64Range(0, 1000).Draw(t, "watermark")))
			case 1: // a restart from the chunks
				chunks = append(chunks, take(table, now)...)
				table = New()
				for _, c := range chunks {
					if err := table.Load(c, now); err != nil {
						t.Fatal(err)
					}
				}
				if len(take(table, eventtime.Watermark(eventtime.Min))) != 0 {
					t.Fatal("what was loaded is not new")
				}
			default:
				id := rapid.Uint64Range(0, 100).Draw(t, "id")
				expiry := eventtime.Time(rapid.Int64Range(0, 1500).Draw(t, "expiry"))
				seen, known := model[id]
				want := !known || now.Passed(seen)
				if got := table.Add(digest(id), expiry, now); got != want {
					t.Fatalf("id %d expiring at %d, watermark %d: new = %v", id, seen, now, got)
				}
				if want {
					model[id] = expiry
				}
			}
		}
	})
}

func take(table *Table, now eventtime.Watermark) [][]byte {
	var out [][]byte
	fresh := table.TakeFresh()
	for i := range fresh.Chunks() {
		if chunk, _, ok := fresh.AppendChunk(nil, i, now); ok {
			out = append(out, chunk)
		}
	}
	table.Recycle(fresh)
	return out
}

// TestExpiredIDsAreNotStored: what the watermark has passed when a checkpoint is
// written costs it nothing.
func TestExpiredIDsAreNotStored(t *testing.T) {
	table := New()
	for i := range uint64(3 * freshBlock) {
		table.Add(digest(i), eventtime.Time(i), eventtime.Watermark(eventtime.Min))
	}
	const live = 10
	chunks := take(table, eventtime.Watermark(3*freshBlock-live))
	if len(chunks) != 1 || len(chunks[0]) > 1+entryBytes*live {
		t.Errorf("%d chunks for the %d ids that are alive", len(chunks), live)
	}
}

// TestMemoryFollowsWhatIsLive: a table through which many ids pass, few of them
// alive at a time, stays small.
func TestMemoryFollowsWhatIsLive(t *testing.T) {
	table := New()
	const live = 10_000
	for i := range uint64(500_000) {
		at := eventtime.Time(i)
		if !table.Add(digest(i), at.Add(live), eventtime.Watermark(at)) {
			t.Fatalf("id %d is not new", i)
		}
		if i%50_000 == 0 {
			table.Recycle(table.TakeFresh())
		}
	}
	if n := table.MemoryBytes(); n > 8<<20 {
		t.Errorf("%d bytes for %d live ids", n, live)
	}
}

func TestLoadRefusesDamage(t *testing.T) {
	for _, chunk := range [][]byte{nil, {1, 2}, make([]byte, 24)} {
		if err := New().Load(chunk, 0); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("chunk of %d bytes: %v", len(chunk), err)
		}
	}
	if err := New().Load(append([]byte{99}, make([]byte, 24)...), 0); !errors.Is(err, storage.ErrTooNew) {
		t.Errorf("newer chunk: %v", err)
	}
}

func BenchmarkAdd(b *testing.B) {
	table := New()
	now := eventtime.Watermark(eventtime.Min)
	var i uint64
	digests := make([]routing.Digest, TouchRows)
	for b.Loop() {
		for k := range digests {
			digests[k] = digest(i + uint64(k))
		}
		table.Touch(digests)
		for _, d := range digests {
			table.Add(d, eventtime.Time(i), now)
		}
		if i += TouchRows; i%(1<<21) == 0 {
			table = New()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/TouchRows, "ns/event")
}
