package stream

import (
	"errors"
	"fmt"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/stream/state"
)

// sweep removes what dropped relations left when the node ended before their
// state was gone, or the log forgot what it may trim: the catalog alone says what
// there is.
func (m *Manager) sweep(snapshot *catalog.Snapshot) error {
	for _, sp := range m.cfg.Log.Partitions() {
		if sp.Tenant != m.cfg.Tenant || snapshot.ByID(sp.Stream) != nil {
			continue
		}
		if err := m.cfg.Log.Trim(sp, m.cfg.Log.Head(sp)); err != nil {
			return fmt.Errorf("trim the log of a dropped stream: %w", err)
		}
	}
	prefix := state.TenantPrefix(m.cfg.Tenant)
	from, end := prefix, kv.PrefixEnd(prefix)
	for {
		rel, found, err := m.firstRelation(from, end)
		if err != nil || !found {
			return err
		}
		if snapshot.ByID(rel) == nil {
			if err := m.deleteState(rel); err != nil {
				return fmt.Errorf("delete the state of a dropped relation: %w", err)
			}
		}
		from = kv.PrefixEnd(state.RelationPrefix(m.cfg.Tenant, rel))
	}
}

var errFound = errors.New("found")

// firstRelation returns the first relation with state in a range of keys.
func (m *Manager) firstRelation(from, end []byte) (rel id.Relation, found bool, err error) {
	err = m.cfg.Store.Scan(from, end, func(key, _ []byte) error {
		var err error
		if rel, err = state.RelationOf(key); err != nil {
			return err
		}
		return errFound
	})
	if errors.Is(err, errFound) {
		return rel, true, nil
	}
	return 0, false, err
}
