package store

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage/kv"
)

// DropTemporary drops a schema of temporary objects with all that is in it, at once: nobody
// but the session that it was of uses them, so it waits for no writer. erase adds to the
// batch what deletes their storages. It reports false, and does nothing, where a
// transaction that has not ended has changed something in the schema, or what names
// something there: a definition of another session that its objects depend on, such as
// that of a type.
//
// without returns a relation of another schema without what names something in this one;
// nil if there is nothing of the kind.
func (s *Store) DropTemporary(d Database, schema string, without func(*catalog.Relation) *catalog.Relation, erase func(b *kv.Batch, storages []id.Relation) error) (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var freed []*catalog.Relation
	for _, r := range s.snapshots[d.Tenant].Relations() {
		if r.Schema == schema {
			continue
		}
		if next := without(r); next != nil {
			next.Version = s.counter.version + 1
			freed = append(freed, next)
		}
	}
	if t := s.open[d.Tenant]; t != nil && (t.changesIn(schema) || t.changesOne(freed) || t.names(without)) {
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
		for _, r := range freed {
			if err := setOrDelete(b, relationKey(d.Tenant, r.ID), r); err != nil {
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
	for _, r := range freed {
		s.relations[d.Tenant][r.ID] = r
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

// changesOne reports whether the transaction has changed one of some relations; store.mu is
// held.
func (t *Tx) changesOne(list []*catalog.Relation) bool {
	return slices.ContainsFunc(list, func(r *catalog.Relation) bool {
		_, changed := t.relations[r.ID]
		return changed
	})
}

// names reports whether the transaction has made something that names what is to go;
// store.mu is held.
func (t *Tx) names(without func(*catalog.Relation) *catalog.Relation) bool {
	for _, r := range t.relations {
		if r != nil && without(r) != nil {
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
