package exec

import (
	"bytes"
	"cmp"
	"context"
	"math"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

func sortValues(keys []plan.SortKey) []expr.Expr {
	out := make([]expr.Expr, len(keys))
	for i, k := range keys {
		out[i] = k.Value
	}
	return out
}

// comparator orders row i before row j of the key columns.
func comparator(keys []plan.SortKey, cols []*types.Vector) func(i, j int32) int {
	return func(i, j int32) int {
		for k, c := range cols {
			if o := compareKeys(c, int(i), c, int(j), keys[k]); o != 0 {
				return o
			}
		}
		return 0
	}
}

// compareKeys orders two values of a key.
func compareKeys(a *types.Vector, i int, b *types.Vector, j int, key plan.SortKey) int {
	ni, nj := a.Nulls.Has(i), b.Nulls.Has(j)
	if ni || nj {
		switch {
		case ni && nj:
			return 0
		case ni == key.NullsFirst:
			return -1
		}
		return 1
	}
	o := compareValues(a, i, b, j)
	if key.Descending {
		return -o
	}
	return o
}

// compareValues orders two values of one type; neither is NULL.
func compareValues(a *types.Vector, i int, b *types.Vector, j int) int {
	switch a.Type.Kind() {
	case types.KindInt:
		return cmp.Compare(a.Ints[i], b.Ints[j])
	case types.KindFloat:
		return compareFloats(a.Floats[i], b.Floats[j])
	}
	if types.DictType(a.Type) && types.DictType(b.Type) {
		if a.Dict != nil && a.Dict == b.Dict && a.Codes[i] == b.Codes[j] {
			return 0
		}
		return bytes.Compare(a.Bytes(i), b.Bytes(j))
	}
	return types.CompareBytes(a.Type, a.Bytes(i), b.Bytes(j))
}

// compareFloats puts NaN above infinity, as PostgreSQL does.
func compareFloats(a, b float64) int {
	an, bn := math.IsNaN(a), math.IsNaN(b)
	switch {
	case an && bn:
		return 0
	case an:
		return 1
	case bn:
		return -1
	}
	return cmp.Compare(a, b)
}

// sortOp sorts all rows. With a limit it keeps only the first ones.
type sortOp struct {
	Source
	sorter *sorter
	out    Source
}

func (r *run) newSort(s *plan.Sort, child Source, limit int64) *sortOp {
	return &sortOp{Source: child, sorter: r.newSorter(s, s.Keys, s.Schema(), limit)}
}

// openTop runs LIMIT over ORDER BY as a sort that forgets what cannot be in the
// result; nil where the node is something else.
func (r *run) openTop(ctx context.Context, n plan.Node) (Source, error) {
	l, ok := n.(*plan.Limit)
	if !ok || len(l.Ties) > 0 {
		return nil, nil
	}
	wrap := func(s Source) Source { return s }
	under := l.Child
	if p, ok := under.(*plan.Project); ok {
		wrap = func(s Source) Source { return r.measure(p, &projectOp{run: r, Source: s, values: p.Values}) }
		under = p.Child
	}
	s, ok := under.(*plan.Sort)
	if !ok {
		return nil, nil
	}
	count, skip, err := r.limits(l)
	if err != nil {
		return nil, err
	}
	if count < 0 || count+skip < 0 {
		return nil, nil
	}
	child, err := r.open(ctx, s.Child)
	if err != nil {
		return nil, err
	}
	top := r.newSort(s, child, count+skip)
	return &limitOp{Source: wrap(r.measure(s, top)), run: r, skip: skip, count: count}, nil
}

// Next implements Source.
func (s *sortOp) Next(ctx context.Context) (*types.Batch, error) {
	if s.out == nil {
		if err := s.read(ctx); err != nil {
			return nil, err
		}
	}
	return s.out.Next(ctx)
}

func (s *sortOp) read(ctx context.Context) error {
	for {
		b, err := s.Source.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			s.out, err = s.sorter.finish(ctx)
			return err
		}
		if err := s.sorter.add(b); err != nil {
			return err
		}
	}
}

// Close implements Source.
func (s *sortOp) Close() error {
	s.sorter.close()
	var err error
	if s.out != nil {
		err = s.out.Close()
	}
	return closing(s.Source, err)
}
