package eventtime

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestL3WindowsPartitionTime: every instant is in exactly one window of a size
// and offset, windows abut, and the window depends on nothing else.
func TestL3WindowsPartitionTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := Duration(rapid.Int64Range(1, int64(400*Day)).Draw(t, "size"))
		offset := Duration(rapid.Int64Range(-int64(Day), int64(Day)).Draw(t, "offset"))
		at := Time(rapid.Int64Range(math.MinInt64/4, math.MaxInt64/4).Draw(t, "at"))
		w := Tumble(at, size, offset)
		if at < w.Start || at >= w.End || w.End-w.Start != Time(size) {
			t.Fatalf("%d is not in [%d, %d) of size %d", at, w.Start, w.End, size)
		}
		if next := Tumble(w.End, size, offset); next.Start != w.End {
			t.Fatalf("the window after [%d, %d) begins at %d", w.Start, w.End, next.Start)
		}
		if last := Tumble(w.End-1, size, offset); last != w {
			t.Fatalf("the last instant of [%d, %d) is in %v", w.Start, w.End, last)
		}
	})
}

func TestWindowsAlign(t *testing.T) {
	at := func(s string) Time {
		x, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return FromUnixMicro(x.UnixMicro())
	}
	for _, c := range []struct {
		at   string
		size Duration
		want string
	}{
		{"2026-01-01T10:20:30Z", Minute, "2026-01-01T10:20:00Z"},
		{"2026-01-01T10:20:30Z", Hour, "2026-01-01T10:00:00Z"},
		{"2026-01-01T10:20:30Z", Day, "2026-01-01T00:00:00Z"},
		{"2026-01-01T10:20:30Z", 7 * Day, "2025-12-29T00:00:00Z"}, // a Monday
		{"1969-12-31T23:59:59Z", Hour, "1969-12-31T23:00:00Z"},
	} {
		if got := Tumble(at(c.at), c.size, 0).Start; got != at(c.want) {
			t.Errorf("%s by %d: starts at %v, want %s", c.at, c.size, time.UnixMicro(got.UnixMicro()).UTC(), c.want)
		}
	}
}

func TestArithmeticSaturates(t *testing.T) {
	if got := (Max - 1).Add(10); got != Max {
		t.Errorf("past the end: %d", got)
	}
	if got := (Min + 1).Add(-10); got != Min {
		t.Errorf("before the beginning: %d", got)
	}
	if Watermark(Max).Passed(Max) {
		t.Error("a window that never ends has closed")
	}
	if w := Watermark(5).Advance(3); w != 5 {
		t.Errorf("a watermark went back to %d", w)
	}
}
