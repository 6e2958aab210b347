// Package window assigns events to windows. Assignment is a pure function of
// event time (L-3).
package window

import (
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// Assigner cuts event time as a WindowSpec says.
type Assigner struct {
	spec plan.WindowSpec
}

// New returns the assigner of a spec.
func New(spec plan.WindowSpec) Assigner { return Assigner{spec} }

// Window returns the window that holds an event at this time.
func (a Assigner) Window(at eventtime.Time) eventtime.Window {
	if a.spec.Kind == plan.NoWindow {
		return eventtime.Global
	}
	return eventtime.Tumble(at, a.spec.Size, a.spec.Offset)
}

// FromStart returns the window that begins at start.
func (a Assigner) FromStart(start eventtime.Time) eventtime.Window {
	if a.spec.Kind == plan.NoWindow {
		return eventtime.Global
	}
	return eventtime.Window{Start: start, End: start.Add(a.spec.Size)}
}

// Slices are the rows of a batch by window, in order of first appearance.
type Slices struct {
	Windows []eventtime.Window
	Rows    [][]int32 // row numbers, ascending, of each window

	slot map[eventtime.Time]int
	free [][]int32
}

// Assign splits rows 0 … len(times)-1 by window, leaving out those that skip
// names. Without windows, times may be nil and n rows go to the global window.
func (s *Slices) Assign(a Assigner, times []int64, n int, skip func(row int, w eventtime.Window) bool) {
	s.reset()
	if a.spec.Kind == plan.NoWindow {
		k := s.slotOf(eventtime.Global)
		for i := range n {
			s.Rows[k] = append(s.Rows[k], int32(i))
		}
		return
	}
	var w eventtime.Window
	k := -1
	for i := range n {
		t := eventtime.Time(times[i])
		if k < 0 || t < w.Start || t >= w.End {
			w = a.Window(t)
			k = s.slotOf(w)
		}
		if skip != nil && skip(i, w) {
			continue
		}
		s.Rows[k] = append(s.Rows[k], int32(i))
	}
}

func (s *Slices) reset() {
	for i := range s.Rows {
		s.free = append(s.free, s.Rows[i][:0])
	}
	s.Windows, s.Rows = s.Windows[:0], s.Rows[:0]
	clear(s.slot)
}

func (s *Slices) slotOf(w eventtime.Window) int {
	if s.slot == nil {
		s.slot = map[eventtime.Time]int{}
	}
	if k, ok := s.slot[w.Start]; ok {
		return k
	}
	var rows []int32
	if n := len(s.free); n > 0 {
		rows, s.free = s.free[n-1], s.free[:n-1]
	}
	s.slot[w.Start] = len(s.Windows)
	s.Windows = append(s.Windows, w)
	s.Rows = append(s.Rows, rows)
	return len(s.Windows) - 1
}
