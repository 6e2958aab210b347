package tablestore

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/kv"
)

// sequenceAhead is how many numbers of a sequence are made durable ahead of use, so
// that not every one needs a write; a crash loses at most so many.
const sequenceAhead = 32

// sequences are the states of those that were used since the start.
type sequences struct {
	mu    sync.Mutex
	known map[id.Relation]*sequenceState
	held  map[id.Relation]*Tx // those that count in a transaction
}

// sequenceState is how far a sequence is. A sequence that was not called gives last
// next, one that was called the number behind it.
type sequenceState struct {
	last    int64
	called  bool
	durable int64 // the number that is written, which is not behind last
	ahead   int   // numbers from last to durable
}

// NextValue takes the next number of a sequence, for good: no rollback gives it back,
// unless the transaction made or altered the sequence. 2200H at the end of a sequence
// that does not cycle.
func (t *Tx) NextValue(ctx context.Context, rel *catalog.Relation) (next int64, err error) {
	err = t.onSequence(ctx, rel, func(own *sequenceState) error {
		if own == nil {
			next, err = t.store.nextValue(rel)
			return err
		}
		if next, err = own.next(rel); err == nil {
			own.last, own.called = next, true
		}
		return err
	})
	return next, err
}

// onSequence calls fn with the sequences locked: with the state that counts in the
// transaction, or with nil where the sequence is everyone's.
func (t *Tx) onSequence(ctx context.Context, rel *catalog.Relation, fn func(own *sequenceState) error) error {
	q := &t.store.sequences
	for {
		q.mu.Lock()
		other := q.held[rel.ID]
		if other == nil || other == t {
			defer q.mu.Unlock()
			return fn(t.sequences[rel.ID])
		}
		ended := other.ended
		q.mu.Unlock()
		select { // the other has altered it
		case <-ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// HoldSequence makes a sequence count in the transaction, which has made or altered
// it: from start on, or on from where it is. Others that want its numbers wait for the end.
func (t *Tx) HoldSequence(ctx context.Context, rel *catalog.Relation, start *int64) error {
	if err := t.Lock(ctx); err != nil {
		return err
	}
	q := &t.store.sequences
	q.mu.Lock()
	defer q.mu.Unlock()
	old := t.sequences[rel.ID]
	var own sequenceState
	switch {
	case start != nil:
		own.last = *start
	case old != nil:
		own = *old
	default:
		st, err := t.store.sequence(rel)
		if err != nil {
			return err
		}
		own = sequenceState{last: st.last, called: st.called}
	}
	t.undo.sequence(rel.ID, old)
	t.sequences[rel.ID], q.held[rel.ID] = &own, t
	return nil
}

// releaseSequences lets others have numbers of the sequences that counted in the
// transaction.
func (t *Tx) releaseSequences() {
	q := &t.store.sequences
	q.mu.Lock()
	defer q.mu.Unlock()
	for n, other := range q.held {
		if other == t {
			delete(q.held, n)
		}
	}
	close(t.ended)
}

// commitSequences adds how far the sequences of the transaction are to its batch, and
// has it committed.
func (t *Tx) commitSequences(commit func(*kv.Batch) error) error {
	if len(t.sequences) == 0 {
		return commit(t.batch)
	}
	q := &t.store.sequences
	q.mu.Lock()
	defer q.mu.Unlock()
	for n, own := range t.sequences {
		if err := t.batch.Set(t.store.prefix(n, 'n'), sequenceValue(own.last, own.called)); err != nil {
			return err
		}
	}
	if err := commit(t.batch); err != nil {
		return err
	}
	for n, own := range t.sequences {
		own.durable, own.ahead = own.last, 0
		q.known[n] = own
	}
	return nil
}

// next returns the number behind those that were given out.
func (st *sequenceState) next(rel *catalog.Relation) (int64, error) {
	if st.called {
		return following(rel, st.last)
	}
	return st.last, nil
}

// nextValue takes the next number of a sequence; the lock is held.
func (s *Store) nextValue(rel *catalog.Relation) (int64, error) {
	st, err := s.sequence(rel)
	if err != nil {
		return 0, err
	}
	next, err := st.next(rel)
	if err != nil {
		return 0, err
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
func (t *Tx) SetValue(ctx context.Context, rel *catalog.Relation, value int64, called bool) error {
	q := rel.Sequence
	if value < q.Min || value > q.Max {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "setval: value %d is out of bounds for sequence %q (%d..%d)", value, rel.Name, q.Min, q.Max)
	}
	return t.onSequence(ctx, rel, func(own *sequenceState) error {
		if own != nil {
			own.last, own.called = value, called
			return nil
		}
		if err := t.store.putSequence(rel.ID, value, called); err != nil {
			return err
		}
		t.store.sequences.known[rel.ID] = &sequenceState{last: value, called: called, durable: value}
		return nil
	})
}

// LastValue returns how far a sequence is, and whether its last number was given out.
func (t *Tx) LastValue(rel *catalog.Relation) (last int64, called bool, err error) {
	t.store.sequences.mu.Lock()
	defer t.store.sequences.mu.Unlock()
	st := t.sequences[rel.ID]
	if st == nil {
		if st, err = t.store.sequence(rel); err != nil {
			return 0, false, err
		}
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
	if err := b.Set(s.prefix(rel, 'n'), sequenceValue(value, called)); err != nil {
		b.Discard()
		return err
	}
	return b.Commit(true)
}

func sequenceValue(value int64, called bool) []byte {
	b := append(binary.BigEndian.AppendUint64(nil, uint64(value)), 0)
	if called {
		b[8] = 1
	}
	return b
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

// Erase adds to a batch what deletes storages that nothing has any more, and forgets them.
// It is for those that no transaction uses.
func (s *Store) Erase(b *kv.Batch, storages []id.Relation) error {
	for _, storage := range storages {
		s.forget(storage)
		s.images.discard(storage)
		if err := s.eraseRange(b, storage); err != nil {
			return err
		}
	}
	return nil
}

// eraseRange deletes what is under a storage: the kinds 'f', 'k', 'n', 'q' and 'r' are one
// range.
func (s *Store) eraseRange(b *kv.Batch, storage id.Relation) error {
	return b.DeleteRange(s.prefix(storage, 'f'), kv.PrefixEnd(s.prefix(storage, 'r')))
}

// forget drops the state of a sequence that is gone.
func (s *Store) forget(rel id.Relation) {
	s.sequences.mu.Lock()
	defer s.sequences.mu.Unlock()
	delete(s.sequences.known, rel)
}
