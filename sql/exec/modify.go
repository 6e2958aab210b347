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
	defer rows.release(&m.run.state.memory)
	if rows.Rows == 0 {
		return nil
	}
	rows.Batch = *rows.Flat()
	written := &rows.Batch
	var ids *types.Vector
	if m.node.HasIdentity() {
		ids = rows.Cols[0]
		written = &types.Batch{Cols: rows.Cols[1:], Rows: rows.Rows}
	}
	if m.node.OnConflict != plan.ConflictFails {
		if ids, written, err = m.once(ids, written); err != nil {
			return err
		}
	}
	target := &types.Batch{Cols: written.Cols[:len(m.node.Target.Columns)], Rows: written.Rows}
	if m.node.Kind != plan.Delete {
		if err := m.run.checkRow(m.node.Target, m.node.Checks, target); err != nil {
			return err
		}
	}
	if gate := m.run.env.BeforeWrite; gate != nil {
		if err := gate(ctx); err != nil {
			return err
		}
	}
	n, err := m.apply(ctx, ids, target)
	if err != nil {
		return err
	}
	m.run.state.affected += n
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
	switch {
	case m.node.OnConflict != plan.ConflictFails:
		err = m.upsert(ctx, ids, rows)
	case m.node.Kind == plan.Insert:
		err = m.run.env.Tables.Insert(ctx, target, rows)
	case m.node.Kind == plan.Update:
		err = m.run.env.Tables.Update(ctx, target, ids, rows)
	default:
		err = m.run.env.Tables.Delete(ctx, target, ids)
	}
	return int64(rows.Rows), err
}

// checkRow refuses rows that break a constraint of a table.
func (r *run) checkRow(t *catalog.Relation, checks []plan.Check, rows *types.Batch) error {
	if err := r.checkNotNull(t, rows); err != nil {
		return err
	}
	for _, c := range checks {
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
