package store

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/kv"
)

var typePrefix = []byte("c/type/") // + tenant, number of the type (big-endian)

func typeKey(t id.Tenant, o types.OID) []byte {
	k := binary.BigEndian.AppendUint32(slices.Clone(typePrefix), uint32(t))
	return binary.BigEndian.AppendUint32(k, uint32(o))
}

func (s *Store) loadTypes(old *upgrade) error {
	return s.kv.Scan(typePrefix, kv.PrefixEnd(typePrefix), func(key, value []byte) error {
		t := &catalog.Type{}
		if err := decode(value, t); err != nil {
			return err
		}
		if value[0] < privilegesVersion {
			t.Owner = s.Access().Owner(t.Owner)
			old.add(key, t)
		}
		tenant := id.Tenant(binary.BigEndian.Uint32(key[len(typePrefix):]))
		if s.types[tenant] == nil {
			s.types[tenant] = map[types.OID]*catalog.Type{}
		}
		s.types[tenant][t.OID] = t
		publish(t.OID, t, t)
		return nil
	})
}

// typesOf returns the types of a database in the order of a snapshot; s.mu is held.
func (s *Store) typesOf(t id.Tenant) []*catalog.Type {
	list := slices.Collect(maps.Values(s.types[t]))
	catalog.SortTypes(list)
	return list
}

// publish tells sql/types how the values of a type are written: committed is the type
// as everyone sees it, and next as an open transaction leaves it; nil where it is not.
func publish(o types.OID, committed, next *catalog.Type) {
	switch {
	case !o.IsEnum(): // a domain has no values of its own
		return
	case committed == nil && next == nil:
		types.ForgetEnum(o)
		return
	case committed == nil: // only the transaction knows of it
		types.PublishEnum(next.Enum())
		return
	}
	e := committed.Enum()
	if next != nil && next != committed {
		after := next.Enum()
		e.Unsafe = after.Unsafe
		for _, l := range after.Labels {
			if was, _ := e.Label(l.Position); was != l.Text {
				e.Renamed = append(e.Renamed, l)
			}
		}
	}
	types.PublishEnum(e)
}

// ReserveType returns a number from a range that only a type created with it will have.
// Numbers are drawn, so that those of other data directories that a process may have
// open differ.
func (s *Store) ReserveType(first, last types.OID) (types.OID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		var b [4]byte
		if _, err := rand.Read(b[:]); err != nil {
			return 0, fmt.Errorf("number a type: %w", err)
		}
		if o := first + types.OID(binary.BigEndian.Uint32(b[:]))&(last-first)&^1; types.EnumOf(o) == nil && !s.hasType(o) {
			return o, nil
		}
	}
}

// hasType reports whether a type of any database has a number; s.mu is held.
func (s *Store) hasType(o types.OID) bool {
	for _, list := range s.types {
		if list[o] != nil {
			return true
		}
	}
	return false
}

// SetType adds a type or replaces it.
func (t *Tx) SetType(typ *catalog.Type) {
	typ.Version = t.store.nextVersion()
	t.change(func() {
		put(t, t.types, typ.OID, typ)
		t.publishTypes()
	})
}

// DropType removes a type.
func (t *Tx) DropType(o types.OID) {
	t.change(func() {
		put(t, t.types, o, nil)
		t.publishTypes()
	})
}

// publishTypes publishes every type that the transaction has touched; store.mu is held.
func (t *Tx) publishTypes() {
	for o := range t.types {
		t.touched[o] = true
	}
	for o := range t.touched {
		committed := t.store.types[t.d.Tenant][o]
		next, changed := t.types[o]
		if !changed {
			next = committed
		}
		publish(o, committed, next)
	}
}

// Types returns the enums that the transaction has changed, as it sees them.
func (t *Tx) Types() map[types.OID]*types.Enum {
	if len(t.types) == 0 {
		return nil
	}
	out := map[types.OID]*types.Enum{}
	for o, typ := range t.types {
		if typ != nil && typ.Domain == nil {
			out[o] = typ.Enum()
		}
	}
	return out
}

// snapshotTypes returns the types that a snapshot with the changes has.
func (t *Tx) snapshotTypes(committed *catalog.Snapshot) []*catalog.Type {
	if len(t.types) == 0 {
		return committed.Types
	}
	var list []*catalog.Type
	for _, typ := range committed.Types {
		if _, changed := t.types[typ.OID]; !changed {
			list = append(list, typ)
		}
	}
	for _, typ := range t.types {
		if typ != nil {
			list = append(list, typ)
		}
	}
	catalog.SortTypes(list)
	return list
}

// commitTypes makes the types those of everyone; store.mu is held.
func (t *Tx) commitTypes() {
	all := t.store.types[t.d.Tenant]
	if all == nil {
		all = map[types.OID]*catalog.Type{}
		t.store.types[t.d.Tenant] = all
	}
	for o, typ := range t.types {
		if typ == nil {
			delete(all, o)
			continue
		}
		safe := *typ
		safe.Labels = slices.Clone(typ.Labels)
		for i := range safe.Labels {
			safe.Labels[i].Unsafe = false
		}
		all[o] = &safe
	}
}

// renameTypesOf gives the types of a schema another.
func (t *Tx) renameTypesOf(schema, name string) {
	for _, typ := range t.Snapshot().Types {
		if typ.Schema == schema {
			next := *typ
			next.Schema = name
			t.SetType(&next)
		}
	}
}

// usesOpenTypes reports whether a relation has columns of types that an open
// transaction has changed; store.mu is held.
func (t *Tx) usesOpenTypes(r *catalog.Relation) bool {
	return slices.ContainsFunc(r.Columns, func(c types.Column) bool {
		_, changed := t.types[c.Type.Declared()&^1]
		return changed
	})
}

// errOpenType refuses what takes effect at once and uses such a type.
func errOpenType(r *catalog.Relation) error {
	return sqlerr.New(sqlerr.LockNotAvailable, "a type of relation %q is changed by a transaction that has not ended", r.Name).
		WithHint("Statements about streams and continuous views take effect at once. Try again when the transaction has ended.")
}
