package exec

import (
	"context"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// modifyOp writes all rows of its child at once, so that a statement is applied
// whole or not at all, and yields what RETURNING asks for.
type modifyOp struct {
	Source
	run  *run
	node *plan.Modify
	out  *cursor
}

// Next implements Source.
func (m *modifyOp) Next(ctx context.Context) (*types.Batch, error) {
	if m.out == nil {
		if err := m.write(ctx); err != nil {
			return nil, err
		}
	}
	return m.out.next(), nil
}

func (m *modifyOp) write(ctx context.Context) error {
	m.out = &cursor{rows: &types.Batch{}}
	rows, err := m.run.drain(ctx, m.Source, m.node.Child.Schema())
	if err != nil {
		return err
	}
	if m.run.state.parts == nil {
		defer rows.release(&m.run.state.memory)
	}
	if rows.Rows == 0 {
		return nil
	}
	rows.Batch = *rows.Flat()
	written := &rows.Batch
	var ids *types.Vector
	if m.node.HasIdentity() {
		ids = rows.Cols[0]
		written = &types.Batch{Cols: rows.Cols[1:], Rows: rows.Rows}
		if sel := m.run.untouched(m.node.Target.ID, m.node.Kind, ids); len(sel) < written.Rows {
			ids, written = ids.Gather(sel), written.Gather(sel)
		}
	}
	if m.node.OnConflict != plan.ConflictFails {
		if ids, written, err = m.once(ids, written); err != nil {
			return err
		}
	}
	target := &types.Batch{Cols: written.Cols[:len(m.node.Target.Columns)], Rows: written.Rows}
	if m.node.Kind != plan.Delete {
		if err := m.run.checkRow(m.node.Rules, target); err != nil {
			return err
		}
	}
	err = m.run.toWrite(ctx, func(ctx context.Context) error {
		n, err := m.apply(ctx, ids, target)
		if !m.node.Part {
			m.run.state.affected += n
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(m.node.Returning) == 0 {
		return nil
	}
	cols, err := m.run.eval(m.node.Returning, written)
	if err != nil {
		return err
	}
	m.out = &cursor{rows: &types.Batch{Cols: cols, Rows: written.Rows}, all: true}
	return nil
}

// apply hands the rows to who keeps them.
func (m *modifyOp) apply(ctx context.Context, ids *types.Vector, rows *types.Batch) (int64, error) {
	target := m.node.Target
	if target.Kind == catalog.KindStream {
		if m.run.env.Streams == nil {
			return 0, sqlerr.New(sqlerr.CannotConnectNow, "streams cannot be written here")
		}
		return m.run.env.Streams.Append(ctx, target, rows)
	}
	if m.run.env.Tables == nil {
		return 0, sqlerr.New(sqlerr.CannotConnectNow, "tables cannot be written here")
	}
	var err error
	if m.node.OnConflict != plan.ConflictFails {
		err = m.upsert(ctx, ids, rows)
	} else {
		err = m.run.writeRows(ctx, m.node.Kind, m.node.Rules, ids, rows)
	}
	return int64(rows.Rows), err
}

// checkRow refuses rows that break a constraint of a table.
func (r *run) checkRow(rules *plan.Rules, rows *types.Batch) error {
	t := rules.Table
	if err := r.checkNotNull(t, rows); err != nil {
		return err
	}
	for _, c := range rules.Checks {
		v, err := r.eval([]expr.Expr{c.Cond}, rows)
		if err != nil {
			return err
		}
		for i := range rows.Rows {
			if !v[0].IsNull(i) && v[0].Ints[i] == 0 {
				return sqlerr.New(sqlerr.CheckViolation, "new row for relation %q violates check constraint %q", t.Name, c.Name).
					WithDetail("Failing row contains (%s).", r.rowText(rows, i))
			}
		}
	}
	return nil
}

// checkNotNull refuses NULLs where the target has none. Streams that set bad rows
// aside decide for themselves.
func (r *run) checkNotNull(t *catalog.Relation, rows *types.Batch) error {
	if t.Stream != nil && t.Stream.Options.RejectBadRows {
		return nil
	}
	for c, col := range t.Columns {
		if !col.NotNull || !rows.Cols[c].Nulls.Any() {
			continue
		}
		for i := range rows.Rows {
			if rows.Cols[c].Nulls.Has(i) {
				return sqlerr.New(sqlerr.NotNullViolation, "null value in column %q of relation %q violates not-null constraint", col.Name, t.Name).
					WithDetail("Failing row contains (%s).", r.rowText(rows, i))
			}
		}
	}
	return nil
}

func (r *run) rowText(rows *types.Batch, i int) string {
	parts := make([]string, len(rows.Cols))
	for c, v := range rows.Cols {
		parts[c] = "null"
		if !v.Nulls.Has(i) {
			parts[c] = types.FormatDatum(v.Datum(i), r.ec.TextOptions())
		}
	}
	return strings.Join(parts, ", ")
}
