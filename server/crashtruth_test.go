package server_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// event is a row of the stream of the crash test.
type event struct {
	id     int
	key    string
	source string
	user   string
	value  int // 0 fails in the view "narrow"
	share  float64
	at     time.Time
	future bool // refused by max_future_skew
}

func (e event) copyRow() string {
	return fmt.Sprintf("%d\t%s\t%s\t%s\t%d\t%g\t%s\n", e.id, e.key, e.source, e.user, e.value, e.share, e.at.Format(time.RFC3339Nano))
}

func (e event) insertRow() string {
	return fmt.Sprintf("(%d, '%s', '%s', '%s', %d, %g, '%s')", e.id, e.key, e.source, e.user, e.value, e.share, e.at.Format(time.RFC3339Nano))
}

// truth is what clients know: what was sent in which statement, and what was
// acknowledged.
type truth struct {
	mu      sync.Mutex
	events  map[int]event
	batches [][]int      // ids that were sent together, some perhaps before
	acked   map[int]bool // by number of batch
}

func newTruth() *truth { return &truth{events: map[int]event{}, acked: map[int]bool{}} }

// sending notes a batch before it is sent.
func (t *truth) sending(events []event) (batch int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := make([]int, len(events))
	for i, e := range events {
		t.events[e.id], ids[i] = e, e.id
	}
	t.batches = append(t.batches, ids)
	return len(t.batches) - 1
}

func (t *truth) ack(batch int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.acked[batch] = true
}

func (t *truth) acknowledged() map[int]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.acked)
}

// at returns what was sent until now with what was acknowledged then.
func (t *truth) at(acknowledged map[int]bool) *truth {
	t.mu.Lock()
	defer t.mu.Unlock()
	return &truth{events: maps.Clone(t.events), batches: slices.Clone(t.batches), acked: acknowledged}
}

func (t *truth) become(o *truth) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events, t.batches, t.acked = o.events, o.batches, o.acked
}

// judge compares the ids that a stream holds with what was sent. It returns what
// is wrong, or nothing.
func (t *truth) judge(ids []int) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	there := map[int]bool{}
	for _, id := range ids {
		e, sent := t.events[id]
		switch {
		case there[id]:
			complain("event %d is there twice", id)
		case !sent:
			complain("event %d was never sent", id)
		case e.future:
			complain("event %d is in the future and was admitted", id)
		}
		there[id] = true
	}
	owed := map[int]bool{} // by acknowledged batches
	for b := range t.acked {
		for _, id := range t.batches[b] {
			owed[id] = true
			if !there[id] && !t.events[id].future {
				complain("event %d of batch %d was acknowledged and is lost", id, b)
			}
		}
	}
	for b, batch := range t.batches {
		var got, missing []int
		for _, id := range batch {
			if owed[id] || t.events[id].future {
				continue
			}
			if there[id] {
				got = append(got, id)
			} else {
				missing = append(missing, id)
			}
		}
		if len(got) > 0 && len(missing) > 0 && !t.sentOtherwise(b, got) {
			complain("batch %d came apart: %v are there, %v are not", b, got, missing)
		}
	}
	return wrong
}

// sentOtherwise reports whether another batch explains that these events are there.
func (t *truth) sentOtherwise(batch int, ids []int) bool {
	for b, other := range t.batches {
		if b == batch {
			continue
		}
		for _, id := range ids {
			if slices.Contains(other, id) {
				return true
			}
		}
	}
	return false
}

// recount makes the rows of the view "wide" from the events that are there.
func (t *truth) recount(ids []int) []string {
	type group struct {
		key   string
		start time.Time
	}
	type sums struct{ n, sum, low, high int }
	groups := map[group]*sums{}
	for _, id := range ids {
		e := t.events[id]
		g := group{e.key, e.at.Truncate(time.Minute)}
		s := groups[g]
		if s == nil {
			s = &sums{low: e.value, high: e.value}
			groups[g] = s
		}
		s.n++
		s.sum += e.value
		s.low, s.high = min(s.low, e.value), max(s.high, e.value)
	}
	var out []string
	for g, s := range groups {
		out = append(out, fmt.Sprintf("%s|%d|%d|%d|%d|%d", g.key, g.start.Unix(), s.n, s.sum, s.low, s.high))
	}
	slices.SortFunc(out, strings.Compare)
	return out
}
