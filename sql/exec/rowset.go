package exec

import (
	"context"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// rowSet is all rows of an input, kept as one batch.
type rowSet struct {
	types.Batch
	charged int64
}

func newRowSet(s *types.Schema) *rowSet {
	return &rowSet{Batch: *types.NewBatch(s, 0)}
}

// add appends the rows of a batch, charging their memory.
func (s *rowSet) add(m *budget, b *types.Batch) error {
	for i, c := range s.Cols {
		c.AppendAll(b.Cols[i])
	}
	s.Rows += b.Rows
	return s.charge(m)
}

// charge brings the budget up to date with the memory held.
func (s *rowSet) charge(m *budget) error {
	n := int64(s.MemoryBytes())
	if err := m.grow(n - s.charged); err != nil {
		return err
	}
	s.charged = n
	return nil
}

func (s *rowSet) release(m *budget) {
	m.shrink(s.charged)
	s.charged = 0
}

// drain reads a source to its end.
func (r *run) drain(ctx context.Context, src Source, s *types.Schema) (*rowSet, error) {
	rows := newRowSet(s)
	for {
		b, err := src.Next(ctx)
		if err != nil || b == nil {
			return rows, err
		}
		if err := rows.add(&r.state.memory, b); err != nil {
			return nil, err
		}
	}
}

// collect runs a plan to its end.
func (r *run) collect(ctx context.Context, n plan.Node) (rows *rowSet, err error) {
	src, err := r.open(ctx, n)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := src.Close(); err == nil {
			err = e
		}
	}()
	return r.drain(ctx, src, n.Schema())
}

// slice returns rows [from, to) of a batch without copying fixed-width values.
func slice(b *types.Batch, from, to int) *types.Batch { return b.Slice(from, to) }

// cursor hands out a row set in batches, in the order of sel if it has one.
type cursor struct {
	rows *types.Batch
	sel  []int32
	all  bool
	at   int
}

func (c *cursor) next() *types.Batch {
	n := len(c.sel)
	if c.all {
		n = c.rows.Rows
	}
	if c.at >= n {
		return nil
	}
	end := min(c.at+types.BatchRows, n)
	from := c.at
	c.at = end
	if c.all {
		return slice(c.rows, from, end)
	}
	return c.rows.Gather(c.sel[from:end])
}

// batchList is a source of ready batches.
type batchList struct {
	batches []*types.Batch
	at      int
}

// Next implements Source.
func (l *batchList) Next(context.Context) (*types.Batch, error) {
	for l.at < len(l.batches) {
		l.at++
		if b := l.batches[l.at-1]; b != nil && b.Rows > 0 {
			return b, nil
		}
	}
	return nil, nil
}

// Close implements Source.
func (l *batchList) Close() error { return nil }

// cursorSource is a source of a row set.
type cursorSource struct{ cursor }

// Next implements Source.
func (c *cursorSource) Next(context.Context) (*types.Batch, error) { return c.next(), nil }

// Close implements Source.
func (c *cursorSource) Close() error { return nil }

// appendKeys appends the key encoding of row i of each column.
func appendKeys(dst []byte, cols []*types.Vector, i int) []byte {
	for _, c := range cols {
		dst = types.AppendKey(dst, c, i)
	}
	return dst
}

// withoutNil returns the expressions that are there.
func withoutNil(list ...expr.Expr) []expr.Expr {
	var out []expr.Expr
	for _, e := range list {
		if e != nil {
			out = append(out, e)
		}
	}
	return out
}
