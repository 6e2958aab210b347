package watermark

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tallydb/tallydb/stream/eventtime"
)

// twin is the naive form of a Tracker: it looks at every source every time.
type twin struct {
	cfg     Config
	highest map[string]eventtime.Time
	heard   map[string]int64
	idle    map[string]bool
	current eventtime.Watermark
}

func (w *twin) lowest() (low eventtime.Time, active bool) {
	low = eventtime.Max
	for s, h := range w.highest {
		if !w.idle[s] {
			low, active = min(low, h), true
		}
	}
	return low, active
}

func (w *twin) observe(source string, at eventtime.Time, appended int64) {
	h, known := w.highest[source]
	if !known || at > h {
		w.highest[source] = at
	}
	w.heard[source], w.idle[source] = appended, false
	if low, active := w.lowest(); active {
		w.current = max(w.current, eventtime.Watermark(low.Add(-w.cfg.Delay)))
	}
}

func (w *twin) tick(now int64, floor eventtime.Watermark) {
	for s := range w.highest {
		if now-w.heard[s] >= w.cfg.IdleTimeoutMicros {
			w.idle[s] = true
		}
	}
	if low, active := w.lowest(); active {
		w.current = max(w.current, eventtime.Watermark(low.Add(-w.cfg.Delay)))
		return
	}
	for s, h := range w.highest {
		w.current = max(w.current, eventtime.Watermark(h.Add(eventtime.Duration(now-w.heard[s])).Add(-w.cfg.Delay)))
	}
	w.current = max(w.current, floor)
}

// TestL4WatermarkIsTheMinimumAndNeverGoesBack: over random events, ticks and
// restarts, the tracker is what the naive one says.
func TestL4WatermarkIsTheMinimumAndNeverGoesBack(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		cfg := Config{Delay: eventtime.Duration(rng.IntN(50)), IdleTimeoutMicros: 1 + rng.Int64N(100)}
		tracker := New(cfg)
		want := &twin{cfg, map[string]eventtime.Time{}, map[string]int64{}, map[string]bool{}, eventtime.Watermark(eventtime.Min)}
		now := int64(1000)
		for step := range 200 {
			now += rng.Int64N(30)
			before := tracker.Current()
			switch rng.IntN(6) {
			case 0:
				floor := eventtime.Watermark(now - rng.Int64N(200))
				tracker.Tick(now, floor)
				want.tick(now, floor)
			case 1:
				restored, err := Decode(cfg, tracker.Append(nil))
				if err != nil {
					t.Fatal(err)
				}
				tracker = restored
			default:
				source, at := fmt.Sprint("s", rng.IntN(4)), eventtime.Time(now-rng.Int64N(300))
				tracker.Observe(tracker.Source([]byte(source)), at, now)
				want.observe(source, at, now)
			}
			if tracker.Current() != want.current || tracker.Current() < before {
				t.Fatalf("seed %d, step %d: watermark %d after %d, want %d", seed, step, tracker.Current(), before, want.current)
			}
		}
	}
}
