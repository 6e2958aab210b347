package store

import (
	"slices"

	"github.com/tallydb/tallydb/storage/kv"
)

// upgrade is what of an older version is written anew when the catalog is opened, so
// that who owns it and may use it does not depend on later changes of roles.
type upgrade struct {
	keys   [][]byte
	values []any
}

func (u *upgrade) add(key []byte, value any) {
	u.keys, u.values = append(u.keys, slices.Clone(key)), append(u.values, value)
}

func (u *upgrade) write(s *Store) error {
	if len(u.keys) == 0 {
		return nil
	}
	return s.commit(s.counter, func(b *kv.Batch) error {
		for i, key := range u.keys {
			if err := setOrDelete(b, key, &u.values[i]); err != nil {
				return err
			}
		}
		return nil
	})
}
