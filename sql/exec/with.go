package exec

import (
	"context"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// parts is what a statement whose WITH writes keeps until it has read everything. What
// the parts want to write waits in the order in which they ran.
type parts struct {
	writes []func(ctx context.Context) error
	// touched are the rows that a part writes already: others leave them alone.
	touched map[id.Relation]map[int64]plan.ModifyKind
}

// withOp runs a statement and the parts of its WITH that write, then writes.
type withOp struct {
	run  *run
	node *plan.With
	rows Source // of the statement
}

// Next implements Source.
func (w *withOp) Next(ctx context.Context) (*types.Batch, error) {
	if w.rows == nil {
		if err := w.write(ctx); err != nil {
			return nil, err
		}
	}
	return w.rows.Next(ctx)
}

func (w *withOp) write(ctx context.Context) error {
	st := w.run.state
	st.parts = &parts{touched: map[id.Relation]map[int64]plan.ModifyKind{}}
	rows, err := w.run.materialise(ctx, w.node.Child)
	if err != nil {
		return err
	}
	// Those that nobody read run now, the last first, as in PostgreSQL.
	for i := len(w.node.Parts) - 1; i >= 0; i-- {
		src, err := w.run.open(ctx, w.node.Parts[i])
		if err == nil {
			err = src.Close()
		}
		if err != nil {
			return err
		}
	}
	writes := st.parts.writes
	st.parts = nil
	for _, write := range writes {
		if err := write(ctx); err != nil {
			return err
		}
	}
	w.rows = rows.source()
	return w.run.settle(ctx)
}

// Close implements Source.
func (w *withOp) Close() error {
	if w.rows == nil {
		return nil
	}
	return w.rows.Close()
}

// toWrite calls write, at the end of the statement where other parts have still to read.
func (r *run) toWrite(ctx context.Context, write func(ctx context.Context) error) error {
	gated := func(ctx context.Context) error {
		if gate := r.env.BeforeWrite; gate != nil {
			if err := gate(ctx); err != nil {
				return err
			}
		}
		return write(ctx)
	}
	if p := r.state.parts; p != nil {
		p.writes = append(p.writes, gated)
		return nil
	}
	if err := gated(ctx); err != nil {
		return err
	}
	return r.settle(ctx)
}

// untouched returns the rows that no other part of the statement writes, and notes that
// they are written now. NULL identities are those of new rows.
func (r *run) untouched(table id.Relation, kind plan.ModifyKind, ids *types.Vector) (sel []int32) {
	p := r.state.parts
	if p == nil {
		return r.state.everyRow(ids.Len())
	}
	if p.touched[table] == nil {
		p.touched[table] = map[int64]plan.ModifyKind{}
	}
	for i := range ids.Len() {
		if !ids.IsNull(i) {
			if _, again := p.touched[table][ids.Ints[i]]; again {
				continue
			}
			p.touched[table][ids.Ints[i]] = kind
		}
		sel = append(sel, int32(i))
	}
	return sel
}

// deleted reports whether a part of the statement deletes a row.
func (r *run) deleted(table id.Relation, row int64) bool {
	if r.state.parts == nil {
		return false
	}
	kind, ok := r.state.parts.touched[table][row]
	return ok && kind == plan.Delete
}
