package partition

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/storage/kv"
	"github.com/tallydb/tallydb/stream/fold"
	"github.com/tallydb/tallydb/stream/state"
)

// History is what the retained log has of the rows that a view folded: those that were
// admitted, without those that the view found late or failed on.
type History struct {
	Compiled
	// Birth is the first record that the view read, Base the first that is left.
	Birth, Base id.Offset

	worker *Worker
	aside  map[id.Offset]map[string]int // rows set aside, by their values, with how many
}

// History returns the history of a view that has applied its log up to a record.
func (w *Worker) History(ctx context.Context, view id.Relation, upto id.Offset, stop <-chan struct{}) (*History, error) {
	if w.Offline() {
		return nil, ErrOffline
	}
	var h *History
	var keys state.Keys
	var recent []sideEntry
	var snapshot *kv.Snapshot
	err := w.callAt(ctx, upto, stop, func() {
		v := w.view(view)
		if v == nil || v.applied < upto {
			return
		}
		h = &History{
			Compiled: Compiled{v.fold, v.context}, Birth: v.birth, Base: w.cfg.Log.Base(w.cfg.Partition),
			worker: w, aside: map[id.Offset]map[string]int{},
		}
		keys = v.keys
		side, release := w.recentSide()
		defer release()
		for _, e := range side {
			if e.view == v {
				recent = append(recent, e)
			}
		}
		snapshot = w.cfg.Store.Snapshot()
	})
	if err != nil || h == nil {
		return nil, errors.Join(err, errIf(h == nil, ErrUnknownView))
	}
	for _, e := range recent {
		h.setAside(e.kind, e.offset, e.batch)
	}
	for _, kind := range []state.SideKind{state.SideLate, state.SideErrors} {
		err = errors.Join(err, h.readAside(snapshot, keys, kind))
	}
	return h, errors.Join(err, snapshot.Close())
}

// readAside reads what the store has of the rows set aside.
func (h *History) readAside(snapshot *kv.Snapshot, keys state.Keys, kind state.SideKind) error {
	schema := plan.SideSchema(map[state.SideKind]plan.SideKind{state.SideLate: plan.SideLate, state.SideErrors: plan.SideErrors}[kind], h.worker.cfg.Stream)
	return snapshot.Scan(keys.Side(kind, h.from()), keys.SideEnd(kind), func(key, value []byte) error {
		offset, err := keys.SideOffset(key)
		if err != nil {
			return err
		}
		b, err := decodeSide(kind, schema, value)
		if err != nil {
			return err
		}
		h.setAside(kind, offset, b)
		return nil
	})
}

// from is the first record that the view read of those that are left.
func (h *History) from() id.Offset { return max(h.Birth, h.Base) }

// setAside notes rows of a record that the view did not fold.
func (h *History) setAside(kind state.SideKind, offset id.Offset, b *types.Batch) {
	lead := 0
	if kind == state.SideErrors {
		lead = plan.ErrorsLead
	}
	rows := h.aside[offset]
	if rows == nil {
		rows = map[string]int{}
		h.aside[offset] = rows
	}
	cols := b.Cols[lead : lead+len(h.worker.cfg.Stream.Columns)]
	for i := range b.Rows {
		rows[string(rowKey(nil, cols, i))]++
	}
}

// rowKey encodes the values of a row.
func rowKey(dst []byte, cols []*types.Vector, row int) []byte {
	for _, c := range cols {
		dst = types.AppendKey(dst, c, row)
	}
	return dst
}

// Scan calls fn with the rows of each record below to, in order, on the caller's
// goroutine. The input is valid during the call only. Records that retention trims
// meanwhile are an error.
func (h *History) Scan(ctx context.Context, to id.Offset, fn func(fold.Input) error) error {
	w := h.worker
	decoder := newDecoder(w.cfg.Stream.Stream, w.cfg.Pool)
	return w.cfg.Log.Read(ctx, w.cfg.Partition, h.from(), to, func(rec *ingestlog.Record) error {
		if rec.Kind != ingestlog.Data {
			return nil
		}
		rows, err := decoder.rows(rec)
		if err != nil {
			return err
		}
		defer rows.Release()
		refused, err := w.Verdict(rec.Offset)
		if err != nil {
			return err
		}
		in := fold.Input{Batch: &rows.Batch, Hashes: rows.Hashes}
		if refused.Any() {
			var numbers []int32
			for i := range rows.Batch.Rows {
				if !refused.Has(i) {
					numbers = append(numbers, int32(i))
				}
			}
			in.Batch, in.Hashes = rows.Batch.Gather(numbers), gatherHashes(rows, numbers)
		}
		return fn(h.without(rec.Offset, in))
	})
}

// without leaves out the rows of a record that were set aside. Those of equal values
// stand for each other.
func (h *History) without(offset id.Offset, in fold.Input) fold.Input {
	aside := h.aside[offset]
	if len(aside) == 0 {
		return in
	}
	gone := make(map[string]int, len(aside))
	var numbers []int32
	var key []byte
	for i := range in.Batch.Rows {
		key = rowKey(key[:0], in.Batch.Cols, i)
		if gone[string(key)] < aside[string(key)] {
			gone[string(key)]++
			continue
		}
		numbers = append(numbers, int32(i))
	}
	out := fold.Input{Batch: in.Batch.Gather(numbers)}
	for _, i := range numbers {
		out.Hashes = append(out.Hashes, in.Hashes[i])
	}
	return out
}
