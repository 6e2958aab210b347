package tablestore

import (
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// A repeatable transaction reads at one moment until it writes. Then nobody else writes any
// more until it ends: what it had read is as it was, or it fails, and so it does when it reads
// what was changed in between. So all that it reads is of that moment and of the one at which
// it began to write, at which it could have run as a whole (Kung and Robinson: On optimistic
// methods for concurrency control, 1981).

// fix begins the moment that the statements of a repeatable transaction share.
func (t *Tx) fix(storages []id.Relation) (err error) {
	if t.fixed == nil {
		t.fixed, err = t.store.images.begin(storages, t.store.kv.View)
		t.read = map[id.Relation]bool{}
	}
	return err
}

// unfix ends it.
func (t *Tx) unfix() {
	if t.fixed != nil {
		t.fixed.end(t.store.images)
		t.fixed, t.read = nil, nil
	}
}

// note notes that a transaction reads a storage at a moment. It fails where the transaction is
// repeatable and the storage is not as it was at its own moment.
func (t *Tx) note(storage id.Relation, at *moment) error {
	if t.fixed == nil || t.read[storage] {
		return nil
	}
	if at != t.fixed {
		if err := t.unchanged(map[id.Relation]bool{storage: true}); err != nil {
			return err
		}
	}
	t.read[storage] = true
	return nil
}

// unchanged fails where others have changed one of these storages since the moment of a
// repeatable transaction.
func (t *Tx) unchanged(storages map[id.Relation]bool) error {
	if t.fixed == nil || !t.store.images.changedSince(t.fixed.epoch, storages) {
		return nil
	}
	return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update").
		WithHint("The transaction might succeed if retried.")
}

// changedSince reports whether one of these storages was changed after an epoch of which there
// is a moment.
func (m *images) changedSince(epoch uint64, storages map[id.Relation]bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for storage := range storages {
		if m.changedAt[storage] > epoch {
			return true
		}
	}
	return false
}
