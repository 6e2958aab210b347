package tablestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/exec"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/recordbatch"
)

// Statement is a transaction's tables for one statement. All its scans see the tables
// as they were at one moment, with what the transaction had written until then, however
// late they begin; its writes and its look-ups by key see everything. Close it. One that
// is made of a Tx alone begins its moment with its first scan.
type Statement struct {
	*Tx
	moment *moment // nil: nothing is read yet
}

var _ exec.Tables = (*Statement)(nil)

// moment is the tables at one moment.
type moment struct {
	rows   kv.View
	images map[id.Relation]*image // of the tables that were to be read
	epoch  uint64
	ended  bool
}

// Statement begins a statement, whose moment this is if it reads: these storages, if
// they are known; others are read without their images.
func (t *Tx) Statement(storages ...id.Relation) (*Statement, error) {
	s := &Statement{Tx: t}
	if t.Repeatable && !t.writing {
		if err := t.fix(storages); err != nil {
			return nil, err
		}
		s.moment = t.fixed
		return s, nil
	}
	if len(storages) == 0 {
		return s, nil
	}
	return s, s.begin(storages)
}

func (s *Statement) begin(storages []id.Relation) (err error) {
	open := s.store.kv.View
	if s.writing {
		open = s.batch.View
	}
	if s.moment, err = s.store.images.begin(storages, open); err == nil && s.writing {
		s.statements = append(s.statements, s)
	}
	return err
}

// Close ends the statement's reading.
func (s *Statement) Close() {
	if s.moment == nil || s.moment == s.fixed {
		return
	}
	s.moment.end(s.store.images)
	s.statements = slices.DeleteFunc(s.statements, func(other *Statement) bool { return other == s })
}

var (
	// errFull ends a scan whose batch is full.
	errFull  = errors.New("batch is full")
	errEnded = errors.New("the rows are read after the end of their transaction")
)

// reads begins the statement's moment, if there is none, and notes what is read of it.
func (s *Statement) reads(storage id.Relation) error {
	if s.moment == nil {
		if err := s.begin([]id.Relation{storage}); err != nil {
			return err
		}
	}
	return s.note(storage, s.moment)
}

// Scan implements exec.Tables.
func (s *Statement) Scan(_ context.Context, table *catalog.Relation, columns []int) (exec.Source, error) {
	storage := table.StorageID()
	if err := s.reads(storage); err != nil {
		return nil, err
	}
	own := s.writing && s.changed[storage] != nil
	held := s.moment.images[storage]
	if held != nil && own {
		// Nobody else writes meanwhile, so what is not its own is as it was committed.
		held = held.without(s.changed[storage])
	}
	if held != nil && held.complete() {
		return &imageSource{chunks: held.chunks, columns: columns}, nil
	}
	src := &source{store: s.store, table: table, columns: columns, moment: s.moment, own: own}
	switch {
	case held != nil:
		src.patch = patch(held)
		return src, nil
	case !own:
		src.made = newImageBuilder(table)
	}
	src.next, src.end = s.store.prefix(storage, 'r'), kv.PrefixEnd(s.store.prefix(storage, 'r'))
	return src, nil
}

// source reads a table in batches, each from where the last ended.
type source struct {
	store   *Store
	table   *catalog.Relation
	columns []int
	moment  *moment
	own     bool   // the moment may have writes of the transaction in the table
	next    []byte // where to read on, to end; nil: nowhere
	end     []byte
	made    *imageBuilder // of the rows so far; nil where none is made
	patch   *patched      // the image that lacks rows
}

// Next implements exec.Source.
func (s *source) Next(context.Context) (*types.Batch, error) {
	for {
		if s.next == nil && s.patch != nil {
			b, missing := s.patch.next()
			switch {
			case b != nil:
				return columnsOf(b, s.columns), nil
			case missing == nil:
				if !s.own {
					s.store.images.keep(s.table.StorageID(), s.moment.epoch, s.patch.made)
				}
				s.patch = nil
			default:
				storage := s.table.StorageID()
				s.next, s.end = s.store.rowKey(storage, missing.first), kv.PrefixEnd(s.store.rowKey(storage, missing.last))
			}
		}
		if s.next == nil {
			return nil, nil
		}
		all, err := s.read()
		if err != nil {
			return nil, err
		}
		if s.patch != nil {
			all = s.patch.add(all)
		}
		s.collect(all)
		if all.Rows > 0 {
			return columnsOf(all, s.columns), nil
		}
	}
}

// read takes the next rows apart, up to a batch.
func (s *source) read() (*types.Batch, error) {
	if s.moment.ended {
		return nil, errEnded
	}
	all := types.NewBatch(s.table.RowSchema(), types.BatchRows)
	all.Cols = append(all.Cols, types.NewVector(types.Of(types.Int8), types.BatchRows))
	rows := &types.Batch{Cols: all.Cols[:len(all.Cols)-1]} // without the identities
	from := s.next
	s.next = nil
	err := s.moment.rows.Scan(from, s.end, func(key, value []byte) error {
		if all.Rows == types.BatchRows {
			s.next = slices.Clone(key)
			return errFull
		}
		if err := recordbatch.Append(value, rows); err != nil {
			return fmt.Errorf("table %s: %w", s.table.Name, err)
		}
		all.Cols[len(rows.Cols)].AppendInt(int64(binary.BigEndian.Uint64(key[len(key)-8:])))
		all.Rows++
		return nil
	})
	if err != nil && !errors.Is(err, errFull) {
		return nil, err
	}
	return all, nil
}

// collect adds rows to the image that the scan makes, and keeps that at the end.
func (s *source) collect(all *types.Batch) {
	if s.made == nil {
		return
	}
	s.made.add(all)
	switch {
	case s.made.bytes > ImageBytes:
		s.made = nil
	case s.next == nil:
		s.store.images.keep(s.table.StorageID(), s.moment.epoch, s.made.image())
		s.made = nil
	}
}

// Close implements exec.Source.
func (s *source) Close() error { return nil }
