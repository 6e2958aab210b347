package expr

import (
	"errors"

	"github.com/tallydb/tallydb/sql/types"
)

// evalSubset evaluates e for the rows that sel names, copying only the columns
// that e reads. Row numbers of errors are those of in.
func evalSubset(ec *Context, e Expr, in *types.Batch, sel []int32) (*types.Vector, error) {
	if len(sel) == in.Rows {
		return e.Eval(ec, in)
	}
	sub := &types.Batch{Cols: make([]*types.Vector, len(in.Cols)), Rows: len(sel)}
	Walk(e, func(x Expr) bool {
		if c, ok := x.(*Column); ok && sub.Cols[c.Index] == nil {
			sub.Cols[c.Index] = in.Cols[c.Index].Gather(sel)
		}
		return true
	})
	v, err := e.Eval(ec, sub)
	var re *RowError
	if errors.As(err, &re) && re.Row < len(sel) {
		return nil, &RowError{Row: int(sel[re.Row]), Err: re.Err}
	}
	return v, err
}

// harmless reports whether e cannot fail and costs little, so that it may be
// evaluated for rows that do not need it.
func harmless(e Expr) bool {
	switch x := e.(type) {
	case *Column, *Const:
		return true
	case *call:
		if !x.fn.total || x.fn.vec == nil {
			return false
		}
		for _, a := range x.args {
			if !harmless(a) {
				return false
			}
		}
		return true
	case *isNullExpr:
		return harmless(x.arg)
	case *castExpr:
		return x.fn == nil && harmless(x.arg)
	}
	return false
}

// scatter puts the rows of src at the places that sel names in a column of n rows.
type scatterBuilder struct {
	src []*types.Vector // one per branch
	at  []int32         // branch of each row, -1 for NULL
	row []int32         // row within the branch
}

func newScatter(n int) *scatterBuilder {
	s := &scatterBuilder{at: make([]int32, n), row: make([]int32, n)}
	for i := range s.at {
		s.at[i] = -1
	}
	return s
}

func (s *scatterBuilder) add(v *types.Vector, sel []int32) {
	k := int32(len(s.src))
	s.src = append(s.src, v)
	for j, i := range sel {
		s.at[i], s.row[i] = k, int32(j)
	}
}

func (s *scatterBuilder) vector(t types.Type) (*types.Vector, error) {
	out := types.NewVector(t, len(s.at))
	for i, k := range s.at {
		if k < 0 {
			out.AppendNull()
			continue
		}
		src, row := s.src[k], int(s.row[i])
		if len(src.Offsets) > row+1 {
			if err := room(out, int(src.Offsets[row+1]-src.Offsets[row]), len(s.at)); err != nil {
				return nil, err
			}
		}
		out.AppendFrom(src, row)
	}
	return out, nil
}

func allRows(n int) []int32 {
	sel := make([]int32, n)
	for i := range sel {
		sel[i] = int32(i)
	}
	return sel
}
