package tablestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage"
)

// Computed is what the expressions of an index make of rows.
type Computed struct {
	Values []*types.Vector // of its expressions, in order
	In     *types.Vector   // bool: whether the index has the row; nil: it has all
}

// keyed is rows of a table with what its computed indexes need of them.
type keyed struct {
	*types.Batch
	computed map[id.Relation]Computed
}

func (t *Tx) keyed(table *catalog.Relation, rows *types.Batch, indexes []catalog.Index) (*keyed, error) {
	out := &keyed{Batch: rows}
	for i := range indexes {
		x := &indexes[i]
		if !x.Unique || !x.Computed() {
			continue
		}
		if t.Compute == nil {
			return nil, errors.New("indexes on expressions cannot be kept here")
		}
		c, err := t.Compute(table, x, rows)
		if err != nil {
			return nil, err
		}
		if out.computed == nil {
			out.computed = map[id.Relation]Computed{}
		}
		out.computed[x.ID] = c
	}
	return out, nil
}

// columns calls fn with the columns of an index.
func (k *keyed) columns(x *catalog.Index, fn func(place int, v *types.Vector)) {
	n := 0
	for place, c := range x.Columns {
		if c != catalog.IndexColumnExpr {
			fn(place, k.Cols[c])
			continue
		}
		fn(place, k.computed[x.ID].Values[n])
		n++
	}
}

// indexPrefix begins the keys of a unique index.
func (s *Store) indexPrefix(table *catalog.Relation, x *catalog.Index) []byte {
	if x.Primary {
		return s.prefix(table.StorageID(), 'k')
	}
	return binary.BigEndian.AppendUint32(s.prefix(table.StorageID(), 'q'), uint32(x.ID))
}

// indexKey returns the key of a row in a unique index; nil where it has none: the index
// is of other rows, or the row has a NULL, which is like no other.
func (t *Tx) indexKey(table *catalog.Relation, x *catalog.Index, rows *keyed, i int) []byte {
	if !x.Unique {
		return nil
	}
	return appendIndexKey(t.store.indexPrefix(table, x), x, rows, i)
}

func appendIndexKey(key []byte, x *catalog.Index, rows *keyed, i int) []byte {
	if in := rows.computed[x.ID].In; in != nil && (in.IsNull(i) || in.Ints[i] == 0) {
		return nil
	}
	whole := true
	rows.columns(x, func(_ int, v *types.Vector) {
		whole = whole && (x.NullsEqual || !v.IsNull(i))
		key = types.AppendKey(key, v, i)
	})
	if !whole {
		return nil
	}
	return key
}

// IndexKeys implements exec.Tables.
func (t *Tx) IndexKeys(table *catalog.Relation, x *catalog.Index, rows *types.Batch) ([][]byte, error) {
	k, err := t.keyed(table, rows, []catalog.Index{*x})
	if err != nil {
		return nil, err
	}
	out := make([][]byte, rows.Rows)
	for i := range out {
		out[i] = appendIndexKey([]byte{}, x, k, i)
	}
	return out, nil
}

func keyText(table *catalog.Relation, x *catalog.Index, rows *keyed, i int) string {
	names, values := "", ""
	rows.columns(x, func(place int, v *types.Vector) {
		if place > 0 {
			names, values = names+", ", values+", "
		}
		names += x.ColumnText(table, place)
		if v.IsNull(i) {
			values += "null"
		} else {
			values += types.FormatDatum(v.Datum(i), &types.TextOptions{})
		}
	})
	return fmt.Sprintf("Key (%s)=(%s)", names, values)
}

// rowOf returns the identity of a row that has the key of row i in one of the
// arbiters.
func (t *Tx) rowOf(table *catalog.Relation, arbiters []catalog.Index, rows *keyed, i int) (id int64, ok bool, err error) {
	for _, x := range arbiters {
		key := t.indexKey(table, &x, rows, i)
		if key == nil {
			continue
		}
		b, ok, err := t.batch.Get(key)
		if err != nil {
			return 0, false, err
		}
		if !ok {
			continue
		}
		if len(b) != 8 {
			return 0, false, fmt.Errorf("table %s: %w", table.Name, storage.ErrCorrupt)
		}
		return int64(binary.BigEndian.Uint64(b)), true, nil
	}
	return 0, false, nil
}

// BuildIndex gives every row of a table a key in a new unique index; 23505 where two
// rows have the same.
func (t *Tx) BuildIndex(ctx context.Context, table *catalog.Relation, x catalog.Index) error {
	return t.eachKey(ctx, table, x, func(id int64, key []byte, rows *keyed, i int) error {
		_, taken, err := t.batch.Get(key)
		if err != nil {
			return err
		}
		if taken {
			return sqlerr.New(sqlerr.UniqueViolation, "could not create unique index %q", x.Name).
				WithDetail("%s is duplicated.", keyText(table, &x, rows, i))
		}
		return t.set(key, binary.BigEndian.AppendUint64(nil, uint64(id)))
	})
}

// DropIndex removes the keys of a unique index.
func (t *Tx) DropIndex(ctx context.Context, table *catalog.Relation, x catalog.Index) error {
	return t.eachKey(ctx, table, x, func(_ int64, key []byte, _ *keyed, _ int) error { return t.delete(key) })
}

// eachKey calls fn with the keys that an index has of the rows of a table.
func (t *Tx) eachKey(ctx context.Context, table *catalog.Relation, x catalog.Index, fn func(id int64, key []byte, rows *keyed, i int) error) error {
	return t.eachBatch(ctx, table, func(ids []int64, b *types.Batch) error {
		k, err := t.keyed(table, b, []catalog.Index{x})
		if err != nil {
			return err
		}
		for i := range b.Rows {
			if key := t.indexKey(table, &x, k, i); key != nil {
				if err := fn(ids[i], key, k, i); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
