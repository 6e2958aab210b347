package tablestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/exec"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/recordbatch"
)

// Every foreign key keeps an index of the rows that reference: 'f', its number, the
// values as the referenced columns have them, and the row's identity. Rows with a NULL
// in the key have none. So a referenced row finds those that reference it without a
// scan, whatever indexes users made.

// referencePrefix begins the keys of the rows that reference with the key's values.
func (s *Store) referencePrefix(table *catalog.Relation, k *catalog.ForeignKey) []byte {
	return binary.BigEndian.AppendUint32(s.prefix(table.StorageID(), 'f'), uint32(k.ID))
}

// keyColumns returns the values of a foreign key in the types that they are compared in.
func keyColumns(k *catalog.ForeignKey, rows *types.Batch) ([]*types.Vector, error) {
	out := make([]*types.Vector, len(k.Columns))
	for i, c := range k.Columns {
		out[i] = rows.Cols[c]
		if SameKeys(out[i].Type.OID, k.KeyTypes[i].OID) {
			continue
		}
		schema := &types.Schema{Columns: []types.Column{{Type: out[i].Type}}}
		e, err := expr.Cast(plan.NewColumn(schema, 0), types.Of(k.KeyTypes[i].OID), expr.Implicit)
		if err != nil {
			return nil, err
		}
		if out[i], err = e.Eval(&expr.Context{}, &types.Batch{Cols: []*types.Vector{out[i]}, Rows: rows.Rows}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// keyFamilies are types whose values have the same keys where they are equal.
var keyFamilies = map[types.OID]int{
	types.Int2: 1, types.Int4: 1, types.Int8: 1, types.Float4: 2, types.Float8: 2, types.Text: 3, types.Varchar: 3,
}

// SameKeys reports whether equal values of two types have equal keys.
func SameKeys(a, b types.OID) bool {
	return a == b || keyFamilies[a] != 0 && keyFamilies[a] == keyFamilies[b]
}

// appendKey appends the key of row i; false where it has a NULL.
func appendKey(dst []byte, cols []*types.Vector, i int) ([]byte, bool) {
	for _, c := range cols {
		if c.IsNull(i) {
			return nil, false
		}
		dst = types.AppendKey(dst, c, i)
	}
	return dst, true
}

// eachReferenceKey calls fn with the key of row i in the index of each foreign key.
func (t *Tx) eachReferenceKey(table *catalog.Relation, row int64, rows *types.Batch, i int, fn func(key []byte) error) error {
	for n := range table.Table.ForeignKeys {
		k := &table.Table.ForeignKeys[n]
		if err := t.referenceKey(table, k, row, rows, i, fn); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) referenceKey(table *catalog.Relation, k *catalog.ForeignKey, row int64, rows *types.Batch, i int, fn func(key []byte) error) error {
	cols, err := keyColumns(k, rows.Gather([]int32{int32(i)}))
	if err != nil {
		return err
	}
	key, ok := appendKey(t.store.referencePrefix(table, k), cols, 0)
	if !ok {
		return nil
	}
	return fn(binary.BigEndian.AppendUint64(key, uint64(row)))
}

// BuildReferences gives every row of a table its key in the index of a new foreign key.
func (t *Tx) BuildReferences(ctx context.Context, table *catalog.Relation, k *catalog.ForeignKey) error {
	return t.eachRow(ctx, table, func(row int64, b *types.Batch) error {
		return t.referenceKey(table, k, row, b, 0, func(key []byte) error { return t.set(key, nil) })
	})
}

// DropReferences removes the index of a foreign key.
func (t *Tx) DropReferences(ctx context.Context, table *catalog.Relation, k *catalog.ForeignKey) error {
	return t.eachRow(ctx, table, func(row int64, b *types.Batch) error {
		return t.referenceKey(table, k, row, b, 0, t.delete)
	})
}

// Present implements exec.Tables.
func (t *Tx) Present(ctx context.Context, r *catalog.Reference, rows *types.Batch, i int) (bool, error) {
	if err := t.Lock(ctx); err != nil {
		return false, err
	}
	cols, err := keyColumns(r.Key, rows.Gather([]int32{int32(i)}))
	if err != nil {
		return false, err
	}
	key := t.store.indexPrefix(r.To, &r.Index)
	for place := range r.Index.Columns {
		for n, p := range r.Key.Places {
			if p == place {
				key = types.AppendKey(key, cols[n], 0)
			}
		}
	}
	_, ok, err := t.batch.Get(key)
	return ok, err
}

// Referencing implements exec.Tables.
func (t *Tx) Referencing(ctx context.Context, r *catalog.Reference, rows *types.Batch, i, limit int) (*types.Vector, *types.Batch, error) {
	if err := t.Lock(ctx); err != nil {
		return nil, nil, err
	}
	var cols []*types.Vector
	for _, c := range r.Columns() {
		cols = append(cols, rows.Cols[c])
	}
	ids := types.NewVector(types.Of(types.Int8), 0)
	found := types.NewBatch(r.From.RowSchema(), 0)
	from, ok := appendKey(t.store.referencePrefix(r.From, r.Key), cols, i)
	if !ok {
		return ids, found, nil
	}
	err := t.batch.Scan(from, kv.PrefixEnd(from), func(key, _ []byte) error {
		if len(key) != len(from)+8 { // a longer key; none begins another of its types
			return fmt.Errorf("table %s: %w", r.From.Name, storage.ErrCorrupt)
		}
		ids.AppendInt(int64(binary.BigEndian.Uint64(key[len(from):])))
		if len(ids.Ints) == limit {
			return errFull
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFull) {
		return nil, nil, err
	}
	return t.Fetch(ctx, r.From, ids)
}

// Fetch implements exec.Tables.
func (t *Tx) Fetch(ctx context.Context, table *catalog.Relation, ids *types.Vector) (*types.Vector, *types.Batch, error) {
	if err := t.Lock(ctx); err != nil {
		return nil, nil, err
	}
	there := types.NewVector(types.Of(types.Int8), len(ids.Ints))
	rows := types.NewBatch(table.RowSchema(), len(ids.Ints))
	for _, row := range ids.Ints {
		value, ok, err := t.batch.Get(t.store.rowKey(table.StorageID(), row))
		if err == nil && ok {
			err = recordbatch.Append(value, rows)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("table %s: %w", table.Name, err)
		}
		if ok {
			there.AppendInt(row)
			rows.Rows++
		}
	}
	return there, rows, nil
}

// Postpone implements exec.Tables.
func (t *Tx) Postpone(p exec.Postponed) error {
	const bytes = 128 // about, with the slice's growth
	if err := t.store.checkSize(t.batch.Bytes() + t.undo.bytes + bytes*len(t.constraints.postponed)); err != nil {
		return err
	}
	t.constraints.postponed = append(t.constraints.postponed, p)
	return nil
}

// Deferred implements exec.Tables.
func (t *Tx) Deferred(k *catalog.ForeignKey) bool {
	if !k.Deferrable {
		return false
	}
	if deferred, ok := t.constraints.modes[k.ID]; ok {
		return deferred
	}
	if t.constraints.all != nil {
		return *t.constraints.all
	}
	return k.Deferred
}

// constraints is what SET CONSTRAINTS said in a transaction, and what is to be checked
// at its end.
type constraints struct {
	all       *bool // of all that are not in modes; nil: as they were declared
	modes     map[id.Relation]bool
	postponed []exec.Postponed
}

// SetConstraints defers constraints, or has them checked at once: those with these
// numbers, or all.
func (t *Tx) SetConstraints(keys []id.Relation, deferred bool) {
	if keys == nil {
		t.constraints.all, t.constraints.modes = &deferred, nil
		return
	}
	modes := maps.Clone(t.constraints.modes) // a savepoint may hold the old ones
	if modes == nil {
		modes = map[id.Relation]bool{}
	}
	for _, k := range keys {
		modes[k] = deferred
	}
	t.constraints.modes = modes
}

// Awaits reports whether checks of the rows of a table are still to be made.
func (t *Tx) Awaits(table id.Relation) bool {
	return slices.ContainsFunc(t.constraints.postponed, func(p exec.Postponed) bool {
		return p.Gone == nil && p.From.ID == table || p.Gone != nil && p.To.ID == table
	})
}

// TakePostponed returns the checks that are due, all at the end of the transaction, else
// those of constraints that are not deferred any more.
func (t *Tx) TakePostponed(end bool) []exec.Postponed {
	var due, kept []exec.Postponed
	for _, p := range t.constraints.postponed {
		if end || !t.Deferred(p.Key) {
			due = append(due, p)
		} else {
			kept = append(kept, p)
		}
	}
	t.constraints.postponed = kept
	return due
}
