package partition

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/storage/recordbatch"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/image"
)

// ScanAnswer is how far a partition had got when a scan of its log began.
type ScanAnswer struct {
	Base, Applied id.Offset // the coverage is [Base, Applied)
	Watermark     eventtime.Watermark
}

// Await waits until the log is admitted up to cut, or stop is closed, and says
// how far it is. An offline partition is an error.
func (w *Worker) Await(ctx context.Context, cut id.Offset, stop <-chan struct{}) (ScanAnswer, error) {
	if w.Offline() {
		return ScanAnswer{}, ErrOffline
	}
	var a ScanAnswer
	var offline bool
	err := w.callAt(ctx, cut, stop, func() {
		offline = w.offline.Load()
		a = ScanAnswer{w.cfg.Log.Base(w.cfg.Partition), w.applied, w.tracker.Current()}
	})
	return a, errors.Join(err, errIf(offline, ErrOffline))
}

// Scan begins to read columns of the admitted rows of the records in [from, to): as
// many spans, in order. from was the base of the log; to is not above what Await said
// was applied. Records that retention trims meanwhile are an error: what was said to
// be covered would not be.
func (w *Worker) Scan(from, to id.Offset, columns []int) (*image.Scan, []image.Span) {
	scan := w.cfg.Image.Scan(columns, w.readColumns)
	return scan, scan.Spans(from, to, func(at id.Offset) int64 { return w.cfg.Log.Rows(w.cfg.Partition, at, at+1) })
}

// readColumns is image.Read of this partition. It runs beside the worker.
func (w *Worker) readColumns(ctx context.Context, from, to id.Offset, into *types.Batch, end func()) error {
	var one *types.Batch // of a record that was not admitted as a whole
	return w.cfg.Log.Read(ctx, w.cfg.Partition, from, to, func(rec *ingestlog.Record) error {
		if rec.Kind != ingestlog.Data {
			end()
			return nil
		}
		refused, err := w.Verdict(rec.Offset)
		if err != nil {
			return err
		}
		if !refused.Any() {
			err = recordbatch.Append(rec.Payload, into)
			end()
			return err
		}
		if one == nil {
			one = sameColumns(into)
		}
		if err := recordbatch.Decode(rec.Payload, one); err != nil {
			return err
		}
		appendAdmitted(into, one, refused)
		end()
		return nil
	})
}

// sameColumns returns an empty batch of those columns that b has.
func sameColumns(b *types.Batch) *types.Batch {
	out := &types.Batch{Cols: make([]*types.Vector, len(b.Cols))}
	for i, c := range b.Cols {
		if c != nil {
			out.Cols[i] = types.NewVector(c.Type, 0)
		}
	}
	return out
}

func appendAdmitted(into, from *types.Batch, refused types.Bitmap) {
	var admitted []int32
	for i := range from.Rows {
		if !refused.Has(i) {
			admitted = append(admitted, int32(i))
		}
	}
	for i, c := range from.Cols {
		if c != nil {
			c.GatherInto(into.Cols[i], admitted)
		}
	}
	into.Rows += len(admitted)
}
