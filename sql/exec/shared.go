package exec

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/spill"
	"github.com/tallydb/tallydb/sql/types"
)

// materialised is the rows of a plan that are read more than once: in memory, or in a
// file if they are many. They are taken from the plan as the readers come to them, so
// that a reader who has enough ends a plan that has no end.
type materialised struct {
	rows   *rowSet
	file   *spill.File
	schema *types.Schema
	run    *run
	src    Source // of the rows that no reader has come to; nil at the end
}

// openMaterialised starts a plan.
func (r *run) openMaterialised(ctx context.Context, n plan.Node) (*materialised, error) {
	src, err := r.open(ctx, n)
	if err != nil {
		return nil, err
	}
	return &materialised{rows: newRowSet(n.Schema()), schema: n.Schema(), run: r, src: src}, nil
}

// materialise runs a plan to its end.
func (r *run) materialise(ctx context.Context, n plan.Node) (*materialised, error) {
	m, err := r.openMaterialised(ctx, n)
	for err == nil && m.src != nil {
		err = m.more(ctx)
	}
	if err != nil && m != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, err
}

// more takes the next rows from the plan.
func (m *materialised) more(ctx context.Context) error {
	b, err := m.src.Next(ctx)
	if err != nil {
		return err
	}
	if b == nil {
		if m.file != nil {
			err = m.file.Finish()
		}
		return errors.Join(err, m.Close())
	}
	if m.file != nil {
		return m.file.Write(b)
	}
	err = m.rows.add(&m.run.state.memory, b)
	if err != nil && !m.run.outOfMemory(err) {
		return err
	}
	if err != nil || m.run.pressed() {
		if m.file, err = m.run.toFile(m.rows); err != nil {
			return err
		}
		m.rows = nil
	}
	return nil
}

// refill adds about a batch of rows to the file, for a reader who is at its end.
func (m *materialised) refill(ctx context.Context) error {
	for from := m.file.Rows(); m.src != nil && m.file.Rows() < from+types.BatchRows; {
		if err := m.more(ctx); err != nil {
			return err
		}
	}
	if m.src == nil {
		return nil // and the file is finished
	}
	return m.file.Flush()
}

// Close ends the plan.
func (m *materialised) Close() error {
	if m.src == nil {
		return nil
	}
	src := m.src
	m.src = nil
	return src.Close()
}

// source reads the rows from the first.
func (m *materialised) source() Source { return &sharedSource{of: m} }

// sharedSource is one reader of rows that are kept.
type sharedSource struct {
	of   *materialised
	at   int
	file *fileSource
}

// Next implements Source.
func (s *sharedSource) Next(ctx context.Context) (*types.Batch, error) {
	for {
		switch m := s.of; {
		case m.file != nil:
			return s.fromFile(ctx)
		case s.at < m.rows.Rows:
			from := s.at
			s.at = min(from+types.BatchRows, m.rows.Rows)
			return m.rows.part(from, s.at), nil
		case m.src == nil:
			return nil, nil
		default:
			if err := m.more(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// part returns rows that stay as they are while more are added.
func (s *rowSet) part(from, to int) *types.Batch {
	out := &types.Batch{Rows: to - from, Cols: make([]*types.Vector, len(s.Cols))}
	for i, c := range s.Cols {
		out.Cols[i] = c.Slice(from, to)
	}
	return out
}

// fromFile reads on in the file, behind the rows that were read before there was one.
func (s *sharedSource) fromFile(ctx context.Context) (*types.Batch, error) {
	if s.file == nil {
		s.file = &fileSource{run: s.of.run, file: s.of.file, schema: s.of.schema, keep: true}
	}
	for {
		b, err := s.file.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			if s.of.src == nil {
				return nil, nil
			}
			if err := s.of.refill(ctx); err != nil {
				return nil, err
			}
			continue
		}
		skip := min(s.at, b.Rows)
		s.at -= skip
		if skip < b.Rows {
			return b.Slice(skip, b.Rows), nil
		}
	}
}

// Close implements Source.
func (s *sharedSource) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// forget ends a plan that was shared, whose readers have ended.
func (s *state) forget(shared int) error {
	m := s.shared[shared]
	if m == nil {
		return nil
	}
	delete(s.shared, shared)
	if m.rows != nil {
		m.rows.release(&s.memory)
	}
	return m.Close()
}

// openShared reads a plan that other parts of the statement may read too.
func (r *run) openShared(ctx context.Context, x *plan.Shared) (Source, error) {
	rows := r.state.shared[x.ID]
	if rows == nil {
		open := r.openMaterialised
		if _, writes := x.Child.(*plan.Modify); writes {
			open = r.materialise // whoever reads it, and however much of it
		}
		var err error
		if rows, err = open(ctx, x.Child); err != nil {
			return nil, err
		}
		if r.state.shared == nil {
			r.state.shared = map[int]*materialised{}
		}
		r.state.shared[x.ID] = rows
	}
	return rows.source(), nil
}
