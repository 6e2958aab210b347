// Package tablestore keeps reference tables in the key-value store and runs
// their part of statements: scans, inserts, updates and deletes, inside a
// transaction that sees its own writes.
//
// Rows are stored one to a key (docs/format/catalog.md), under the storage number of
// their table; a primary key and every unique index have keys of their own. It starts no goroutine. Writers of one table are serialised.
// A scan to the end leaves an image of the table's columns in memory, for the next
// scan until the table changes; all images together take at most ImageBytes.
package tablestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/recordbatch"
)

// Store is the tables of one tenant.
type Store struct {
	// TransactionBytes limits what a transaction writes; New sets the default.
	TransactionBytes int

	kv     *kv.Store
	tenant id.Tenant
	write  chan struct{} // full while a transaction writes
	images *images

	sequences sequences
}

// New returns the tables of a tenant.
func New(store *kv.Store, tenant id.Tenant) *Store {
	return &Store{TransactionBytes: 256 << 20, kv: store, tenant: tenant, write: make(chan struct{}, 1), images: newImages(), sequences: sequences{known: map[id.Relation]*sequenceState{}, held: map[id.Relation]*Tx{}}}
}

// Key layout: 't', tenant, storage (big-endian), then 'r' and the row's identity,
// or 'k' and the encoded primary key, or 'q', the number of a unique index and the
// encoded values, or 'f', the number of a foreign key, the encoded values and the
// row's identity.
func (s *Store) prefix(storage id.Relation, kind byte) []byte {
	b := TenantPrefix(s.tenant)
	b = binary.BigEndian.AppendUint32(b, uint32(storage))
	return append(b, kind)
}

// TenantPrefix is the prefix of all rows of a tenant.
func TenantPrefix(t id.Tenant) []byte {
	return binary.BigEndian.AppendUint32([]byte{'t'}, uint32(t))
}

func (s *Store) rowKey(storage id.Relation, row int64) []byte {
	return binary.BigEndian.AppendUint64(s.prefix(storage, 'r'), uint64(row))
}

// Tx is a transaction. It is used by one goroutine.
type Tx struct {
	store   *Store
	batch   *kv.Batch // nil until the first write
	writing bool
	changed map[id.Relation]*touched // what it has written, by storage
	undo    undoLog

	sequences map[id.Relation]*sequenceState // that count in the transaction
	ended     chan struct{}                  // closed at the end; who wants numbers of them waits for it

	constraints constraints

	statements []*Statement // that see its writes

	// Compute computes what an index on expressions or of some rows needs; nil where no
	// table has one.
	Compute func(table *catalog.Relation, x *catalog.Index, rows *types.Batch) (Computed, error)

	// Repeatable has all statements see the tables at one moment, the first one's, until the
	// transaction writes: see repeatable.go.
	Repeatable bool
	fixed      *moment              // of a repeatable transaction that has begun to read
	read       map[id.Relation]bool // storages that it has read of it

	// LockTimeout is the longest wait for another transaction that writes; 0 is
	// unlimited.
	LockTimeout time.Duration
}

// Begin starts a transaction.
func (s *Store) Begin() *Tx { return &Tx{store: s} }

