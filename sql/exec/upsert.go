package exec

import (
	"context"

	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// keyLookupOp finds the rows of a table that have the keys of proposed rows.
type keyLookupOp struct {
	Source
	run  *run
	node *plan.KeyLookup
}

// Next implements Source.
func (k *keyLookupOp) Next(ctx context.Context) (*types.Batch, error) {
	if k.run.env.Tables == nil {
		return nil, sqlerr.New(sqlerr.CannotConnectNow, "tables cannot be written here")
	}
	b, err := k.Source.Next(ctx)
	if err != nil || b == nil {
		return nil, err
	}
	// A proposed row has to be right even if it is not what gets written.
	if err := k.run.checkRow(k.node.Rules, b); err != nil {
		return nil, err
	}
	ids, found, err := k.run.env.Tables.Find(ctx, k.node.Table, k.node.Arbiters, b.Flat())
	if err != nil {
		return nil, err
	}
	ids, found = k.withoutDeleted(ids, found)
	cols := append(append([]*types.Vector(nil), b.Cols...), ids)
	return &types.Batch{Cols: append(cols, found.Cols...), Rows: b.Rows}, nil
}

// withoutDeleted leaves out the rows that another part of the statement deletes.
func (k *keyLookupOp) withoutDeleted(ids *types.Vector, found *types.Batch) (*types.Vector, *types.Batch) {
	if k.run.state.parts == nil {
		return ids, found
	}
	left := types.NewVector(ids.Type, ids.Len())
	rows := types.NewBatch(k.node.Table.RowSchema(), found.Rows)
	for i := range ids.Len() {
		if gone := ids.IsNull(i) || k.run.deleted(k.node.Table.ID, ids.Ints[i]); gone {
			left.AppendNull()
			for _, c := range rows.Cols {
				c.AppendNull()
			}
			continue
		}
		left.AppendFrom(ids, i)
		for c, v := range found.Cols {
			rows.Cols[c].AppendFrom(v, i)
		}
	}
	rows.Rows = found.Rows
	return left, rows
}

// once makes sure that no row is written twice by a statement: ON CONFLICT DO
// NOTHING keeps the first of several new rows with a key, DO UPDATE fails.
func (m *modifyOp) once(ids *types.Vector, rows *types.Batch) (*types.Vector, *types.Batch, error) {
	fresh, existing := map[string]bool{}, map[int64]bool{}
	keys := make([][][]byte, len(m.node.Arbiters))
	for n := range keys {
		var err error
		if keys[n], err = m.run.env.Tables.IndexKeys(m.node.Target, &m.node.Arbiters[n], rows.Flat()); err != nil {
			return nil, nil, err
		}
	}
	var sel []int32
	for i := range rows.Rows {
		again := false
		if ids.Nulls.Has(i) {
			for n := range keys {
				if keys[n][i] != nil {
					key := string(byte(n)) + string(keys[n][i])
					again, fresh[key] = again || fresh[key], true
				}
			}
		} else {
			again, existing[ids.Ints[i]] = existing[ids.Ints[i]], true
		}
		switch {
		case !again:
			sel = append(sel, int32(i))
		case m.node.OnConflict == plan.ConflictUpdates:
			return nil, nil, sqlerr.New(sqlerr.CardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time").
				WithHint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
		}
	}
	if len(sel) == rows.Rows {
		return ids, rows, nil
	}
	return ids.Gather(sel), rows.Gather(sel), nil
}

// upsert updates the rows that have an identity and inserts the others.
func (m *modifyOp) upsert(ctx context.Context, ids *types.Vector, rows *types.Batch) error {
	var old, fresh []int32
	for i := range rows.Rows {
		if ids.Nulls.Has(i) {
			fresh = append(fresh, int32(i))
		} else {
			old = append(old, int32(i))
		}
	}
	if len(old) > 0 {
		if err := m.run.writeRows(ctx, plan.Update, m.node.Rules, ids.Gather(old), rows.Gather(old)); err != nil {
			return err
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	return m.run.writeRows(ctx, plan.Insert, m.node.Rules, nil, rows.Gather(fresh))
}
