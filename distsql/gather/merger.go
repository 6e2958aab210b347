package gather

import (
	"encoding/binary"
	"fmt"

	"github.com/tallydb/tallydb/distsql/fragment"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/fold"
	"github.com/tallydb/tallydb/stream/state"
)

// merger merges partials. Those of a fold whose groups lie in one partition each
// come finished, and are put side by side.
type merger struct {
	s *Statement
	*folding
	*groupSet
	gate *gate
	// finished are parts that came so; the set has the groups that are in several of them.
	finished []*state.Finished
	// degraded counts the rows that failed, by window start.
	degraded map[eventtime.Time]int64
}

// groupSet is the groups of several partitions, each once. Groups that are all new are
// kept as they are; others are merged into those that are there, or copied.
type groupSet struct {
	parts   []*state.Groups // the first holds what was copied
	index   *state.Arena    // (window, key) → number of a group; holds no states
	places  []place         // by number of a group
	numbers []uint32
	key     []byte
}

// newGroupSet returns an empty set that copies into copied, which is empty.
func newGroupSet(copied *state.Groups) *groupSet {
	return &groupSet{parts: []*state.Groups{copied}, index: state.NewArena(eventtime.Global, nil, agg.Config{})}
}

// place is where a group is.
type place struct{ part, group uint32 }

// newMerger returns a merger without partials.
func newMerger(s *Statement, of *folding, g *gate) *merger {
	f := of.scan.Fold
	copied := fold.NewGroups(f, of.req.NeededStates)
	m := &merger{
		s: s, folding: of, gate: g, groupSet: newGroupSet(copied), degraded: map[eventtime.Time]int64{},
	}
	if f.Window.Kind == plan.NoWindow && len(f.Keys) == 0 { // a total exists before the first event
		m.find(eventtime.Min, 0, nil)
		m.places = append(m.places, place{0, uint32(copied.Add(eventtime.Min, 0, nil))})
		copied.Grow()
	}
	return m
}

// find returns the number of the group of a window and key. added says that it
// has no place yet.
func (m *groupSet) find(w eventtime.Time, hash uint64, key []byte) (number uint32, added bool) {
	m.key = binary.BigEndian.AppendUint64(m.key[:0], uint64(w))
	m.key = append(m.key, key...)
	if len(key) == 0 {
		hash = 0
	}
	return m.index.Find(keyhash.Finalise(hash^uint64(w), keyhash.UseGroup), m.key)
}

// merge takes a partial, which is the merger's from now on.
func (m *merger) merge(p *fragment.Partial) error {
	for start, n := range p.Degraded {
		m.degraded[start] += n
	}
	if p.Finished != nil {
		m.finished = append(m.finished, p.Finished)
		if p.Groups == nil {
			return nil
		}
	}
	if err := m.add(p.Groups); err != nil {
		return fmt.Errorf("merge partition %d: %w", p.Partition, err)
	}
	return nil
}

// add takes groups, which are the set's from now on.
func (m *groupSet) add(in *state.Groups) error {
	before := len(m.places)
	m.numbers = m.numbers[:0]
	for i := range in.Len() {
		number, _ := m.find(in.Windows[i], in.Hashes[i], in.Keys.At(i))
		m.numbers = append(m.numbers, number)
	}
	if m.index.Groups() == before+in.Len() {
		for i := range in.Len() {
			m.places = append(m.places, place{uint32(len(m.parts)), uint32(i)})
		}
		m.parts = append(m.parts, in)
		return nil
	}
	for i, number := range m.numbers {
		if int(number) == len(m.places) {
			m.places = append(m.places, place{0, uint32(m.parts[0].Add(in.Windows[i], in.Hashes[i], in.Keys.At(i)))})
		}
	}
	m.parts[0].Grow()
	for st, from := range in.States {
		if from == nil {
			continue
		}
		for i, number := range m.numbers {
			at := m.places[number]
			if err := m.parts[at.part].States[st].MergeFrom(at.group, from, uint32(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// groups returns the number of groups.
func (m *merger) groups() int {
	n := len(m.places)
	for _, p := range m.finished {
		n += p.Len()
	}
	return n
}

// keys returns the keys of the groups, in the order of the rows.
func (m *merger) keys() []*state.ByteColumn {
	var out []*state.ByteColumn
	for _, p := range m.parts {
		out = append(out, &p.Keys)
	}
	for _, p := range m.finished {
		out = append(out, &p.Keys)
	}
	return out
}

// windows returns the window start of each group, in the order of the rows: part
// by part.
func (m *merger) windows() []eventtime.Time {
	out := make([]eventtime.Time, 0, m.groups())
	for _, p := range m.parts {
		out = append(out, p.Windows...)
	}
	for _, p := range m.finished {
		out = append(out, p.Windows...)
	}
	return out
}
