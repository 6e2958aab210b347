package window_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/window"
)

// TestL3EveryRowIsInItsWindowOnce: whatever the times and their order, each row that is
// not skipped is in exactly one slice, that of the window that holds its time, in
// order; and what a Slices held before leaves no trace.
func TestL3EveryRowIsInItsWindowOnce(t *testing.T) {
	var s window.Slices
	rapid.Check(t, func(t *rapid.T) {
		size := eventtime.Duration(rapid.Int64Range(1, 1000).Draw(t, "size"))
		offset := eventtime.Duration(rapid.Int64Range(0, int64(size)-1).Draw(t, "offset"))
		kind := rapid.SampledFrom([]plan.WindowKind{plan.Tumbling, plan.NoWindow}).Draw(t, "kind")
		a := window.New(plan.WindowSpec{Kind: kind, Size: size, Offset: offset})
		times := rapid.SliceOf(rapid.Int64Range(-5000, 5000)).Draw(t, "times")
		skip := func(row int, _ eventtime.Window) bool { return row%3 == 2 }
		s.Assign(a, times, len(times), skip)
		seen := map[int32]bool{}
		starts := map[eventtime.Time]bool{}
		for k, w := range s.Windows {
			if starts[w.Start] {
				t.Fatalf("window %v is there twice", w)
			}
			starts[w.Start] = true
			if a.FromStart(w.Start) != w {
				t.Fatalf("%v is %v from its start", w, a.FromStart(w.Start))
			}
			last := int32(-1)
			for _, row := range s.Rows[k] {
				at := eventtime.Time(times[row])
				if seen[row] || row <= last || a.Window(at) != w || kind == plan.Tumbling && (at < w.Start || at >= w.End) {
					t.Fatalf("row %d at %d is in window %v", row, at, w)
				}
				seen[row], last = true, row
			}
		}
		want := len(times)
		if kind == plan.Tumbling {
			want -= len(times) / 3 // without windows nothing is late
		}
		if len(seen) != want {
			t.Fatalf("%d rows are assigned, want %d", len(seen), want)
		}
	})
}
