package topk

import "github.com/tallydb/tallydb/sketchfn/selection"

// counter counts one value. The zero counter is a free place: low is never 0.
type counter struct {
	hash    uint64
	payload uint64 // the word of a value of KindInt or KindFloat, or where its bytes are
	low     uint64 // occurrences since the counter exists
	slack   uint64 // occurrences before that, at most
}

func (c *counter) upper() uint64 { return c.low + c.slack }

// group is the state of a group: its table of counters, 1<<(class+1) places,
// class 0 for none, and what they sum up to.
type group struct {
	total uint64 // values seen
	floor uint64 // most occurrences of a value without a counter
	ref   uint32
	n     uint32 // counters
	class uint8
}

// firstClass has the smallest table, four places.
const firstClass = 1

func places(class uint8) int { return 2 << class }

// fits reports whether a table of this class takes n counters.
func fits(class uint8, n int) bool { return class > 0 && n*4 <= 3*places(class) }

// shape holds what follows from the capacity.
type shape struct {
	capacity  int
	fullClass uint8 // of the largest table outside merges
	limit     int   // counters of a full table
}

func newShape(capacity int) shape {
	s := shape{capacity: capacity, fullClass: firstClass}
	for places(s.fullClass) < 2*capacity {
		s.fullClass++
	}
	s.limit = places(s.fullClass) / 4 * 3
	return s
}

// raisedFloor returns the largest upper limit of a counter that has to go: the (capacity+1)-th largest upper limit. uppers is reordered.
func (s shape) raisedFloor(uppers []uint64) uint64 {
	return selection.Nth(uppers, len(uppers)-1-s.capacity)
}
