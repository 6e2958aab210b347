package tablestore

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage"
)

// sequenceAhead is how many numbers of a sequence are made durable ahead of use, so
// that not every one needs a write; a crash loses at most so many.
const sequenceAhead = 32

// sequences are the states of those that were used since the start.
type sequences struct {
	mu    sync.Mutex
	known map[id.Relation]*sequenceState
}

// sequenceState is how far a sequence is. A sequence that was not called gives last
// next, one that was called the number behind it.
type sequenceState struct {
	last    int64
	called  bool
	durable int64 // the number that is written, which is not behind last
	ahead   int   // numbers from last to durable
}

// NextValue takes the next number of a sequence, for good: no rollback gives it back.
// 2200H at the end of a sequence that does not cycle.
func (s *Store) NextValue(rel *catalog.Relation) (int64, error) {
	s.sequences.mu.Lock()
	defer s.sequences.mu.Unlock()
	st, err := s.sequence(rel)
	if err != nil {
		return 0, err
	}
	next := st.last
	if st.called {
		if next, err = following(rel, st.last); err != nil {
			return 0, err
		}
	}
	if st.ahead > 0 && st.called {
		st.ahead--
	} else {
		durable, ahead := next, 0
		for ahead < sequenceAhead {
			n, err := following(rel, durable)
			if err != nil || n < durable == (rel.Sequence.Increment > 0) {
				break // the end: further on it is asked again
			}
			durable, ahead = n, ahead+1
		}
		if err := s.putSequence(rel.ID, durable, true); err != nil {
			return 0, err
		}
		st.durable, st.ahead = durable, ahead
	}
	st.last, st.called = next, true
	return next, nil
}

// following returns the number behind n.
func following(rel *catalog.Relation, n int64) (int64, error) {
	q := rel.Sequence
	next := n + q.Increment
	switch {
	case q.Increment > 0 && (next > q.Max || next < n):
		if q.Cycle {
			return q.Min, nil
		}
		return 0, sqlerr.New(sqlerr.SequenceLimitExceeded, "nextval: reached maximum value of sequence %q (%d)", rel.Name, q.Max)
	case q.Increment < 0 && (next < q.Min || next > n):
		if q.Cycle {
			return q.Max, nil
		}
		return 0, sqlerr.New(sqlerr.SequenceLimitExceeded, "nextval: reached minimum value of sequence %q (%d)", rel.Name, q.Min)
	}
	return next, nil
}

// SetValue makes a sequence go on behind value or, not called, with it.
func (s *Store) SetValue(rel *catalog.Relation, value int64, called bool) error {
	q := rel.Sequence
	if value < q.Min || value > q.Max {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "setval: value %d is out of bounds for sequence %q (%d..%d)", value, rel.Name, q.Min, q.Max)
	}
	s.sequences.mu.Lock()
	defer s.sequences.mu.Unlock()
	if err := s.putSequence(rel.ID, value, called); err != nil {
		return err
	}
	s.sequences.known[rel.ID] = &sequenceState{last: value, called: called, durable: value}
	return nil
}

// LastValue returns how far a sequence is, and whether its last number was given out.
func (s *Store) LastValue(rel *catalog.Relation) (last int64, called bool, err error) {
	s.sequences.mu.Lock()
	defer s.sequences.mu.Unlock()
	st, err := s.sequence(rel)
	if err != nil {
		return 0, false, err
	}
	return st.last, st.called, nil
}

// sequence returns the state of a sequence; the lock is held.
func (s *Store) sequence(rel *catalog.Relation) (*sequenceState, error) {
	if st := s.sequences.known[rel.ID]; st != nil {
		return st, nil
	}
	b, ok, err := s.kv.Get(s.prefix(rel.ID, 'n'))
	if err != nil {
		return nil, err
	}
	st := &sequenceState{last: rel.Sequence.Start}
	if ok {
		if len(b) != 9 {
			return nil, fmt.Errorf("sequence %s: %w", rel.Name, storage.ErrCorrupt)
		}
		st.last, st.called = int64(binary.BigEndian.Uint64(b)), b[8] != 0
	}
	st.durable = st.last
	s.sequences.known[rel.ID] = st
	return st, nil
}

func (s *Store) putSequence(rel id.Relation, value int64, called bool) error {
	b := s.kv.NewBatch()
	state := append(binary.BigEndian.AppendUint64(nil, uint64(value)), 0)
	if called {
		state[8] = 1
	}
	if err := b.Set(s.prefix(rel, 'n'), state); err != nil {
		b.Discard()
		return err
	}
	return b.Commit(true)
}

// Close writes how far the sequences are, so that none loses numbers.
func (s *Store) Close() error {
	s.sequences.mu.Lock()
	defer s.sequences.mu.Unlock()
	for rel, st := range s.sequences.known {
		if st.last == st.durable {
			continue
		}
		if err := s.putSequence(rel, st.last, st.called); err != nil {
			return err
		}
	}
	return nil
}

// forget drops the state of a sequence that is gone.
func (s *Store) forget(rel id.Relation) {
	s.sequences.mu.Lock()
	defer s.sequences.mu.Unlock()
	delete(s.sequences.known, rel)
}
