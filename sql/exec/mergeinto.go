package exec

import (
	"context"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// mergeIntoOp runs MERGE: it reads all joined rows, decides what becomes of each, and
// then writes.
type mergeIntoOp struct {
	Source
	run  *run
	node *plan.Merge
	done bool
	seen map[int64]bool // rows of the target that something becomes of
}

// merged is what one WHEN writes.
type merged struct {
	kind plan.ModifyKind
	ids  *types.Vector
	rows *types.Batch
}

// Next implements Source.
func (m *mergeIntoOp) Next(ctx context.Context) (*types.Batch, error) {
	if m.done {
		return nil, nil
	}
	m.done, m.seen = true, map[int64]bool{}
	rows, err := m.run.drain(ctx, m.Source, m.node.Child.Schema())
	if err != nil {
		return nil, err
	}
	defer rows.release(&m.run.state.memory)
	if rows.Rows == 0 {
		return nil, nil
	}
	rows.Batch = *rows.Flat()
	writes, err := m.decide(&rows.Batch)
	if err != nil {
		return nil, err
	}
	return nil, m.run.toWrite(ctx, func(ctx context.Context) error {
		for _, w := range writes {
			if err := m.run.writeRows(ctx, w.kind, m.node.Rules, w.ids, w.rows); err != nil {
				return err
			}
			m.run.state.affected += int64(w.rows.Rows)
		}
		return nil
	})
}

// decide finds the WHEN of each row and computes what it writes: deletions first, so
// that keys may move.
func (m *mergeIntoOp) decide(rows *types.Batch) ([]merged, error) {
	ids, err := m.run.eval([]expr.Expr{m.node.Row}, rows)
	if err != nil {
		return nil, err
	}
	open := map[bool][]int32{}
	for i := range rows.Rows {
		matched := !ids[0].IsNull(i)
		open[matched] = append(open[matched], int32(i))
	}
	of := map[plan.ModifyKind][]merged{}
	for i := range m.node.Whens {
		w := &m.node.Whens[i]
		var sel []int32
		if sel, open[w.Matched], err = m.fitting(w, rows, open[w.Matched]); err != nil {
			return nil, err
		}
		if w.Nothing || len(sel) == 0 {
			continue
		}
		made, err := m.make(w, ids[0], rows, sel)
		if err != nil {
			return nil, err
		}
		of[w.Kind] = append(of[w.Kind], *made)
	}
	return append(append(of[plan.Delete], of[plan.Update]...), of[plan.Insert]...), nil
}

// fitting parts rows into those that a WHEN is about and the others.
func (m *mergeIntoOp) fitting(w *plan.MergeWhen, rows *types.Batch, of []int32) (yes, no []int32, err error) {
	if w.Cond == nil || len(of) == 0 {
		return of, nil, nil
	}
	v, err := m.run.eval([]expr.Expr{w.Cond}, rows.Gather(of))
	if err != nil {
		return nil, nil, err
	}
	for i, row := range of {
		if !v[0].IsNull(i) && v[0].Ints[i] != 0 {
			yes = append(yes, row)
		} else {
			no = append(no, row)
		}
	}
	return yes, no, nil
}

// make computes what a WHEN writes of these rows.
func (m *mergeIntoOp) make(w *plan.MergeWhen, ids *types.Vector, rows *types.Batch, sel []int32) (*merged, error) {
	out := &merged{kind: w.Kind, ids: ids.Gather(sel)}
	if w.Matched {
		for _, row := range out.ids.Ints {
			if m.seen[row] {
				return nil, sqlerr.New(sqlerr.CardinalityViolation, "MERGE command cannot affect row a second time").
					WithHint("Ensure that not more than one source row matches any one target row.")
			}
			m.seen[row] = true
		}
		kept := m.run.untouched(m.node.Target.ID, w.Kind, out.ids)
		if len(kept) < len(sel) {
			out.ids = out.ids.Gather(kept)
			for i, k := range kept {
				kept[i] = sel[k]
			}
			sel = kept
		}
	}
	of := rows.Gather(sel)
	if w.Kind == plan.Delete {
		out.rows = of
		return out, nil
	}
	cols, err := m.run.eval(w.Values, of)
	if err != nil {
		return nil, err
	}
	out.rows = (&types.Batch{Cols: cols, Rows: of.Rows}).Flat()
	return out, m.run.checkRow(m.node.Rules, out.rows)
}
