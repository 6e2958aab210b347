package watermark

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// TestL4WatermarkNeverGoesBack: whatever events and ticks come, it never goes
// back; it is the minimum over the active sources; and a tracker that was stored
// and restored at any moments goes on as if nothing had happened.
func TestL4WatermarkNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{Delay: eventtime.Duration(rapid.Int64Range(0, 50).Draw(t, "delay")), IdleTimeoutMicros: rapid.SampledFrom([]int64{0, 20, 200}).Draw(t, "idle")}
		tracker := New(cfg)
		wall := int64(1)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			wall += rapid.Int64Range(0, 30).Draw(t, "wall")
			before := tracker.Current()
			if rapid.IntRange(0, 3).Draw(t, "step") == 0 {
				tracker.Tick(wall, eventtime.Watermark(rapid.Int64Range(0, 1000).Draw(t, "floor")))
			} else {
				source := tracker.Source(fmt.Appendf(nil, "s%d", rapid.IntRange(0, 4).Draw(t, "source")))
				tracker.Observe(source, eventtime.Time(rapid.Int64Range(0, 1000).Draw(t, "at")), wall)
			}
			if tracker.Current() < before {
				t.Fatalf("went back from %d to %d", before, tracker.Current())
			}
			checkMinimum(t, tracker)
			if rapid.IntRange(0, 9).Draw(t, "restore") == 0 {
				restored, err := Decode(cfg, tracker.Append(nil))
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(restored, tracker) {
					t.Fatalf("restored %+v, was %+v", restored, tracker)
				}
				tracker = restored
			}
		}
	})
}

// checkMinimum: the watermark is at least the minimum over the active sources of
// what each promises.
func checkMinimum(t *rapid.T, tracker *Tracker) {
	low := eventtime.Max
	for i := range tracker.names {
		if !tracker.idle[i] {
			low = min(low, tracker.highest[i])
		}
	}
	if low != eventtime.Max && tracker.Current() < eventtime.Watermark(low.Add(-tracker.cfg.Delay)) {
		t.Fatalf("watermark %d is below the slowest active source at %d", tracker.Current(), low)
	}
}

func TestSlowSourceHoldsUntilItIsIdle(t *testing.T) {
	tracker := New(Config{Delay: 10, IdleTimeoutMicros: 100})
	fast, slow := tracker.Source([]byte("fast")), tracker.Source([]byte("slow"))
	tracker.Observe(slow, 50, 1)
	tracker.Observe(fast, 1000, 2)
	if got := tracker.Current(); got != 40 {
		t.Fatalf("watermark %d while the slow source is at 50", got)
	}
	tracker.Observe(fast, 2000, 90)
	if got := tracker.Tick(105, eventtime.Watermark(eventtime.Min)); got != 1990 {
		t.Fatalf("watermark %d after the slow source fell idle", got)
	}
	tracker.Observe(slow, 60, 110)
	if got := tracker.Current(); got != 1990 {
		t.Fatalf("watermark %d after an idle source woke with an old event", got)
	}
}

func TestIdleInputAdvancesAtWallRate(t *testing.T) {
	tracker := New(Config{Delay: 0, IdleTimeoutMicros: 100})
	tracker.Observe(tracker.Source(nil), 5000, 1000)
	if got := tracker.Tick(1050, 0); got != 5000 {
		t.Fatalf("watermark %d before the timeout", got)
	}
	if got := tracker.Tick(1100, 0); got != 5100 {
		t.Fatalf("watermark %d, 100 µs after the last event", got)
	}
	if got := tracker.Tick(1600, 0); got != 5600 {
		t.Fatalf("watermark %d, 600 µs after the last event", got)
	}
}

func FuzzDecode(f *testing.F) {
	tracker := New(Config{})
	tracker.Observe(tracker.Source([]byte("a")), 1, 2)
	f.Add(tracker.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Decode(Config{}, b)
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrTooNew) {
				t.Errorf("unclassified error %v", err)
			}
			return
		}
		if _, err := Decode(Config{}, got.Append(nil)); err != nil {
			t.Errorf("decoded state does not decode again: %v", err)
		}
	})
}
