package tablestore

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/exec"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/recordbatch"
)

// Seek implements exec.Tables.
func (s *Statement) Seek(_ context.Context, table *catalog.Relation, x *catalog.Index, keys *types.Batch, columns []int) (exec.Source, error) {
	if err := s.reads(table.StorageID()); err != nil {
		return nil, err
	}
	var rows []int64
	for i := range keys.Rows {
		key := s.indexKey(table, x, &keyed{Batch: keys}, i)
		err := s.moment.get(key, func(value []byte) error {
			if len(value) != 8 {
				return fmt.Errorf("table %s: %w", table.Name, storage.ErrCorrupt)
			}
			rows = append(rows, int64(binary.BigEndian.Uint64(value)))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(rows)
	return &seekSource{statement: s, table: table, columns: columns, rows: slices.Compact(rows)}, nil
}

// get calls fn with the value of a key, if there is one.
func (o *moment) get(key []byte, fn func(value []byte) error) error {
	if o.ended {
		return errEnded
	}
	return o.rows.Scan(key, append(slices.Clone(key), 0), func(_, value []byte) error { return fn(value) })
}

// seekSource reads rows of a table, in the order of their identities, in one batch.
type seekSource struct {
	statement *Statement
	table     *catalog.Relation
	columns   []int
	rows      []int64 // nil: read
}

// Next implements exec.Source.
func (s *seekSource) Next(context.Context) (*types.Batch, error) {
	if len(s.rows) == 0 {
		return nil, nil
	}
	all := types.NewBatch(s.table.RowSchema(), len(s.rows))
	ids := types.NewVector(types.Of(types.Int8), len(s.rows))
	for _, row := range s.rows {
		err := s.statement.moment.get(s.statement.store.rowKey(s.table.StorageID(), row), func(value []byte) error {
			ids.AppendInt(row)
			return recordbatch.Append(value, all)
		})
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", s.table.Name, err)
		}
	}
	s.rows = nil
	return columnsOf(&types.Batch{Cols: append(all.Cols, ids), Rows: all.Rows}, s.columns), nil
}

// Close implements exec.Source.
func (s *seekSource) Close() error { return nil }
