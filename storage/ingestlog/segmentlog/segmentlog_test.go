package segmentlog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/storage/ingestlog/logtest"
	"github.com/tallydb/tallydb/storage/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, fs vfs.FS, fence id.FencingToken) *Log {
	t.Helper()
	l, err := Open("log", Config{FS: fs, SegmentBytes: 4 << 10, Fence: fence})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestConformance(t *testing.T) {
	logtest.Run(t, func(t *testing.T) ingestlog.Log { return open(t, vfs.Memory(), 1) })
}

func TestReopenKeepsEverything(t *testing.T) {
	fs := vfs.Memory()
	var want []string
	for run := range 5 {
		l := open(t, fs, id.FencingToken(run))
		if got := logtest.Payloads(t, l, 0, 0); !slices.Equal(got, want) {
			t.Fatalf("run %d: got %d records, want %d", run, len(got), len(want))
		}
		for i := range 40 {
			p := fmt.Sprintf("%d-%d-%0200d", run, i, i)
			if err := l.Append(context.Background(), []ingestlog.Entry{logtest.Entry(0, p), logtest.Entry(1, p)}); err != nil {
				t.Fatal(err)
			}
			want = append(want, p)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNextSegmentIsFilledAlong: the next segment takes from the disk what the active
// one was given, twice over, and is there when it is needed.
func TestNextSegmentIsFilledAlong(t *testing.T) {
	fs := vfs.Memory()
	const segment = 16 << 20
	l, err := Open("log", Config{FS: fs, SegmentBytes: segment})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	payload := string(make([]byte, 1<<20))
	const records = 15 // of this size in a segment
	for n := 1; n <= 60; n++ {
		if err := l.Append(context.Background(), []ingestlog.Entry{logtest.Entry(0, payload)}); err != nil {
			t.Fatal(err)
		}
		names, err := fs.List("log")
		if err != nil {
			t.Fatal(err)
		}
		total := int64(0)
		for _, name := range names {
			info, err := fs.Stat(fs.PathJoin("log", name))
			if err != nil {
				t.Fatal(err)
			}
			total += info.Size()
		}
		if limit := int64(n/records+1)*segment + int64(2*(n%records)+2)<<20; total > limit {
			t.Fatalf("%d MiB on disk after %d MiB of records, want at most %d", total>>20, n, limit>>20)
		}
	}
}

func TestRecordLargerThanASegment(t *testing.T) {
	fs := vfs.Memory()
	l := open(t, fs, 1)
	big := string(make([]byte, 50<<10))
	for range 3 {
		if err := l.Append(context.Background(), []ingestlog.Entry{logtest.Entry(0, big)}); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	l = open(t, fs, 2)
	defer l.Close()
	if got := logtest.Payloads(t, l, 0, 0); !slices.Equal(got, []string{big, big, big}) {
		t.Errorf("got %d records", len(got))
	}
}

// TestL10StaleOwnerIsRefused: an owner with a lower fencing token than one that
// wrote cannot open the log.
func TestL10StaleOwnerIsRefused(t *testing.T) {
	fs := vfs.Memory()
	open(t, fs, 7).Close()
	if _, err := Open("log", Config{FS: fs, SegmentBytes: 4 << 10, Fence: 6}); !errors.Is(err, storage.ErrFenced) {
		t.Errorf("open with an older token: %v, want %v", err, storage.ErrFenced)
	}
}

func TestTrimmedHeadSurvivesReopen(t *testing.T) {
	fs := vfs.Memory()
	l := open(t, fs, 1)
	filler := string(make([]byte, 1000))
	if err := l.Append(context.Background(), []ingestlog.Entry{logtest.Entry(0, "only")}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := l.Append(context.Background(), []ingestlog.Entry{logtest.Entry(1, filler)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.Trim(logtest.Partition(0), 1), l.Trim(logtest.Partition(1), 18)); err != nil {
		t.Fatal(err)
	}
	base := l.Base(logtest.Partition(1))
	if l.Base(logtest.Partition(0)) != 1 || base == 0 {
		t.Fatalf("bases %d and %d: nothing was trimmed", l.Base(logtest.Partition(0)), base)
	}
	l.Close()
	l = open(t, fs, 2)
	defer l.Close()
	if l.Head(logtest.Partition(0)) != 1 || l.Base(logtest.Partition(0)) != 1 {
		t.Errorf("partition 0 after reopening: base %d head %d, want 1 and 1", l.Base(logtest.Partition(0)), l.Head(logtest.Partition(0)))
	}
	if l.Head(logtest.Partition(1)) != 20 || l.Base(logtest.Partition(1)) != base {
		t.Errorf("partition 1 after reopening: base %d head %d, want %d and 20", l.Base(logtest.Partition(1)), l.Head(logtest.Partition(1)), base)
	}
	err := l.Read(context.Background(), logtest.Partition(0), 0, 1, func(*ingestlog.Record) error { return nil })
	if !errors.Is(err, storage.ErrTrimmed) {
		t.Errorf("read below the base: %v, want %v", err, storage.ErrTrimmed)
	}
}

// TestTrimLeavesNoGapAfterPowerCut: whatever part of a removal of segments became
// durable, the log opens and begins somewhere, without a hole.
func TestTrimLeavesNoGapAfterPowerCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for run := range 40 {
		crashable := vfs.NewCrashable()
		var crashed []vfs.Crashable
		var mu sync.Mutex
		watching := false
		watch := func(on bool) {
			mu.Lock()
			defer mu.Unlock()
			watching = on
		}
		l := open(t, vfs.Watch(crashable, func() {
			mu.Lock()
			defer mu.Unlock()
			if watching {
				crashed = append(crashed, crashable.Crash(rng.IntN(101), rng))
			}
		}), 1)
		for range 30 {
			if err := l.Append(context.Background(), []ingestlog.Entry{logtest.Entry(0, string(make([]byte, 1000)))}); err != nil {
				t.Fatal(err)
			}
		}
		watch(true)
		if err := l.Trim(logtest.Partition(0), 28); err != nil {
			t.Fatal(err)
		}
		watch(false)
		l.Close()
		for n, fs := range append(crashed, crashable.Crash(0, nil)) {
			r, err := Open("log", Config{FS: fs, SegmentBytes: 4 << 10, Fence: 2})
			if err != nil {
				t.Fatalf("run %d, crash %d of %d: %v", run, n, len(crashed), err)
			}
			if base := r.Base(logtest.Partition(0)); n == len(crashed) && base == 0 {
				t.Error("what was trimmed is back after a crash")
			}
			r.Close()
		}
	}
}

// TestL1AcknowledgedSurvivesPowerCut: cut the power at random moments, with any
// part of what was not synced kept; every acknowledged append is there, whole,
// and the two records of one append are there together.
func TestL1AcknowledgedSurvivesPowerCut(t *testing.T) {
	const crashes = 300
	rng := rand.New(rand.NewPCG(1, 2))
	fs := vfs.NewCrashable()
	acked := map[int]int{} // per appender
	for run := range crashes {
		l := open(t, fs, id.FencingToken(run))
		checkRecovered(t, l, acked, run)
		var mu sync.Mutex
		var crashed vfs.Crashable
		snapshot := map[int]int{}
		var wg sync.WaitGroup
		crashAt := rng.IntN(12)
		for w := range 3 {
			mu.Lock()
			next := acked[w]
			mu.Unlock()
			wg.Go(func() {
				for i := next; i < next+5; i++ {
					p := fmt.Sprintf("%d:%d", w, i)
					e := []ingestlog.Entry{logtest.Entry(0, p), logtest.Entry(1, p+string(make([]byte, 300)))}
					if err := l.Append(context.Background(), e); err != nil {
						t.Error(err)
					}
					mu.Lock()
					acked[w] = i + 1
					if crashAt--; crashAt == 0 {
						for k, v := range acked {
							snapshot[k] = v
						}
						crashed = fs.Crash(rng.IntN(101), rng)
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if crashed.MemFS == nil {
			for k, v := range acked {
				snapshot[k] = v
			}
			crashed = fs.Crash(rng.IntN(101), rng)
		}
		l.Close()
		fs, acked = crashed, snapshot
		if run%50 == 49 { // begin afresh so that recovery stays short
			fs, acked = vfs.NewCrashable(), map[int]int{}
		}
	}
}

// checkRecovered compares the log with what was acknowledged and then counts
// what else survived as acknowledged: it may not vanish later.
func checkRecovered(t *testing.T, l *Log, acked map[int]int, run int) {
	t.Helper()
	a, b := logtest.Payloads(t, l, 0, 0), logtest.Payloads(t, l, 1, 0)
	if len(a) != len(b) {
		t.Fatalf("run %d: %d records in partition 0, %d in 1: an append came apart", run, len(a), len(b))
	}
	seen := map[int]int{}
	for _, p := range a {
		var w, i int
		if _, err := fmt.Sscanf(p, "%d:%d", &w, &i); err != nil || i != seen[w] {
			t.Fatalf("run %d: record %q, want number %d of appender %d", run, p, seen[w], w)
		}
		seen[w]++
	}
	for w, n := range acked {
		if seen[w] < n {
			t.Fatalf("run %d: appender %d has %d records, %d were acknowledged", run, w, seen[w], n)
		}
	}
	for w, n := range seen {
		acked[w] = n
	}
}

// TestDamagedAcknowledgedRecordIsNotSkipped: a flipped bit in the middle of the
// log is reported, never taken for the end of the log.
func TestDamagedAcknowledgedRecordIsNotSkipped(t *testing.T) {
	fs := vfs.Memory()
	l, err := Open("log", Config{FS: fs, SegmentBytes: 64 << 10, Fence: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := l.Append(context.Background(), []ingestlog.Entry{logtest.Entry(0, fmt.Sprintf("%0100d", i))}); err != nil {
			t.Fatal(err)
		}
	}
	name := fs.PathJoin("log", l.active.name)
	loc := l.partitions[logtest.Partition(0)].locations[9]
	l.Close()
	f, err := fs.OpenReadWrite(name, vfs.CategoryLog)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{'!'}, int64(loc.position)+3); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := Open("log", Config{FS: fs, SegmentBytes: 64 << 10, Fence: 2}); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("open with a damaged record: %v, want %v", err, storage.ErrCorrupt)
	}
}

// TestFailedWriteStopsTheLog: after an I/O error no append is acknowledged, and
// what was acknowledged before is there after reopening.
func TestFailedWriteStopsTheLog(t *testing.T) {
	for n := range int32(60) {
		fs := vfs.NewCrashable()
		l, err := Open("log", Config{FS: vfs.FailNth(fs, n), SegmentBytes: 4 << 10, Fence: 1})
		if err != nil {
			if !vfs.Injected(err) {
				t.Fatalf("write %d: %v", n, err)
			}
			continue
		}
		acked, failed := 0, false
		for i := range 30 {
			err := l.Append(context.Background(), []ingestlog.Entry{logtest.Entry(0, fmt.Sprintf("%0300d", i))})
			if err == nil && failed {
				t.Fatalf("write %d: append %d succeeded after a failure", n, i)
			}
			if failed = err != nil; !failed {
				acked++
			}
		}
		l.Close()
		r := open(t, fs.Crash(0, nil), 2)
		if got := len(logtest.Payloads(t, r, 0, 0)); got < acked {
			t.Errorf("write %d failed: %d records survive, %d were acknowledged", n, got, acked)
		}
		r.Close()
	}
}

func BenchmarkAppend(b *testing.B) {
	l, err := Open(b.TempDir(), Config{Fence: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	payload := make([]byte, 50_000) // about a thousand rows
	b.SetBytes(int64(len(payload)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			e := ingestlog.Entry{Partition: logtest.Partition(0), Record: ingestlog.Record{Kind: ingestlog.Data, Payload: payload}}
			if err := l.Append(context.Background(), []ingestlog.Entry{e}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
