package partition

import (
	"context"
	"errors"
	"slices"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/storage/recordbatch"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/rows"
	"github.com/tallydb/tallydb/stream/state"
)

// sideEntry is rows of one record that were set aside, not yet checkpointed.
type sideEntry struct {
	kind   state.SideKind
	view   *view // nil: of the stream
	offset id.Offset
	batch  *types.Batch // columns of plan.SideSchema
}

func (w *Worker) keysOfSide(v *view) state.Keys {
	if v == nil {
		return w.keys
	}
	return v.keys
}

// stampRejects fills in what only the log knows: where and when.
func (w *Worker) stampRejects(b *types.Batch, rec *ingestlog.Record) {
	for i := range b.Rows {
		b.Cols[plan.RejectedPartition].Ints[i] = int64(w.cfg.Partition.Partition)
		b.Cols[plan.RejectedOffset].Ints[i] = int64(rec.Offset)
		b.Cols[plan.RejectedAppendTime].Ints[i] = int64(eventtime.FromUnixMicro(rec.AppendTime))
	}
}

// setAside keeps rows until the next checkpoint, which is due early where they are
// many: their memory is bounded as that of other state.
func (w *Worker) setAside(e sideEntry) {
	w.side = append(w.side, e)
	w.sideBytes += int64(e.batch.MemoryBytes())
}

// setAsideRefused files refused events, except duplicates, which are only counted.
func (w *Worker) setAsideRefused(rec *ingestlog.Record, r *rows.Rows, refused []refusal) {
	var b *types.Batch
	for _, f := range refused {
		if f.reason == "" {
			continue
		}
		if b == nil {
			b = types.NewBatch(plan.SideSchema(plan.SideRejected, w.cfg.Stream), 0)
		}
		b.Cols[plan.RejectedPartition].AppendInt(int64(w.cfg.Partition.Partition))
		b.Cols[plan.RejectedOffset].AppendInt(int64(rec.Offset))
		b.Cols[plan.RejectedRow].AppendInt(int64(f.row))
		b.Cols[plan.RejectedReason].AppendString(f.reason)
		b.Cols[plan.RejectedDetail].AppendNull()
		b.Cols[plan.RejectedAppendTime].AppendInt(int64(eventtime.FromUnixMicro(rec.AppendTime)))
		for c, v := range r.Batch.Cols {
			b.Cols[plan.RejectedLead+c].AppendFrom(v, f.row)
		}
		b.Rows++
	}
	if b != nil {
		w.setAside(sideEntry{state.SideRejected, nil, rec.Offset, b})
	}
}

// setAsideOfView files the rows that a view found late or failed on.
func (w *Worker) setAsideOfView(v *view, rec *ingestlog.Record, in *types.Batch) {
	cols := len(in.Cols)
	if len(v.late) > 0 {
		b := types.NewBatch(plan.SideSchema(plan.SideLate, w.cfg.Stream), len(v.late))
		for _, l := range v.late {
			for c, col := range in.Cols {
				b.Cols[c].AppendFrom(col, l.row)
			}
			b.Cols[cols].AppendInt(int64(l.window.Start))
			b.Cols[cols+1].AppendInt(int64(l.window.End))
			b.Cols[cols+2].AppendInt(int64(l.before))
			b.Cols[cols+3].AppendString("the window was final when the event came")
			b.Rows++
		}
		w.setAside(sideEntry{state.SideLate, v, rec.Offset, b})
	}
	if len(v.failed) > 0 {
		b := types.NewBatch(plan.SideSchema(plan.SideErrors, w.cfg.Stream), len(v.failed))
		for _, f := range v.failed {
			e := sqlerr.From(f.err)
			b.Cols[0].AppendString(e.Message)
			b.Cols[1].AppendString(string(e.Code))
			for c, col := range in.Cols {
				b.Cols[2+c].AppendFrom(col, f.row)
			}
			b.Rows++
		}
		w.setAside(sideEntry{state.SideErrors, v, rec.Offset, b})
	}
}

// SideRequest asks for rows set aside.
type SideRequest struct {
	Kind state.SideKind
	View id.Relation // 0: of the stream
	Cut  id.Offset
	Stop <-chan struct{} // ends the wait for the cut
}

// Side calls fn with batches of rows set aside, oldest first. fn may keep them.
func (w *Worker) Side(ctx context.Context, req SideRequest, schema *types.Schema, fn func(*types.Batch) error) error {
	if w.Offline() {
		return ErrOffline
	}
	var recent []*types.Batch
	var snapshot *kv.Snapshot
	keys := w.keys
	var unknown bool
	err := w.callAt(ctx, req.Cut, req.Stop, func() {
		if req.View != 0 {
			v := w.view(req.View)
			if v == nil {
				unknown = true
				return
			}
			keys = v.keys
		}
		side, release := w.recentSide()
		defer release()
		for _, e := range side {
			if e.kind == req.Kind && (e.view == nil && req.View == 0 || e.view != nil && e.view.rel.ID == req.View) {
				recent = append(recent, e.batch)
			}
		}
		snapshot = w.cfg.Store.Snapshot()
	})
	if err != nil || unknown {
		return errors.Join(err, errIf(unknown, ErrUnknownView))
	}
	err = snapshot.Scan(keys.Side(req.Kind, 0), keys.SideEnd(req.Kind), func(_, value []byte) error {
		b, err := decodeSide(req.Kind, schema, value)
		if err != nil {
			return err
		}
		return fn(b)
	})
	for _, b := range recent {
		if err == nil {
			err = fn(b)
		}
	}
	return errors.Join(err, snapshot.Close())
}

// decodeSide decodes rows that were set aside. Rejects of before there was a detail
// have none.
func decodeSide(kind state.SideKind, schema *types.Schema, payload []byte) (*types.Batch, error) {
	b := types.NewBatch(schema, 0)
	if kind != state.SideRejected || recordbatch.Columns(payload) != len(b.Cols)-1 {
		return b, recordbatch.Decode(payload, b)
	}
	detail := b.Cols[plan.RejectedDetail]
	old := &types.Batch{Cols: slices.Delete(slices.Clone(b.Cols), plan.RejectedDetail, plan.RejectedDetail+1)}
	if err := recordbatch.Decode(payload, old); err != nil {
		return nil, err
	}
	for range old.Rows {
		detail.AppendNull()
	}
	b.Rows = old.Rows
	return b, nil
}

func errIf(cond bool, err error) error {
	if cond {
		return err
	}
	return nil
}
