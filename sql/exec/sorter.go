package exec

import (
	"context"

	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/spill"
	"github.com/tallydb/tallydb/sql/types"
)

// mergeRuns is how many sorted files are merged at a time.
const mergeRuns = 64

// sorter sorts rows: in memory, or where that does not suffice by merging sorted files
// (Knuth, TAOCP 5.4). The sort is stable. With a limit it keeps only the first rows.
type sorter struct {
	run    *run
	node   plan.Node // for EXPLAIN ANALYZE
	keys   []plan.SortKey
	schema *types.Schema
	limit  int64 // -1: all
	rows   *rowSet
	bound  []*types.Vector // the keys of the last row within the limit, once known
	files  []*spill.File   // sorted, in the order in which their rows came
	disk   int64           // bytes written
	peak   int64           // of memory
}

func (r *run) newSorter(node plan.Node, keys []plan.SortKey, schema *types.Schema, limit int64) *sorter {
	return &sorter{run: r, node: node, keys: keys, schema: schema, limit: limit, rows: newRowSet(schema)}
}

// add takes the rows of a batch.
func (s *sorter) add(b *types.Batch) error {
	b, err := s.within(b)
	if err != nil {
		return err
	}
	m := &s.run.state.memory
	err = s.rows.add(m, b)
	s.peak = max(s.peak, s.rows.charged)
	if err == nil && s.limit >= 0 && int64(s.rows.Rows) > 4*s.limit+8*types.BatchRows {
		err = s.cut()
	}
	switch {
	case err != nil && !s.run.outOfMemory(err):
		return err
	case err == nil && (s.run.state.spill == nil || !s.run.pressed() && m.fits(int64(s.rows.Rows)*sortBytes)):
		return nil
	case s.rows.Rows == 0:
		return err
	}
	return s.spill()
}

// cut forgets the rows beyond the limit.
func (s *sorter) cut() error {
	sel, err := s.sorted()
	if err != nil {
		return err
	}
	s.rows.Batch = *s.rows.Gather(sel)
	if err := s.keepBound(); err != nil {
		return err
	}
	return s.rows.charge(&s.run.state.memory)
}

// spill writes the rows, sorted, to a file.
func (s *sorter) spill() error {
	sel, err := s.inOrder()
	if err != nil {
		return err
	}
	f, err := s.run.state.spill.Create()
	if err != nil {
		return err
	}
	step := s.batchRows()
	for at := 0; at < len(sel); at += step {
		if err := f.Write(s.rows.Gather(sel[at:min(at+step, len(sel))])); err != nil {
			return err
		}
	}
	if err := f.Finish(); err != nil {
		return err
	}
	s.files = append(s.files, f)
	s.disk += f.Bytes()
	s.rows.release(&s.run.state.memory)
	s.rows = newRowSet(s.schema)
	return nil
}

// batchRows is how many rows go into a batch of a file, so that a batch of each of the
// files that are merged fits into a quarter of the memory.
func (s *sorter) batchRows() int {
	row := 1 + s.rows.MemoryBytes()/max(1, s.rows.Rows)
	target := s.run.state.memory.limit / 4 / mergeRuns
	return int(max(1, min(types.BatchRows, target/int64(row))))
}

// finish returns the rows in order.
func (s *sorter) finish(ctx context.Context) (Source, error) {
	st := s.run.stats(s.node)
	if len(s.files) == 0 {
		sel, err := s.sorted()
		if err == nil {
			st.SortMethod, st.MemoryBytes = "quicksort", s.peak
			if s.limit >= 0 {
				st.SortMethod = "top-N heapsort"
			}
			return &cursorSource{cursor{rows: &s.rows.Batch, sel: sel}}, nil
		}
		if !s.run.outOfMemory(err) {
			return nil, err
		}
	}
	if s.rows.Rows > 0 {
		if err := s.spill(); err != nil {
			return nil, err
		}
	}
	for len(s.files) > mergeRuns {
		if err := s.mergeFirst(ctx); err != nil {
			return nil, err
		}
	}
	st.SortMethod, st.DiskBytes = "external merge", s.disk
	return s.run.newMerge(s, s.files), nil
}

// mergeFirst makes one file of the first ones.
func (s *sorter) mergeFirst(ctx context.Context) error {
	m := s.run.newMerge(s, s.files[:mergeRuns])
	f, err := s.run.state.spill.Create()
	if err != nil {
		return closing(m, err)
	}
	for left := s.limit; left != 0; {
		b, err := m.Next(ctx)
		if err != nil {
			return closing(m, err)
		}
		if b == nil {
			break
		}
		if left > 0 && int64(b.Rows) > left {
			b = slice(b, 0, int(left))
		}
		left -= min(max(left, 0), int64(b.Rows))
		if err := f.Write(b); err != nil {
			return closing(m, err)
		}
	}
	if err := closing(m, f.Finish()); err != nil {
		return err
	}
	s.disk += f.Bytes()
	s.files = append([]*spill.File{f}, s.files[mergeRuns:]...)
	return nil
}

// close releases the memory; the files go with the statement.
func (s *sorter) close() { s.rows.release(&s.run.state.memory) }

// keepBound remembers the keys of the last row, where there are as many as the limit.
func (s *sorter) keepBound() error {
	if s.limit == 0 || int64(s.rows.Rows) < s.limit {
		return nil
	}
	var err error
	s.bound, err = s.run.eval(sortValues(s.keys), slice(&s.rows.Batch, s.rows.Rows-1, s.rows.Rows))
	return err
}

// within drops the rows that cannot be within the limit.
func (s *sorter) within(b *types.Batch) (*types.Batch, error) {
	if s.bound == nil {
		return b, nil
	}
	cols, err := s.run.eval(sortValues(s.keys), b)
	if err != nil {
		return nil, err
	}
	var sel []int32
rows:
	for i := range b.Rows {
		for k, c := range cols {
			switch o := compareKeys(c, i, s.bound[k], 0, s.keys[k]); {
			case o < 0:
				sel = append(sel, int32(i))
				continue rows
			case o > 0:
				continue rows
			}
		}
	}
	return b.Gather(sel), nil
}

// sorted returns the order of the rows so far, cut at the limit, if there is memory
// to find it.
func (s *sorter) sorted() ([]int32, error) {
	n := int64(s.rows.Rows) * sortBytes
	if err := s.run.state.memory.grow(n); err != nil {
		return nil, err
	}
	defer s.run.state.memory.shrink(n)
	return s.inOrder()
}

// inOrder is sorted where the memory was seen to be there, or is about to be given back.
func (s *sorter) inOrder() ([]int32, error) {
	cols, err := s.run.eval(sortValues(s.keys), &s.rows.Batch)
	if err != nil {
		return nil, err
	}
	sel := order(s.keys, cols, s.rows.Rows)
	if s.limit >= 0 && int64(len(sel)) > s.limit {
		sel = sel[:s.limit]
	}
	return sel, nil
}