// Lock waits until no other transaction writes, and keeps others from it until
// the end of this one. A statement that computes what it writes from what it reads
// calls it before it reads, so that no update is lost; the first write calls it
// otherwise. It fails with 55P03 after LockTimeout, or when ctx ends.
func (t *Tx) Lock(ctx context.Context) error {
	if t.writing {
		return nil
	}
	var timeout <-chan time.Time
	if t.LockTimeout > 0 {
		timer := time.NewTimer(t.LockTimeout)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case t.store.write <- struct{}{}:
	case <-timeout:
		return sqlerr.New(sqlerr.LockNotAvailable, "canceling statement due to lock timeout")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := t.unchanged(t.read); err != nil {
		<-t.store.write
		return err
	}
	t.writing = true
	t.batch = t.store.kv.NewIndexedBatch()
	t.changed, t.sequences, t.ended = map[id.Relation]*touched{}, map[id.Relation]*sequenceState{}, make(chan struct{})
	return nil
}

// Writing reports whether the transaction has begun to write.
func (t *Tx) Writing() bool { return t.writing }

// Commit makes the transaction's writes durable.
func (t *Tx) Commit() error {
	return t.CommitWith(func(b *kv.Batch) error { return b.Commit(true) })
}

// CommitWith has commit make the transaction's writes durable, together with what it
// adds to their batch. A transaction that does not write has none.
func (t *Tx) CommitWith(commit func(*kv.Batch) error) error {
	t.unfix()
	if !t.writing {
		return nil
	}
	defer t.end()
	t.store.images.commitBegins(t.changed)
	defer t.store.images.commitEnds(t.changed)
	return t.commitSequences(commit)
}

// touch notes that a storage is written.
func (t *Tx) touch(storage id.Relation) *touched {
	rows := t.changed[storage]
	if rows == nil {
		rows = &touched{}
		t.changed[storage] = rows
	}
	return rows
}

// Changed returns the storages that the transaction has written.
func (t *Tx) Changed() []id.Relation {
	return slices.AppendSeq(slices.Collect(maps.Keys(t.changed)), maps.Keys(t.sequences))
}

// Free deletes a storage that nothing has any more: the rows of a table, or the state
// of a sequence. It is not undone by RollbackTo; it belongs to the commit.
func (t *Tx) Free(storage id.Relation) error {
	t.touch(storage).all = true
	delete(t.sequences, storage)
	t.store.forget(storage)
	return t.store.eraseRange(t.batch, storage)
}

// Rollback drops the transaction's writes.
func (t *Tx) Rollback() {
	t.unfix()
	if t.writing {
		t.batch.Discard()
		t.end()
	}
}

func (t *Tx) end() {
	for _, st := range t.statements {
		st.moment.end(t.store.images)
	}
	t.statements = nil
	t.releaseSequences()
	t.batch, t.writing, t.undo, t.sequences, t.constraints = nil, false, undoLog{}, nil, constraints{}
	<-t.store.write
}

// lastRow returns the highest identity in use.
func (t *Tx) lastRow(table *catalog.Relation) (int64, error) {
	b, ok, err := t.batch.Get(t.store.prefix(table.StorageID(), 'n'))
	if err != nil || !ok {
		return 0, err
	}
	if len(b) != 8 {
		return 0, fmt.Errorf("table %s: %w", table.Name, storage.ErrCorrupt)
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}

// Insert implements exec.Tables.
func (t *Tx) Insert(ctx context.Context, table *catalog.Relation, rows *types.Batch) (first int64, err error) {
	if err := t.Lock(ctx); err != nil {
		return 0, err
	}
	t.touch(table.StorageID())
	last, err := t.lastRow(table)
	if err != nil {
		return 0, err
	}
	first = last + 1
	k, err := t.keyed(table, rows, table.Indexes())
	if err != nil {
		return 0, err
	}
	for i := range rows.Rows {
		last++
		if err := t.put(table, last, k, i); err != nil {
			return 0, err
		}
	}
	return first, t.set(t.store.prefix(table.StorageID(), 'n'), binary.BigEndian.AppendUint64(nil, uint64(last)))
}

// put writes one row under an identity, and its keys.
func (t *Tx) put(table *catalog.Relation, row int64, rows *keyed, i int) error {
	for _, x := range table.Indexes() {
		key := t.indexKey(table, &x, rows, i)
		if key == nil {
			continue
		}
		_, taken, err := t.batch.Get(key)
		if err != nil {
			return err
		}
		if taken {
			return sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint %q", x.Name).
				WithDetail("%s already exists.", keyText(table, &x, rows, i))
		}
		if err := t.set(key, binary.BigEndian.AppendUint64(nil, uint64(row))); err != nil {
			return err
		}
	}
	err := t.eachReferenceKey(table, row, rows.Batch, i, func(key []byte) error { return t.set(key, nil) })
	if err != nil {
		return err
	}
	t.touch(table.StorageID()).add(row)
	return t.set(t.store.rowKey(table.StorageID(), row), recordbatch.Encode(nil, rows.Gather([]int32{int32(i)})))
}

// remove deletes a row and its keys.
func (t *Tx) remove(table *catalog.Relation, row int64) error {
	key := t.store.rowKey(table.StorageID(), row)
	value, ok, err := t.batch.Get(key)
	if err != nil || !ok {
		return err
	}
	old := types.NewBatch(table.RowSchema(), 1)
	if err := recordbatch.Decode(value, old); err != nil {
		return fmt.Errorf("table %s: %w", table.Name, err)
	}
	was, err := t.keyed(table, old, table.Indexes())
	if err != nil {
		return err
	}
	for _, x := range table.Indexes() {
		if k := t.indexKey(table, &x, was, 0); k != nil {
			if err := t.delete(k); err != nil {
				return err
			}
		}
	}
	if err := t.eachReferenceKey(table, row, old, 0, t.delete); err != nil {
		return err
	}
	t.touch(table.StorageID()).add(row)
	return t.delete(key)
}

// Update implements exec.Tables.
func (t *Tx) Update(ctx context.Context, table *catalog.Relation, ids *types.Vector, rows *types.Batch) error {
	if err := t.Delete(ctx, table, ids); err != nil { // all first, so that keys may move between rows
		return err
	}
	k, err := t.keyed(table, rows, table.Indexes())
	if err != nil {
		return err
	}
	for i, row := range ids.Ints {
		if err := t.put(table, row, k, i); err != nil {
			return err
		}
	}
	return nil
}

// Delete implements exec.Tables.
func (t *Tx) Delete(ctx context.Context, table *catalog.Relation, ids *types.Vector) error {
	if err := t.Lock(ctx); err != nil {
		return err
	}
	t.touch(table.StorageID())
	for _, row := range ids.Ints {
		if err := t.remove(table, row); err != nil {
			return err
		}
	}
	return nil
}

// Find implements exec.Tables.
func (t *Tx) Find(ctx context.Context, table *catalog.Relation, arbiters []catalog.Index, rows *types.Batch) (*types.Vector, *types.Batch, error) {
	if err := t.Lock(ctx); err != nil {
		return nil, nil, err
	}
	ids := types.NewVector(types.Of(types.Int8), rows.Rows)
	found := types.NewBatch(table.RowSchema(), rows.Rows)
	row := types.NewBatch(table.RowSchema(), 1)
	k, err := t.keyed(table, rows, arbiters)
	if err != nil {
		return nil, nil, err
	}
	for i := range rows.Rows {
		id, ok, err := t.rowOf(table, arbiters, k, i)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			ids.AppendNull()
			for _, c := range found.Cols {
				c.AppendNull()
			}
			continue
		}
		value, ok, err := t.batch.Get(t.store.rowKey(table.StorageID(), id))
		if err == nil && !ok {
			err = storage.ErrCorrupt
		}
		if err == nil {
			err = recordbatch.Decode(value, row)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("table %s: %w", table.Name, err)
		}
		ids.AppendInt(id)
		for c, v := range row.Cols {
			found.Cols[c].AppendFrom(v, 0)
		}
	}
	found.Rows = rows.Rows
	return ids, found, nil
}

// Rewrite fills the storage of next, which is new, with what convert makes of the rows
// of table, in batches, under the same identities.
func (t *Tx) Rewrite(ctx context.Context, table, next *catalog.Relation, convert func(*types.Batch) (*types.Batch, error)) error {
	err := t.eachBatch(ctx, table, func(ids []int64, b *types.Batch) error {
		made, err := convert(b)
		if err != nil {
			return err
		}
		k, err := t.keyed(next, made.Flat(), next.Indexes())
		if err != nil {
			return err
		}
		for i := range made.Rows {
			if err := t.put(next, ids[i], k, i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.touch(next.StorageID())
	last, err := t.lastRow(table)
	if err != nil {
		return err
	}
	return t.set(t.store.prefix(next.StorageID(), 'n'), binary.BigEndian.AppendUint64(nil, uint64(last)))
}

// EachBatch calls fn with the rows of a table, in batches, while nobody else writes.
func (t *Tx) EachBatch(ctx context.Context, table *catalog.Relation, fn func(*types.Batch) error) error {
	return t.eachBatch(ctx, table, func(_ []int64, b *types.Batch) error { return fn(b) })
}

// eachRow calls fn with every row of a table and its identity. fn may write.
func (t *Tx) eachRow(ctx context.Context, table *catalog.Relation, fn func(id int64, row *types.Batch) error) error {
	return t.eachBatch(ctx, table, func(ids []int64, b *types.Batch) error {
		for i := range b.Rows {
			if err := fn(ids[i], b.Gather([]int32{int32(i)})); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *Tx) eachBatch(ctx context.Context, table *catalog.Relation, fn func(ids []int64, rows *types.Batch) error) error {
	if err := t.Lock(ctx); err != nil {
		return err
	}
	st, err := t.Statement(table.StorageID())
	if err != nil {
		return err
	}
	defer st.Close()
	src, err := st.Scan(ctx, table, append(identity(len(table.Columns)), plan.RowID))
	if err != nil {
		return err
	}
	for {
		b, err := src.Next(ctx)
		if err != nil || b == nil {
			return errors.Join(err, src.Close())
		}
		b = b.Flat()
		n := len(b.Cols) - 1
		if err := fn(b.Cols[n].Ints[:b.Rows], &types.Batch{Cols: b.Cols[:n], Rows: b.Rows}); err != nil {
			return errors.Join(err, src.Close())
		}
	}
}

func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
