package tablestore

import "github.com/tallydb/tallydb/sql/sqlerr"

// undoLog remembers what a transaction's writes replaced, from its first
// savepoint on. The store's batches cannot be cut back, so the old values are
// written again.
type undoLog struct {
	on      bool
	entries []replaced
	bytes   int
}

// replaced is a key's value before a write.
type replaced struct {
	key, value []byte
	existed    bool
}

func (r *replaced) bytes() int { return 64 + len(r.key) + len(r.value) }

// Savepoint returns a mark that RollbackTo goes back to.
func (t *Tx) Savepoint() int {
	t.undo.on = true
	return len(t.undo.entries)
}

// RollbackTo undoes the writes since the mark. The lock of writers is kept.
func (t *Tx) RollbackTo(mark int) error {
	for n := len(t.undo.entries); n > mark; n-- {
		e := t.undo.entries[n-1]
		var err error
		if e.existed {
			err = t.batch.Set(e.key, e.value)
		} else {
			err = t.batch.Delete(e.key)
		}
		if err != nil {
			return err
		}
		t.undo.entries = t.undo.entries[:n-1]
		t.undo.bytes -= e.bytes()
	}
	return nil
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
	old := replaced{key, value, existed}
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
