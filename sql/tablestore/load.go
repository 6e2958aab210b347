package tablestore

import (
	"encoding/binary"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/recordbatch"
)

// Load collects the first rows of a table that is not in the catalog yet, for a
// batch that brings both. It has no primary key, and nobody else can write to it,
// so a Load waits for no transaction.
type Load struct {
	store *Store
	table id.Relation
	batch *kv.Batch
	rows  int64
}

// NewLoad begins the rows of the table that will have this number.
func (s *Store) NewLoad(table id.Relation) *Load {
	return &Load{store: s, table: table, batch: s.kv.NewBatch()}
}

// Add appends rows and keeps nothing of b. 54000 beyond what a transaction may write.
func (l *Load) Add(b *types.Batch) error {
	var value []byte
	for i := range b.Rows {
		if err := l.store.checkSize(l.batch.Bytes()); err != nil {
			return err
		}
		l.rows++
		value = recordbatch.Encode(value[:0], b.Gather([]int32{int32(i)}))
		if err := l.batch.Set(l.store.rowKey(l.table, l.rows), value); err != nil {
			return err
		}
	}
	return nil
}

// Rows returns how many rows there are.
func (l *Load) Rows() int64 { return l.rows }

// Finish returns the batch, which is the caller's to commit; the Load is at its end.
func (l *Load) Finish() (*kv.Batch, error) {
	err := l.batch.Set(l.store.prefix(l.table, 'n'), binary.BigEndian.AppendUint64(nil, uint64(l.rows)))
	if err != nil {
		return nil, err
	}
	b := l.batch
	l.batch = nil
	return b, nil
}

// Discard drops the rows unless the Load was finished.
func (l *Load) Discard() {
	if l.batch != nil {
		l.batch.Discard()
		l.batch = nil
	}
}
