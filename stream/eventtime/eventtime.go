// Package eventtime is the vocabulary of event time: instants, windows,
// watermarks and lateness. Arithmetic only: no clock, no state, no I/O.
//
// Window assignment is a pure function of event time (L-3).
package eventtime

import "math"

// Time is an instant in microseconds since 2000-01-01 00:00:00 UTC.
type Time int64

// Duration is a length of event time in microseconds.
type Duration int64

// Limits and units.
const (
	Min         Time     = math.MinInt64 // before every event: the watermark of a source not yet heard
	Max         Time     = math.MaxInt64
	Millisecond Duration = 1_000
	Second      Duration = 1_000_000
	Minute               = 60 * Second
	Hour                 = 60 * Minute
	Day                  = 24 * Hour
)

// unixEpoch is 1970-01-01 in our microseconds.
const unixEpoch = -946_684_800 * int64(Second)

// FromUnixMicro converts microseconds since 1970.
func FromUnixMicro(us int64) Time { return Time(us + unixEpoch) }

// UnixMicro converts to microseconds since 1970.
func (t Time) UnixMicro() int64 { return int64(t) - unixEpoch }

// Finite reports whether t is an instant and not an infinity.
func (t Time) Finite() bool { return t != Min && t != Max }

// Add returns t + d, saturating at the infinities.
func (t Time) Add(d Duration) Time {
	if !t.Finite() {
		return t
	}
	s := t + Time(d)
	switch {
	case d > 0 && s < t:
		return Max
	case d < 0 && s > t:
		return Min
	}
	return s
}

// Window is the half-open interval [Start, End). A view without windows has the
// one window Global.
type Window struct {
	Start, End Time
}

// Global is the window that holds all of event time and never closes.
var Global = Window{Start: Min, End: Max}

// origin aligns windows: Monday 2000-01-03, so that windows of a week begin on
// a Monday. For sizes that divide a day it is the same as any midnight.
const origin = Time(2 * Day)

// Tumble returns the tumbling window of this size and offset that holds t.
// size > 0. Times so near the limits that the window would not fit saturate.
func Tumble(t Time, size, offset Duration) Window {
	base := origin.Add(offset)
	d := int64(t-base) % int64(size)
	if d < 0 {
		d += int64(size)
	}
	start := t.Add(Duration(-d))
	return Window{Start: start, End: start.Add(size)}
}

// Closes returns the watermark at which the window is final: its end plus the
// allowed lateness. Rows for it are late from then on.
func (w Window) Closes(lateness Duration) Time { return w.End.Add(lateness) }

// Watermark is a promise: no event before it is expected any more. It never
// goes backwards (L-4).
type Watermark Time

// Advance returns the later of the two.
func (w Watermark) Advance(to Time) Watermark { return max(w, Watermark(to)) }

// Passed reports whether the watermark has reached t.
func (w Watermark) Passed(t Time) bool { return Time(w) >= t && t != Max }
