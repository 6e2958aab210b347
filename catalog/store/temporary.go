package store

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage/kv"
)

// DropTemporary drops a schema of temporary objects with all that is in it, at once: nobody
// but the session that it was of uses them, so it waits for no writer. erase adds to the
// batch what deletes their storages. It reports false, and does nothing, where a
// transaction that has not ended has changed something in the schema: a definition of
// another session that its objects depend on, such as that of a type.
func (s *Store) DropTemporary(d Database, schema string, erase func(b *kv.Batch, storages []id.Relation) error) (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.open[d.Tenant]; t != nil && t.changesIn(schema) {
		return false, nil
	}
	in := s.snapshots[d.Tenant].In(schema)
	if _, ok := s.schemas[d.Tenant][schema]; !ok && len(in) == 0 {
		return true, nil
	}
	var storages []id.Relation
	for _, r := range in {
		storages = append(storages, r.StorageID())
	}
	err = s.commit(counter{s.counter.last, s.counter.version + 1}, func(b *kv.Batch) error {
		for _, r := range in {
			if err := b.Delete(relationKey(d.Tenant, r.ID)); err != nil {
				return err
			}
		}
		if err := b.Delete(schemaKey(d.Tenant, schema)); err != nil {
			return err
		}
		return erase(b, storages)
	})
	if err != nil {
		return false, err
	}
	for _, r := range in {
		delete(s.relations[d.Tenant], r.ID)
	}
	delete(s.schemas[d.Tenant], schema)
	s.refresh(d)
	return true, nil
}

// changesIn reports whether the transaction has changed a schema or something in it;
// store.mu is held.
func (t *Tx) changesIn(schema string) bool {
	if _, ok := t.schemas[schema]; ok {
		return true
	}
	for n, r := range t.relations {
		was := t.store.relations[t.d.Tenant][n]
		if r != nil && r.Schema == schema || was != nil && was.Schema == schema {
			return true
		}
	}
	return false
}

// gone reports whether a relation is of a session that has ended; store.mu is held.
func (t *Tx) gone(r *catalog.Relation) bool {
	if !r.Temporary() || t.schemas[r.Schema] != nil {
		return false
	}
	_, ok := t.store.schemas[t.d.Tenant][r.Schema]
	return !ok
}
