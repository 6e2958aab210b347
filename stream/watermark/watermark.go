// Package watermark tracks the event-time progress of the sources of one
// partition. Pure: what a clock says comes in as logged ticks (L-2).
//
// Invariants:
//
//  1. The watermark never goes backwards (L-4).
//  2. It is the minimum over the sources that are not idle of their highest
//     event time less the delay. A source is idle when a tick finds it unheard
//     for the idle timeout, and no longer with its next event.
//  3. When every source is idle, ticks advance it at wall rate from the last
//     event, and at least to the floor that they carry; so windows close while
//     input is idle.
package watermark

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// MaxSources bounds the sources that a partition tells apart. Events of further
// ones are refused: their progress could not be told from that of others.
const MaxSources = 4096

// Config of a tracker.
type Config struct {
	Delay             eventtime.Duration
	IdleTimeoutMicros int64 // of wall time; 0: sources never fall idle
}

// Tracker is the progress of one partition's sources.
type Tracker struct {
	cfg     Config
	index   map[string]int
	names   []string
	highest []eventtime.Time // event time seen of each source
	heard   []int64          // append time of its last event, microseconds since 1970
	idle    []bool
	slowest int // a source that holds the watermark back; -1 if none is active
	current eventtime.Watermark
}

// New returns a tracker that has seen nothing.
func New(cfg Config) *Tracker {
	return &Tracker{cfg: cfg, index: map[string]int{}, slowest: -1, current: eventtime.Watermark(eventtime.Min)}
}

// Current returns the watermark.
func (t *Tracker) Current() eventtime.Watermark { return t.current }

// Sources returns how many sources were seen.
func (t *Tracker) Sources() int { return len(t.names) }

// AllIdle reports whether no source is active, so that only ticks move the watermark.
func (t *Tracker) AllIdle() bool { return t.slowest < 0 }

// LastHeard returns the append time of the last event, 0 if there was none.
func (t *Tracker) LastHeard() int64 {
	var last int64
	for _, h := range t.heard {
		last = max(last, h)
	}
	return last
}

// Source returns the number of a source, making it on first sight; -1 if there
// are too many.
func (t *Tracker) Source(name []byte) int {
	if i, ok := t.index[string(name)]; ok {
		return i
	}
	if len(t.names) == MaxSources {
		return -1
	}
	i := len(t.names)
	t.index[string(name)] = i
	t.names = append(t.names, string(name))
	t.highest = append(t.highest, eventtime.Min)
	t.heard = append(t.heard, 0)
	t.idle = append(t.idle, true)
	return i
}

// Observe takes one admitted event of a source, appended to the log at this
// wall time. It returns the watermark after it.
func (t *Tracker) Observe(source int, at eventtime.Time, appended int64) eventtime.Watermark {
	t.heard[source] = appended
	woke := t.idle[source]
	t.idle[source] = false
	if at > t.highest[source] {
		t.highest[source] = at
	} else if !woke {
		return t.current
	}
	if woke || source == t.slowest || t.slowest < 0 {
		t.recompute()
	}
	return t.current
}

// recompute finds the slowest active source.
func (t *Tracker) recompute() {
	t.slowest = -1
	low := eventtime.Max
	for i, h := range t.highest {
		if !t.idle[i] && h < low {
			t.slowest, low = i, h
		}
	}
	if t.slowest >= 0 {
		t.current = t.current.Advance(low.Add(-t.cfg.Delay))
	}
}

// Tick takes a logged tick: the wall time at which it was appended, and a floor
// for a watermark that no active source holds back.
func (t *Tracker) Tick(now int64, floor eventtime.Watermark) eventtime.Watermark {
	changed := false
	if t.cfg.IdleTimeoutMicros > 0 {
		for i := range t.names {
			if !t.idle[i] && now-t.heard[i] >= t.cfg.IdleTimeoutMicros {
				t.idle[i], changed = true, true
			}
		}
	}
	if changed {
		t.recompute()
	}
	if t.slowest < 0 && t.cfg.IdleTimeoutMicros > 0 {
		for i, h := range t.highest {
			if h != eventtime.Min {
				t.current = t.current.Advance(h.Add(eventtime.Duration(now - t.heard[i])).Add(-t.cfg.Delay))
			}
		}
		t.current = t.current.Advance(eventtime.Time(floor))
	}
	return t.current
}

// QuietestActive returns the append time of the last event of the active source
// that was silent longest: a tick that finds it silent for the idle timeout makes
// it idle. 0 if no source is active.
func (t *Tracker) QuietestActive() int64 {
	var quietest int64
	for i, h := range t.heard {
		if !t.idle[i] && (quietest == 0 || h < quietest) {
			quietest = h
		}
	}
	return quietest
}

const codecVersion = 1

// Append appends the tracker's portable state.
func (t *Tracker) Append(dst []byte) []byte {
	dst = append(dst, codecVersion)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(t.current))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(t.names)))
	for i, name := range t.names {
		dst = binary.AppendUvarint(dst, uint64(len(name)))
		dst = append(dst, name...)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(t.highest[i]))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(t.heard[i]))
		idle := byte(0)
		if t.idle[i] {
			idle = 1
		}
		dst = append(dst, idle)
	}
	return dst
}

// Decode restores a tracker from its portable state.
func Decode(cfg Config, b []byte) (*Tracker, error) {
	bad := func() (*Tracker, error) { return nil, fmt.Errorf("watermark state: %w", storage.ErrCorrupt) }
	if len(b) < 13 {
		return bad()
	}
	if b[0] > codecVersion {
		return nil, fmt.Errorf("watermark state of version %d: %w", b[0], storage.ErrTooNew)
	}
	t := New(cfg)
	t.current = eventtime.Watermark(binary.LittleEndian.Uint64(b[1:]))
	n := int(binary.LittleEndian.Uint32(b[9:]))
	b = b[13:]
	if n > MaxSources {
		return bad()
	}
	for range n {
		length, k := binary.Uvarint(b)
		if k <= 0 || length > math.MaxInt32 || len(b) < k+int(length)+17 {
			return bad()
		}
		i := t.Source(b[k : k+int(length)])
		if i < 0 {
			return bad()
		}
		b = b[k+int(length):]
		t.highest[i] = eventtime.Time(binary.LittleEndian.Uint64(b))
		t.heard[i] = int64(binary.LittleEndian.Uint64(b[8:]))
		t.idle[i] = b[16] != 0
		b = b[17:]
	}
	if len(b) != 0 || len(t.names) != n {
		return bad()
	}
	current := t.current
	t.recompute()
	t.current = current
	return t, nil
}
