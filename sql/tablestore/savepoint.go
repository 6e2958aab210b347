package tablestore

import (
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// undoLog remembers what a transaction's writes replaced, from its first
// savepoint on. The store's batches cannot be cut back, so the old values are
// written again.
type undoLog struct {
	on      bool
	entries []replaced
	bytes   int
}

// replaced is a key's value before a write, or the state of a sequence that counts in
// the transaction before it was altered.
type replaced struct {
	key, value []byte
	existed    bool

	sequence id.Relation
	state    *sequenceState // nil: it did not count in the transaction
}

func (r *replaced) bytes() int { return 64 + len(r.key) + len(r.value) }

// Mark is how far a transaction was.
type Mark struct {
	entries     int // of the undo log
	constraints constraints
}

// Savepoint returns a mark that RollbackTo goes back to.
func (t *Tx) Savepoint() Mark {
	t.undo.on = true
	return Mark{len(t.undo.entries), t.constraints}
}

// RollbackTo undoes the writes since the mark. The lock of writers is kept.
func (t *Tx) RollbackTo(mark Mark) error {
	t.constraints = mark.constraints
	for n := len(t.undo.entries); n > mark.entries; n-- {
		e := t.undo.entries[n-1]
		if err := t.undoOne(e); err != nil {
			return err
		}
		t.undo.entries = t.undo.entries[:n-1]
		t.undo.bytes -= e.bytes()
	}
	return nil
}

func (t *Tx) undoOne(e replaced) error {
	switch {
	case e.sequence != 0 && e.state != nil:
		t.sequences[e.sequence] = e.state
	case e.sequence != 0:
		delete(t.sequences, e.sequence)
	case e.existed:
		return t.batch.Set(e.key, e.value)
	default:
		return t.batch.Delete(e.key)
	}
	return nil
}

// sequence notes the state of a sequence that is about to be altered.
func (u *undoLog) sequence(rel id.Relation, old *sequenceState) {
	if u.on {
		e := replaced{sequence: rel, state: old}
		u.entries = append(u.entries, e)
		u.bytes += e.bytes()
	}
}

// remember notes the value of a key that is about to be written.
func (t *Tx) remember(key []byte) error {
	if !t.undo.on {
		return nil
	}
	value, existed, err := t.batch.Get(key)
	if err != nil {
		return err
	}
	old := replaced{key: key, value: value, existed: existed}
	t.undo.entries = append(t.undo.entries, old)
	t.undo.bytes += old.bytes()
	return nil
}

// checkSize keeps what a transaction writes within the store's limit: it is in
// memory until the commit.
func (s *Store) checkSize(bytes int) error {
	if bytes <= s.TransactionBytes {
		return nil
	}
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "a transaction can write at most %d MiB to tables", s.TransactionBytes>>20).
		WithHint("Write in smaller transactions. Data that grows belongs in a stream.")
}

func (t *Tx) set(key, value []byte) error {
	if err := t.store.checkSize(t.batch.Bytes() + t.undo.bytes); err != nil {
		return err
	}
	if err := t.remember(key); err != nil {
		return err
	}
	return t.batch.Set(key, value)
}

func (t *Tx) delete(key []byte) error {
	if err := t.store.checkSize(t.batch.Bytes() + t.undo.bytes); err != nil {
		return err
	}
	if err := t.remember(key); err != nil {
		return err
	}
	return t.batch.Delete(key)
}
