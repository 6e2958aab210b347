package exec

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/spill"
	"github.com/tallydb/tallydb/sql/types"
)

// mergeOp merges sorted files: of equal rows those of the file before come first. It
// removes the files when it is closed.
type mergeOp struct {
	run    *run
	keys   []plan.SortKey
	schema *types.Schema
	runs   []*sortedRun // a heap, but not yet ordered before the first Next
	begun  bool
	rows   int
}

// sortedRun is how far a file was read.
type sortedRun struct {
	number int
	src    *fileSource
	batch  *types.Batch
	cols   []*types.Vector // of its keys
	row    int
	held   int64
}

func (r *run) newMerge(s *sorter, files []*spill.File) *mergeOp {
	m := &mergeOp{run: r, keys: s.keys, schema: s.schema}
	for i, f := range files {
		m.runs = append(m.runs, &sortedRun{number: i, src: &fileSource{run: r, file: f, schema: s.schema}})
	}
	return m
}

// load reads the next batch of a run; at the end the run has none.
func (m *mergeOp) load(ctx context.Context, s *sortedRun) (err error) {
	s.row = 0
	if s.batch, err = s.src.Next(ctx); err != nil {
		return err
	}
	held := int64(0)
	if s.batch != nil {
		held = int64(s.batch.MemoryBytes())
		if s.cols, err = m.run.eval(sortValues(m.keys), s.batch); err != nil {
			return err
		}
	}
	if err := m.run.state.memory.grow(held - s.held); err != nil {
		return err
	}
	s.held = held
	m.rows = max(m.rows, s.rowsOf())
	return nil
}

func (s *sortedRun) rowsOf() int {
	if s.batch == nil {
		return 0
	}
	return s.batch.Rows
}

func (m *mergeOp) less(a, b *sortedRun) bool {
	for k := range m.keys {
		if o := compareKeys(a.cols[k], a.row, b.cols[k], b.row, m.keys[k]); o != 0 {
			return o < 0
		}
	}
	return a.number < b.number
}

// down puts the run at i where it belongs in the heap.
func (m *mergeOp) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(m.runs); c++ {
			if m.less(m.runs[c], m.runs[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		m.runs[i], m.runs[least] = m.runs[least], m.runs[i]
		i = least
	}
}

func (m *mergeOp) begin(ctx context.Context) error {
	m.begun = true
	var left []*sortedRun
	for i, s := range m.runs {
		if err := m.load(ctx, s); err != nil {
			return err
		}
		if s.batch != nil {
			left = append(left, m.runs[i])
		} else if err := s.src.Close(); err != nil {
			return err
		}
	}
	m.runs = left
	for i := len(left)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return nil
}

// Next implements Source.
func (m *mergeOp) Next(ctx context.Context) (*types.Batch, error) {
	if err := cancelled(ctx); err != nil {
		return nil, err
	}
	if !m.begun {
		if err := m.begin(ctx); err != nil {
			return nil, err
		}
	}
	if len(m.runs) == 0 {
		return nil, nil
	}
	out := types.NewBatch(m.schema, m.rows)
	for out.Rows < m.rows && len(m.runs) > 0 {
		s := m.runs[0]
		for c, v := range s.batch.Cols {
			out.Cols[c].AppendFrom(v, s.row)
		}
		out.Rows++
		if s.row++; s.row == s.batch.Rows {
			if err := m.load(ctx, s); err != nil {
				return nil, err
			}
			if s.batch == nil {
				m.runs[0] = m.runs[len(m.runs)-1]
				m.runs = m.runs[:len(m.runs)-1]
				if err := s.src.Close(); err != nil {
					return nil, err
				}
			}
		}
		m.down(0)
	}
	return out, nil
}

// Close implements Source.
func (m *mergeOp) Close() error {
	var errs []error
	for _, s := range m.runs {
		m.run.state.memory.shrink(s.held)
		errs = append(errs, s.src.Close())
	}
	m.runs = nil
	return errors.Join(errs...)
}
